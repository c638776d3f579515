"""What a mention that is being typed could become, shown over the composer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.stage import GREETER, Stage, stage
from tui.chat.composer.suggestions import Suggestions, rows
from tui.front.slash.completion import Candidates

EFFORTS = ("none", "low", "medium", "high", "xhigh", "max", "auto")
FILES = {"greeter.py": GREETER, "web/greeting.js": "let a;\n", "docs/a b.md": "# Notes\n"}


def shown(it: Stage) -> list[str]:
    """The lines of the list, from the screen."""
    pane = it.app.query_one(Suggestions)
    if not pane.display:
        return []
    lines = it.screen.splitlines()[pane.region.y : pane.region.bottom]
    return [line.strip() for line in lines]


async def ready(it: Stage) -> None:
    await it.until(lambda: len(it.session.files.list()) == 3, "the list of files")
    it.app.composer.focus()


@pytest.mark.parametrize("typed", [["@greet"], ["@gree", "t"]], ids=["fast", "slowly"])
async def test_what_a_mention_could_become_is_shown_as_it_is_typed(tmp_path: Path, typed: list[str]) -> None:
    async with stage(tmp_path, files=FILES) as it:
        await ready(it)
        await it.pilot.press(*"see ")
        for part in typed:
            await it.pilot.press(*part)
            await it.until(lambda: len(shown(it)) == 3, "the list")
        names = ["greet", "greeter.py", "web/greeting.js"]
        await it.until(
            lambda: [line.split()[0] for line in shown(it)] == names, "the name that is all typed comes first"
        )
        assert "Tab or Enter puts it in" in it.screen
        await it.pilot.press("tab")
        await it.until(lambda: shown(it)[1].startswith("❯"), "the mark")
        await it.pilot.press("tab")
        await it.until(lambda: shown(it)[2].startswith("❯"), "the next mark")
        assert len(shown(it)) == 3, "going round leaves the list as it is"
        await it.pilot.press("space")
        await it.until(lambda: not shown(it), "its end")
        assert "3 of 3" not in it.screen, "what was said of the match went with it"
        await it.pilot.press(*"@docs", "tab", "ctrl+u", *"@web")
        await it.until(lambda: "Tab or Enter puts it in" in it.screen, "what Tab does now")


async def test_the_list_goes_with_escape_with_sending_and_with_leaving_the_composer(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        await ready(it)
        for key in ("escape", "f3", "enter"):
            it.app.composer.put("")
            it.app.composer.focus()
            await it.pilot.press(*"@gree")
            await it.until(lambda: shown(it), "the list")
            await it.pilot.press(key)
            await it.until(lambda: not shown(it), f"its end by {key}")
        await it.done()


async def test_names_with_spaces_and_names_that_nothing_has(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        await ready(it)
        await it.pilot.press(*"@a b"[:2])
        await it.until(lambda: '❯ "docs/a b.md"' in shown(it), "the quoted name")
        await it.pilot.press(*"zzzz")
        await it.until(lambda: not shown(it), "its end")


async def test_a_low_and_narrow_terminal_keeps_its_panes(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, size=(40, 10)) as it:
        await ready(it)
        await it.pilot.press(*"@gr")
        await it.until(lambda: shown(it), "the list")
        assert all(len(line) <= 40 for line in it.screen.splitlines())
        assert it.app.query_one(Suggestions).region.y >= 2
        await it.pilot.resize_terminal(40, 6)
        await it.pilot.press("e")
        await it.until(lambda: len(shown(it)) <= 1, "a list that fits")


def test_the_chosen_one_is_always_in_sight() -> None:
    texts = [f"file{at}.py" for at in range(12)]
    told = ["modified" if at == 3 else "" for at in range(12)]
    lines = [row.text for row in rows(texts, told, -1, 40, 4)]
    assert lines == ["   file0.py", "   file1.py", "   file2.py", "   file3.py      modified"]
    assert [row.text for row in rows(texts, told, 11, 40, 4)][-1] == " ❯ file11.py"
    assert [row.text for row in rows(texts, told, 5, 40, 4)][-1] == " ❯ file5.py"
    narrow = rows(["very/long/path/to/a/file.py"], ["defined there"], 0, 16, 4)
    assert [row.text for row in narrow] == [" ❯ …to/a/file.py"]


async def test_commands_and_what_can_follow_them_are_shown_as_they_are_typed(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        await ready(it)
        await it.pilot.press(*"/un")
        await it.until(lambda: len(shown(it)) == 4, "the commands")
        assert any(line.startswith("unlock") and "remove a lock" in line for line in shown(it))
        await it.pilot.press(*"pin ")
        await it.until(lambda: shown(it) == ["all"], "what can be unpinned")
        await it.pilot.press("ctrl+u", *"/effort ")
        await it.until(lambda: shown(it) == [*EFFORTS], "the efforts")
        await it.pilot.press("tab", "tab", "tab")
        await it.until(lambda: shown(it)[2] == "❯ medium", "the mark")
        await it.pilot.press("enter")
        await it.until(lambda: not shown(it) and it.session.models.effort == "medium", "the effort")
        await it.until(lambda: "spark-practice" in it.session.models.served.names(), "the server's list")
        await it.pilot.press(*"/model spark")
        await it.until(lambda: len(shown(it)) == 2, "the models")
        assert [" ".join(line.split()) for line in shown(it)] == [
            "❯ spark-practice 128,000 tokens",
            "spark-practice-text 128,000 tokens",
        ]
        await it.pilot.press("ctrl+u", *"/pin gree")
        await it.until(lambda: "web/greeting.js" in shown(it), "the files")
        await it.pilot.press("ctrl+u", *"/queue s")
        await it.until(lambda: not shown(it), "nothing where anything can follow")


async def test_arrows_choose_and_enter_puts_in_before_it_sends(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        await ready(it)
        composer = it.app.composer
        await it.pilot.press(*"talk of @gree")
        await it.until(
            lambda: len(shown(it)) == 3 and it.app.query_one(Suggestions).word == "gree", "the list"
        )
        first = shown(it)[0].removeprefix("❯ ").split("  ")[0]
        await it.pilot.press("down")
        assert shown(it)[1].startswith("❯")
        second = shown(it)[1].removeprefix("❯ ").split("  ")[0]
        await it.pilot.press("up", "up", "down", "down")
        await it.pilot.press("enter")
        assert composer.text == f"talk of @{second} " and second != first and not it.session.running
        await it.until(lambda: not shown(it), "the end of the list")
        await it.pilot.press("enter")
        await it.done()
        assert "The end of the talk" in it.chat


async def test_an_arrow_before_the_list_for_the_last_letter_is_there_counts(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        await ready(it)
        await it.pilot.press(*"talk of @gree")
        suggestions = it.app.query_one(Suggestions)
        await it.until(lambda: len(shown(it)) == 3 and suggestions.word == "gree", "the list")
        again = Candidates("gree", tuple(suggestions.texts), ("",) * 3)
        await it.pilot.press("down")
        second = suggestions.chosen
        suggestions.offer(again, 60, 8, 3)
        assert suggestions.chosen == second != suggestions.texts[0]
        await it.pilot.press("backspace")
        await it.until(lambda: suggestions.word == "gre", "the list of the text as it is now")
        assert suggestions.chosen == suggestions.texts[0]


async def test_enter_sends_where_a_whole_name_or_nothing_is_typed(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        await ready(it)
        await it.pilot.press(*"/effort")
        await it.until(lambda: "/effort [LEVEL]" in it.screen and not shown(it), "nothing more to choose")
        await it.pilot.press("enter")
        await it.until(lambda: "gpt-6-luna · medium" in it.screen, "the answer")
        assert it.app.composer.text == ""


async def test_what_was_edited_last_is_suggested_first(tmp_path: Path) -> None:
    async with stage(tmp_path, files={"a.py": "x\n", "b.py": "y\n", "greeter.py": GREETER}) as it:
        await ready(it)
        await it.ask("make it polite")
        await it.done()
        await it.pilot.press("@")
        await it.until(lambda: shown(it) and shown(it)[0], "the list is drawn")
        assert shown(it)[0].startswith("greeter.py")


def test_the_letters_that_match_stand_out() -> None:
    (row,) = rows(["greeter.py"], [""], 0, 40, 4, "gr")
    assert [(text, role) for text, role in row.spans if role == "accent"][1:] == [
        ("g", "accent"),
        ("r", "accent"),
    ]
