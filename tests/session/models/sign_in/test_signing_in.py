"""Signing in with a plan: what goes to the issuer, what is checked of its answer, and what is kept."""

from __future__ import annotations

import base64
import hashlib
import json
import stat
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from session.base.text.masking import mask
from session.models.key import CredentialsError
from session.models.sign_in.attempt import SCOPES, SignInError
from session.models.sign_in.flow import begin
from tests.session.models.sign_in.issuer_server import (
    ENTRY,
    PLAN_SCOPE,
    Fault,
    IssuerServer,
    User,
    browse,
    end_of,
    issuing,
)
from tests.session.models.sign_in.signing import file_in, plan_of, signed_in


@pytest.fixture
def issuer() -> Iterator[IssuerServer]:
    with issuing() as server:
        yield server


def asked(issuer: IssuerServer, path: str) -> dict[str, str]:
    """The fields of the last request for ``path``."""
    return next(fields for each, fields in reversed(issuer.seen) if each == path)


async def test_a_first_sign_in_registers_spark_and_keeps_the_issued_client(
    issuer: IssuerServer, tmp_path: Path
) -> None:
    account = await signed_in(issuer, tmp_path)
    sent, exchanged = asked(issuer, "/authorize"), asked(issuer, "/token")
    assert sent["client_id"] == ENTRY and sent["agent_name_hint"] == "spark"
    assert sent["scope"] == SCOPES and sent["resource"] == "https://api.openai.com/v1"
    assert sent["redirect_uri"].startswith("http://127.0.0.1:") and sent["code_challenge_method"] == "S256"
    digest = hashlib.sha256(exchanged["code_verifier"].encode()).digest()
    assert sent["code_challenge"] == base64.urlsafe_b64encode(digest).decode().rstrip("=")
    assert len(exchanged["code_verifier"]) >= 43 and exchanged["client_id"] == account.client
    assert account.client in issuer.clients and account.client.startswith("oaiapp_")
    file = file_in(tmp_path)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600 and ENTRY not in file.path.read_text()
    kept = file.read()
    assert (kept.current, kept.host) == ("me@example.org", sent["ext_agent_host_id"])
    assert kept.host.startswith("urn:uuid:") and PLAN_SCOPE in kept.rows[kept.current].scopes
    (live,) = issuer.live
    assert live.access not in repr(kept) and live.refresh not in repr(kept)
    assert mask(f"{live.access} {live.refresh}") == "[key] [key]"


async def test_signing_in_again_is_no_second_registration(issuer: IssuerServer, tmp_path: Path) -> None:
    first = await signed_in(issuer, tmp_path)
    before = asked(issuer, "/authorize")
    assert (await signed_in(issuer, tmp_path)).client == first.client
    sent = asked(issuer, "/authorize")
    assert (sent["client_id"], sent["login_hint"]) == (first.client, "me@example.org")
    assert "agent_name_hint" not in sent and "prompt" not in sent
    assert sent["ext_agent_host_id"] == before["ext_agent_host_id"]
    assert all(sent[name] != before[name] for name in ("state", "nonce", "code_challenge"))
    assert len(issuer.clients) == len(file_in(tmp_path).read().rows) == 1


async def test_accounts_and_workspaces_stand_side_by_side_by_name(
    issuer: IssuerServer, tmp_path: Path
) -> None:
    mine = await signed_in(issuer, tmp_path)
    issuer.user = User("user-1", "me@example.org")  # the same user in another workspace
    work = await signed_in(issuer, tmp_path, "work")
    accounts = file_in(tmp_path).read()
    assert list(accounts.rows) == ["me@example.org", "work"] and accounts.current == "work"
    assert mine.client != work.client and asked(issuer, "/authorize")["client_id"] == ENTRY
    await signed_in(issuer, tmp_path, "me@example.org")
    assert asked(issuer, "/authorize")["client_id"] == mine.client
    assert file_in(tmp_path).read().current == "me@example.org"
    with pytest.raises(
        CredentialsError, match=r"no account is called 'wrok'; there are me@example.org, work"
    ):
        accounts.called("wrok")


