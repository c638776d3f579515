"""A key, and the slow places that keys are fetched from: the user's command, and the system keyring."""

from __future__ import annotations

from dataclasses import dataclass, field

from session.base.text.masking import remember
from session.models import system_keyring
from session.models.key_command import CommandError, ask_command


class CredentialsError(Exception):
    """A key cannot be read from where it should be; the message says what to do and never shows the key."""


@dataclass(frozen=True, slots=True)
class Key:
    """A secret and its source. The secret is kept out of the repr, and so out of logs.

    ``until`` is when it ends, in seconds since 1970; None for a key that holds until it is withdrawn.
    """

    secret: str = field(repr=False)
    source: str
    until: float | None = None

    def __post_init__(self) -> None:
        remember(self.secret)


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """A slow source of a key: ``command``, or the system keyring without one."""

    provider: str
    source: str
    command: tuple[str, ...] = field(default=(), repr=False)

    async def fetch(self, *, refused: str | None = None) -> Key:
        """The key; ``refused`` is the last one, where the server took it no more. Raises CredentialsError."""
        if self.command:
            try:
                secret = await ask_command(self.command, again=refused is not None)
            except CommandError as problem:
                raise CredentialsError(str(problem)) from None
            return Key(check_form(secret, self.source), self.source)
        try:
            kept = await system_keyring.read(self.provider)
        except system_keyring.KeyringError as problem:
            raise CredentialsError(
                f"the key of {self.provider} is in the system keyring, which cannot be used: {problem}"
            ) from None
        if not kept:
            raise CredentialsError(
                f"the system keyring has no key for {self.provider} (any more): spark login {self.provider}"
            )
        return Key(check_form(kept, self.source), self.source)


def check_form(secret: str, source: str) -> str:
    """Return ``secret``. Raises CredentialsError, without showing it, if it cannot be a key."""
    if not secret.isascii() or not secret.isprintable() or " " in secret:
        raise CredentialsError(
            f"the key in {source} contains a character that no key has; "
            "was something else pasted with it? Set it again"
        )
    return secret
