"""Notifications, the window's title and a stall, in the real app on a real terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from session.base.events import FilesChanged, ReasoningDelta
from tests.bench.pty_spark import Launch
from tests.bench.pty_spark import stage as pty_stage
from tests.tui.stage import Stage, stage
from tui.app.attention import notification, way_of, window_title
from tui.front.words import silence

MANIFEST = """
[[scenario]]
id = "dependency"
match = ["add it"]

[[scenario.hunk]]
id = "click"
path = "requirements.txt"
lines = '''
 click
+rich
'''

[[scenario.step]]
patch = ["click"]
"""


@pytest.mark.parametrize(
    ("environ", "way"),
    [
        ({"TERM": "xterm-256color"}, "bell"),
        ({"TERM": "xterm-kitty"}, "osc9"),
        ({"TERM_PROGRAM": "WezTerm"}, "osc9"),
        ({"TERM": "foot"}, "osc777"),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, "osc777"),
    ],
)
def test_how_a_terminal_is_told(environ: dict[str, str], way: str) -> None:
    assert way_of(environ) == way


def test_what_is_told_cannot_end_the_sequence_and_passes_through_tmux() -> None:
    assert notification("osc9", "spark", "a\x1b\\b\ac\n", {}) == "\x1b]9;spark: a\\bc\a"
    assert notification("osc777", "spark", "a;b", {}) == "\x1b]777;notify;spark;a,b\a"
    assert notification("osc9", "spark a\x1b\\b\a", "x", {}) == "\x1b]9;spark a\\b: x\a"
    assert notification("osc777", "spark a;b", "x", {}) == "\x1b]777;notify;spark a,b;x\a"
    inside = notification("osc9", "spark", "x", {"TMUX": "/tmp/1"})
    assert inside == "\x1bPtmux;\x1b\x1b]9;spark: x\a\x1b\\\a"
    assert notification("bell", "spark", "x", {"TMUX": "1"}) == "\a"
    assert notification("off", "spark", "x", {}) == ""
    assert window_title("a\x1bb\a") == "\x1b]2;ab\a"


def sent(it: Stage) -> list[str]:
    """What is sent to the terminal from now on."""
    out: list[str] = []
    driver = it.app._driver
    assert driver is not None
    write = driver.write

    def noting(data: str) -> None:
        out.append(data)
        write(data)

    driver.write = noting  # type: ignore[method-assign]
    return out


async def test_what_waits_is_told_to_a_user_who_looks_elsewhere(tmp_path: Path) -> None:
    async with stage(tmp_path, script=MANIFEST, files={"requirements.txt": "click\n"}) as it:
        it.app.attention._notify = "osc9"
        out = sent(it)
        it.app.post_message(events.AppBlur())
        await it.ask("add it")
        await it.until(lambda: any("\x1b]9;" in data and "Apply h1?" in data for data in out), "the notice")
        assert any("\x1b]2;Waiting for you" in data for data in out)
        it.app.post_message(events.AppFocus())
        await it.pilot.press(*"/land", "enter")
        await it.done()
        assert sum("\x1b]9;" in data for data in out) == 1, "nobody is told who is there"
        assert "Waiting" not in [data for data in out if "\x1b]2;" in data][-1]


async def test_the_end_of_a_turn_is_told(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.app.attention._notify = "bell"
        out = sent(it)
        it.app.post_message(events.AppBlur())
        await it.ask("just talk")
        await it.done()
        await it.until(lambda: "\a" in out, "the bell")


async def test_a_stall_shows_its_seconds(tmp_path: Path) -> None:
    async with stage(tmp_path, rate=0.4) as it:
        await it.ask("just talk")
        await it.until(lambda: "nothing for 3 s" in it.screen, "the seconds")
        await it.pilot.press("escape")
        await it.done()
        assert "nothing for" not in it.screen


async def test_a_turn_of_signs_of_life_alone_says_once_which_key_stops_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silence, "STILL", 2.0)
    silent = '[[scenario]]\nmatch = ["talk"]\n[[scenario.step]]\nstall = 600.0\n'
    async with stage(tmp_path, script=silent) as it:
        await it.ask("just talk")

        def told() -> bool:
            # What a server's empty deltas and a file that is saved meanwhile lead to.
            it.session._recorder.publish(ReasoningDelta("t1", ""))
            it.session._recorder.publish(FilesChanged(("greeter.py",)))
            return "nothing for 4 s" in it.screen

        await it.until(told, "four seconds of them")
        assert it.chat.count("Nothing new has come from the server for ") == 1
        assert it.chat.count(" s. Esc stops the turn.") == 1
        await it.pilot.press("escape")
        await it.done()


def test_the_title_is_set_and_given_back(launch: Launch) -> None:
    with pty_stage("500", launch=launch) as at, at.spark() as pane:
        pane.until("ready")
        assert "\x1b[22;2t" in pane.raw and "\x1b]2;project · spark\a" in pane.raw
        pane.forget()
        pane.type("\x11")
        for _ in range(100):
            if "\x1b[23;2t" in pane.raw:
                return
            pane.read(0.1)
        raise AssertionError(pane.raw)
