"""Races in the app: typed, followed in the panel, looked at, another attempt taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from session.base.events import AttemptProgress, Event, RaceEnded, TurnStarted
from session.base.storage.folders import config_folder, project_folders
from session.checks.known_checks import Agreements
from tests.session.race.attempts.races import ADD, ALSO_RIGHT, RIGHT, TESTS, WRONG, script
from tests.tui.app.review.test_review import review
from tests.tui.stage import Stage, stage
from tui.app.race.panel import AttemptsScreen, RacePanel
from tui.editor.virtual_lines import EMPTY

FILES = {"calc.py": ADD}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the stage has its project, with the check agreed to."""
    environ = {"HOME": str(tmp_path / "home")}
    config = config_folder(environ)
    config.mkdir(parents=True)
    command = TESTS.command.replace("\\", "\\\\")
    (config / "config.toml").write_text(
        f'[[checks]]\nname = "tests"\nkind = "tests"\ncommand = """{command}"""\n[attempts]\nhints = []\n'
    )
    (tmp_path / "project").mkdir()
    Agreements(project_folders((tmp_path / "project").resolve(), environ).state).add([TESTS])
    return tmp_path


def panel(it: Stage) -> str:
    found = it.app.screen_stack[0].query(RacePanel)
    return "\n".join(row.text for row in found.first()._rows) if found else ""


async def test_a_typed_race_is_followed_and_another_attempt_taken(folder: Path) -> None:
    async with stage(folder, files=FILES, script=script(WRONG, RIGHT, ALSO_RIGHT)) as it:
        ended: list[RaceEnded] = []
        it.session._recorder.subscribe(
            lambda event: ended.append(event) if isinstance(event, RaceEnded) else None
        )
        it.app.composer.focus()
        it.app.composer.put("/try all 3 mend add")
        it.key("enter")
        await it.until(lambda: "race of 3" in panel(it), "the panel")
        # A race never blocks typing.
        it.key("x", "x")
        await it.until(lambda: it.app.composer.text == "x", "the typed key")
        await it.until(lambda: ended and not it.session.running, "the end of the race")
        await it.done()
        winner = ended[0].winner
        assert winner and f"attempt {winner} of 3 won" in panel(it)
        assert (it.root / "calc.py").read_text() != ADD
        it.key("alt+x")
        await it.until(lambda: isinstance(it.app.screen, AttemptsScreen), "the attempts")
        await it.until(lambda: "return a" in it.screen and "@@" in it.screen, "the diff")
        other = next(n for n, row in it.app.screen._view.attempts.items() if row.state == "green")  # type: ignore[attr-defined]
        for _ in range(abs(other - winner)):
            it.key("down" if other > winner else "up")
        await it.until(lambda: f"❯  {other} " in it.screen, "the choice")
        before = (it.root / "calc.py").read_text()
        it.key("enter")
        await it.until(lambda: (it.root / "calc.py").read_text() not in (before, ADD), "the other attempt")
        await it.until(lambda: not it.session.running, "the end of the turn")
        assert not panel(it), "the next prompt takes the panel away"


async def test_the_stop_key_ends_a_race_and_nothing_changes(folder: Path) -> None:
    async with stage(folder, files=FILES, script=script(WRONG, RIGHT, stall=30.0)) as it:
        it.app.composer.focus()
        it.app.composer.put("mend add")
        it.key("f11")
        await it.until(lambda: "streaming" in panel(it), "the attempts")
        it.key("escape")
        await it.until(lambda: not it.session.running, "the end")
        await it.done()
        assert "– cut" in panel(it) and (it.root / "calc.py").read_text() == ADD


async def test_a_race_that_did_not_begin_comes_back_as_a_race(folder: Path) -> None:
    """Only its prompt came back: sent again, it was a turn whose edits land unjudged."""
    config = config_folder({"HOME": str(folder / "home")}) / "config.toml"
    config.write_text(f"{config.read_text()}tokens = 1_000\n")
    async with stage(folder, files=FILES, script=script(RIGHT, RIGHT)) as it:
        it.app.composer.focus()
        it.app.composer.put("/try 2 mend add")
        it.key("enter")
        await it.until(lambda: "over the limit" in it.chat.replace("\n", " "), "the end")
        await it.until(lambda: it.app.composer.text == "/try 2 mend add", "the command")
        assert it.session.prompts.read() == ["/try 2 mend add"]


async def test_what_cannot_race_comes_back_to_be_corrected(folder: Path) -> None:
    async with stage(folder, files=FILES, script=script(RIGHT)) as it:
        it.app.composer.focus()
        for typed, why in (("/try 99 mend", "1 to 64"), ("/try 5", "say what"), ("/try take 2", "no race")):
            it.app.composer.put(typed)
            it.key("enter")
            await it.until(lambda why=why: why in it.screen.replace("\n", " "), why)  # type: ignore[misc]
            await it.until(lambda typed=typed: it.app.composer.text == typed, typed)  # type: ignore[misc]


