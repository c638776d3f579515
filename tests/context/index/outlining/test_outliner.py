"""Outlining texts in another process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from context.code.definitions import definitions
from context.code.languages import language_of, languages, named_language
from context.code.outline import outline
from context.index import outliner
from context.index.outliner import OUTLINER, Abandoned, Outliner

SAMPLES = sorted(
    path
    for path in (Path(__file__).parents[2] / "code" / "samples").iterdir()
    if path.suffix != ".outline" and path.is_file()
)
CODE = "def work(value):\n    return value\n"
READY = "import json, sys, time; print('{}', flush=True); "

NOT_HERE = """
import subprocess, sys
from pathlib import Path
from context.project.project import Project
from context.text.tokens import Counter
from context.window.pieces import WindowRequest
from context.window.window import build
from session.project.definitions import definitions_in
from session.project.workspace import _symbols

root = Path(sys.argv[1])
project = Project(root)
snapshot = project.scan()
assert set(snapshot.entries) == {"a.c", "b.swift", "c.ts", "d.py"}, set(snapshot.entries)
for path in snapshot.paths:
    with (root / path).open("a") as file:
        file.write("\\n\\n")
    snapshot = project.update({path})
    request = WindowRequest(f"why does work in @{path} end?", "Instructions.", 8_000)
    window = build(request, snapshot, Counter())
    assert any(piece.path == path for piece in window.pieces), path
    assert "work" in snapshot.entries[path].outline
    text = (root / path).read_text()
    assert definitions_in(path, text) and _symbols(path, text)
project.close()
assert "tree_sitter" not in sys.modules
"""


def is_running(pid: int) -> bool:
    """Whether there is such a process that has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.fixture
def fresh() -> Outliner:
    """One that nobody else asks."""
    return Outliner()


