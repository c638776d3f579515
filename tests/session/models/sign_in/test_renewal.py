"""Renewing the tokens of a plan: one process at a time, written before they are used, and how it can end."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from session.models.credentials import CredentialsError, find_key
from session.models.sign_in import accounts as accounts_module
from session.models.sign_in.accounts import Tokens
from session.models.sign_in.flow import sign_out
from session.models.sign_in.plan_place import ENDINGS
from session.wire.transport.errors import LinkError
from tests.checkout import ROOT
from tests.session.models.keys.keyrings import use_keyring
from tests.session.models.sign_in.issuer_server import PLAN_SCOPE, Fault, IssuerServer, issuing
from tests.session.models.sign_in.signing import (
    file_in,
    plan_of,
    provider_of,
    settings_of,
    signed_in,
    supply_of,
)

TERMINAL = [
    *("invalid_grant", "invalid_refresh_token", "token_expired", "refresh_token_expired"),
    *("refresh_token_invalidated", "refresh_token_reused"),
]
ANOTHER = """
import asyncio, os, sys
from pathlib import Path
from session.models.catalogue import load_catalogue
from session.models.credentials import CredentialsError, KeySupply
import tomllib
config = Path(sys.argv[1])
catalogue = load_catalogue(tomllib.loads((config / "config.toml").read_text()))
supply = KeySupply(catalogue.provider("chatgpt"), config, {}, {})
supply._given = sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
try:
    print(asyncio.run(supply.refresh()), flush=True)
except CredentialsError as problem:
    print(problem, flush=True)
