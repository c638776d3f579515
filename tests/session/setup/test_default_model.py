"""What answers a user who named nothing: the provider whose key there is, and its fastest coding model."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from session.models.catalogue import load_catalogue
from session.setup.default_model import FILE_NAME, KEPT_DAYS, DefaultModels
from tests.session.setup.test_opening import opened

TODAY = date(2026, 11, 22)
ORDER = [name for name in load_catalogue().key_order if load_catalogue().provider(name).plan is None]


@pytest.mark.parametrize("name", ORDER)
def test_a_key_of_any_provider_alone_is_enough(tmp_path: Path, own_folders: Path, name: str) -> None:
    provider = load_catalogue().provider(name)
    opening = opened(tmp_path, own_folders, {provider.key_variable: "sk-1"})
    default = load_catalogue().default_model(name)
    assert (opening.settings.provider, opening.model.name) == (name, default)
    assert opening.settings.effort in ("auto", *(opening.model.efforts or ("medium",)))
    assert opening.endpoint is not None and opening.endpoint.base_url == provider.base_url
    assert opening.endpoint.api_key == "sk-1" and not opening.missing
    if name == "openai":
        assert not opening.settings.notes
    else:
        (note,) = opening.settings.notes
        assert f"one of {name}: {default} answers" in note and "--provider" in note


@pytest.mark.parametrize(
    "name", [name for name in ORDER if load_catalogue().provider(name).base_url_variable]
)
def test_a_key_goes_to_the_address_in_the_providers_own_variable(
    tmp_path: Path, own_folders: Path, name: str
) -> None:
    provider = load_catalogue().provider(name)
    gateway = "https://gateway.example.org/v1"
    environ = {provider.key_variable: "sk-1", provider.base_url_variable: gateway}
    opening = opened(tmp_path, own_folders, environ)
    assert opening.settings.provider == name
    assert opening.endpoint is not None and opening.endpoint.base_url == gateway


def test_of_several_keys_the_first_in_the_order_is_used_and_the_others_are_named(
    tmp_path: Path, own_folders: Path
) -> None:
    keys = {"ANTHROPIC_API_KEY": "sk-a", "GROQ_API_KEY": "gsk", "CEREBRAS_API_KEY": "csk"}
    opening = opened(tmp_path, own_folders, keys)
    assert opening.settings.provider == "cerebras"
    assert "groq, anthropic would do too" in opening.settings.notes[0]
    assert opened(tmp_path, own_folders, {**keys, "OPENAI_API_KEY": "sk"}).settings.provider == "openai"


@pytest.mark.parametrize(
    ("flags", "environ", "config"),
    [
        ({"provider": "openai"}, {}, ""),
        ({"model": "gpt-5.6-luna"}, {}, ""),
        ({}, {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, ""),
        ({}, {}, 'provider = "openai"\n'),
        ({}, {}, 'model = "gpt-5.6-luna"\n'),
    ],
)
def test_what_is_named_is_used_whatever_keys_there_are(
    tmp_path: Path, own_folders: Path, flags: dict[str, str], environ: dict[str, str], config: str
) -> None:
    if config:
        (own_folders / "config" / "spark").mkdir(parents=True)
        (own_folders / "config" / "spark" / "config.toml").write_text(config)
    opening = opened(tmp_path, own_folders, {**environ, "GROQ_API_KEY": "gsk"}, **flags)
    assert opening.settings.provider == "openai" and not opening.settings.notes


def test_a_named_provider_gets_a_model_that_it_has(tmp_path: Path, own_folders: Path) -> None:
    opening = opened(tmp_path, own_folders, {"GROQ_API_KEY": "gsk"}, provider="groq")
    assert opening.model.name == "openai/gpt-oss-120b"
    named = opened(tmp_path, own_folders, {"GROQ_API_KEY": "gsk"}, provider="groq", model="llama")
    assert named.model.name == "llama" and not named.default_unsettled


def test_a_model_that_no_row_knows_is_asked_of_the_provider_with_a_key(
    tmp_path: Path, own_folders: Path
) -> None:
    opening = opened(tmp_path, own_folders, {"GROQ_API_KEY": "gsk"}, model="novel-9")
    assert (opening.settings.provider, opening.model.name) == ("groq", "novel-9")
    assert not opening.missing and "one of groq: novel-9 answers" in opening.settings.notes[0]
    both = opened(tmp_path, own_folders, {"GROQ_API_KEY": "gsk", "OPENAI_API_KEY": "sk"}, model="novel-9")
    assert both.settings.provider == "openai"


def test_the_default_is_kept_for_a_week_by_address(tmp_path: Path) -> None:
    kept = DefaultModels(tmp_path)
    kept.keep("https://a/v1", "one", TODAY)
    kept.keep("https://b/v1", "two", TODAY)
    assert (kept.kept("https://a/v1", TODAY), kept.kept("https://b/v1", TODAY)) == ("one", "two")
    last = TODAY + timedelta(days=KEPT_DAYS - 1)
    assert kept.kept("https://a/v1", last) == "one"
    assert kept.kept("https://a/v1", last + timedelta(days=1)) is None
    assert kept.kept("https://a/v1", TODAY - timedelta(days=1)) is None
    kept.keep("https://a/v1", None, TODAY)
    assert (kept.kept("https://a/v1", TODAY), kept.kept("https://b/v1", TODAY)) == (None, "two")


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"https://a/v1": 1}', '{"https://a/v1": {"model": "m", "day": 5}}', "\x00\xff"]
)
def test_a_damaged_file_is_no_file(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text, "latin-1")
    kept = DefaultModels(tmp_path)
    assert kept.kept("https://a/v1", TODAY) is None
    kept.keep("https://a/v1", "one", TODAY)
    assert kept.kept("https://a/v1", TODAY) == "one"


def test_a_default_that_was_kept_needs_no_settling(tmp_path: Path, own_folders: Path) -> None:
    environ = {"OPENAI_API_KEY": "sk-1"}
    assert opened(tmp_path, own_folders, environ).default_unsettled
    state = own_folders / "state" / "spark"
    DefaultModels(state).keep("https://api.openai.com/v1", "gpt-5.6-terra", date.today())
    opening = opened(tmp_path, own_folders, environ)
    assert opening.model.name == "gpt-5.6-terra" and not opening.default_unsettled
