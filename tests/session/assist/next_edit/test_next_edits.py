"""Next edits: a real session, the real partner, real files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from session.base.events import HunkLanded, NextEditOffered, NextEditsOver, TurnEnded
from session.partner.script import Say
from session.partner.server.requests import Request
from session.wire.protocol.items import text_of
from tests.session.talking import Listening, talking

FILES = {
    "a.py": "def greet(name):\n    return name\n\n\ndef both(name):\n    return greet(name) + greet(name)\n",
    "b.py": "from a import greet\n\n\nprint(greet('you'))\n",
    "c.js": "greet(1)\n",
    "d.py": "print(1)\n",
}
TOML = """
models = ["spark-practice", "spark-practice-text"]
[[scenario]]
match = ["rename"]
[[scenario.hunk]]
id = "rename"
path = "a.py"
lines = '''
-def greet(name):
+def welcome(name):
     return name
'''
[[scenario.step]]
patch = ["rename"]
[[scenario.step]]
say = "Done.\\n"
"""


@asynccontextmanager
async def opened(folder: Path, **more: str) -> AsyncIterator[Listening]:
    root = folder / "project"
    root.mkdir()
    for path, text in {**FILES, **{name.replace("_", "."): text for name, text in more.items()}}.items():
        (root / path).write_text(text)
    async with talking(root, TOML, rate=10_000.0) as it:
        async with asyncio.timeout(20):
            while not it.session.context.snapshot.complete:
                await asyncio.sleep(0.01)
        yield it


async def rename(it: Listening) -> None:
    opened_file = await it.session.files.read("a.py")
    await it.session.files.save(opened_file, opened_file.text.replace("def greet", "def welcome"))


async def offer(it: Listening, number: int) -> NextEditOffered:
    return await it.until(NextEditOffered, lambda event: event.number == number)


async def test_a_saved_rename_offers_the_places_one_by_one_and_undo_takes_all_back(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        await rename(it)
        first = await offer(it, 1)
        assert (first.change, first.path, first.line, first.total) == ("greet → welcome", "a.py", 6, 3)
        edits = it.session.assist.next_edits
        for number in (1, 2, 3):
            await offer(it, number)
            assert await edits.take()
        await it.until(NextEditsOver)
        assert it.text("b.py") == "from a import welcome\n\n\nprint(welcome('you'))\n"
        assert "return welcome(name) + welcome(name)" in it.text("a.py") and it.text("c.js") == FILES["c.js"]
        assert not await edits.take() and not edits.offered
        turns = {event.turn for event in it.all(HunkLanded)}
        assert len(turns) == 1
        await it.session.hunks.undo_turn(turns.pop())
        assert it.text("b.py") == FILES["b.py"] and "greet(name) + greet(name)" in it.text("a.py")


async def test_the_models_rename_offers_them_once_the_turn_is_over(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        it.session.submit("rename it")
        await it.until(TurnEnded)
        await offer(it, 1)
        order = [event for event in it.events if isinstance(event, TurnEnded | NextEditOffered)]
        assert isinstance(order[0], TurnEnded)
        it.session.submit("something else")
        await it.until(NextEditsOver)
        assert not it.session.assist.next_edits.offered


async def test_a_file_that_defines_the_name_itself_is_left_alone(tmp_path: Path) -> None:
    async with opened(tmp_path, other_py="def greet(it):\n    return it\n\n\ngreet(1)\n") as it:
        await rename(it)
        assert (await offer(it, 1)).total == 3
        for number in (1, 2, 3):
            assert (await offer(it, number)).path != "other.py"
            assert await it.session.assist.next_edits.take()


async def test_places_are_passed_over_and_those_that_have_changed_are_neither_landed_nor_offered(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as it:
        await rename(it)
        await offer(it, 1)
        edits = it.session.assist.next_edits
        assert edits.pass_over()
        second = await offer(it, 2)
        (it.root / second.path).write_text("something else\n")
        await edits.take()
        await it.until(NextEditsOver)
        assert not it.all(NextEditOffered)[2:], "the third was in the same file"
        assert it.text(second.path) == "something else\n" and "greet(name) + greet(name)" in it.text("a.py")
        assert not edits.end() and not edits.pass_over() and not await edits.take()


async def test_nothing_is_offered_while_side_requests_are_off(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        it.session.side.switch(on=False)
        await rename(it)
        await asyncio.sleep(0.3)
        assert not it.all(NextEditOffered)


async def test_files_that_are_taken_out_are_not_offered(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        await it.session.context.remove("b.py")
        await rename(it)
        assert (await offer(it, 1)).total == 1


CALLS = {
    "a.py": "from b import first\n\n\ndef greet(name, mark):\n    return name + mark\n\n\ngreet('me', '!')\n",
    "b.py": (
        "from a import greet\n\n\nprint(greet('you', '?'))\nprint(greet(\n    'them',\n    mark='.',\n))\n"
    ),
    "c.py": "word = 'greet(1, 2)'  # greet(1, 2)\n",
}


async def save(it: Listening, path: str, old: str, new: str) -> None:
    opened_file = await it.session.files.read(path)
    assert old in opened_file.text
    await it.session.files.save(opened_file, opened_file.text.replace(old, new))


async def take(it: Listening, *numbers: int) -> None:
    for number in numbers:
        await offer(it, number)
        assert await it.session.assist.next_edits.take()


async def test_a_parameter_that_is_gone_is_taken_from_the_calls_without_a_model(tmp_path: Path) -> None:
    async with opened(tmp_path, **{path.replace(".", "_"): text for path, text in CALLS.items()}) as it:
        await save(it, "a.py", "greet(name, mark)", "greet(name)")
        first = await offer(it, 1)
        assert (first.change, first.path, first.line, first.total) == (
            "greet(name, mark) → (name)",
            "a.py",
            8,
            4,
        )
        await take(it, 1, 2, 3)
        over = await it.until(NextEditsOver)
        assert over.without == ("a.py:5",), "the body still uses it, and no model may be asked"
        assert it.text("a.py").endswith("greet('me')\n")
        assert (
            it.text("b.py") == "from a import greet\n\n\nprint(greet('you'))\nprint(greet(\n    'them',\n))\n"
        )
        assert it.text("c.py") == CALLS["c.py"] and not it.session.side.account.this_hour().turns


async def test_the_model_gives_a_new_argument_and_the_next_is_asked_for_while_one_is_shown(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, **{path.replace(".", "_"): text for path, text in CALLS.items()}) as it:
        it.session.typing()
        await save(it, "a.py", "greet(name, mark)", "greet(name, mark, tone)")
        first = await offer(it, 1)
        assert (first.old, first.new) == (("greet('me', '!')",), ("greet('me', '!', tone)",))
        async with asyncio.timeout(20):
            while it.session.side.account.this_hour().turns < 2:
                await asyncio.sleep(0.01)
        await take(it, 1, 2, 3)
        await it.until(NextEditsOver)
        assert "print(greet('you', '?', tone))" in it.text("b.py")
        assert "print(greet('them', mark='.', tone=tone))" in it.text("b.py")
        turns = {event.turn for event in it.all(HunkLanded)}
        assert len(turns) == 1
        await it.session.hunks.undo_turn(turns.pop())
        assert it.text("b.py") == CALLS["b.py"]


async def test_an_answer_that_does_not_fit_the_signature_is_not_offered(tmp_path: Path) -> None:
    async with opened(tmp_path, **{path.replace(".", "_"): text for path, text in CALLS.items()}) as it:
        it.partner.model.answer = lambda request, items: ((Say("greet('me', '!', 1, 2)\n"),), None)  # type: ignore[method-assign]
        it.session.typing()
        await save(it, "a.py", "greet(name, mark)", "greet(name, mark, tone)")
        async with asyncio.timeout(20):
            while it.session.side.account.this_hour().turns < 3:
                await asyncio.sleep(0.01)
        assert not it.all(NextEditOffered) and not it.session.assist.next_edits.offered


async def test_a_definition_that_was_moved_takes_its_imports_along(tmp_path: Path) -> None:
    files = {
        "a_py": "import os\nfrom d import one\n\n\ndef greet(name):\n    return name\n\n\nprint(greet(1))\n",
        "b_py": "from a import greet\n\nprint(greet(2))\n",
        "e_py": "from a import (\n    greet,\n    other,\n)\n",
    }
    body = "def greet(name):\n    return name\n"
    async with opened(tmp_path, **files) as it:
        await save(it, "a.py", body, "")
        await save(it, "d.py", "print(1)\n", f"one = 1\n\n\n{body}")
        assert (await offer(it, 1)).change == "greet: a.py → d.py"
        await take(it, 1, 2, 3)
        await it.until(NextEditsOver)
        assert it.text("a.py").startswith("import os\nfrom d import one\nfrom d import greet\n")
        assert it.text("b.py") == "from d import greet\n\nprint(greet(2))\n"
        assert it.text("e.py") == "from a import (\n    other,\n)\nfrom d import greet\n"


async def test_keys_near_a_place_are_masked_and_a_place_with_one_is_not_sent(tmp_path: Path) -> None:
    key = "AKIA" + "Q7WX2ZTPLMNB4KDE"
    files = {path.replace(".", "_"): text for path, text in CALLS.items()}
    files["b_py"] = f"from a import greet\n\nKEY = '{key}'\nprint(greet('you', '?'))\ngreet('{key}', '!')\n"
    sent: list[str] = []

    async with opened(tmp_path, **files) as it:
        answer = it.partner.model.answer

        def listening(request: Request, items: tuple[dict[str, Any], ...]) -> Any:
            sent.extend(map(text_of, items))
            return answer(request, items)

        it.partner.model.answer = listening  # type: ignore[method-assign]
        it.session.typing()
        await save(it, "a.py", "greet(name, mark)", "greet(name, mark, tone)")
        await take(it, 1, 2)
        await it.until(NextEditsOver)
        assert "greet('you', '?', tone)" in it.text("b.py") and f"greet('{key}', '!')" in it.text("b.py")
        assert sum("The region:" in text for text in sent) == 2 and not any(key in text for text in sent)
