"""Model files, how they are chosen and planned for, and the offer of what runs here."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from session.base.text.tables import TableError
from session.models.engine.model import HeaderError, plan_context, read_header
from session.models.engine.settings import read_local
from session.setup.config import ConfigError, Flags
from session.setup.model_offers import OfferKind, engine_offers, offers
from session.setup.opening import Opening, open_project
from tests.session.models.engine.tiny_model import LAYERS, WIDE
from tui.cli.app_commands import begin_with

pytest.importorskip(
    "xllamacpp", reason="the extra 'local' (llama.cpp) is not installed: pip install '.[dev]'"
)


def opened(tmp_path: Path, home: dict[str, str], file: Path | str) -> Opening:
    return open_project(tmp_path / "project", Flags(local=str(file)), home)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "there is no file"),
        (b"", "it is not a GGUF file"),
        (b"PK\x03\x04 a zip", "it is not a GGUF file"),
        (b"GGUF\x63\0\0\0", "version 99"),
        (b"GGUF\x03\0\0\0\x01", "ends inside its header"),
        (b"GGUF\x03\0\0\0" + b"\xff" * 16, "header is damaged"),
        (b"GGUF\x03\0\0\0" + struct.pack("<QQQ", 0, 1, 2**60), "header is damaged"),
        (b"GGUF\x03\0\0\0" + struct.pack("<QQ", 0, 0), "does not name its architecture"),
    ],
)
def test_a_file_that_is_no_model_is_refused_before_anything_starts(
    tmp_path: Path, home: dict[str, str], content: bytes | None, told: str
) -> None:
    file = tmp_path / "wrong.gguf"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match=told) as refused:
        opened(tmp_path, home, file)
    assert "wrong.gguf" in str(refused.value) and "\n" not in str(refused.value)


def test_a_folder_and_no_name_at_all_are_refused(tmp_path: Path, home: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="is not a file"):
        opened(tmp_path, home, tmp_path)
    with pytest.raises(ConfigError, match=r"give --local FILE\.gguf"):
        open_project(tmp_path / "project", Flags(provider="local"), home)


@pytest.mark.parametrize("other", ["base_url", "provider", "model"])
def test_what_contradicts_the_file_is_refused(
    tmp_path: Path, home: dict[str, str], tiny: Path, other: str
) -> None:
    flags: dict[str, Any] = {other: "http://localhost:1/v1"}
    with pytest.raises(ConfigError, match=f"--local and --{other.replace('_', '-')} exclude each other"):
        open_project(tmp_path / "project", Flags(local=str(tiny), **flags), home)


def test_the_settings_choose_the_model_and_how_it_runs(
    tmp_path: Path, home: dict[str, str], tiny: Path
) -> None:
    config = Path(home["XDG_CONFIG_HOME"]) / "spark"
    store = Path(home["XDG_CACHE_HOME"]) / "spark" / "models"
    store.mkdir(parents=True)
    (store / "small.gguf").write_bytes(tiny.read_bytes())
    text = 'provider = "local"\n[local]\nmodel = "small"\ncontext = 2048\nthreads = 1\n'
    (config / "config.toml").write_text(text, "utf-8")
    opening = open_project(tmp_path / "project", Flags(), home)
    assert opening.local is not None
    assert (opening.local.file, opening.local.threads) == (store / "small.gguf", 1)
    assert (opening.model.name, opening.model.window) == ("small", 2048)
    with pytest.raises(ConfigError, match="nor a pulled model of that name; pulled models: small"):
        opened(tmp_path, home, "smaller")
    (config / "config.toml").write_text("[local]\ncontext = 65536\n", "utf-8")
    with pytest.raises(ConfigError, match="was trained for 32,768 tokens"):
        opened(tmp_path, home, "small")


@pytest.mark.parametrize(
    "table", [3, {"context": 3}, {"context": True}, {"threads": "all"}, {"model": 1}, {"x": 1}]
)
def test_settings_that_cannot_be_are_refused(table: Any) -> None:
    with pytest.raises(TableError, match=r"\[local\]"):
        read_local(table)


def test_the_head_of_a_file_is_read_as_it_was_written(tiny: Path) -> None:
    header = read_header(tiny)
    assert (header.architecture, header.name, header.context) == ("llama", "tiny", 32_768)
    assert header.cache_bytes == LAYERS * 2 * WIDE * 2  # keys and values; bytes of a half float
    assert header.size == tiny.stat().st_size


def test_every_cut_of_a_head_is_told_and_none_is_believed(tiny: Path, tmp_path: Path) -> None:
    whole, cut = tiny.read_bytes(), tmp_path / "cut.gguf"
    vocabulary = whole.index(b"tokenizer.ggml.model")
    for length in range(0, vocabulary, 7):
        cut.write_bytes(whole[:length])
        with pytest.raises(HeaderError):
            read_header(cut)


def test_the_context_is_bounded_by_training_memory_and_patience() -> None:
    giga = 2**30
    assert plan_context(8_192, 57_344, 4 * giga, 64 * giga) == 8_192
    assert plan_context(131_072, 57_344, 4 * giga, 64 * giga) == 32_768
    assert plan_context(131_072, 57_344, 4 * giga, 6 * giga) == 18_688
    assert plan_context(131_072, 57_344, 4 * giga, 3 * giga) == 4_096


def test_the_engine_is_offered_with_what_it_could_run(home: dict[str, str], tiny: Path) -> None:
    (pull,) = engine_offers(home)
    assert (pull.kind, pull.title) == (OfferKind.PULL, "Pull qwen2.5-coder-0.5b")
    assert [offer.kind for offer in offers((), "openai", (pull,))] == [
        OfferKind.LOGIN,
        OfferKind.PRACTISE,
        OfferKind.PULL,
    ], "a stray Enter pulls nothing"
    store = Path(home["XDG_CACHE_HOME"]) / "spark" / "models"
    store.mkdir(parents=True)
    (store / "small.gguf").write_bytes(tiny.read_bytes())
    (store / "half.gguf.part").write_bytes(b"GGUF")
    (run,) = engine_offers(home)
    assert (run.kind, run.model) == (OfferKind.LOCAL, "small") and run.detail.startswith("runs here, ")
    listed = offers((), "openai", (run,))
    assert [offer.kind for offer in listed] == [OfferKind.LOCAL, OfferKind.LOGIN, OfferKind.PRACTISE]


def test_taking_the_offer_opens_with_the_engine(
    tmp_path: Path, home: dict[str, str], tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in home.items():
        monkeypatch.setenv(name, value)
    store = Path(home["XDG_CACHE_HOME"]) / "spark" / "models"
    store.mkdir(parents=True)
    (store / "small.gguf").write_bytes(tiny.read_bytes())
    (run,) = engine_offers(home)
    given = {"base_url": None, "provider": "openai", "model": None}
    opening, remark = begin_with(run, tmp_path / "project", None, given)
    assert opening.local is not None and opening.model.name == "small"
    assert remark is not None and 'provider = "local"' in remark
