"""The accounts of one plan, side by side: a private JSON file in the configuration folder.

An account is a registration: the client that the issuer made for spark, bound to a user and a workspace. It
outlives its tokens, so that signing in again is no second registration. Its tokens are in the file too, or in
the system keyring. One process at a time changes the file, and each change replaces it as a whole.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from session.base.storage.private_files import held_alone, open_to_read, replace_private
from session.base.text.masking import remember
from session.models import system_keyring
from session.models.key import CredentialsError
from session.models.sign_in.plan import accounts_file

LONGEST_WAIT = 60.0
"""Seconds to wait for another process that renews the tokens; it waits for the issuer itself."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """What requests are made with. ``until`` is when ``access`` ends, in seconds since 1970."""

    access: str = field(repr=False)
    refresh: str = field(repr=False)
    until: float

    def __post_init__(self) -> None:
        remember(self.access)
        remember(self.refresh)


@dataclass(frozen=True, slots=True)
class Account:
    """A registration. ``client`` and ``subject`` identify it; ``name`` is the user's word for it."""

    name: str
    client: str
    subject: str
    email: str = ""
    scopes: tuple[str, ...] = ()
    ended: str = ""
    """The code with which the sign-in ended; empty while it holds."""
    in_keyring: bool = False
    tokens: Tokens | None = field(default=None, repr=False)
    """None after the end, and where the keyring has them."""


@dataclass(frozen=True, slots=True)
class Accounts:
    """All accounts, and the one in use where none is named. ``host`` names this machine."""

    host: str
    current: str = ""
    rows: Mapping[str, Account] = field(default_factory=dict)

    def with_account(self, account: Account) -> Accounts:
        """These with ``account`` added, or in place of the one with its name."""
        return replace(self, rows={**self.rows, account.name: account})

    def called(self, name: str) -> Account | None:
        """The account called ``name``, or the one in use. Raises CredentialsError for a name without one."""
        if not name:
            return self.rows.get(self.current)
        if name not in self.rows:
            known = f"; there are {', '.join(self.rows)}" if self.rows else ""
            raise CredentialsError(f"no account is called {name!r}{known}")
        return self.rows[name]


class AccountFile:
    """The accounts of ``provider``. Every method raises CredentialsError where the file cannot be used."""

    def __init__(self, config: Path, provider: str) -> None:
        self.path = accounts_file(config, provider)
        self._provider = provider

    def read(self) -> Accounts:
        """What is in the file; without one there are no accounts, and this machine gets its name."""
        try:
            if self.path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise CredentialsError(f"{self.path} can be read by others; run: chmod 600 {self.path}")
            with open_to_read(self.path) as opened:
                return _read(json.loads(opened.read()))
        except FileNotFoundError:
            from uuid import uuid4

            return Accounts(uuid4().urn)
        except OSError as problem:
            raise CredentialsError(f"cannot read {self.path}: {problem.strerror}") from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            # The parser's message may quote the file, and with it a token.
            again = f"move it away and run: spark login {self._provider}"
            raise CredentialsError(f"{self.path} is damaged; {again}") from None

    def write(self, accounts: Accounts) -> None:
        """Replace the file. To be called with the lock held."""
        table = {"host": accounts.host, "current": accounts.current}
        rows = [asdict(account) for account in accounts.rows.values()]
        try:
            replace_private(self.path, json.dumps({**table, "accounts": rows}, indent=1).encode())
        except OSError as problem:
            raise CredentialsError(f"cannot write {self.path}: {problem.strerror}") from None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes from changing the file, or renewing its tokens, at the same time."""
        lock = self.path.with_suffix(".lock")
        with ExitStack() as holding:
            try:
                holding.enter_context(held_alone(lock, "the sign-in", LONGEST_WAIT))
            except OSError as problem:
                raise CredentialsError(f"cannot hold {lock}: {problem.strerror}") from None
            yield

    async def tokens(self, account: Account) -> Tokens | None:
        """The tokens of ``account``, from the keyring where they are there; None where it has none."""
        if not account.in_keyring:
            return account.tokens
        try:
            kept = await system_keyring.read(self._place(account))
        except system_keyring.KeyringError as problem:
            raise CredentialsError(
                f"the sign-in of {account.name} is in the system keyring, which cannot be used: {problem}"
            ) from None
        try:
            return Tokens(**json.loads(kept)) if kept else None
        except (ValueError, TypeError):
            return None

    async def keep(self, accounts: Accounts, account: Account, tokens: Tokens) -> Accounts:
        """Write ``account`` with new ``tokens``, which may be used once this returns.

        Where the keyring does not take them they go into the file: they must not be lost.
        """
        if account.in_keyring:
            try:
                await system_keyring.store(self._place(account), json.dumps(asdict(tokens)))
            except system_keyring.KeyringError:
                account = replace(account, in_keyring=False)
        before = accounts.rows.get(account.name)
        account = replace(account, ended="", tokens=None if account.in_keyring else tokens)
        after = accounts.with_account(account)
        self.write(after)
        if before is not None and before.in_keyring and not account.in_keyring:
            with suppress(system_keyring.KeyringError):  # they are void, or about to be
                await system_keyring.erase(self._place(before))
        return after

    async def end(self, accounts: Accounts, account: Account, code: str) -> Accounts:
        """Write that the sign-in of ``account`` has ended, and forget its tokens."""
        if account.in_keyring:
            try:
                await system_keyring.erase(self._place(account))
            except system_keyring.KeyringError as problem:
                raise CredentialsError(f"the system keyring cannot be used: {problem}") from None
        after = accounts.with_account(replace(account, ended=code, tokens=None, in_keyring=False))
        self.write(after)
        return after

    def where(self, account: Account) -> str:
        """Where the tokens of ``account`` are, for the user."""
        return "the system keyring" if account.in_keyring else str(self.path)

    def _place(self, account: Account) -> str:
        return f"{self._provider}/{account.client}"


def _read(table: Mapping[str, Any]) -> Accounts:
    rows = [_account(row) for row in table["accounts"]]
    host, current = table["host"], table["current"]
    if not isinstance(host, str) or not isinstance(current, str):
        raise TypeError
    return Accounts(host, current, {row.name: row for row in rows})


def _account(row: dict[str, Any]) -> Account:
    tokens = row["tokens"]
    account = Account(
        **{**row, "scopes": tuple(row["scopes"]), "tokens": None if tokens is None else Tokens(**tokens)}
    )
    texts = (account.name, account.client, account.subject, account.email, account.ended, *account.scopes)
    if not all(isinstance(text, str) for text in texts) or not account.name or not account.client:
        raise TypeError
    return account
