"""Behind each landed hunk in the chat stands the definition that it is in."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from tests.tui.stage import PART, POLITE, stage

TWO_TURNS = (
    POLITE
    + """
[[scenario.step]]
patch = ["greet"]

[[scenario]]
id = "farewell"
prompt = "say farewell"
match = ["farewell"]
"""
    + PART
    + """
[[scenario.hunk]]
id = "head"
path = "greeter.py"
lines = '''
-\"\"\"Says hello.\"\"\"
+\"\"\"Says hello and good-bye.\"\"\"
'''

[[scenario.step]]
patch = ["part"]

[[scenario.step]]
patch = ["head"]
"""
)


async def test_a_hunk_is_named_after_its_turn_and_not_looked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    async with stage(tmp_path, script=TWO_TURNS) as it:
        find = it.session.hunks.symbols

        async def symbols(hunks: Collection[str]) -> dict[str, str]:
            asked.append(list(hunks))
            return await find(hunks)

        monkeypatch.setattr(it.session.hunks, "symbols", symbols)

        def names() -> list[str | None]:
            lines = [it.app.chat.hunk_named(hunk) for hunk in it.session.hunks.undoable.landed]
            return [line.symbol for line in lines if line is not None]

        await it.ask("make it polite")
        await it.done()
        await it.until(lambda: names() == ["greet"], "the name")
        await it.ask("say farewell")
        await it.done()
        await it.until(lambda: names() == ["greet", "part", ""], "the names of the second turn")
        assert " part  +1 −1" in it.chat
    assert asked == [["h1"], ["h2", "h3"]]