async def test_a_user_who_does_not_agree_has_signed_in_to_nothing(
    issuer: IssuerServer, tmp_path: Path
) -> None:
    issuer.user.allows = False
    with pytest.raises(SignInError, match="you did not allow it in the browser; nothing was stored"):
        await signed_in(issuer, tmp_path)
    assert file_in(tmp_path).read().rows == {} and not issuer.count("/token")


async def test_a_sign_in_without_the_plan_keeps_the_registration_alone(
    issuer: IssuerServer, tmp_path: Path
) -> None:
    issuer.user.plan = False
    with pytest.raises(SignInError, match="did not allow spark to use the ChatGPT plan; to be asked again"):
        await signed_in(issuer, tmp_path)
    accounts = file_in(tmp_path).read()
    (row,) = accounts.rows.values()
    assert (row.ended, row.tokens, accounts.current) == ("not_allowed", None, "")
    issuer.user.plan = True
    account = await signed_in(issuer, tmp_path)
    assert (account.client, account.ended) == (row.client, "")
    assert asked(issuer, "/authorize")["prompt"] == "consent"


NOW = int(time.time())
MISMATCHES: list[tuple[dict[str, Any], str]] = [
    ({"iss": "https://auth.openai.com.example.org"}, "from another issuer"),
    ({"aud": ["oaiapp_somebody_else"]}, "for another program"),
    ({"aud": []}, "for another program"),
    ({"nonce": "of-another-attempt"}, "another attempt"),
    ({"exp": NOW - 3600}, "has expired"),
    ({"exp": None}, "has expired"),
    ({"iat": NOW + 3600}, "from the future"),
    ({"sub": ""}, "names nobody"),
]


@pytest.mark.parametrize(("claims", "why"), MISMATCHES)
async def test_an_identity_that_does_not_fit_is_not_trusted(
    issuer: IssuerServer, tmp_path: Path, claims: dict[str, Any], why: str
) -> None:
    issuer.claims = claims
    with pytest.raises(SignInError, match=f"not trusted: .*{why}.*; nothing was stored"):
        await signed_in(issuer, tmp_path)
    assert file_in(tmp_path).read().rows == {}


async def test_an_audience_of_several_programs_is_not_trusted(issuer: IssuerServer, tmp_path: Path) -> None:
    issuer.also_for = ("oaiapp_second",)
    with pytest.raises(SignInError, match="for another program"):
        await signed_in(issuer, tmp_path)