"""


@pytest.fixture
def issuer() -> Iterator[IssuerServer]:
    with issuing() as server:
        yield server


def kept(config: Path) -> Tokens:
    """The tokens of the account in use, as they are on disk."""
    accounts = file_in(config).read()
    tokens = accounts.rows[accounts.current].tokens
    assert tokens is not None
    return tokens


def age(config: Path, seconds: float) -> None:
    """Have the access token of the account in use end in so many seconds."""
    file = file_in(config)
    accounts = file.read()
    row = accounts.rows[accounts.current]
    assert row.tokens is not None
    file.write(accounts.with_account(replace(row, tokens=replace(row.tokens, until=time.time() + seconds))))


def renewals(issuer: IssuerServer) -> int:
    return issuer.count("/token", grant_type="refresh_token")


async def test_a_token_that_holds_is_given_without_asking_anybody(
    issuer: IssuerServer, tmp_path: Path
) -> None:
    await signed_in(issuer, tmp_path)
    issuer.seen.clear()
    supply = supply_of(issuer, tmp_path)
    assert await supply.first() == await supply.first() == kept(tmp_path).access and issuer.seen == []


@pytest.mark.parametrize("seconds", [-10, 60])
async def test_a_token_near_its_end_is_renewed_before_it_is_given(
    issuer: IssuerServer, tmp_path: Path, seconds: float
) -> None:
    await signed_in(issuer, tmp_path)
    old = kept(tmp_path)
    supply = supply_of(issuer, tmp_path)
    assert await supply.first() == old.access
    age(tmp_path, seconds)
    again = supply_of(issuer, tmp_path)
    new = await again.first()
    assert new not in (None, old.access) and renewals(issuer) == 1
    after = kept(tmp_path)
    assert (after.access, after.refresh) == (new, issuer.live[0].refresh) and after.refresh != old.refresh
    assert await again.first() == new and renewals(issuer) == 1


async def test_a_session_renews_by_itself_when_the_hour_is_over(issuer: IssuerServer, tmp_path: Path) -> None:
    issuer.lifetime = 121  # a second before it is renewed
    await signed_in(issuer, tmp_path)
    supply = supply_of(issuer, tmp_path)
    first = await supply.first()
    supply._until = time.time() - 1
    age(tmp_path, 100)
    assert await supply.first() != first and renewals(issuer) == 1


async def test_a_token_that_a_server_refuses_is_renewed_and_never_given_again(
    issuer: IssuerServer, tmp_path: Path
) -> None:
    await signed_in(issuer, tmp_path)
    supply = supply_of(issuer, tmp_path)
    refused = await supply.first()
    assert await supply.refresh() not in (None, refused) and renewals(issuer) == 1
    other = supply_of(issuer, tmp_path)
    other._given = refused  # another session, whose token was refused too
    assert await other.refresh() == kept(tmp_path).access and renewals(issuer) == 1


async def test_two_connections_of_a_session_renew_once(issuer: IssuerServer, tmp_path: Path) -> None:
    await signed_in(issuer, tmp_path)
    age(tmp_path, -1)
    supply = supply_of(issuer, tmp_path)
    given = await asyncio.gather(*(supply.first() for _ in range(5)))
    assert len(set(given)) == 1 and renewals(issuer) == 1


def another(issuer: IssuerServer, config: Path, refused: str) -> subprocess.Popen[str]:
    """A process that renews once a line comes on its standard input."""
    (config / "config.toml").write_text(settings_of(issuer))
    process = subprocess.Popen(
        [sys.executable, "-c", ANOTHER, str(config), refused],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


async def test_two_processes_at_once_renew_once_and_use_the_same_tokens(
    issuer: IssuerServer, tmp_path: Path
) -> None:
    await signed_in(issuer, tmp_path)
    old = kept(tmp_path).access
    issuer.may_answer.clear()
    processes = [another(issuer, tmp_path, old) for _ in range(3)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert await asyncio.to_thread(issuer.renewing.wait, 30)
    issuer.may_answer.set()
    said = [(await asyncio.to_thread(process.communicate))[0].strip() for process in processes]
    assert set(said) == {kept(tmp_path).access} and old not in said
    assert renewals(issuer) == 1 and len(issuer.live) == 1


async def test_a_kill_between_the_renewal_and_the_write_is_told_and_mended(
    issuer: IssuerServer, tmp_path: Path
) -> None:
    account = await signed_in(issuer, tmp_path)
    before = kept(tmp_path)
    issuer.may_answer.clear()
    killed, waiting = (another(issuer, tmp_path, before.access) for _ in range(2))
    assert killed.stdin is not None and waiting.stdin is not None
    killed.stdin.write("go\n")
    killed.stdin.flush()
    assert await asyncio.to_thread(issuer.renewing.wait, 30)  # the old token is void from now on
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    issuer.may_answer.set()
    assert kept(tmp_path) == before  # whole, as it was
    said = (await asyncio.to_thread(waiting.communicate, "go\n"))[0]  # the lock is free
    assert "was used twice" in said and "Sign in again: spark login chatgpt" in said
    accounts = file_in(tmp_path).read()
    row = accounts.rows[accounts.current]
    assert (row.client, row.ended, row.tokens) == (account.client, "refresh_token_reused", None)
    assert (await signed_in(issuer, tmp_path)).client == account.client
    assert await supply_of(issuer, tmp_path).first() == kept(tmp_path).access


async def test_a_renewal_whose_caller_is_gone_is_written_down(issuer: IssuerServer, tmp_path: Path) -> None:
    await signed_in(issuer, tmp_path)
    old = kept(tmp_path)
    supply = supply_of(issuer, tmp_path)
    await supply.first()
    issuer.may_answer.clear()
    asking = asyncio.create_task(supply.refresh())
    assert await asyncio.to_thread(issuer.renewing.wait, 30)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    issuer.may_answer.set()
    later = supply_of(issuer, tmp_path)
    later._given = old.access
    assert await later.refresh() == kept(tmp_path).access == issuer.live[0].access and renewals(issuer) == 1


async def test_what_cannot_be_written_is_not_asked_for(
    issuer: IssuerServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await signed_in(issuer, tmp_path)
    age(tmp_path, -1)

    def full(file: Path, data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(accounts_module, "replace_private", full)
    with pytest.raises(CredentialsError, match=r"cannot write .*chatgpt-credentials.json: No space left"):
        await supply_of(issuer, tmp_path).first()
    assert renewals(issuer) == 0 and len(issuer.live) == 1


@pytest.mark.parametrize("code", TERMINAL)
@pytest.mark.parametrize("nested", [False, True])
async def test_a_sign_in_that_has_ended_says_how_and_is_over(
    issuer: IssuerServer, tmp_path: Path, code: str, nested: bool
) -> None:
    account = await signed_in(issuer, tmp_path)
    age(tmp_path, -1)
    body = {"error": {"code": code, "message": "No."}} if nested else {"error": code}
    issuer.faults["/token"] = [Fault(400, body)]
    supply = supply_of(issuer, tmp_path)
    with pytest.raises(CredentialsError) as told:
        await supply.first()
    line = f"the ChatGPT sign-in of me@example.org {ENDINGS[code]}. Sign in again: spark login chatgpt"
    assert str(told.value) == line
    accounts = file_in(tmp_path).read()
    row = accounts.rows[accounts.current]
    assert (row.client, row.ended, row.tokens) == (account.client, code, None)
    issuer.seen.clear()
    with pytest.raises(CredentialsError) as again:
        await supply_of(issuer, tmp_path).first()
    assert str(again.value) == line and issuer.seen == []
    # It still stands for the plan: no key pays in its place.
    assert find_key(provider_of(issuer), tmp_path, {}) is not None


@pytest.mark.parametrize(
    "fault",
    [
        Fault(500, {"error": "server_error"}),
        Fault(503, "<html>down</html>"),
        Fault(429, {"error": "rate_limit_exceeded"}),
        Fault(200, "nonsense"),
        Fault(302, "", headers={"Location": "http://127.0.0.1:9/"}),
        Fault(403, "<html>blocked by the office</html>"),
        Fault(401, ""),
        Fault(200, {"access_token": "at\nno header", "refresh_token": "rt"}),
    ],
)
async def test_a_fault_that_may_pass_ends_no_sign_in(
    issuer: IssuerServer, tmp_path: Path, fault: Fault
) -> None:
    await signed_in(issuer, tmp_path)
    age(tmp_path, -1)
    before = kept(tmp_path)
    issuer.faults["/token"] = [fault]
    supply = supply_of(issuer, tmp_path)
    with pytest.raises(LinkError) as told:
        await supply.first()
    # What answers in the issuer's place says nothing of a key, and ends no sign-in.
    assert told.value.kind != "unauthorized" and "API key" not in told.value.message
    assert kept(tmp_path) == before
    assert await supply.first() == kept(tmp_path).access != before.access


async def test_an_issuer_that_is_away_does_not_matter_while_the_token_holds(
    issuer: IssuerServer, tmp_path: Path
) -> None:
    await signed_in(issuer, tmp_path)
    age(tmp_path, 60)
    issuer.faults["/.well-known/openid-configuration"] = [Fault(503, "")] * 2
    supply = supply_of(issuer, tmp_path)
    assert await supply.first() == kept(tmp_path).access and renewals(issuer) == 0
    with pytest.raises(LinkError):  # refused by the server: it does not hold
        await supply.refresh()


async def test_a_refusal_that_nobody_knows_erases_nothing(issuer: IssuerServer, tmp_path: Path) -> None:
    await signed_in(issuer, tmp_path)
    age(tmp_path, -1)
    before = kept(tmp_path)
    issuer.faults["/token"] = [Fault(400, {"error": "invalid_client", "error_description": "Hm."})]
    with pytest.raises(
        CredentialsError, match=r"could not be renewed: .* invalid_client: Hm.; try again, or sign"
    ):
        await supply_of(issuer, tmp_path).first()
    assert kept(tmp_path) == before


async def test_a_plan_that_is_no_longer_allowed_is_not_used(issuer: IssuerServer, tmp_path: Path) -> None:
    await signed_in(issuer, tmp_path)
    age(tmp_path, -1)
    issuer.narrowed = PLAN_SCOPE
    with pytest.raises(CredentialsError, match=r"does not allow spark to use the plan. Sign in again"):
        await supply_of(issuer, tmp_path).first()
    assert file_in(tmp_path).read().rows["me@example.org"].ended == "not_allowed"


async def test_a_refresh_token_that_does_not_rotate_is_kept(issuer: IssuerServer, tmp_path: Path) -> None:
    await signed_in(issuer, tmp_path)
    age(tmp_path, -1)
    before = kept(tmp_path)
    issuer.faults["/token"] = [Fault(200, {"access_token": "at-new", "expires_in": 600})]
    assert await supply_of(issuer, tmp_path).first() == "at-new"
    assert kept(tmp_path).refresh == before.refresh and abs(kept(tmp_path).until - time.time() - 600) < 60


async def test_each_account_pays_by_name(issuer: IssuerServer, tmp_path: Path) -> None:
    await signed_in(issuer, tmp_path)
    mine = kept(tmp_path).access
    await signed_in(issuer, tmp_path, "my work")
    assert await supply_of(issuer, tmp_path, "me@example.org").first() == mine
    assert await supply_of(issuer, tmp_path).first() == kept(tmp_path).access != mine
    found = find_key(provider_of(issuer), tmp_path, {}, account="me@example.org")
    assert found is not None and found.source == "the ChatGPT plan of me@example.org"
    issuer.faults["/token"] = [Fault(400, {"error": "invalid_grant"})]
    supply = supply_of(issuer, tmp_path, "me@example.org")
    supply._given = mine
    with pytest.raises(CredentialsError, match=r"spark login chatgpt --account me@example.org$"):
        await supply.refresh()
    with pytest.raises(CredentialsError, match="no account is called 'wrok'"):
        find_key(provider_of(issuer), tmp_path, {}, account="wrok")


@pytest.mark.parametrize(
    "damage", ["{", "[]", '{"host": 1, "current": "", "accounts": []}', '{"accounts": 3}']
)
async def test_a_damaged_file_is_told_and_shows_nothing(
    issuer: IssuerServer, tmp_path: Path, damage: str
) -> None:
    await signed_in(issuer, tmp_path)
    file_in(tmp_path).path.write_text(damage)
    with pytest.raises(
        CredentialsError, match=r"chatgpt-credentials.json is damaged; move it away and run: spark"
    ):
        find_key(provider_of(issuer), tmp_path, {})


async def test_a_file_that_others_can_read_is_not_used(issuer: IssuerServer, tmp_path: Path) -> None:
    await signed_in(issuer, tmp_path)
    file_in(tmp_path).path.chmod(0o644)
    with pytest.raises(CredentialsError, match=r"can be read by others; run: chmod 600 "):
        find_key(provider_of(issuer), tmp_path, {})


async def test_tokens_live_in_the_keyring_where_there_is_one(
    issuer: IssuerServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = use_keyring(monkeypatch, tmp_path)
    account = await signed_in(issuer, tmp_path, keyring=True)
    text = file_in(tmp_path).path.read_text()
    assert account.in_keyring and "at-" not in text and "rt-" not in text
    supply = supply_of(issuer, tmp_path)
    first = await supply.first()
    second = await supply.refresh()
    assert first is not None and second is not None and first != second
    assert second in rows.read_text() and first not in rows.read_text()
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    with pytest.raises(CredentialsError, match="is in the system keyring, which cannot be used"):
        await supply_of(issuer, tmp_path).first()
    use_keyring(monkeypatch, tmp_path)
    assert (left := await sign_out("chatgpt", plan_of(issuer), tmp_path, "")) is not None and not left.doubt
    assert "at-" not in rows.read_text() and issuer.live == []


async def test_signing_out_withdraws_the_tokens_and_forgets_them(
    issuer: IssuerServer, tmp_path: Path
) -> None:
    account = await signed_in(issuer, tmp_path)
    refresh = kept(tmp_path).refresh
    left = await sign_out("chatgpt", plan_of(issuer), tmp_path, "")
    assert left is not None and (left.name, left.doubt, left.next) == ("me@example.org", "", "")
    fields = {"token": refresh, "token_type_hint": "refresh_token", "client_id": account.client}
    assert issuer.count("/revoke", **fields) == 1 and issuer.live == []
    assert refresh not in file_in(tmp_path).path.read_text()
    assert find_key(provider_of(issuer), tmp_path, {}) is None  # from now on a key may pay
    assert await sign_out("chatgpt", plan_of(issuer), tmp_path, "me@example.org") is None
    assert (await signed_in(issuer, tmp_path)).client == account.client


@pytest.mark.parametrize(
    ("path", "fault", "why"),
    [
        ("/revoke", Fault(503, ""), "not working right now"),
        ("/revoke", Fault(400, {"error": "invalid_client"}), "invalid_client"),
        ("/.well-known/openid-configuration", Fault(500, ""), "not working right now"),
        (
            "/.well-known/openid-configuration",
            Fault(change=lambda body: {name: body[name] for name in body if name != "revocation_endpoint"}),
            "has no address for it",
        ),
    ],
)
async def test_a_withdrawal_that_nobody_confirmed_is_told(
    issuer: IssuerServer, tmp_path: Path, path: str, fault: Fault, why: str
) -> None:
    await signed_in(issuer, tmp_path)
    issuer.faults[path] = [fault]
    left = await sign_out("chatgpt", plan_of(issuer), tmp_path, "")
    assert left is not None and why in left.doubt
    assert file_in(tmp_path).read().rows["me@example.org"].tokens is None


async def test_after_signing_out_another_account_is_in_use(issuer: IssuerServer, tmp_path: Path) -> None:
    await signed_in(issuer, tmp_path)
    await signed_in(issuer, tmp_path, "work")
    left = await sign_out("chatgpt", plan_of(issuer), tmp_path, "")
    assert left is not None and (left.name, left.next) == ("work", "me@example.org")
    left = await sign_out("chatgpt", plan_of(issuer), tmp_path, "me@example.org")
    assert left is not None and left.next == ""
