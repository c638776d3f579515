"""Sockets to a server: connecting them, reading them, and the networks they stand in."""
