"""Pulling models from a hub: over real sockets, cut and resumed, checked, and never half there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from session.models.engine import pull as pulling
from session.models.engine.model_hub import Hub, HubError, known_models
from session.models.engine.model_store import ModelStore
from session.models.engine.pull import choose, pull
from session.models.engine.settings import LocalError
from tests.checkout import ROOT
from tests.conftest import RunSpark
from tests.session.models.engine.hub_server import REPOSITORY, HubServer
from tui.cli.local_commands import progress_line

CONTENT = bytes(range(256)) * 4_096
SPARK = (sys.executable, "-c", "from tui.cli.main import main; main()")


@pytest.fixture
def hub_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    monkeypatch.setattr(pulling, "_WAITS", (0.0, 0.0))
    with HubServer(tiny__gguf=CONTENT) as server:
        yield server


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore({"XDG_CACHE_HOME": str(tmp_path / "cache")})


def pulled(
    server: HubServer, store: ModelStore, file: str | None = None, token: str = ""
) -> tuple[Path, list[str], list[int]]:
    said: list[str] = []
    seen: list[int] = []
    with Hub(server.environ(HF_TOKEN=token)) as hub:
        wanted = choose(hub, REPOSITORY, file)
        place = pull(hub, store, wanted, lambda there, whole: seen.append(there), said.append)
    return place, said, seen


def ranges(server: HubServer) -> list[str]:
    return [headers.get("range", "") for who, _, headers in server.does.asked if who == "store"]


def test_a_model_arrives_whole_and_is_found_by_its_name(hub_server: HubServer, store: ModelStore) -> None:
    place, said, seen = pulled(hub_server, store)
    assert place == store.folder / "tiny.gguf" and place.read_bytes() == CONTENT
    assert not said and seen[-1] == len(CONTENT) and seen == sorted(seen)
    assert [(each.name, each.whole) for each in store.models()] == [("tiny", True)]
    assert store.find("tiny") == store.find("tiny.gguf") == place
    assert store.find("../tiny") is None
    _, said, _ = pulled(hub_server, store)
    assert said == ["tiny is there already"]
    assert store.remove("tiny") == len(CONTENT)
    assert list(store.folder.iterdir()) == []
    with pytest.raises(LocalError, match="no pulled model is called 'tiny'"):
        store.remove("tiny")


def test_a_cut_connection_is_taken_up_where_it_broke(hub_server: HubServer, store: ModelStore) -> None:
    hub_server.does.cuts = [300_000, 200_000]
    place, said, seen = pulled(hub_server, store)
    assert place.read_bytes() == CONTENT
    assert ranges(hub_server) == ["", "bytes=300000-", "bytes=500000-"]
    assert len(said) == 2 and all("going on in" in line for line in said)
    assert seen == sorted(seen)


def test_a_pull_that_was_given_up_is_resumed_by_the_next(hub_server: HubServer, store: ModelStore) -> None:
    hub_server.does.cuts = [300_000, 0, 0, 0]
    with pytest.raises(HubError, match="the downloaded part is kept"):
        pulled(hub_server, store)
    assert [(each.whole, each.size) for each in store.models()] == [(False, 300_000)]
    assert store.find("tiny") is None
    hub_server.does.cuts = []
    place, said, _ = pulled(hub_server, store)
    assert place.read_bytes() == CONTENT and not said
    assert ranges(hub_server)[-1] == "bytes=300000-"
    assert "if-range" in hub_server.does.asked[-1][2]


def test_a_file_that_changed_meanwhile_begins_anew(hub_server: HubServer, store: ModelStore) -> None:
    hub_server.does.cuts = [300_000, 0, 0, 0]
    with pytest.raises(HubError):
        pulled(hub_server, store)
    hub_server.does.cuts = []
    hub_server.does.files["tiny.gguf"] = CONTENT[::-1]
    place, said, _ = pulled(hub_server, store)
    assert place.read_bytes() == CONTENT[::-1]
    assert said == ["the file has changed at the hub; starting again"]
    with pytest.raises(LocalError, match="another tiny is here; first run: spark local remove tiny"):
        hub_server.does.files["tiny.gguf"] = CONTENT
        pulled(hub_server, store)


def test_a_hub_that_knows_no_ranges_is_asked_for_the_whole(hub_server: HubServer, store: ModelStore) -> None:
    hub_server.does.ranges = False
    hub_server.does.cuts = [300_000]
    place, said, _ = pulled(hub_server, store)
    assert place.read_bytes() == CONTENT
    assert said[-1] == "the hub cannot resume; starting again"


def test_a_wrong_checksum_leaves_nothing(hub_server: HubServer, store: ModelStore) -> None:
    hub_server.does.checksum = "0" * 64
    with pytest.raises(LocalError, match="does not have the checksum"):
        pulled(hub_server, store)
    assert list(store.folder.iterdir()) == []


def test_without_a_checksum_nothing_is_loaded(hub_server: HubServer, store: ModelStore) -> None:
    hub_server.does.tell_checksum = False
    with pytest.raises(LocalError, match="lists no checksum"):
        pulled(hub_server, store)
    assert ranges(hub_server) == []


def test_the_token_opens_the_hub_and_never_reaches_another_host(
    hub_server: HubServer, store: ModelStore
) -> None:
    hub_server.does.token = "hf_secret"
    with pytest.raises(HubError, match=r"\(401; HF_TOKEN is not set\).*gated"):
        pulled(hub_server, store)
    with pytest.raises(HubError, match="HF_TOKEN is not accepted"):
        pulled(hub_server, store, token="hf_wrong")
    place, _, _ = pulled(hub_server, store, token="hf_secret")
    assert place.read_bytes() == CONTENT
    at_store = [headers for who, _, headers in hub_server.does.asked if who == "store"]
    assert at_store and all("authorization" not in headers for headers in at_store)


def test_redirects_that_go_nowhere_good_are_not_followed(hub_server: HubServer, store: ModelStore) -> None:
    hub_server.does.redirect = "file:///etc/passwd?"
    with pytest.raises(HubError, match="which is not followed"):
        pulled(hub_server, store)
    hub_server.does.redirect = f"{hub_server.url}/{REPOSITORY}/resolve/abc123/"
    with pytest.raises(HubError, match="redirects in circles"):
        pulled(hub_server, store)


def test_a_busy_store_is_asked_again_and_a_missing_file_is_not(
    hub_server: HubServer, store: ModelStore
) -> None:
    hub_server.does.statuses = [503, 429]
    place, said, _ = pulled(hub_server, store)
    assert place.read_bytes() == CONTENT and len(said) == 2
    store.remove("tiny")
    hub_server.does.statuses = [404]
    with pytest.raises(HubError, match="has no someone/tiny-GGUF"):
        pulled(hub_server, store)


def test_which_file_is_meant(hub_server: HubServer, store: ModelStore) -> None:
    files = hub_server.does.files
    files.update({"big-Q8_0.gguf": b"x", "mmproj-big.gguf": b"x", "huge-00001-of-00002.gguf": b"x"})
    with Hub(hub_server.environ()) as hub:
        with pytest.raises(LocalError, match=r"choose one with --file: tiny\.gguf, big-Q8_0\.gguf"):
            choose(hub, REPOSITORY, None)
        assert choose(hub, REPOSITORY, "big-Q8_0.gguf").name == "big-Q8_0"
        with pytest.raises(LocalError, match=r"has no file none\.gguf; it has tiny"):
            choose(hub, REPOSITORY, "none.gguf")
        with pytest.raises(LocalError, match="one of several parts"):
            choose(hub, REPOSITORY, "huge-00001-of-00002.gguf")
        files["small-Q4_K_M.gguf"] = b"x"
        assert choose(hub, REPOSITORY, None).name == "small-Q4_K_M"
        with pytest.raises(LocalError, match=r"neither owner/model at the hub nor one of qwen2\.5"):
            choose(hub, "whatever", None)
        with pytest.raises(HubError, match="has no nobody/nothing"):
            choose(hub, "nobody/nothing", None)
        files.clear()
        with pytest.raises(LocalError, match="has no GGUF file"):
            choose(hub, REPOSITORY, None)


@pytest.mark.parametrize("address", ["http://hub.example", "ftp://x", "https://"])
def test_an_address_that_cannot_be_a_hub_is_refused(address: str) -> None:
    with pytest.raises(HubError, match="HF_ENDPOINT"):
        Hub({"HF_ENDPOINT": address})


def test_nobody_there_is_one_line(store: ModelStore) -> None:
    with HubServer() as gone:
        address = gone.url
    with Hub({"HF_ENDPOINT": address}) as hub, pytest.raises(HubError, match=r"127\.0\.0\.1:\d+: "):
        hub.repository(REPOSITORY)


def test_too_small_a_disk_is_told_before_anything_is_loaded(
    hub_server: HubServer, store: ModelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulling, "_SPARE_DISK", 10**18)  # no disk has so much to spare
    with pytest.raises(LocalError, match=r"GB are needed in .* GB are free"):
        pulled(hub_server, store)
    assert ranges(hub_server) == []


def test_two_pulls_of_one_model_do_not_meet_in_its_file(hub_server: HubServer, store: ModelStore) -> None:
    second: list[str] = []

    def meanwhile(there: int, whole: int) -> None:
        if not second:
            second.append("")
            with pytest.raises(LocalError, match="being pulled by another spark"):
                pulled(hub_server, store)
            second.append("refused")

    with Hub(hub_server.environ()) as hub:
        place = pull(hub, store, choose(hub, REPOSITORY, None), meanwhile, second.append)
    assert second == ["", "refused"] and place.read_bytes() == CONTENT


def test_the_command_pulls_lists_and_removes(
    hub_server: HubServer, tmp_path: Path, run_spark: RunSpark
) -> None:
    env = {**hub_server.environ(), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    run = run_spark("local", "pull", REPOSITORY, env=env)
    assert run.code == 0, run.err
    assert run.out.strip().endswith("cache/spark/models/tiny.gguf")
    assert "100 %" in run.err and "spark --local tiny" in run.err
    listed = run_spark("local", "list", env=env)
    assert listed.out.split()[:3] == ["tiny", "1.0", "MB"] and REPOSITORY in listed.out
    assert run_spark("local", "remove", "tiny", env=env).code == 0
    assert "no model is pulled yet" in run_spark("local", "list", env=env).err
    missing = run_spark("local", "pull", "nobody/nothing", env=env)
    assert missing.code == 4 and missing.err.count("\n") == 1
    unknown = run_spark("local", "pull", "whatever", env=env)
    assert unknown.code == 1 and "owner/model" in unknown.err
    assert "qwen2.5-coder-7b" in run_spark("local", "list", "--known", env=env).out


def test_an_interrupt_leaves_what_was_loaded(hub_server: HubServer, tmp_path: Path) -> None:
    # The store gives the beginning, and holds the rest back until the interrupt has come.
    hold = threading.Event()
    environ = {**os.environ, **hub_server.environ(), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    hub_server.does.hold = hold
    with subprocess.Popen(
        [*SPARK, "local", "pull", REPOSITORY], cwd=ROOT, env=environ, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stderr is not None
        for line in run.stderr:
            if "%" in line:
                break
        run.send_signal(signal.SIGINT)
        rest = run.stderr.read()
    hold.set()
    assert run.returncode == 130, rest
    store = ModelStore({"XDG_CACHE_HOME": str(tmp_path / "cache")})
    (left,) = store.models()
    assert not left.whole and 0 < left.size < len(CONTENT)
    hub_server.does.hold = None
    place, _, _ = pulled(hub_server, store)
    assert place.read_bytes() == CONTENT


def test_the_line_of_progress_tells_share_speed_and_time() -> None:
    assert progress_line("m", 0, 4_700_000_000, 0) == "m  0 B of 4.7 GB  0 %"
    assert (
        progress_line("m", 10**9, 4 * 10**9, 40e6) == "m  1.0 GB of 4.0 GB  25 %  40.0 MB/s  1 min 15 s left"
    )
    assert progress_line("m", 0, 4 * 10**9, 2e5).endswith("200.0 kB/s  5 h 33 min left")
    assert progress_line("m", 9, 9, 5.0) == "m  9 B of 9 B  100 %"


def test_the_short_names_are_whole() -> None:
    for model in known_models():
        assert model.repository.count("/") == 1 and model.file.endswith(".gguf") and model.gigabytes > 0
