"""A provider that is signed in to with a plan, in place of a key: its row in the catalogue."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from session.base.text.tables import Table
from session.wire.transport.errors import PlanTerms

PLAN_SCOPE = "chatgpt.tokens.use.direct"
"""The scope that allows to use the plan: it counts where it is granted, not where it is asked for."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan that pays for requests.

    ``title`` is its name for the user, ``issuer`` the OpenID provider that signs in, ``resource`` the API
    that its tokens are for, ``usage`` the page on which its use is shown and limited, and ``models_of`` the
    provider whose models it serves.
    """

    title: str
    issuer: str
    resource: str
    usage: str
    models_of: str = ""

    def terms(self, provider: str) -> PlanTerms:
        """What the connection says where the plan does not pay."""
        return PlanTerms(self.title, self.usage, f"spark login {provider}")

    @property
    def using(self) -> str:
        """The words beside the model while the plan pays, as OpenAI's UI guidelines give them."""
        return f"Using {self.title} plan"


def accounts_file(config: Path, provider: str) -> Path:
    """The file of the accounts of ``provider`` in the ``config`` folder."""
    return config / f"{provider}-credentials.json"


def sign_in_command(provider: str, name: str) -> str:
    """The command that signs in, to be copied into a shell."""
    return f"spark login {provider}{f' --account {shlex.quote(name)}' if name else ''}"


def read_plan(row: Table | None) -> Plan | None:
    """The plan in a provider's row; None where keys are used. Raises TableError."""
    if row is None:
        return None
    plan = Plan(
        row.text("title"),
        row.text("issuer"),
        row.text("resource"),
        row.text("usage"),
        row.text("models_of", ""),
    )
    row.end()
    return plan
