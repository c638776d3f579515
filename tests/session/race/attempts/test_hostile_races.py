"""Races whose attempts are hostile: what they edit, what their code does, and when they are stopped."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from session.base.events import (
    AttemptAnswered,
    AttemptChecked,
    AttemptEnded,
    AttemptProgress,
    AttemptStarted,
    BaselineChecked,
    HunkHeld,
    HunkLanded,
    Notice,
    RaceEnded,
    TurnEnded,
)
from session.checks import runner
from session.checks.check import Check, Kind
from session.checks.finding import Verdict
from session.checks.sandbox.sandbox import Sandboxes
from session.race.judge import Judge
from tests.session.race.attempts.hostile import (
    FIX,
    MARK,
    added,
    answers,
    doing,
    ended,
    files,
    hidden,
    marked,
    sandboxes,
    state,
    texts,
    until,
)
from tests.session.race.attempts.races import ADD, RIGHT, TESTS, WRONG, project
from tests.session.talking import Listening, configure, talking

FIXED = ADD.replace("return a - b", RIGHT)
TOLD = (AttemptAnswered, AttemptChecked, AttemptEnded, BaselineChecked, Notice, RaceEnded, TurnEnded)
SLEEP = f"__import__('subprocess').Popen(['sleep', '{MARK}'], start_new_session=True)"
OWN_NUMBERS = f"if os.readlink('/proc/self/ns/pid') != '{Path('/proc/self/ns/pid').readlink()}':"
"""In front of what would end every program of the user where a sandbox has no numbers of its own."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path / "project")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "calc.py").write_text(ADD)
    return folder


@pytest.fixture(autouse=True)
def _none_left() -> Iterator[None]:
    yield
    left = marked()
    for process in left:
        process.kill()
    assert not left


# -- what an attempt edits ----------------------------------------------------------------------

HELD = {
    "what direnv runs": ".envrc",
    "what direnv runs, in capitals": ".ENVRC",
    "what pytest runs": "conftest.py",
    "what pytest runs, below": "tests/Conftest.py",
    "what an editor runs": ".vscode/tasks.json",
    "spark's own settings": ".spark.toml",
    "what git runs": ".githooks/pre-commit",
    "what a server runs": ".github/workflows/x.yml",
}
REFUSED = {
    "git's own hooks": ".git/hooks/pre-commit",
    "git's own hooks, in capitals": ".GIT/hooks/pre-commit",
    "git's own hooks, by a way round": "x/../.git/hooks/pre-commit",
    "the settings of spark": "{config}",
    "the settings of spark, by ..": "../xdg/config/spark/config.toml",
    "a folder beside": "../outside/new.py",
    "a link that leads outside": "away/new.py",
    "a key": ".ssh/authorized_keys",
}


def prepared(root: Path, outside: Path) -> Path:
    """What the refused paths lead to; returns the settings of spark."""
    (root / ".git").mkdir()
    (root / "away").symlink_to(outside)
    config = root.parent / "xdg" / "config" / "spark" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("# mine\n")
    return config


async def held_at(it: Listening, path: str) -> HunkHeld:
    return await it.until(HunkHeld, lambda event: event.path == path)


async def test_what_would_be_held_is_held_for_a_winner_too(root: Path) -> None:
    async with talking(root, answers("".join(map(added, HELD.values())) + FIX)) as it:
        await it.session.race.start("mend add", 1, [TESTS])
        for path in HELD.values():
            held = await held_at(it, path)
            assert not (root / path).exists()
            it.session.answer(held.hunk, land=False)
        assert (await ended(it)).status == "completed"
        assert files(root) == {"calc.py": FIXED}


async def test_what_would_be_held_does_not_land_where_nobody_is_asked(root: Path) -> None:
    script = answers("".join(map(added, HELD.values())) + FIX)
    async with talking(root, script, attended=False) as it:
        await it.session.race.start("mend add", 1, [TESTS])
        await ended(it)
        assert files(root) == {"calc.py": FIXED}


