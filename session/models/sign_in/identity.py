"""Checks who has signed in: the ID token's signature, and what it claims.

Source: OpenID Connect Core 1.0, section 3.1.3.7. The signature is checked by ``joserfc``, which is imported
only here: a sign-in is rare, and the library takes a tenth of a second to load.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_ALGORITHMS = ["RS256", "ES256"]
"""Never ``none``, and never one whose key is shared with whoever verifies."""
_SKEW = 60
"""Seconds by which the clocks of this machine and the issuer may differ."""


class IdentityError(Exception):
    """The ID token proves nothing; the message says why."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who has signed in: the issuer's name for the user, and an e-mail address to show."""

    subject: str
    email: str


def read_identity(token: str, keys: Mapping[str, Any], *, issuer: str, client: str, nonce: str) -> Identity:
    """The user in an ID token that one of ``keys`` signed for this attempt. Raises IdentityError."""
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import KeySet

    try:
        signed = jwt.decode(token, KeySet.import_key_set(dict(keys)), algorithms=_ALGORITHMS)  # type: ignore[arg-type]
    except (JoseError, ValueError, KeyError, TypeError):
        raise IdentityError("its signature is not the issuer's") from None
    claims = signed.claims
    audience = claims.get("aud")
    if claims.get("iss") != issuer:
        raise IdentityError("it is from another issuer")
    if audience != client and audience != [client]:
        raise IdentityError("it is for another program")
    if claims.get("nonce") != nonce:
        raise IdentityError("it belongs to another attempt to sign in")
    if not _number(claims.get("exp")) or claims["exp"] + _SKEW < time.time():
        raise IdentityError("it has expired: is this machine's clock right?")
    if _number(claims.get("iat")) and claims["iat"] - _SKEW > time.time():
        raise IdentityError("it is from the future: is this machine's clock right?")
    subject, email = claims.get("sub"), claims.get("email")
    if not isinstance(subject, str) or not subject:
        raise IdentityError("it names nobody")
    return Identity(subject, email if isinstance(email, str) else "")


def _number(value: object) -> bool:
    return type(value) in (int, float)
