"""The parts of a session are handed the events that they look at, and no others."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path

from session.assist.review.outside import OutsideSaves
from session.base.events import Event
from session.base.events.event import event_types
from session.partner.load_script import parse
from session.partner.server.server import Partner
from session.session import Session
from tests.session.talking import WORDS, colours_project, opening


def looked_at(take: Callable[..., None]) -> set[str]:
    """The names of the events that the body of ``take`` tells apart."""
    body = ast.parse(textwrap.dedent(inspect.getsource(take)))
    known = {kind.__name__ for kind in event_types().values()}
    return known & {
        each.id
        for part in ast.walk(body)
        if isinstance(part, ast.match_case | ast.Call)
        for each in ast.walk(part.pattern if isinstance(part, ast.match_case) else part)
        if isinstance(each, ast.Name)
    }


async def test_each_part_names_just_the_events_that_it_looks_at(tmp_path: Path) -> None:
    async with Partner(scripts=parse(WORDS)) as partner:
        session = Session(opening(colours_project(tmp_path), partner.url))
        taken: list[tuple[Callable[..., None], tuple[type[Event], ...]]] = [
            (each.take, each.kinds) for each in session._recorder._subscribers if each.kinds
        ]
        await session.close()
    assert len(taken) > 10
    taken.append((OutsideSaves.take, OutsideSaves.KINDS))  # made with the first front end that shows findings
    for take, kinds in taken:
        assert {kind.__name__ for kind in kinds} == looked_at(take), take.__qualname__
