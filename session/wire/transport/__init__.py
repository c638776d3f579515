"""The sockets: frames to a model server and back, with every failure a :class:`LinkError`."""
