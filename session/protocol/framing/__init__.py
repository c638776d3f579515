"""Parses a server's bytes into JSON objects and server-sent events, and writes request bodies."""
