"""Checks of a real session: the partner streams hunks, ruff judges them in a sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from session.base.events import CheckEnded, CheckStarted, HunkChecked, Notice, PromptSubmitted, TurnJudged
from session.base.storage.folders import config_folder, project_folders
from session.checks.check import Check
from session.checks.known_checks import Agreements
from session.commands.check_commands import CheckError
from tests.session.checks.painting import PAINT, RUFF
from tests.session.talking import COLOURS, WORDS, environment, talking

TESTS = "sed -n 2p colours.py | grep -q ' 10$' || { echo AssertionError; exit 1; }"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "colours.py").write_text(COLOURS)
    config = config_folder(environment(tmp_path / "xdg"))
    config.mkdir(parents=True)
    (config / "config.toml").write_text(
        f'[[checks]]\nname = "ruff"\nkind = "lint"\nfiles = ["*.py"]\ncommand = """{RUFF}"""\n'
        f'[[checks]]\nname = "tests"\nkind = "tests"\ncommand = """{TESTS}"""\n'
    )
    return folder


def agree(root: Path) -> None:
    folders = project_folders(root, environment(root.parent / "xdg"))
    Agreements(folders.state).add([Check("ruff", RUFF), Check("tests", TESTS)])


async def test_hunks_turn_green_and_red_and_the_red_ones_can_be_sent_back(root: Path) -> None:
    agree(root)
    async with talking(root, PAINT) as talk:
        assert await talk.session.checks.follow() == "hunks are judged as they land, by ruff, tests"
        assert talk.session.checks.request() == ""
        talk.session.submit("paint")
        await talk.until(CheckEnded)
        await talk.until(HunkChecked, lambda event: event.hunk == "h2")
        judged = {event.hunk: event for event in talk.all(HunkChecked)}
        assert {hunk: event.status for hunk, event in judged.items()} == {"h1": "green", "h2": "red"}
        assert judged["h2"].line == 10 and "F821" in judged["h2"].message
        (ended,) = talk.all(CheckEnded)
        assert (ended.check, ended.status) == ("tests", "green")
        request = talk.session.checks.request()
        assert request.splitlines()[2:-1] == ["- colours.py:10: F821 Undefined name `violet` (ruff)"]
        await talk.session.hunks.undo("h2")
        assert talk.session.checks.request() == "", "an undone hunk is red no more"
        talk.session.checks.stop_following()
        assert not talk.session.checks.following


MENDS = '''
[[scenario]]
id = "mend"
match = ["checks fail"]

[[scenario.hunk]]
id = "mended"
path = "colours.py"
lines = """
 def blue():
