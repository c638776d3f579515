from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from session.base.events import Notice
from session.models.credentials import CredentialsError
from session.project.workspace import WorkspaceError
from session.setup.config import ConfigError, Flags
from session.setup.opening import Opening, open_project
from tests.session.calling import allow
from tests.session.talking import PLAIN, talking


def opened(root: Path, home: Path, environ: dict[str, str] | None = None, **flags: Any) -> Opening:
    folders = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "STATE", "CACHE")}
    return open_project(root, Flags(**flags), {**folders, **(environ or {})})


def test_without_a_key_there_is_no_endpoint_and_one_line_says_what_to_do(
    tmp_path: Path, own_folders: Path
) -> None:
    opening = opened(tmp_path, own_folders)
    assert opening.endpoint is None
    assert opening.missing == (
        "no key: set OPENAI_API_KEY, or run: spark login openai, "
        "or with a ChatGPT plan: spark login chatgpt (spark demo needs none)"
    )
    assert opening.keyless
    assert opening.model.name == "gpt-6-luna"


def test_with_a_key_there_is_one(tmp_path: Path, own_folders: Path) -> None:
    opening = opened(tmp_path, own_folders, {"OPENAI_API_KEY": "sk-1"})
    assert opening.missing == ""
    assert opening.endpoint is not None
    assert opening.endpoint.websocket_url() == "wss://api.openai.com/v1/responses"
    assert opening.endpoint.api_key == "sk-1"
    assert "sk-1" not in repr(opening)


@pytest.mark.parametrize("host", ["127.0.0.1:8417", "localhost:1", "[::1]:9"])
def test_a_server_on_this_machine_needs_no_key(tmp_path: Path, own_folders: Path, host: str) -> None:
    opening = opened(tmp_path, own_folders, base_url=f"http://{host}/v1")
    assert opening.endpoint is not None
    assert opening.endpoint.websocket_url() == f"ws://{host}/v1/responses"


@pytest.mark.parametrize(
    "url", ["http://example.com/v1", "ftp://127.0.0.1", "nonsense", "https://", "https://a b/", "http://[::1"]
)
def test_an_address_that_cannot_be_used_is_told_and_not_dialled(
    tmp_path: Path, own_folders: Path, url: str
) -> None:
    opening = opened(tmp_path, own_folders, {"OPENAI_API_KEY": "sk-1"}, base_url=url)
    assert opening.endpoint is None
    assert "base URL" in opening.missing and "\n" not in opening.missing


def test_a_provider_without_an_address_says_how_to_give_one(tmp_path: Path, own_folders: Path) -> None:
    opening = opened(tmp_path, own_folders, model="spark-practice")
    assert opening.endpoint is None
    assert opening.missing == "provider 'partner' has no address: give --base-url"


def test_a_provider_without_a_variable_says_how_its_key_is_stored(tmp_path: Path, own_folders: Path) -> None:
    config = own_folders / "config" / "spark"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('[providers.mine]\nbase_url = "https://mine.example/v1"\n')
    opening = opened(tmp_path, own_folders, provider="mine")
    assert opening.missing.startswith("no key: run: spark login mine")


def test_bad_settings_keys_and_folders_are_errors_of_their_own(tmp_path: Path, own_folders: Path) -> None:
    with pytest.raises(WorkspaceError):
        opened(tmp_path / "none", own_folders)
    with pytest.raises(ConfigError):
        opened(tmp_path, own_folders, effort="huge")
    with pytest.raises(CredentialsError):
        opened(tmp_path, own_folders, {"OPENAI_API_KEY": "sk 1"})


def test_a_providers_headers_come_from_the_catalogue(tmp_path: Path, own_folders: Path) -> None:
    plain = opened(tmp_path, own_folders, {"ANTHROPIC_API_KEY": "sk-1"}, model="claude-haiku-4-5")
    assert plain.endpoint is not None
    assert plain.endpoint.request_headers() == {"anthropic-version": "2023-06-01", "x-api-key": "sk-1"}
    assert str(plain.service.routes[0]) == "Messages over HTTP"


def test_a_faster_tier_that_is_not_there_is_refused_on_the_command_line(
    tmp_path: Path, own_folders: Path
) -> None:
    with pytest.raises(ConfigError, match="--fast: cerebras has no faster tier for gpt-oss-120b"):
        opened(tmp_path, own_folders, model="gpt-oss-120b", fast=True)


async def test_a_session_tells_which_settings_have_no_effect(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    allow(tmp_path, "[providers.partner]\nlanes = true\n")
    async with talking(tmp_path / "project", PLAIN) as talk:
        told = await talk.until(Notice, lambda event: "lanes" in event.text)
    assert told.text.endswith("lanes of [providers.partner] has no effect any more; remove it")
    assert told.level == "warning"