async def test_what_is_refused_is_refused_for_an_attempt_too(root: Path, outside: Path) -> None:
    config = prepared(root, outside)
    paths = [path.format(config=config) for path in REFUSED.values()]
    async with talking(root, answers("".join(map(added, paths)) + FIX)) as it:
        await it.session.race.start("mend add", 1, [TESTS])
        await ended(it)
        told = it.all(AttemptProgress)[-1]
        assert told.refused == len(paths) * told.hunks, "each of them was tried, as often as FIX was"
        assert not it.all(HunkHeld) and [each.path for each in it.all(HunkLanded)] == ["calc.py"]
    assert {path.name for path in root.iterdir()} == {"calc.py", ".git", "away"}
    assert files(root / ".git") == {} and files(outside) == {"calc.py": ADD}
    assert config.read_text() == "# mine\n" and sandboxes(root) == []


async def test_an_attempt_that_is_taken_is_held_as_well(root: Path) -> None:
    async with talking(root, answers(added(".envrc") + doing("pass"))) as it:
        await it.session.race.start("mend add", 1, [TESTS])
        assert (await ended(it)).code == "no_winner"
        it.session.race.take(1)
        held = await it.until(HunkHeld)
        assert held.path == ".envrc" and not (root / ".envrc").exists()
        it.session.answer(held.hunk, land=False)
        assert (await ended(it, "t2")).status == "completed"
        assert not (root / ".envrc").exists() and WRONG in it.text("calc.py")


# -- what its code does while it is judged -------------------------------------------------------

EVIL_TEXT = "a\\x1b[2Jb \\x1b]52;c;aGk=\\x07 \\x9b31m \\u202e \\x1b]0;t\\x07"
DEEDS = {
    "leaves a daemon": SLEEP,
    "leaves a daemon that ignores signals": "if os.fork() == 0:\n    os.setsid()\n"
    "    import signal\n    [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]\n"
    f"    os.execvp('sleep', ['sleep', '{MARK}'])",
    "prints without end": "while True:\n    os.write(1, b'x' * 65_536)",
    "prints findings without end": "while True:\n    os.write(2, b'calc.py:1: x ' * 5_000)",
    "prints escapes": f"print('{EVIL_TEXT}')\nsys.exit('{EVIL_TEXT}')",
    "prints findings with escapes": f"print('calc.py:1: {EVIL_TEXT}')",
    "prints what is no text": "os.write(1, bytes(range(256)) * 100)\nsys.exit(1)",
    "deletes the project": "os.system('rm -rf \"$PWD\" ../outside; rm -rf *')",
    "rewrites the project": "os.system('for f in $(find .); do echo x > $f; done; mkfifo pipe; ln -s / r')",
    "ends its group": "os.kill(0, 9)",
    "ends the group of its parent": "os.killpg(os.getpgid(os.getppid()), 9)",
    "ends what it sees": f"{OWN_NUMBERS}\n    os.kill(-1, 9)",
    "ends the first process": f"{OWN_NUMBERS}\n    os.kill(1, 9)",
}
ENDLESS = {
    "sleeps": f"os.execvp('sleep', ['sleep', '{MARK}'])",
    "closes its output": f"os.closerange(0, 3)\nos.execvp('sleep', ['sleep', '{MARK}'])",
    "stops itself": "os.kill(os.getpid(), 19)",
    "ignores signals": "import signal, time\n[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]\n"
    "while True:\n    time.sleep(1)",
}
NEEDS_WALLS = {
    "deletes the project",
    "ends the group of its parent",
    "ends what it sees",
    "ends the first process",
}


def without_walls(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Sandboxes, "_known_refusal", lambda _: "the test wants a copy")


