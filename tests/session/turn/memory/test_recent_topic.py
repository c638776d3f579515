"""The topic of the last turns ranks the files of a window that starts afresh."""

from __future__ import annotations

from pathlib import Path

from context.project.project import Project
from session.turn.past_turns import EditFact, PastTurn, PastTurns, recent_topic
from tests.session.project.test_pins import known
from tests.session.talking import PLAIN, talking


def turn(number: int, prompt: str, *edited: str) -> PastTurn:
    edits = tuple(EditFact(f"h{at}", "landed", path) for at, path in enumerate(edited))
    return PastTurn(f"t{number}", prompt, "", edits, "completed")


def test_recently_named_and_edited_files_are_the_topic_newest_first(tmp_path: Path) -> None:
    for name in "abcdefghijkl":
        (tmp_path / "many").mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text("x = 1\n")
        (tmp_path / "many" / f"{name}.py").write_text("x = 1\n")
    snapshot = Project(tmp_path).scan()
    turns = [turn(1, "the first was @l.py"), *(turn(n, "go on") for n in range(2, 6))]
    turns += [turn(6, "fix @a.py", "b.py", "c.py"), turn(7, "and @many/"), turn(8, "then b.py with @d.py")]
    found = recent_topic(PastTurns(tuple(turns)), snapshot)
    assert found.files == ("d.py", "b.py", "a.py", "c.py")
    assert found.words == "fix @a.py\nand @many/\nthen b.py with @d.py"


async def test_a_resumed_session_shows_the_file_that_the_last_prompt_named(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    for number in range(40):
        body = "".join(f"def port_{number}_{n}(hub):\n    return hub.free({n})\n\n\n" for n in range(40))
        (root / f"part{number}.py").write_text(body)
    async with talking(root, PLAIN) as it:
        await known(it)
        it.session.submit("why does @part17.py leak a port?")
        await it.ended("t1")
        file = it.session.folders.sessions / f"{it.session.name}.jsonl"
    async with talking(root, PLAIN, resume=file) as it:
        await known(it)
        it.session.submit("and where is it freed?")
        await it.ended("t2")
        assert "## File: part17.py" in it.sent()
        last = await it.session.context.explain(None)
        whys = {part.path: part.why for part in last.parts}
        assert whys["part17.py"] == "likely to matter: this conversation has been about it; whole"
