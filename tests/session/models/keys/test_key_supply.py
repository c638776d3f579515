"""Keys from each source to a server that checks them: the partner with a key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from session.base.text.masking import mask
from session.models.catalogue import Provider
from session.models.credentials import CredentialsError, Key, KeyPlace, KeySupply, find_key
from session.partner.server.server import Partner
from session.setup.config import Flags
from session.setup.opening import Opening, open_project, with_key
from session.wire.link.connection import Connection, RequestProfile
from session.wire.link.state import LinkState
from session.wire.protocol.events import Finished
from session.wire.protocol.items import user_message
from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import LinkError, one_line
from session.wire.transport.model_list import fetch_models, list_models
from tests.session.models.keys.keyrings import use_keyring
from tests.session.models.keys.test_key_command import script
from tests.session.wire.transport.test_websocket import answering, error, http

SECRET = "sk-supplied-0123456789"
OPENAI = Provider("openai", "https://api.openai.com/v1", "OPENAI_API_KEY")
PROFILE = RequestProfile(model="spark-practice", instructions="Be kind.")


def opened(root: Path, home: Path, url: str, key: str = "") -> Opening:
    folders = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "STATE", "CACHE")}
    environ = {**folders, "OPENAI_API_KEY": key}
    return open_project(root, Flags(base_url=url, model="spark-practice"), environ)


def configure(home: Path, name: str, text: str) -> Path:
    file = home / "config" / "spark" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o600)
    return file


def command_row(words: tuple[str, ...]) -> str:
    return f"[keys]\nopenai = {{ command = {json.dumps(words)} }}\n"


async def ask(connection: Connection) -> list[object]:
    return [event async for event in connection.respond([user_message("hello")])]


async def test_the_connection_runs_the_command_when_it_dials(tmp_path: Path, own_folders: Path) -> None:
    words = script(tmp_path, f"echo run >> {tmp_path}/runs; echo {SECRET}")
    configure(own_folders, "config.toml", command_row(words))
    async with Partner(key=SECRET, rate=float("inf")) as partner:
        opening = opened(tmp_path, own_folders, partner.url)
        assert not (tmp_path / "runs").exists()
        assert opening.endpoint is not None and opening.endpoint.api_key is None
        assert opening.key == KeyPlace("openai", "the command tool", words)
        connection = Connection(opening.endpoint, PROFILE, service=opening.service)
        try:
            assert isinstance((await ask(connection))[-1], Finished)
            assert "spark-practice" in await list_models(opening.endpoint)
        finally:
            await connection.close()
        assert (tmp_path / "runs").read_text() == "run\n"
        assert SECRET not in repr((opening, connection, opening.keys, opening.endpoint))


async def test_a_command_that_fails_is_a_refusal_and_the_next_answer_asks_again(
    tmp_path: Path, own_folders: Path
) -> None:
    configure(own_folders, "config.toml", command_row(script(tmp_path, f"cat {tmp_path}/key")))
    async with Partner(key=SECRET, rate=float("inf")) as partner:
        opening = opened(tmp_path, own_folders, partner.url)
        assert opening.endpoint is not None
        connection = Connection(opening.endpoint, PROFILE, service=opening.service)
        try:
            with pytest.raises(LinkError, match="'tool' ended with exit code 1") as caught:
                await ask(connection)
            assert (caught.value.kind, connection.state) == ("unauthorized", LinkState.FAILED)
            (tmp_path / "key").write_text(SECRET)
            assert isinstance((await ask(connection))[-1], Finished)
        finally:
            await connection.close()


async def test_a_row_that_points_to_the_keyring_is_fetched_from_there(
    tmp_path: Path, own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = use_keyring(monkeypatch, tmp_path)
    configure(own_folders, "credentials.toml", "openai = { keyring = true }\n")
    async with Partner(key=SECRET) as partner:
        opening = opened(tmp_path, own_folders, partner.url)
        with pytest.raises(CredentialsError, match="has no key for openai"):
            await with_key(opening)
        kept.write_text(json.dumps({"spark/openai": SECRET}))
        keyed = await with_key(opening)
        assert keyed.endpoint is not None and keyed.endpoint.api_key == SECRET
        assert SECRET not in repr(keyed)
        assert "spark-practice" in await fetch_models(keyed.endpoint)


async def test_the_keyring_is_not_touched_where_no_row_points_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_keyring(monkeypatch, tmp_path, "Hanging")
    assert find_key(OPENAI, tmp_path, {}) is None
    configured = tmp_path / "credentials.toml"
    configured.write_text("openai = { keyring = true }\n")
    configured.chmod(0o600)
    assert find_key(OPENAI, tmp_path, {"OPENAI_API_KEY": SECRET}) == Key(SECRET, "OPENAI_API_KEY")
    assert isinstance(find_key(OPENAI, tmp_path, {}, {"openai": ("pass",)}), KeyPlace)


async def test_a_newer_key_is_given_where_there_is_one(tmp_path: Path) -> None:
    words = script(tmp_path, f"cat {tmp_path}/key")
    (tmp_path / "key").write_text("sk-first-0123456789")
    supply = KeySupply(OPENAI, tmp_path, {}, {"openai": words})
    assert await supply.first() == "sk-first-0123456789"
    assert await supply.refresh() is None
    (tmp_path / "key").write_text("sk-second-0123456789")
    assert await supply.first() == "sk-first-0123456789"
    assert await supply.refresh() == "sk-second-0123456789"
    assert await supply.first() == "sk-second-0123456789"


async def test_a_newer_key_may_come_from_the_file_but_not_from_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "credentials.toml"
    file.write_text('openai = "sk-first-0123456789"\n')
    file.chmod(0o600)
    supply = KeySupply(OPENAI, tmp_path, {}, {})
    found = supply.at_hand()
    assert isinstance(found, Key) and await supply.refresh() is None
    file.write_text('openai = "sk-second-0123456789"\n')
    assert await supply.refresh() == "sk-second-0123456789"
    by_variable = KeySupply(OPENAI, tmp_path, {"OPENAI_API_KEY": SECRET}, {})
    by_variable.at_hand()
    assert await by_variable.refresh() is None


async def test_a_server_that_repeats_the_key_does_not_get_it_told() -> None:
    key = Key(SECRET, "OPENAI_API_KEY")
    refusal = http("401 Unauthorized", error(f"Incorrect API key provided: {SECRET}."), "application/json")
    async with answering(refusal) as endpoint:
        connection = Connection(endpoint, PROFILE)
        try:
            with pytest.raises(LinkError, match=r"provided: \[key\]") as caught:
                await ask(connection)
            assert SECRET not in str(caught.value)
        finally:
            await connection.close()
    assert mask(f"bad key {key.secret}!") == "bad key [key]!"
    assert one_line(f"{'x' * 290} {SECRET}") == f"{'x' * 290} [key]"
    assert mask("none of it") == "none of it" and Key("none", "X").secret == "none"


async def test_an_opening_with_nothing_to_fetch_stays_as_it_is(tmp_path: Path, own_folders: Path) -> None:
    opening = opened(tmp_path, own_folders, "http://127.0.0.1:9/v1")
    assert await with_key(opening) is opening
    assert opening.endpoint is not None and not opening.endpoint.has_key


async def test_the_list_of_models_says_why_there_is_none() -> None:
    async with Partner(key=SECRET) as partner:
        with pytest.raises(LinkError, match="wants an API key") as caught:
            await fetch_models(Endpoint(partner.url))
        assert caught.value.kind == "unauthorized"
        with pytest.raises(LinkError, match="did not accept the API key"):
            await fetch_models(Endpoint(partner.url, "sk-wrong"))
