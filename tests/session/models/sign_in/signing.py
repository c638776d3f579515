"""Signs in to an issuer on loopback, for tests that need an account."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from session.models.catalogue import Catalogue, Provider, load_catalogue
from session.models.credentials import KeySupply
from session.models.sign_in.accounts import Account, AccountFile
from session.models.sign_in.callback_server import CallbackServer
from session.models.sign_in.flow import begin
from session.models.sign_in.plan import Plan
from tests.session.models.sign_in.issuer_server import IssuerServer, browse

Browser = Callable[[str], Any]
_PROGRAM = f"""#!{sys.executable}
import sys, urllib.request
urllib.request.urlopen(sys.argv[1], timeout=30).read()
"""
"""A browser whose user agrees to everything."""


def stand_in_browser(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have processes open pages in a browser in the new folder ``programs``; in a project none would be
    used."""
    programs.mkdir()
    browser = programs / "xdg-open"
    browser.write_text(_PROGRAM)
    browser.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")


def plan_of(issuer: IssuerServer) -> Plan:
    """The ChatGPT plan as the catalogue has it, with another issuer."""
    plan = load_catalogue().provider("chatgpt").plan
    assert plan is not None
    return replace(plan, issuer=issuer.url)


def provider_of(issuer: IssuerServer) -> Provider:
    return replace(load_catalogue().provider("chatgpt"), plan=plan_of(issuer))


def settings_of(issuer: IssuerServer, base_url: str = "") -> str:
    """A ``config.toml`` whose ChatGPT plan is signed in to at ``issuer``."""
    plan = plan_of(issuer)
    rows = {"title": plan.title, "issuer": plan.issuer, "resource": plan.resource, "usage": plan.usage}
    table = ", ".join(f'{name} = "{value}"' for name, value in (*rows.items(), ("models_of", plan.models_of)))
    address = f'base_url = "{base_url}"\n' if base_url else ""
    return f"[providers.chatgpt]\nplan = {{ {table} }}\n{address}"


async def signed_in(
    issuer: IssuerServer,
    config: Path,
    name: str = "",
    browser: Browser = browse,
    keyring: bool = False,
    port: int = 0,
) -> Account:
    """The account that ``browser`` signs in as."""
    begun = await begin("chatgpt", plan_of(issuer), config, name)
    async with CallbackServer(port) as server:
        attempt = begun.attempt(server.redirect)
        answer = server.expect(attempt)
        browsing = asyncio.create_task(asyncio.to_thread(browser, attempt.address(begun.issuer.authorize)))
        try:
            found = await answer
        finally:
            await asyncio.gather(browsing, return_exceptions=True)
        return await begun.finish(attempt, found, keyring=keyring)


def file_in(config: Path) -> AccountFile:
    return AccountFile(config, "chatgpt")


def supply_of(issuer: IssuerServer, config: Path, account: str = "") -> KeySupply:
    """The key of the plan, as a session gets it."""
    return KeySupply(provider_of(issuer), config, {}, {}, account)


def catalogue_of(issuer: IssuerServer) -> Catalogue:
    return replace(load_catalogue(), providers={**load_catalogue().providers, "chatgpt": provider_of(issuer)})