async def test_a_second_race_takes_the_place_of_the_first(folder: Path) -> None:
    async with stage(folder, files=FILES, script=script(WRONG, WRONG, RIGHT, RIGHT, stall=0.5)) as it:
        assert it.partner is not None
        begun = it.partner.model.begun
        it.app.composer.focus()
        it.app.composer.put("/try 2 mend add")
        it.key("enter")
        await it.until(lambda: "streaming" in panel(it), "the first race")
        # The panel says so once they are sent; the partner gives out its script's answers as they arrive.
        await it.until(lambda: sum(begun.values()) == 2, "both attempts at the partner")
        it.app.composer.put("/try 2 mend add now")
        it.key("enter")
        await it.until(lambda: "of 2 won" in panel(it) and not it.session.running, "the second race")
        await it.done()
        assert (it.root / "calc.py").read_text() == ADD.replace("a - b", "a + b")
        assert "Stopped" in it.chat or "stopped" in it.chat, "the first race was stopped"


async def test_an_attempt_that_needs_an_ok_shows_what_it_would_change(folder: Path) -> None:
    async with stage(folder, files=FILES, script=script(WRONG, RIGHT)) as it:
        it.session.review = True
        it.app.composer.focus()
        it.app.composer.put("/try 2 mend add")
        it.key("enter")
        await it.until(lambda: it.app.panes.held.question is not None, "the question")
        await it.until(lambda: it.app.editor.path == "calc.py" and it.app.editor.flight is not None, "it")

        def drawn() -> bool:
            flight, lines = it.app.editor.flight, it.app.editor.buffer.lines
            over = flight.overlay(len(lines)) if flight is not None else EMPTY
            return over.ghosts == 1 and [lines[row].strip() for row in over.removed] == ["return a - b"]

        await it.until(drawn, "the line that goes, and the one that comes")
        await it.until(lambda: "return a + b" in it.screen, "the new line on the screen")
        await review(it)
        both = ("-    return a - b", "+    return a + b")
        await it.until(lambda: all(line in it.screen for line in both), "the list")
        assert (it.root / "calc.py").read_text() == ADD
        await it.pilot.press("y")
        await it.until(lambda: (it.root / "calc.py").read_text() != ADD, "the attempt")


async def test_quitting_in_a_race_leaves_the_project_and_no_sandbox(folder: Path) -> None:
    async with stage(folder, files=FILES, script=script(WRONG, RIGHT, stall=30.0)) as it:
        it.app.composer.focus()
        it.app.composer.put("mend add")
        it.key("f11")
        await it.until(lambda: "streaming" in panel(it), "the attempts")
        it.key("ctrl+q")
        await it.until(lambda: not it.app.is_running or not it.session.running, "the end")
    assert (folder / "project" / "calc.py").read_text() == ADD
    left = list((folder / "home").rglob("sandboxes/*"))
    assert left == [], left


async def test_the_window_holds_the_winners_answer_and_none_of_the_others(folder: Path) -> None:
    long = script(WRONG, RIGHT, WRONG).replace("Done.", "Words of an answer. " * 200)
    async with stage(folder, files=FILES, script=long) as it:
        heard: list[Event] = []
        it.session._recorder.subscribe(heard.append)
        it.app.composer.focus()
        it.app.composer.put("/try all 3 mend add")
        it.key("enter")
        await it.until(lambda: any(isinstance(each, RaceEnded) for each in heard), "the end of the race")
        await it.done()
        (started,) = [each for each in heard if isinstance(each, TurnStarted)]
        (race,) = [each for each in heard if isinstance(each, RaceEnded)]
        output = {each.attempt: each.tokens for each in heard if isinstance(each, AttemptProgress)}
        assert race.winner and output[race.winner] > 500
        assert it.app.status.status.used == started.input_tokens + output[race.winner]
        await it.ask("add nothing more")
        await it.done()
        again = [each for each in heard if isinstance(each, TurnStarted)][-1]
        assert 0 <= again.input_tokens - started.input_tokens - output[race.winner] < 500


async def test_after_a_restart_the_attempts_of_the_last_race_are_shown_and_one_is_taken(folder: Path) -> None:
    async with stage(folder, files=FILES, script=script(WRONG, RIGHT)) as it:
        it.app.composer.focus()
        it.app.composer.put("/try all 2 mend add")
        it.key("enter")
        await it.until(lambda: "of 2 won" in panel(it), "the end of the race")
        await it.done()
    async with stage(folder, files={}, script=script(WRONG)) as it:
        it.key("shift+f11")
        await it.until(lambda: isinstance(it.app.screen, AttemptsScreen), "the attempts")
        await it.until(lambda: "the last race: mend add" in it.screen and "@@" in it.screen, "the diff")
        red = next(n for n, row in it.app.screen._view.attempts.items() if row.state == "red")  # type: ignore[attr-defined]
        it.key("down" if red == 2 else "up")
        await it.until(lambda: f"❯  {red} ✗ red" in it.screen, "the choice")
        it.key("enter")
        await it.until(lambda: WRONG in (it.root / "calc.py").read_text(), "the other attempt")
        await it.until(lambda: not it.session.running, "the end of the turn")