def unsigned(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer with its identity unsigned, as a forger would send it."""
    _, claims, _ = answer["id_token"].split(".")
    head = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
    return {**answer, "id_token": f"{head}.{claims}."}


def shared(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer with its identity signed by the published key, as if that were a shared secret."""
    _, claims, signature = answer["id_token"].split(".")
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","kid":"published"}').decode().rstrip("=")
    return {**answer, "id_token": f"{head}.{claims}.{signature}"}


def changed(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer with another user in the signed claims."""
    head, claims, signature = answer["id_token"].split(".")
    read = json.loads(base64.urlsafe_b64decode(claims + "=="))
    forged = base64.urlsafe_b64encode(json.dumps({**read, "sub": "user-9"}).encode()).decode().rstrip("=")
    return {**answer, "id_token": f"{head}.{forged}.{signature}"}


@pytest.mark.parametrize(
    "change",
    [unsigned, shared, changed, lambda answer: {**answer, "id_token": ""}, lambda a: {**a, "id_token": 7}],
)
async def test_an_identity_that_the_issuer_did_not_sign_is_not_trusted(
    issuer: IssuerServer, tmp_path: Path, change: Any
) -> None:
    issuer.faults["/token"] = [Fault(change=change)]
    with pytest.raises(SignInError, match="its signature is not the issuer's"):
        await signed_in(issuer, tmp_path)
    assert file_in(tmp_path).read().rows == {}


@pytest.mark.parametrize(("kid", "key"), [("published", "other"), ("unknown", "published")])
async def test_a_key_that_is_not_published_signs_nothing(
    issuer: IssuerServer, tmp_path: Path, kid: str, key: str
) -> None:
    issuer.claims_kid, issuer.signs_with = kid, key
    with pytest.raises(SignInError, match="its signature is not the issuer's"):
        await signed_in(issuer, tmp_path)


async def test_a_code_is_of_no_use_without_the_verifier_of_its_attempt(
    issuer: IssuerServer, tmp_path: Path
) -> None:
    begun = await begin("chatgpt", plan_of(issuer), tmp_path, "")
    attempt = begun.attempt("http://127.0.0.1:8157/auth/callback")
    answer = attempt.read(end_of(attempt.address(begun.issuer.authorize)))
    with pytest.raises(
        SignInError,
        match=r"refused: .* invalid_grant: Code challenge failed; .* Begin again: spark login chatgpt$",
    ):
        await begun.finish(replace(attempt, verifier="v" * 64), answer, keyring=False)
    assert file_in(tmp_path).read().rows == {} and issuer.issued == {}


async def test_somebody_else_cannot_take_the_place_of_an_account(
    issuer: IssuerServer, tmp_path: Path
) -> None:
    await signed_in(issuer, tmp_path)
    before = file_in(tmp_path).path.read_bytes()
    issuer.user = User("user-2", "you@example.org")
    with pytest.raises(
        SignInError, match=r"you@example\.org signed in, not me@example\.org; nothing was changed"
    ):
        await signed_in(issuer, tmp_path)
    assert file_in(tmp_path).path.read_bytes() == before


ANSWERS = [
    (Fault(302, "", headers={"Location": "{elsewhere}"}), "redirect"),
    (Fault(307, "", headers={"Location": "{elsewhere}"}), "redirect"),
    (Fault(200, "<html>"), "no tokens"),
    (Fault(200, {"access_token": "at"}), "no tokens"),
    (Fault(200, {"access_token": ["at"], "refresh_token": "rt"}), "no tokens"),
    (Fault(500, "oops"), "not working right now"),
    (Fault(400, {"error": "invalid_client", "error_description": "Gone."}), "invalid_client: Gone"),
    (Fault(200, "x" * 1_100_000), "too long"),
]


@pytest.mark.parametrize(("fault", "why"), ANSWERS)
async def test_an_exchange_that_fails_stores_nothing_and_follows_nobody(
    issuer: IssuerServer, tmp_path: Path, fault: Fault, why: str
) -> None:
    with issuing() as elsewhere:
        headers = {
            name: value.format(elsewhere=f"{elsewhere.url}/token") for name, value in fault.headers.items()
        }
        issuer.faults["/token"] = [replace(fault, headers=headers)]
        with pytest.raises(SignInError, match=why):
            await signed_in(issuer, tmp_path)
        assert elsewhere.seen == [] and file_in(tmp_path).read().rows == {}


DOCUMENTS = [
    ({"issuer": "https://auth.openai.com"}, "speaks for another issuer"),
    ({"token_endpoint": None}, "an endpoint is missing"),
    ({"token_endpoint": "http://auth.example.org/token"}, "plain http"),
    ({"jwks_uri": "file:///etc/passwd"}, "must begin with https"),
    ({"revocation_endpoint": "ftp://auth.example.org"}, "must begin with https"),
]


@pytest.mark.parametrize(("change", "why"), DOCUMENTS)
async def test_a_document_that_leads_elsewhere_begins_no_sign_in(
    issuer: IssuerServer, tmp_path: Path, change: dict[str, Any], why: str
) -> None:
    issuer.faults["/.well-known/openid-configuration"] = [Fault(change=lambda body: {**body, **change})]
    with pytest.raises(SignInError, match=why):
        await begin("chatgpt", plan_of(issuer), tmp_path, "")


async def test_several_accounts_and_none_in_use_need_a_name(issuer: IssuerServer, tmp_path: Path) -> None:
    await signed_in(issuer, tmp_path)
    await signed_in(issuer, tmp_path, "my work")
    file = file_in(tmp_path)
    file.write(replace(file.read(), current=""))
    with pytest.raises(
        SignInError, match="say which account: spark login chatgpt --account NAME; there are me"
    ):
        await begin("chatgpt", plan_of(issuer), tmp_path, "")


async def test_a_browser_gets_a_page_and_no_token(issuer: IssuerServer, tmp_path: Path) -> None:
    pages: list[str] = []
    await signed_in(issuer, tmp_path, browser=lambda address: pages.append(browse(address)))
    assert "You are signed in" in pages[0] and "at-" not in pages[0] and "rt-" not in pages[0]
