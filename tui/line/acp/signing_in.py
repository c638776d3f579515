"""Signing in from an editor: the ways that its client offers, and what becomes of each.

Protocol: https://agentclientprotocol.com/protocol/authentication. A plan is signed in to in the browser, a
key comes in an environment variable that the client sets, or from ``spark login``.
"""

from __future__ import annotations

import asyncio
import os

from acp import RequestError
from acp.schema import AuthEnvVar, AuthMethodAgent, EnvVarAuthMethod, TerminalAuthMethod

from session.base.programs import open_page
from session.base.storage.folders import config_folder
from session.base.text.sanitize import clean_line
from session.models.catalogue import Catalogue, Provider
from session.models.credentials import CredentialsError, find_key
from session.models.sign_in.attempt import SignInError
from session.models.sign_in.callback_server import CallbackServer
from session.models.sign_in.flow import begin
from session.models.sign_in.plan import Plan
from session.setup.config import Settings

AuthMethod = EnvVarAuthMethod | TerminalAuthMethod | AuthMethodAgent
AUTH_REQUIRED = -32000
"""The protocol's error for what needs a sign-in first."""
LONGEST_WAIT = 15 * 60
"""Seconds to wait for the browser."""


def auth_methods(catalogue: Catalogue) -> list[AuthMethod]:
    """The ways to sign in, a plan first, then the providers whose key alone is enough."""
    rows = [catalogue.provider(name) for name in catalogue.key_order]
    return [_method(row) for row in rows]


def _method(row: Provider) -> AuthMethod:
    if row.plan is not None:
        told = f"The browser opens. What spark asks counts towards the plan: {row.plan.usage}"
        return AuthMethodAgent(id=row.name, name=f"Continue with {row.plan.title}", description=told)
    return EnvVarAuthMethod(
        type="env_var",
        id=row.name,
        name=f"Key of {row.name}",
        description=f"Or store it: spark login {row.name}",
        vars=[AuthEnvVar(name=row.key_variable)],
        link=row.key_page or None,
    )


async def sign_in(method: str, catalogue: Catalogue, settings: Settings) -> None:
    """Sign in by the ``method`` of this name. Raises RequestError, which says what to do."""
    if method not in catalogue.key_order:
        raise RequestError(-32602, f"there is no way to sign in called {clean_line(method)!r}")
    row = catalogue.provider(method)
    try:
        if row.plan is not None:
            await _with_plan(row, row.plan, settings.account)
        elif (
            await asyncio.to_thread(find_key, row, config_folder(), os.environ, settings.key_commands) is None
        ):
            raise RequestError(
                AUTH_REQUIRED, f"there is no key: set {row.key_variable}, or run spark login {row.name}"
            )
    except (SignInError, CredentialsError) as problem:
        raise RequestError(AUTH_REQUIRED, clean_line(str(problem))) from None


async def _with_plan(row: Provider, plan: Plan, account: str) -> None:
    begun = await begin(row.name, plan, config_folder(), account)
    async with CallbackServer() as server:
        attempt = begun.attempt(server.redirect)
        arriving = server.expect(attempt)
        if not await asyncio.to_thread(open_page, attempt.address(begun.issuer.authorize)):
            arriving.cancel()
            raise SignInError(f"no browser can be opened here: run spark login {row.name} in a terminal")
        try:
            async with asyncio.timeout(LONGEST_WAIT):
                answer = await arriving
        except TimeoutError:
            minutes = LONGEST_WAIT // 60
            raise SignInError(f"nobody signed in within {minutes} minutes; nothing was stored") from None
        await begun.finish(attempt, answer, keyring=True)
