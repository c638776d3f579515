"""Whom to trust: the system's certificates, or those that SSL_CERT_FILE and SSL_CERT_DIR name."""

from __future__ import annotations

import functools
import ssl


@functools.cache
def trust() -> ssl.SSLContext:
    """The context for every connection, read once: reading it takes tens of milliseconds."""
    return ssl.create_default_context()
