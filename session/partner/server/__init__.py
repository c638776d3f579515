"""The partner's server: WebSocket and HTTP on loopback."""
