"""A marked key from every source must be in nothing that spark writes."""

from __future__ import annotations

import json
import subprocess
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from session.partner.server.server import Partner
from session.session import Session
from tests.conftest import RunSpark
from tests.session.local_servers import aside
from tests.session.models.keys.keyrings import use_keyring
from tests.session.models.keys.test_key_command import script
from tests.session.models.keys.test_key_supply import command_row, configure, opened
from tests.session.wire.transport.test_websocket import answering, error, http

MARK = "MARKED0123456789"
SECRET = f"sk-{MARK}"
SOURCES = ("environment", "command", "keyring", "file")


@pytest.fixture
def checking() -> Iterator[str]:
    with aside(Partner(key=SECRET, rate=float("inf"))) as partner:
        yield partner.url


def give(source: str, home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> set[Path]:
    """Put the key there; gives the files that hold it, which are the only ones that may."""
    match source:
        case "environment":
            monkeypatch.setenv("OPENAI_API_KEY", SECRET)
            return set()
        case "command":
            (tool,) = script(folder, f"echo {SECRET}")
            configure(home, "config.toml", command_row((tool,)))
            return {Path(tool)}
        case "keyring":
            kept = use_keyring(monkeypatch, folder)
            kept.write_text(json.dumps({"spark/openai": SECRET}))
            configure(home, "credentials.toml", "openai = { keyring = true }\n")
            return {kept}
        case _:
            return {configure(home, "credentials.toml", f'openai = "{SECRET}"\n')}


def holding(*folders: Path) -> set[Path]:
    """The files that hold the mark."""
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    return {file for file in files if MARK.encode() in file.read_bytes()}


TOLD = {
    "environment": ("doctor",),
    "command": ("login",),
    "keyring": ("doctor", "login"),
    "file": ("doctor", "login", "export"),
}
"""What is asked besides an answer: a session's export knows nothing of where its key was from."""


@pytest.mark.parametrize("source", SOURCES)
def test_the_key_is_in_no_output_journal_or_export(
    run_spark: RunSpark,
    own_folders: Path,
    project: Path,
    tmp_path: Path,
    checking: str,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    meant = give(source, own_folders, place, monkeypatch)
    to = ("--base-url", checking, "--model", "spark-practice", "-C", str(project))
    asked = run_spark("exec", "hello", "--json", *to)
    assert asked.code == 0, asked.err
    session = json.loads(asked.out.splitlines()[0])["session"]
    lines = {
        "doctor": ("doctor", "--json", *to),
        "login": ("login", "--list"),
        "export": ("export", session, "-C", str(project)),
    }
    said = [asked, *(run_spark(*lines[each]) for each in TOLD[source])]
    assert [each.code for each in said] == [0] * len(said), [each.err for each in said]
    assert not any(MARK in each.out + each.err for each in said)
    assert holding(own_folders, project, place) == meant


@pytest.mark.parametrize("source", SOURCES)
async def test_the_key_is_in_no_repr_and_no_traceback(
    own_folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    place, root = tmp_path / "place", tmp_path / "root"
    place.mkdir()
    root.mkdir()
    give(source, own_folders, place, monkeypatch)
    said = error(f"Incorrect API key provided: {SECRET}.")
    async with answering(http("401 Unauthorized", said, "application/json")) as endpoint:
        del said  # the frame of this test is looked at too
        opening = opened(root, own_folders, endpoint.base_url, SECRET if source == "environment" else "")
        session = Session(opening, attended=False)
        events = session.listen()
        await session.open()
        session.submit("hello")
        told = []
        async for event in events:
            told.append(event)
            if type(event).__name__ == "TurnEnded":
                break
        assert any("did not accept the API key" in repr(event) for event in told), told
        connection = session.connection
        assert connection is not None
        parts = (opening, opening.settings, opening.key, opening.keys, connection, connection.endpoint, told)
        assert MARK not in repr(parts)
        try:
            raise RuntimeError(parts)
        except RuntimeError as problem:
            shown = traceback.TracebackException.from_exception(problem, capture_locals=True)
            assert MARK not in "".join(shown.format())
        await session.close()
    assert not any(MARK in file.read_text() for file in (own_folders / "state").rglob("*") if file.is_file())


@pytest.mark.parametrize("source", ["command", "keyring", "file"])
def test_the_key_is_in_no_process_list(
    spark_path: Path, own_folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    """While ``spark login`` and ``spark exec`` run, and whatever they start."""
    if source == "keyring":
        use_keyring(monkeypatch, tmp_path)
    if source == "command":
        configure(own_folders, "config.toml", command_row(script(tmp_path, f"cat {tmp_path}/key; sleep 0.3")))
        (tmp_path / "key").write_text(SECRET)
    with aside(Partner(key=SECRET, rate=float("inf"))) as partner:
        login = (["login", "--base-url", partner.url], SECRET)
        asks = (["exec", "hello", "--base-url", partner.url, "-C", str(tmp_path)], "")
        for words, given in (asks,) if source == "command" else (login, asks):
            running = subprocess.Popen(
                [spark_path, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            assert running.stdin is not None and running.stdout is not None
            running.stdin.write(given.encode())
            running.stdin.close()
            end, looks, most = time.monotonic() + 60, 0, 0
            while running.poll() is None and time.monotonic() < end:
                looks += 1
                lines = command_lines(running.pid)
                most = max(most, len(lines))
                assert not [line for line in lines if MARK.encode() in line]
                time.sleep(0.002)  # leaves the processor to it; nothing starts and ends in less
            assert (running.poll(), looks > 0) == (0, True), running.stdout.read()
            assert source != "command" or most > 1, "the command for the key was seen, too"
            running.stdout.close()


def command_lines(process: int) -> list[bytes]:
    """The command lines of a process and of all that it started."""
    lines, asked = [], [process]
    while asked:
        folder = Path("/proc", str(asked.pop()))
        try:
            lines.append((folder / "cmdline").read_bytes())
            for children in folder.glob("task/*/children"):
                asked += map(int, children.read_text().split())
        except OSError:
            continue  # it has ended meanwhile
    return lines
