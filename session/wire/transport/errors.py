"""The error of the transport: every failure has a kind and a line that tells the user what to do."""

from __future__ import annotations

import re
from enum import StrEnum

from session.base.text.masking import mask


class LinkProblem(StrEnum):
    """The kinds of failure that a caller must tell apart."""

    UNREACHABLE = "unreachable"
    """No server there: no such host, nothing listening, no route, no trusted TLS, no answer in time."""
    REFUSED = "refused"
    """The address cannot be used, or the server does not take such a connection."""
    UNAUTHORIZED = "unauthorized"
    """The key is missing, wrong, or not good enough."""
    NO_WEBSOCKET = "no_websocket"
    """An HTTP server that does not speak Responses over WebSocket."""
    CLOSED = "closed"
    """The connection was lost, or fell silent, in the middle of an answer."""
    MODEL = "model"
    """The server does not offer the model to this key."""
    CONTEXT = "context"
    """The request is longer than the model can read: build a smaller window and ask again."""
    SERVER = "server"
    """The server answered with any other error; ``code`` says which."""


class LinkError(Exception):
    """A request could not be sent, or its answer was not received to the end.

    ``kind`` compares equal to the plain strings ``unreachable``, ``refused``, ``unauthorized``,
    ``no_websocket``, ``closed``, ``model``, ``context`` and ``server``. ``message`` is
    one line for the user.
    ``code`` is the server's own word, ``status`` the HTTP status, ``retry_after`` seconds to wait.
    """

    def __init__(
        self,
        kind: LinkProblem,
        message: str,
        *,
        code: str = "",
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.code = code
        self.status = status
        self.retry_after = retry_after

    def saying(self, more: str) -> LinkError:
        """The same error with a sentence appended to its message, which may have no full stop."""
        message = self.message if self.message.endswith((".", "!", "?", "…")) else f"{self.message}."
        return LinkError(
            self.kind, message + more, code=self.code, status=self.status, retry_after=self.retry_after
        )

    @property
    def lasting(self) -> bool:
        """True when trying again unchanged cannot help: somebody has to change a setting first."""
        return self.kind in _LASTING


_LASTING = frozenset(
    {
        LinkProblem.REFUSED,
        LinkProblem.UNAUTHORIZED,
        LinkProblem.NO_WEBSOCKET,
        LinkProblem.MODEL,
        LinkProblem.CONTEXT,
    }
)

UNTRUSTED = "untrusted"
"""The code of an ``unreachable`` whose cause is TLS: another attempt meets the same certificate."""
NO_KEY = "credentials"
"""The code of an ``unauthorized`` that no server sent: the key could not be read where it is kept."""
NO_UPGRADE = "no_upgrade"
"""The code of an ``unreachable`` whose connection stood: only the upgrade to WebSocket got no answer."""
NO_SUCH_PATH = "no_such_path"
"""The code of a ``refused`` for a server that does not offer this dialect at this base URL."""

_LONGEST_LINE = 300
_BREAKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")


def one_line(what: object) -> str:
    """``what`` on one line of at most 300 characters, without keys: servers put pages of HTML, and what
    they were sent, into messages."""
    from context.text.secrets import redact  # only where something went wrong

    text = redact(mask(_BREAKS.sub(" ", str(what)).strip())).text
    return text if len(text) <= _LONGEST_LINE else text[: _LONGEST_LINE - 1] + "…"