@pytest.mark.parametrize("walls", [True, False])
async def test_what_the_code_of_an_attempt_does_changes_nothing_but_its_verdict(
    walls: bool, root: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them in one race, each beside the others."""
    deeds = {name: deed for name, deed in DEEDS.items() if walls or name not in NEEDS_WALLS}
    if not walls:
        without_walls(monkeypatch)
    monkeypatch.setattr(runner, "MOST_OUTPUT", 3_000_000)
    monkeypatch.setattr(runner, "KEPT", 30_000)
    home = files(Path.home())
    async with talking(root, answers(*map(doing, deeds.values()), FIX)) as it:
        await it.session.race.start("mend add", len(deeds) + 1, [TESTS], judge_all=True)
        end = await ended(it)
        assert end.status == "completed", it.events
        assert not marked()
        assert {each.status for each in it.all(AttemptEnded)} <= {"won", "green", "red", "cut"}
        why = [each.why for each in it.all(AttemptChecked) if each.status != "green"]
        assert len(why) == len(deeds)
        assert sum("printed more than 3 MB" in each for each in why) == 2
        assert files(root) == {"calc.py": FIXED} and [path.name for path in root.iterdir()] == ["calc.py"]
        assert files(outside) == {"calc.py": ADD} and files(Path.home()) == home
        for event in it.events:
            if isinstance(event, TOLD):
                assert hidden(event) == [] and sum(map(len, texts(asdict(event)))) < 100_000
    assert sandboxes(root) == []


BRIEF = Check("tests", f"grep -q 'a - b' calc.py && exit 1; {TESTS.command}", Kind.TESTS, seconds=1.0)
"""Judges the project at once, and starts what never ends only for an attempt."""


@pytest.mark.parametrize("walls", [True, False])
async def test_a_check_that_never_ends_is_ended_at_its_limit(
    walls: bool, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not walls:
        without_walls(monkeypatch)
    configure(root, f"[attempts]\nchecks_at_once = {len(ENDLESS)}\n")
    async with talking(root, answers(*map(doing, ENDLESS.values()))) as it:
        await it.session.race.start("mend add", len(ENDLESS), [BRIEF])
        end = await ended(it)
        assert (end.status, end.code) == ("failed", "no_winner") and not marked()
        why = [each.why for each in it.all(AttemptChecked)]
        assert len(why) == len(ENDLESS) and all("did not end within 1 s" in each for each in why), why
    assert files(root) == {"calc.py": ADD} and sandboxes(root) == []


async def test_names_that_hide_something_are_told_visibly(root: Path) -> None:
    hiding = ["a\u202eb.py", "a\u009bb.py", "a\x1b[2Jb.py", "a\u2028b.py", "a\U000e0041b.py"]
    names = [f"sub/{name}" for name in hiding]
    lines = "; ".join(f"printf '%s:1: broken\\n' {shlex.quote(name)}" for name in names)
    told = Check("told", f"grep -q 'a - b' calc.py && exit; {lines}; exit 1")
    async with talking(root, answers("".join(map(added, names)) + FIX)) as it:
        await it.session.race.start("mend add", 1, [told])
        assert (await ended(it)).code == "no_winner"
        assert it.all(AttemptChecked)
        assert [hidden(event) for event in it.events if isinstance(event, TOLD) and hidden(event)] == []


# -- what the user does meanwhile -----------------------------------------------------------------


def _replaced_by_link(file: Path, outside: Path) -> None:
    file.unlink()
    file.symlink_to(outside / "calc.py")


def _replaced_by_pipe(file: Path, outside: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _replaced_by_folder(file: Path, outside: Path) -> None:
    file.unlink()
    file.mkdir()


def _folder_replaced_by_link(file: Path, outside: Path) -> None:
    file.parent.rename(file.parent.with_name("was"))
    file.parent.symlink_to(outside)


MEANWHILE: dict[str, Callable[[Path, Path], object]] = {
    "deletes the file": lambda file, outside: file.unlink(),
    "writes something else": lambda file, outside: file.write_text("# mine\n"),
    "writes what is no text": lambda file, outside: file.write_bytes(bytes(range(256))),
    "has a link there that leads outside": _replaced_by_link,
    "has a pipe there": _replaced_by_pipe,
    "has a folder there": _replaced_by_folder,
    "has a link in place of its folder": _folder_replaced_by_link,
}


IN_A_FOLDER = Check("tests", f"cd src && {TESTS.command}", Kind.TESTS)


def in_a_folder(root: Path) -> Path:
    """The file that attempts change, moved to a folder of its own."""
    file = root / "src" / "calc.py"
    file.parent.mkdir()
    return (root / "calc.py").rename(file)


async def test_what_the_user_does_meanwhile_stands(
    root: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of them while the winner is judged; each is tried below, where the same function lands."""
    file = in_a_folder(root)
    judged, done = asyncio.Event(), asyncio.Event()
    attempt = Judge.attempt

    async def waiting(self: Judge, *given: Any) -> Verdict:
        verdict = await attempt(self, *given)
        judged.set()
        await done.wait()
        return verdict

    monkeypatch.setattr(Judge, "attempt", waiting)
    async with talking(root, answers(FIX.replace("calc.py", "src/calc.py"))) as it:
        await it.session.race.start("mend add", 1, [IN_A_FOLDER])
        async with asyncio.timeout(60):
            await judged.wait()
        _folder_replaced_by_link(file, outside)
        before = state(root)
        done.set()
        end = await ended(it)
        assert (end.status, end.code) == ("failed", "changed"), end
        assert not it.all(HunkLanded) and not hidden(end)
    assert state(root) == before and files(outside) == {"calc.py": ADD}


async def test_what_the_user_does_before_an_attempt_is_taken_stands(root: Path, outside: Path) -> None:
    file = in_a_folder(root)
    scripts = [doing(code).replace("calc.py", "src/calc.py") for code in ("pass", "pass  # too")]
    async with talking(root, answers(*scripts)) as it:
        await it.session.race.start("mend add", 2, [IN_A_FOLDER])
        assert (await ended(it)).code == "no_winner"
        for number, (way, meanwhile) in enumerate(MEANWHILE.items(), 2):
            meanwhile(file, outside)
            before = state(root)
            it.session.race.take(1)
            end = await ended(it, f"t{number}")
            assert (end.status, end.code) == ("failed", "changed"), (way, end)
            assert not it.all(HunkLanded) and not hidden(end)
            assert state(root) == before and files(outside) == {"calc.py": ADD}, way
            for folder in root.iterdir():  # all is as it was
                folder.unlink() if folder.is_symlink() else shutil.rmtree(folder)
            file.parent.mkdir()
            file.write_text(ADD)
        number = len(MEANWHILE) + 2
        it.session.race.take(1)
        assert (await ended(it, f"t{number}")).status == "completed"
        assert WRONG in file.read_text(), "it was theirs that kept it from landing"


# -- when it ends -------------------------------------------------------------------------------

BUSY = Check("busy", f"if grep -q 'a - b' calc.py; then exit 0; fi; (setsid sleep {MARK} &); sleep {MARK}")
SLOW_BEFORE = Check("slow", f"(setsid sleep {MARK} &); sleep {MARK}")


async def _streaming(it: Listening) -> None:
    await it.session.race.start("mend add", 2, [TESTS])
    await it.until(AttemptStarted)


async def _before(it: Listening) -> None:
    await it.session.race.start("mend add", 2, [SLOW_BEFORE])
    await until(lambda: len(marked()) > 1)


async def _checking(it: Listening) -> None:
    await it.session.race.start("mend add", 2, [BUSY])
    await until(lambda: len(marked()) > 1)


async def _held(it: Listening) -> None:
    await it.session.race.start("mend add", 1, [TESTS])
    await it.until(HunkHeld)


async def _just_begun(it: Listening) -> None:
    await it.session.race.start("mend add", 2, [BUSY])


PHASES = {
    "it has just begun": (_just_begun, answers(FIX, FIX)),
    "answers stream": (_streaming, answers(FIX, FIX, stall=600.0)),
    "the project is judged": (_before, answers(FIX, FIX, stall=600.0)),
    "answers are judged": (_checking, answers(FIX, doing("pass"))),
    "the winner is held": (_held, answers(added(".envrc") + FIX)),
}
ENDS = [
    *((phase, closed, not closed) for phase in PHASES for closed in (False, True)),
    # Where a sandbox is in use, each end with each kind of it.
    *((phase, closed, closed) for phase in PHASES if "judged" in phase for closed in (False, True)),
]


@pytest.mark.parametrize(("phase", "closed", "walls"), ENDS)
async def test_a_race_that_ends_while(
    phase: str, closed: bool, walls: bool, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It leaves no process, no sandbox and nothing half done, however it is ended."""
    if not walls:
        without_walls(monkeypatch)
    reach, script = PHASES[phase]
    async with talking(root, script) as it:
        await reach(it)
        if not closed:
            it.session.interrupt()
            assert (await ended(it)).status == "interrupted"
            assert not marked() and sandboxes(root) == []
    assert not marked() and sandboxes(root) == []
    assert files(root) == {"calc.py": ADD} and not it.all(HunkLanded)
