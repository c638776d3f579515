"""Signs in and out: the steps between the browser's answer and the tokens on disk.

Who has signed in is told by the ID token's signature and what it claims (OpenID Connect Core 1.0, section
3.1.3.7). ``joserfc`` checks the signature. It is imported only then: a sign-in is rare, and the library takes
a tenth of a second to load.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from session.models import system_keyring
from session.models.key import CredentialsError
from session.models.sign_in.accounts import Account, AccountFile, Accounts
from session.models.sign_in.attempt import Answer, Attempt, SignInError
from session.models.sign_in.issuer import Granted, Issuer, TokenRefused, discover
from session.models.sign_in.plan import PLAN_SCOPE, Plan, sign_in_command
from session.models.sign_in.plan_place import NOT_ALLOWED, SIGNED_OUT
from session.wire.transport.errors import LinkError

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


@dataclass(frozen=True, slots=True)
class SignIn:
    """A sign-in to ``plan`` that has begun. ``known`` is the account that signs in again, None for a new one;
    ``name`` is what a new one is to be called, empty for its e-mail address."""

    provider: str
    plan: Plan
    file: AccountFile
    issuer: Issuer
    host: str
    known: Account | None
    name: str

    def attempt(self, redirect: str) -> Attempt:
        """A new attempt, whose answer is expected at ``redirect``."""
        known = self.known
        if known is None:
            return Attempt(redirect, self.host, resource=self.plan.resource)
        consent = known.ended == NOT_ALLOWED
        return Attempt(redirect, self.host, known.client, known.email, self.plan.resource, consent)

    async def finish(self, attempt: Attempt, answer: Answer, *, keyring: bool) -> Account:
        """Exchange the code, check who signed in, and store the account, which is the one in use from now on.

        Until that all holds nothing that was stored before is changed. Raises SignInError, CredentialsError.
        """
        try:
            granted = await self.issuer.exchange(
                answer.client, answer.code, attempt.verifier, attempt.redirect, self.plan.resource
            )
            identity = read_identity(
                granted.id_token,
                await self.issuer.key_set(),
                issuer=self.issuer.name,
                client=answer.client,
                nonce=attempt.nonce,
            )
        except TokenRefused as refusal:
            again = sign_in_command(self.provider, self.name)
            said = refusal.said.rstrip(".")
            raise SignInError(
                f"the sign-in was refused: {said}; nothing was stored. Begin again: {again}"
            ) from None
        except LinkError as problem:
            raise SignInError(f"{problem.message} Nothing was stored") from None
        except IdentityError as problem:
            raise SignInError(
                f"the answer to the sign-in is not trusted: {problem}; nothing was stored"
            ) from None
        return await self._store(answer.client, identity, granted, keyring=keyring)

    async def _store(self, client: str, identity: Identity, granted: Granted, *, keyring: bool) -> Account:
        if self.known is not None and self.known.subject != identity.subject:
            raise SignInError(
                f"{identity.email or 'another user'} signed in, not {self.known.name}; nothing was changed. "
                f"To add an account: {sign_in_command(self.provider, 'NAME')}"
            )
        scopes = granted.scopes or ()
        name = self.name or identity.email or "default"
        with self.file.held():
            accounts = self.file.read()
            account = Account(name, client, identity.subject, identity.email, scopes)
            if PLAN_SCOPE not in scopes:
                # The registration is kept, and nothing that could be used.
                before = accounts.rows.get(name)
                account = replace(account, in_keyring=before is not None and before.in_keyring)
                await self.file.end(accounts, account, NOT_ALLOWED)
                again = sign_in_command(self.provider, "" if name == accounts.current else name)
                raise SignInError(
                    f"{name} is signed in, but did not allow spark to use the {self.plan.title} plan; "
                    f"to be asked again: {again}"
                )
            account = replace(account, in_keyring=keyring and await _has_keyring())
            accounts = await self.file.keep(replace(accounts, current=name), account, granted.tokens)
            return accounts.rows[name]


async def begin(provider: str, plan: Plan, config: Path, name: str) -> SignIn:
    """Begin to sign in: as the account called ``name``, which may be new, or as the one in use.

    Raises SignInError where the issuer cannot be asked, or where several accounts could be meant;
    CredentialsError where the file cannot be used.
    """
    file = AccountFile(config, provider)
    with file.held():
        accounts = file.read()
        file.write(accounts)  # this machine's name stays the same from the first attempt on
    known = accounts.rows.get(name) if name else _meant(accounts, provider)
    try:
        issuer = await discover(plan.issuer)
    except LinkError as problem:
        raise SignInError(problem.message) from None
    return SignIn(provider, plan, file, issuer, accounts.host, known, known.name if known else name)


def _meant(accounts: Accounts, provider: str) -> Account | None:
    """The account that signs in where none is named: the one in use, or the only one."""
    if accounts.current or len(accounts.rows) <= 1:
        return accounts.rows.get(accounts.current) or next(iter(accounts.rows.values()), None)
    command = sign_in_command(provider, "NAME")
    raise SignInError(f"say which account: {command}; there are {', '.join(accounts.rows)}")


async def _has_keyring() -> bool:
    try:
        return bool(await system_keyring.look())
    except system_keyring.KeyringError:
        return False


@dataclass(frozen=True, slots=True)
class SignedOut:
    """An account that was signed out. ``doubt`` says why the issuer could not confirm it; ``next`` is the
    account in use from now on, if any."""

    name: str
    doubt: str
    next: str


async def sign_out(provider: str, plan: Plan, config: Path, name: str) -> SignedOut | None:
    """Withdraw an account's tokens and forget them; None where it has none. Raises CredentialsError."""
    file = AccountFile(config, provider)
    with file.held():
        accounts = file.read()
        account = accounts.called(name)
        if account is None:
            return None
        tokens = await file.tokens(account)
        if account.ended == SIGNED_OUT:
            return None
        doubt = "" if tokens is None else await _withdraw(plan, account, tokens.refresh)
        left = [each.name for each in accounts.rows.values() if not each.ended and each is not account]
        current = accounts.current
        if account.name == current:
            current = left[-1] if left else ""
        await file.end(replace(accounts, current=current), account, SIGNED_OUT)
        return SignedOut(account.name, doubt, current if account.name == accounts.current else "")


async def _withdraw(plan: Plan, account: Account, refresh: str) -> str:
    """Withdraw the token; returns why that is not sure, or an empty text."""
    try:
        issuer = await discover(plan.issuer)
        if not issuer.revoke:
            return "the issuer has no address for it"
        await issuer.withdraw(account.client, refresh)
    except TokenRefused as refusal:
        return refusal.said
    except LinkError as problem:
        return problem.message.rstrip(".")
    return ""


__all__ = ["CredentialsError", "SignIn", "SignInError", "SignedOut", "begin", "sign_out"]
