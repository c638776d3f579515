"""The trusted certificates: the system's, or those that SSL_CERT_FILE and SSL_CERT_DIR name."""

from __future__ import annotations

import functools
import os
import ssl

from session.wire.transport.errors import UNTRUSTED, LinkError, LinkProblem, one_line

_FILE = "SSL_CERT_FILE"


@functools.cache
def trust() -> ssl.SSLContext:
    """The context for every connection, read once, which takes tens of milliseconds.

    Raises :class:`LinkError` for a file without certificates: OpenSSL would silently trust nobody.
    """
    try:
        context = ssl.create_default_context()
    except OSError as error:
        message = f"The system's certificates cannot be read: {error.strerror or one_line(error)}."
        raise LinkError(LinkProblem.UNREACHABLE, message) from error
    file = os.environ.get(_FILE)
    if file:
        try:
            context.load_verify_locations(file)
        except OSError as error:  # ssl.SSLError is one
            why = "no certificate in it" if isinstance(error, ssl.SSLError) else error.strerror
            message = f"{_FILE} names {one_line(file)}, which cannot be read: {why}."
            raise LinkError(LinkProblem.UNREACHABLE, message, code=UNTRUSTED) from None
    return context
