"""The error of the transport: every failure has a kind and a line that tells the user what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from session.base.text.masking import mask
from session.wire.protocol.events import ServerError


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
    PLAN = "plan"
    """The plan that should pay does not: its limit is reached, or it may not. Nothing else pays for it."""
    CONTEXT = "context"
    """The request is longer than the model can read: build a smaller window and ask again."""
    SERVER = "server"
    """The server answered with any other error; ``code`` says which."""


class LinkError(Exception):
    """A request could not be sent, or its answer was not received to the end.

    ``kind`` compares equal to the plain strings ``unreachable``, ``refused``, ``unauthorized``,
    ``no_websocket``, ``closed``, ``model``, ``plan``, ``context`` and ``server``. ``message`` is
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
        LinkProblem.PLAN,
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


@dataclass(frozen=True, slots=True)
class PlanTerms:
    """A plan that pays for requests in place of a key: its name for the user, the page on which its use is
    shown and limited, and the command that signs in to it."""

    title: str
    usage: str
    sign_in: str


_PREFIX = "subscription_sharing_"
_LIMIT = "usage_limit_exceeded"


@dataclass(frozen=True, slots=True)
class _Meaning:
    kind: LinkProblem
    line: str
    """``{title}``, ``{usage}`` and ``{sign_in}`` are those of the plan."""
    quoted: bool = True
    """Whether the server's own words follow."""


# What a server says of a plan. Source: developers.openai.com/siwc/token-sharing-open-source,
# "Errors and recovery", looked at in November 2026. The codes come in the answer to an upgrade or a request,
# and within an answer as ``response.failed``. None of them may lead to another way of paying.
_MEANINGS = {
    _PREFIX + _LIMIT: _Meaning(
        LinkProblem.PLAN,
        "The limit of your {title} plan is reached, and no key is used in its place. "
        "To see its use, and what apps may take of it: {usage}",
        quoted=False,
    ),
    _PREFIX + "user_not_eligible": _Meaning(
        LinkProblem.PLAN,
        "This {title} account may not use its plan in other programs. Look at the plan ({usage}), "
        "sign in with another account ({sign_in} --account NAME), or name a provider with a key",
    ),
    _PREFIX + "usage_unavailable": _Meaning(
        LinkProblem.SERVER,
        "What is left of your {title} plan cannot be told right now. Ask again in a minute",
    ),
    _PREFIX + "route_not_supported": _Meaning(
        LinkProblem.NO_WEBSOCKET,
        "The {title} plan does not pay for this way of asking. Ask again, or name a provider with a key",
    ),
    _PREFIX + "unsupported_capability": _Meaning(
        LinkProblem.SERVER,
        "The {title} plan does not pay for a part of this request. Take another model (/model), "
        "or name a provider with a key",
    ),
    _PREFIX + "invalid_user": _Meaning(
        LinkProblem.UNAUTHORIZED, "{title} does not know this sign-in any more"
    ),
    # Not on that page; seen by others where a user had not allowed it.
    "chatpass_v2_scope_not_authorized": _Meaning(
        LinkProblem.PLAN, "This sign-in does not allow spark to use the {title} plan. Allow it: {sign_in}"
    ),
}
PASSING = _PREFIX + "usage_unavailable"
"""The code of a refusal that may pass by itself."""


def plan_refusal(error: ServerError, plan: PlanTerms | None) -> LinkError | None:
    """The :class:`LinkError` for an error about ``plan``; None for any other."""
    if plan is None:
        return None
    meaning = _MEANINGS.get(error.code)
    if meaning is None:
        if not error.code.startswith(_PREFIX):
            return None
        meaning = _Meaning(
            LinkProblem.PLAN, f"The {{title}} plan does not pay for this ({one_line(error.code)})"
        )
    line = meaning.line.format(title=plan.title, usage=plan.usage, sign_in=plan.sign_in)
    said = one_line(error.message) if meaning.quoted and error.message != error.code else ""
    message = f"{line}{f': {said}' if said else '.' if not line.endswith(plan.usage) else ''}"
    return LinkError(
        meaning.kind, message, code=error.code, status=error.status, retry_after=error.retry_after
    )