-    return violet
+    return 30
"""

[[scenario.step]]
patch = ["mended"]
'''


def rounds(root: Path, count: int) -> None:
    file = config_folder(environment(root.parent / "xdg")) / "config.toml"
    file.write_text(f"auto_fix = {count}\n{file.read_text()}")


async def test_what_is_red_goes_back_by_itself_and_the_next_round_mends_it(root: Path) -> None:
    agree(root)
    rounds(root, 3)
    async with talking(root, PAINT + MENDS) as talk:
        assert (await talk.session.checks.follow()).endswith(
            "; what is red goes back by itself, up to 3 times in a row"
        )
        talk.session.submit("paint")
        await talk.ended("t2")
        await talk.until(HunkChecked, lambda event: event.hunk == "h2" and event.status == "green")
        prompts = [event.text for event in talk.all(PromptSubmitted)]
        assert prompts[1:] == [
            "These checks fail. Mend what they found:\n```\n"
            "- colours.py:10: F821 Undefined name `violet` (ruff)\n```"
        ]
        assert talk.session.prompts.read() == ["paint"], "↑ brings back what the user typed, and nothing else"
        assert "auto-fix 1 of 3: what is red goes back; Esc stops it" in [
            each.text for each in talk.all(Notice)
        ]
        await talk.until(CheckEnded, lambda event: talk.session.checks.request() == "")
        assert "return 30" in talk.text("colours.py")
        assert len(talk.all(PromptSubmitted)) == 2, "nothing is red any more"


WORSE = """
[[scenario]]
id = "worse"
match = ["checks fail"]
times = 1
[[scenario.hunk]]
id = "more"
path = "colours.py"
lines = '''
 def blue():
-    return violet
+    return violet + wrong + worse
'''
[[scenario.step]]
patch = ["more"]
"""


async def test_rounds_that_end_red_go_back_to_the_best_one(root: Path) -> None:
    count = "grep -onE 'violet|wrong|worse' colours.py | sed 's/^/colours.py:/;s/[a-z]*$/ error: &/'; exit 1"
    file = config_folder(environment(root.parent / "xdg")) / "config.toml"
    file.write_text(f'[[checks]]\nname = \'tests\'\nkind = \'tests\'\ncommand = """{count}"""\n')
    Agreements(project_folders(root, environment(root.parent / "xdg")).state).add([Check("tests", count)])
    rounds(root, 1)
    async with talking(root, PAINT + WORSE) as talk:
        await talk.session.checks.follow()
        talk.session.submit("paint")
        judged = await talk.until(TurnJudged, lambda event: event.turn == "t2")
        assert judged.red == 1, "what the first turn left, with one word that is wrong"
        assert "return violet\n" in talk.text("colours.py"), "the user's own turn stays"
        assert "auto-fix went back a round, to what left the least red: 1 left" in [
            each.text for each in talk.all(Notice)
        ]


async def test_esc_while_the_checks_run_sends_nothing_back(root: Path) -> None:
    agree(root)
    rounds(root, 3)
    async with talking(root, PAINT + MENDS) as talk:
        await talk.session.checks.follow()
        talk.session.submit("paint")
        await talk.ended("t1")
        talk.session.interrupt()
        await talk.until(HunkChecked, lambda event: event.hunk == "h2" and event.status == "red")
        await talk.until(CheckEnded)
        await talk.session.settled()
        assert len(talk.all(PromptSubmitted)) == 1
        assert talk.session.checks.request(), "/fix still sends it"


async def test_a_test_that_was_red_before_is_not_blamed_on_a_prompt_that_came_first(root: Path) -> None:
    """The first run of the tests is not over when the hunk lands: they are asked about the text before."""
    slow = "sleep 1; grep -q violet colours.py; cat colours.py; echo 'colours.py:9: wrong blue'; exit 1"
    file = config_folder(environment(root.parent / "xdg")) / "config.toml"
    file.write_text(f'[[checks]]\nname = "tests"\nkind = "tests"\ncommand = """{slow}"""\n')
    Agreements(project_folders(root, environment(root.parent / "xdg")).state).add([Check("tests", slow)])
    async with talking(root, PAINT) as talk:
        await talk.session.checks.follow()
        talk.session.submit("paint")
        ended = await talk.until(CheckEnded)
        assert (ended.status, ended.before) == ("as_before", 1)
        assert "wrong blue" not in talk.session.checks.request()


async def test_a_prompt_while_tests_run_does_not_discard_their_verdict(root: Path) -> None:
    slow = "sleep 1; grep -q violet colours.py"
    file = config_folder(environment(root.parent / "xdg")) / "config.toml"
    file.write_text(f'[[checks]]\nname = "tests"\nkind = "tests"\ncommand = """{slow}"""\n')
    Agreements(project_folders(root, environment(root.parent / "xdg")).state).add([Check("tests", slow)])
    async with talking(root, PAINT + WORDS) as talk:
        await talk.session.checks.follow()
        talk.session.submit("paint")
        await talk.until(CheckStarted)
        talk.session.submit("go on with words")
        await talk.ended("t2")
        assert (await talk.until(CheckEnded)).status == "green"


async def test_agreed_checks_run_on_command(root: Path) -> None:
    agree(root)
    async with talking(root, PAINT) as talk:
        assert await talk.session.checks.run() == "running ruff, tests"
        await talk.until(CheckEnded, lambda event: event.check == "tests")
        assert [(event.check, event.status) for event in talk.all(CheckEnded)] == [
            ("ruff", "green"),
            ("tests", "red"),
        ]
        request = talk.session.checks.request()
        assert "(tests)\n```\n\ntests printed this, cut to what matters.\n```\nAssertionError\n```" in request


async def test_nothing_runs_that_was_not_agreed_to(root: Path) -> None:
    async with talking(root, PAINT) as talk:
        for command in (talk.session.checks.run, talk.session.checks.follow):
            with pytest.raises(CheckError, match="/check list shows what they run"):
                await command()
        assert not talk.session.checks.following
        assert talk.all(PromptSubmitted) == []


async def test_a_project_without_checks_says_how_to_get_some(tmp_path: Path) -> None:
    async with talking(tmp_path, PAINT) as talk:
        with pytest.raises(CheckError, match=r"has no checks: add \[\[checks\]\] to config.toml"):
            await talk.session.checks.run()


async def test_only_what_was_shown_can_be_agreed_to(root: Path) -> None:
    async with talking(root, PAINT) as talk:
        with pytest.raises(CheckError, match="/check list shows what each check runs"):
            await talk.session.checks.agree("ruff")
        assert [(check.name, agreed) for check, agreed in await talk.session.checks.listed()] == [
            ("ruff", False),
            ("tests", False),
        ]
        (root / "package.json").write_text('{"scripts": {"test": "node --test"}}')
        assert (await talk.session.checks.agree("ruff")).command == RUFF
        with pytest.raises(CheckError):
            await talk.session.checks.agree("npm-test")
        assert await talk.session.checks.run() == "running ruff"


async def test_a_script_that_changed_after_it_was_shown_is_not_run(root: Path) -> None:
    (root / "package.json").write_text('{"scripts": {"test": "true"}}')
    async with talking(root, PAINT) as talk:
        await talk.session.checks.listed()
        (root / "package.json").write_text('{"scripts": {"test": "touch ran"}}')
        await talk.session.checks.agree("npm-test")
        with pytest.raises(CheckError, match="No check of this project is agreed to"):
            await talk.session.checks.run()