def test_saves_and_windows_never_load_a_parser_here(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int work(int value)\n{\n    return value;\n}\n")
    (tmp_path / "b.swift").write_text("func work(value: Int) -> Int {\n    return value\n}\n")
    (tmp_path / "c.ts").write_text("export function work(value: number) {\n    return value\n}\n")
    (tmp_path / "d.py").write_text(CODE)
    subprocess.run([sys.executable, "-c", NOT_HERE, str(tmp_path)], check=True)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_the_process_finds_what_this_one_finds(sample: Path) -> None:
    text = sample.read_bytes().decode("utf-8", "replace")
    assert OUTLINER.outline(sample.name, text) == outline(sample.name, text)
    language = language_of(sample.name)
    if language is not None:
        assert OUTLINER.definitions(language.name, text) == definitions(language, text)


def test_each_language_is_meant_by_its_name() -> None:
    assert all(named_language(language.name) is language for language in languages().values())


def test_a_text_longer_than_the_pipes_is_outlined(fresh: Outliner) -> None:
    text = "".join(f"def work_{at}(value):\n    return {at}\n" for at in range(8_000))
    found = fresh.outline("a.py", text + '"""\udc80"""\n')
    assert len(text) > 200_000 and len(found.symbols) == 8_000
    assert found == outline("a.py", text + '"""\udc80"""\n')


def test_a_process_that_is_killed_is_replaced(fresh: Outliner) -> None:
    fresh.outline("a.py", CODE)
    first = fresh.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert fresh.outline("a.py", CODE).names == {"work"}
    assert fresh.pid not in (None, first)


@pytest.mark.parametrize(
    "answer",
    [
        "sys.exit(9)",
        "print('no JSON', flush=True)",
        "print('[[1]]', flush=True)",
        'print(\'[["lie", "work", "", "", 0, 1]]\', flush=True)',
        'print(\'[["class", "work", "", "", -1, 1]]\', flush=True)',
        'print(\'[["class", "work", "", "", 0, 1, 0, 0, 0, 7]]\', flush=True)',
        "print('{\"head\": 1}', flush=True)",
    ],
)
def test_a_text_of_which_processes_end_has_no_definitions(
    answer: str, fresh: Outliner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = tmp_path / "started"
    note = f"open({str(started)!r}, 'a').write('.'); "
    monkeypatch.setattr(outliner, "_START", f"{READY}{note}sys.stdin.readline(); {answer}")
    found = fresh.outline("a.py", CODE)
    assert not found.symbols and found.head == ("def work(value):", "    return value")
    assert fresh.definitions("python", CODE) == ()
    assert started.read_text() == "...."


@pytest.mark.parametrize("interpreter", ["", "/nowhere/python", "/bin/false"])
def test_without_a_process_texts_are_outlined_here(
    interpreter: str, fresh: Outliner, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(sys, "executable", interpreter)
        assert fresh.outline("a.py", CODE).names == {"work"}
        assert [symbol.name for symbol in fresh.definitions("python", CODE)] == ["work"]
        fresh.prepare(["a.py"])
        assert fresh.pid is None
    # It is not tried again at once, but later.
    assert fresh.outline("a.py", CODE).names == {"work"} and fresh.pid is None
    monkeypatch.setattr(outliner, "_NOT_AGAIN", 0.0)
    fresh._not_before = 0.0
    assert fresh.outline("a.py", CODE).names == {"work"} and fresh.pid is not None


def test_an_answer_that_never_comes_is_not_waited_for(
    fresh: Outliner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outliner, "_LONGEST", 1.0)
    monkeypatch.setattr(outliner, "_START", READY + "time.sleep(300)")
    assert not fresh.outline("a.py", CODE).symbols
    assert fresh.pid is None


def test_nobody_is_waited_for_once_the_project_is_closed(
    fresh: Outliner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outliner, "_START", READY + "time.sleep(300)")
    closing = threading.Event()
    ended: list[str] = []

    def ask() -> None:
        try:
            fresh.outline("a.py", CODE, closing.is_set)
        except Abandoned:
            ended.append("abandoned")

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    while fresh.pid is None:
        time.sleep(0.01)
    closing.set()
    for thread in threads:
        thread.join(timeout=5)
    assert ended == ["abandoned", "abandoned"]
    assert fresh.pid is None


def test_a_process_that_has_grown_is_replaced(fresh: Outliner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outliner, "_MOST_MEMORY", 1)
    fresh.outline("a.py", CODE)
    first = fresh.pid
    fresh.outline("a.py", CODE)
    # There is one that waits for the next text.
    assert fresh.pid not in (None, first)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="what a process has loaded is told by /proc")
def test_languages_are_loaded_before_they_are_needed(fresh: Outliner) -> None:
    fresh.prepare(["a.swift", "b/c.rs", "LICENSE"])
    maps = Path(f"/proc/{fresh.pid}/maps")
    while not all(f"tree_sitter_{name}" in maps.read_text() for name in ("swift", "rust")):
        time.sleep(0.01)
    assert "tree_sitter_ruby" not in maps.read_text()
    fresh.prepare(["a.rb"])
    while "tree_sitter_ruby" not in maps.read_text():
        time.sleep(0.01)
    assert "tree_sitter_java" not in maps.read_text()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="what runs is told by /proc")
def test_the_process_ends_with_this_one() -> None:
    script = "import sys; from context.index.outliner import OUTLINER; OUTLINER.prepare(['a.py'])"
    for leave in ("", "; import os; os._exit(0)"):
        done = subprocess.run(
            [sys.executable, "-c", f"{script}; print(OUTLINER.pid, flush=True){leave}"],
            capture_output=True,
            text=True,
            check=True,
        )
        while is_running(int(done.stdout)):
            time.sleep(0.01)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux tells the environment of a process")
@pytest.mark.parametrize("module", ["context.index.outline_process", "context.index.worker"])
def test_a_process_that_reads_files_of_strangers_has_no_keys(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, "a-key-of-the-user")
    most = "120000000"
    arguments = [most] if module.endswith("outline_process") else [str(tmp_path), str(tmp_path), most]
    process = outliner.start_python(module, *arguments)
    try:
        # It is empty for a moment while the program begins.
        while not (environment := Path(f"/proc/{process.pid}/environ").read_bytes()):
            assert process.poll() is None
            time.sleep(0.01)
    finally:
        process.kill()
        process.communicate()
    assert b"PATH=" in environment and b"a-key-of-the-user" not in environment
