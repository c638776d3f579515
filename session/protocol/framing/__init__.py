"""Bytes from a server as JSON objects and as server-sent events, and requests as bytes."""
