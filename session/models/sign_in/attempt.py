"""One attempt to sign in: the address for the browser, and the answer that it brings back.

Source: RFC 6749 with PKCE (RFC 7636), and developers.openai.com/siwc/token-sharing-open-source/sign-in
("Registration and sign-in"), looked at in November 2026. Without I/O.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlencode, urlsplit

from session.base.text.sanitize import clean_line
from session.models.sign_in.plan import PLAN_SCOPE

PROGRAM = "spark"
"""The name under which the user finds this program in the issuer's settings."""
CALLBACK = "/auth/callback"
SCOPES = f"openid profile email offline_access resource.invoke {PLAN_SCOPE}"
_ENTRY = "dynamic_agent_client"
"""The client of a first registration, which makes one for this user: never kept, never given for tokens."""
_CLIENT = re.compile(r"oaiapp_[A-Za-z0-9_-]{1,200}")
_LONGEST = 16_384


class NotOurs(Exception):
    """An address that does not answer this attempt: to be refused, while the right one may still come."""


class SignInError(Exception):
    """The sign-in has failed; the message says why and what to do, and shows no token."""


class NotWhole(SignInError):
    """An answer without a part that it must have: an address that was pasted may have been cut."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the browser brought back: the code for tokens, and the client that it was issued to."""

    code: str = field(repr=False)
    client: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """``redirect`` is where the browser ends, ``host`` this machine's name, ``client`` the registration of an
    account that is known, else empty. The other values are random."""

    redirect: str
    host: str
    client: str = ""
    email: str = ""
    resource: str = ""
    consent: bool = False
    """Whether the user is to be asked again about what was not allowed before."""
    state: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    nonce: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(64), repr=False)

    def address(self, authorize: str) -> str:
        """The address to open in the browser."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        fields = {
            "response_type": "code",
            "client_id": self.client or _ENTRY,
            "redirect_uri": self.redirect,
            "scope": SCOPES,
            "resource": self.resource,
            "ext_agent_host_id": self.host,
            "state": self.state,
            "nonce": self.nonce,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        if not self.client:
            fields["agent_name_hint"] = PROGRAM
        if self.email:
            fields["login_hint"] = self.email
        if self.consent:
            fields["prompt"] = "consent"
        return f"{authorize}{'&' if urlsplit(authorize).query else '?'}{urlencode(fields)}"

    def read(self, address: str) -> Answer:
        """The answer in the address that the browser was sent to.

        Raises NotOurs for one that does not answer this attempt, SignInError for a refusal or nonsense.
        """
        try:
            address = address.strip(" \t\r\n\"'<>")[:_LONGEST]
            # Some browsers copy the address without its beginning.
            parts = urlsplit(address if address.startswith(("http", "/")) else f"http://{address}")
            fields = parse_qs(parts.query, keep_blank_values=True, max_num_fields=50)
        except ValueError:
            raise NotOurs("that is no address") from None
        if parts.path != CALLBACK:
            raise NotOurs(f"the address does not end with {CALLBACK}?code=… and so on: copy all of it")
        if any(len(values) > 1 for values in fields.values()):
            raise NotOurs("the address holds a value twice")
        found = {name: values[0] for name, values in fields.items()}
        if not hmac.compare_digest(found.get("state", "").encode(), self.state.encode()):
            raise NotOurs("the address belongs to another attempt to sign in: use the newest page")
        if "error" in found:
            raise SignInError(_refused(found))
        client = found.get("client_id") or self.client
        if not client or not found.get("code"):
            missing = "a code" if client else "the program's name"
            raise NotWhole(f"the sign-in came back without {missing}; nothing was stored. Try again")
        if not _CLIENT.fullmatch(client) or (self.client and client != self.client):
            raise SignInError("the sign-in came back for another program; nothing was stored. Try again")
        return Answer(found["code"], client)


def _refused(found: dict[str, str]) -> str:
    """The line for an answer that is a refusal."""
    if found["error"] == "access_denied":
        return "you did not allow it in the browser; nothing was stored. To be asked again, sign in again"
    said = clean_line(found.get("error_description", ""))[:200]
    return f"the sign-in was refused ({clean_line(found['error'])[:60]}){f': {said}' if said else ''}"
