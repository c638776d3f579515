"""One request on one open connection: what goes out, and the events of its answer."""
