"""Signs in with a plan from the terminal: opens the browser, and waits for its answer or a pasted address."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from session.base.programs import open_page
from session.base.text.sanitize import clean_line
from session.models.catalogue import Provider
from session.models.key import CredentialsError
from session.models.sign_in.accounts import AccountFile
from session.models.sign_in.attempt import Answer, Attempt, NotOurs, NotWhole, SignInError
from session.models.sign_in.callback_server import CallbackServer
from session.models.sign_in.flow import begin, sign_out
from session.models.sign_in.plan import Plan
from tui.front.printing import say

LONGEST_WAIT = 15 * 60
"""Seconds to wait for the browser."""
_MOST_BYTES = 65_536
_NOTICE = (
    "You're using your {title} plan: what spark asks counts towards it, and no key is used. "
    "To see and limit its use: {usage}"
)


def sign_in(
    provider: Provider, plan: Plan, config: Path, *, account: str, port: int, keyring: bool, browser: bool
) -> str:
    """Sign in to ``plan``, and say what the user has to do. Returns what a user is told the first time, else
    an empty text. Raises SignInError, CredentialsError."""
    known = bool(AccountFile(config, provider.name).read().rows)
    asyncio.run(_sign_in(provider.name, plan, config, account, port, keyring=keyring, browser=browser))
    return "" if known else _NOTICE.format(title=plan.title, usage=plan.usage)


async def _sign_in(
    provider: str, plan: Plan, config: Path, account: str, port: int, *, keyring: bool, browser: bool
) -> None:
    begun = await begin(provider, plan, config, account)
    async with CallbackServer(port) as server:
        attempt = begun.attempt(server.redirect)
        arriving = server.expect(attempt)
        address = attempt.address(begun.issuer.authorize)
        opened = browser and await asyncio.to_thread(open_page, address)
        say(f"Continue with {plan.title}")
        how = "The browser opens this address" if opened else "Open this address in a browser"
        say(f"{how}:\n\n  {address}\n")
        say(
            f"If the browser is on another machine, its last page does not load: paste its address here.\n"
            f"Or forward the port: ssh -L {server.port}:127.0.0.1:{server.port} …\n"
        )
        answer = await _first_answer(arriving, attempt)
        stored = await begun.finish(attempt, answer, keyring=keyring)
    where = AccountFile(config, provider).where(stored)
    say(f"{provider}: {clean_line(stored.name)} is signed in; the sign-in is stored in {where}")


async def _first_answer(arriving: asyncio.Future[Answer], attempt: Attempt) -> Answer:
    """What comes first: the browser's request, or an address on standard input."""
    pasted: asyncio.Queue[str] = asyncio.Queue()
    try:
        with _lines(pasted):
            async with asyncio.timeout(LONGEST_WAIT):
                while True:
                    line = asyncio.ensure_future(pasted.get())
                    waiting: set[asyncio.Future[Any]] = {arriving, line}
                    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                    if arriving.done():
                        line.cancel()
                        return arriving.result()
                    try:
                        return attempt.read(line.result())
                    except NotOurs as problem:
                        say(f"spark: {problem}", err=True)
                    except NotWhole:
                        say("spark: the address was cut: copy all of it", err=True)
    except TimeoutError:
        raise SignInError(
            f"nobody signed in within {LONGEST_WAIT // 60} minutes; nothing was stored"
        ) from None
    finally:
        arriving.cancel()


@contextlib.contextmanager
def _lines(queue: asyncio.Queue[str]) -> Iterator[None]:
    """Put the lines of standard input into ``queue``, where it is a terminal or a pipe."""
    loop, begun = asyncio.get_running_loop(), bytearray()

    def read() -> None:
        try:
            data = os.read(sys.stdin.fileno(), _MOST_BYTES)
        except OSError:
            data = b""
        begun.extend(data)
        if not data or len(begun) > _MOST_BYTES:
            loop.remove_reader(sys.stdin)
            if begun:
                begun.extend(b"\n")
        while b"\n" in begun:
            line, _, rest = bytes(begun).partition(b"\n")
            begun[:] = rest
            if text := line.decode("utf-8", "replace").strip():
                queue.put_nowait(text)

    try:
        loop.add_reader(sys.stdin, read)
    except (OSError, ValueError):  # a file, or closed: nobody pastes
        yield
        return
    try:
        yield
    finally:
        loop.remove_reader(sys.stdin)


def leave_plan(provider: Provider, plan: Plan, config: Path, account: str) -> bool:
    """Sign out, and say what came of it; false where nobody is signed in. Raises CredentialsError."""
    left = asyncio.run(sign_out(provider.name, plan, config, account))
    if left is None:
        return False
    name = clean_line(left.name)
    if left.doubt:
        say(f"{provider.name}: {name} is signed out on this machine")
        say(
            f"spark: {plan.title} did not confirm that the sign-in is withdrawn ({left.doubt}): "
            f"remove spark in its settings, {plan.usage}",
            err=True,
        )
    else:
        say(f"{provider.name}: {name} is signed out, and the sign-in is withdrawn")
    if left.next:
        say(f"{provider.name}: {clean_line(left.next)} is used from now on")
    return True


__all__ = ["CredentialsError", "SignInError", "leave_plan", "sign_in"]
