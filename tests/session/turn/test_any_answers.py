"""After any answer of any server the next prompt works, no edit is half there, and the exit code tells."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import cast

from hypothesis import given, settings
from hypothesis import strategies as st

from session.base.events import TurnEnded
from session.partner.server.server import Partner
from session.session import Session
from tests.session.calling import over
from tests.session.talking import Listening, listened, opening
from tests.session.turn.odd_server import CALLS, ENDS, TEXT, Odd, OddServer, odd_server
from tests.thorough import share
from tui.front.exits import exit_code

EDIT = """counter.py
```python
<<<<<<< SEARCH
value = {old}
=======
value = {new}
>>>>>>> REPLACE
```
"""
ODD = st.builds(
    Odd,
    text=st.sampled_from(TEXT),
    end=st.sampled_from(ENDS),
    calls=st.sampled_from(CALLS),
    thought=st.sampled_from(["", "", "opened", "not opened", "not closed"]),
    share=st.one_of(st.just(100), st.integers(0, 100)),
    piece=st.sampled_from([1, 7, 40, 1000]),
)


class Counting:
    """A session in a project with one file, whose number each answer raises by one."""

    def __init__(self, root: Path, server: OddServer, talk: Listening) -> None:
        self.file = root / "counter.py"
        self.server = server
        self.talk = talk
        self.turns = 0

    @property
    def value(self) -> int:
        text = self.file.read_text()
        assert text == f"value = {text.split()[-1]}\n", f"half an edit landed: {text!r}"
        return int(text.split()[-1])

    async def ask(self, odd: Odd) -> tuple[str, TurnEnded]:
        """Ask for the next number; returns what was said, and the turn's end."""
        edit = EDIT.format(old=self.value, new=self.value + 1)
        self.server.plan.clear()
        self.server.plan.append((odd, edit))
        self.turns += 1
        self.talk.session.submit(f"raise it, {self.turns}")
        return odd.said(edit), await self.talk.ended(f"t{self.turns}")


@given(st.lists(ODD, min_size=1, max_size=3))
@settings(max_examples=share(1500, 12))
def test_a_session_goes_on_after_any_answer(odds: list[Odd]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_go_on(Path(folder), odds))


async def _go_on(folder: Path, odds: list[Odd]) -> None:
    over(folder, "chat")
    root = folder / "project"
    root.mkdir()
    (root / "counter.py").write_text("value = 1\n")
    async with odd_server() as server:
        session = Session(opening(root, server.url, "odd"))
        async with listened(session, cast(Partner, None), root) as talk:
            it = Counting(root, server, talk)
            for odd in odds:
                await _one(it, odd)


async def _one(it: Counting, odd: Odd) -> None:
    before = it.value
    said, ended = await it.ask(odd)
    whole = ">>>>>>> REPLACE" in said
    draft = odd.thought in ("opened", "not closed") or "</think>" in said
    assert it.value in (before, before + 1)
    if it.value != before:
        assert whole, "an edit landed whose end was not seen"
        assert not draft, "a draft landed"
    elif odd.clean and odd.calls == "none" and not odd.thought and odd.share == 100:
        raise AssertionError("an edit that was sent whole did not land")
    assert ended.status in ("completed", "failed"), ended
    if ended.status == "failed":
        assert ended.message and exit_code(ended.status, ended.code, refused=False) in (1, 4)
    elif not odd.clean:
        assert len(it.server.asked) > 1, "an answer without its end counts as one that is whole"
    refused = len(it.server.refused)
    before = it.value
    _, ended = await it.ask(Odd())
    assert (ended.status, it.value) == ("completed", before + 1), (ended, it.server.refused)
    assert len(it.server.refused) == refused, it.server.refused
