"""The access token of an account as a key, renewed when it ends.

A refresh token is good for one renewal, which brings the next one: a second process that used it would void
both. So one process renews at a time, the new tokens are on disk before they are used, and whoever waited
takes those.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from session.models.key import CredentialsError, Key, KeyPlace, check_form
from session.models.sign_in.accounts import Account, AccountFile, Accounts, Tokens
from session.models.sign_in.plan import PLAN_SCOPE, Plan, sign_in_command
from session.wire.transport.errors import LinkError

NOT_ALLOWED = "not_allowed"
"""The end of a sign-in whose user did not allow, or no longer allows, that the plan is used."""
SIGNED_OUT = "signed_out"
_WITHDRAWN = "was withdrawn, here or in the account's settings"
_RUN_OUT = "has run out, since it was not used for 30 days"
ENDINGS = {
    "invalid_grant": _WITHDRAWN,
    "invalid_refresh_token": _WITHDRAWN,
    "refresh_token_invalidated": _WITHDRAWN,
    "token_expired": _RUN_OUT,
    "refresh_token_expired": _RUN_OUT,
    "refresh_token_reused": "was used twice: by a copy of it, or after a stop in the middle of a renewal",
    NOT_ALLOWED: "does not allow spark to use the plan",
    SIGNED_OUT: "was ended by spark logout",
}
"""What ended a sign-in, by the issuer's code: with any other code it goes on."""
EARLY = 120.0
"""Seconds before its end from which on an access token is renewed."""


def find_place(provider: str, plan: Plan, config: Path, name: str) -> PlanPlace | None:
    """The account called ``name``, or the one in use; None where nobody has signed in.

    An account whose sign-in has ended counts too: it must not make another key pay. Raises CredentialsError.
    """
    file = AccountFile(config, provider)
    account = file.read().called(name)
    if account is None:
        return None
    source = f"the {plan.title} plan of {account.name}"
    return PlanPlace(provider, source, plan=plan, file=file, name=account.name)


@dataclass(frozen=True, slots=True)
class PlanPlace(KeyPlace):
    """The account called ``name`` in ``file``."""

    plan: Plan = field(kw_only=True)
    file: AccountFile = field(kw_only=True)
    name: str = field(kw_only=True)

    async def fetch(self, *, refused: str | None = None) -> Key:
        """An access token that holds, and is another than ``refused``.

        Raises CredentialsError where the user has to sign in again, LinkError where the issuer cannot be
        asked now.
        """
        account = self.file.read().called(self.name)
        tokens = await self._tokens(account)
        if not _holds(tokens, refused):
            # In a thread of its own, which waits for the lock and goes on where the caller is cancelled: an
            # answer that nobody writes down would be the end of the sign-in.
            tokens = await asyncio.to_thread(asyncio.run, self._renewed(refused))
        return Key(check_form(tokens.access, self.source), self.source, tokens.until - EARLY)

    async def _renewed(self, refused: str | None) -> Tokens:
        with self.file.held():
            accounts = self.file.read()
            account = accounts.called(self.name)
            tokens = await self._tokens(account)
            if _holds(tokens, refused) or account is None:
                return tokens
            try:
                return await self._renew(accounts, account, tokens)
            except LinkError:
                if tokens.access != refused and tokens.until > time.time():
                    return tokens  # it holds a little longer
                raise

    async def _renew(self, accounts: Accounts, account: Account, tokens: Tokens) -> Tokens:
        # Every start finds the account, and few renew its tokens.
        from session.models.sign_in.issuer import TokenRefused, discover

        issuer = await discover(self.plan.issuer)
        self.file.write(accounts)  # what cannot be written must not be asked for
        try:
            granted = await issuer.renew(account.client, tokens.refresh, self.plan.resource)
        except TokenRefused as refusal:
            if refusal.code not in ENDINGS:
                raise CredentialsError(
                    f"the {self.plan.title} sign-in of {account.name} could not be renewed: {refusal.said}; "
                    f"try again, or sign in again: {self._sign_in}"
                ) from None
            await self.file.end(accounts, account, refusal.code)
            raise CredentialsError(self._ended(account.name, refusal.code)) from None
        scopes = account.scopes if granted.scopes is None else granted.scopes
        account = replace(account, scopes=scopes)
        accounts = await self.file.keep(accounts, account, granted.tokens)
        if PLAN_SCOPE not in scopes:
            await self.file.end(accounts, accounts.rows[account.name], NOT_ALLOWED)
            raise CredentialsError(self._ended(account.name, NOT_ALLOWED))
        return granted.tokens

    async def _tokens(self, account: Account | None) -> Tokens:
        """The tokens of ``account``. Raises CredentialsError where it has none."""
        if account is None:
            raise CredentialsError(f"nobody is signed in any more: {self._sign_in}")
        tokens = await self.file.tokens(account)
        if account.ended or tokens is None:
            raise CredentialsError(self._ended(account.name, account.ended))
        return tokens

    def _ended(self, name: str, code: str) -> str:
        why = ENDINGS.get(code, "is not in its place any more")
        return f"the {self.plan.title} sign-in of {name} {why}. Sign in again: {self._sign_in}"

    @property
    def _sign_in(self) -> str:
        current = self.file.read().current
        return sign_in_command(self.provider, "" if self.name == current else self.name)


def told_accounts(file: AccountFile) -> list[str]:
    """Each account in ``file`` and where its tokens are, as a line for the user."""
    accounts = file.read()
    return [
        f"{each.name}{' (in use)' if each.name == accounts.current else ''}: "
        f"{f'the sign-in {ENDINGS[each.ended]}' if each.ended in ENDINGS else file.where(each)}"
        for each in accounts.rows.values()
    ]


def _holds(tokens: Tokens, refused: str | None) -> bool:
    return tokens.access != refused and tokens.until - EARLY > time.time()
