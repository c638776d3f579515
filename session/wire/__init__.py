"""The wire to a model server: dialects, sockets, the kept link, and every model's instructions."""
