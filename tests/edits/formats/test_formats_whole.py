"""Whole files are parsed on request only, and never ended by a fence in their text."""

from __future__ import annotations

from pathlib import Path

import pytest

from edits.formats.detect import AutoParser
from edits.formats.events import Broken, Completed, Sampled
from edits.hunk import Action, Format, Hunk, Landed, RefusalCode, Status
from tests.edits.helpers import Project, merged, parse, prose

FILE = "src/a.py\n```python\nimport x\n\nx.run()\n```\n"


def hunks(text: str, format: Format | None = Format.WHOLE) -> list[Hunk]:
    return [event.hunk for event in parse([text], format=format) if isinstance(event, Completed)]


@pytest.mark.parametrize(
    "text",
    [
        FILE,
        FILE.replace("a.py\n", "a.py\n\n"),
        FILE.replace("src/a.py\n```python", "```python src/a.py"),
        FILE.replace("src/a.py\n```python", "```python:src/a.py"),
        FILE.replace("src/a.py", "### `src/a.py`"),
        FILE.replace("```", "~~~~"),
        "- src/a.py\n" + "".join(f"  {line}\n" if line else "\n" for line in FILE.splitlines()[1:]),
    ],
)
def test_the_places_of_the_path(text: str) -> None:
    (hunk,) = hunks(f"First.\n\n{text}Last.\n")
    assert (hunk.path, hunk.action, hunk.format) == ("src/a.py", Action.UPDATE, Format.WHOLE)
    assert hunk.new == ("import x", "", "x.run()") and hunk.old == ()
    assert prose(parse(list(f"First.\n\n{text}Last.\n"), format=Format.WHOLE)) == "First.\n\nLast.\n"


def test_a_code_sample_is_a_file_only_with_the_whole_format_given() -> None:
    assert hunks(FILE, None) == [] and prose(parse([FILE])) == FILE
    sample = "Run this:\n```\nmake\n```\n"
    assert hunks(sample) == [] and prose(parse([sample], format=Format.WHOLE)) == sample


@pytest.mark.parametrize(
    ("opening", "text"),
    [
        ("```md", "# Title\n```bash\nmake\n```\nMore.\n"),
        ("````md", "# Title\n```\nmake\n```\nMore.\n"),
        ("````md", "An open one:\n```bash\n"),
        ("```md", "~~~\nmake\n~~~\n"),
        ("```py", 's = "```"\n'),
    ],
)
def test_fences_in_the_text(opening: str, text: str) -> None:
    closing = opening.rstrip("mdpy")
    (hunk,) = hunks(f"a.md\n{opening}\n{text}{closing}\nBye.\n")
    assert "".join(line + "\n" for line in hunk.new) == text


@pytest.mark.parametrize("clean", [True, False])
def test_a_file_without_its_closing_fence_is_incomplete(clean: bool) -> None:
    events = parse([FILE[:-4]], clean=clean, format=Format.WHOLE)
    assert [event.code for event in events if isinstance(event, Broken)] == [RefusalCode.INCOMPLETE]
    assert merged(parse(list(FILE[:-4]), clean=clean, format=Format.WHOLE)) == merged(events)


def test_a_file_is_added_or_replaced_and_undone(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.apply(FILE, format=Format.WHOLE)
    assert project.read() == {"src/a.py": "import x\n\nx.run()\n"}
    assert [landed.action for landed in project.landed] == [Action.ADD]
    project.apply(FILE.replace("run()", "stop()"), format=Format.WHOLE)
    assert project.read() == {"src/a.py": "import x\n\nx.stop()\n"}
    again = FILE.replace("run()", "stop()")
    project.apply(again, format=Format.WHOLE)
    assert [landed.status for landed in project.landed][2:] == [Status.ALREADY_APPLIED]
    assert isinstance(project.landing.undo(), Landed)
    assert project.read() == {"src/a.py": "import x\n\nx.run()\n"}


def test_unchanged_lines_keep_their_endings(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write({"src/a.py": b"\xef\xbb\xbfimport x\r\n\r\ny.run()"})
    project.apply(FILE, format=Format.WHOLE)
    assert project.read_bytes()["src/a.py"] == b"\xef\xbb\xbfimport x\r\n\r\nx.run()"


def test_undo_keeps_the_edits_of_the_user_around_it(tmp_path: Path) -> None:
    project = Project(tmp_path)
    lines = [f"line {number}" for number in range(30)]
    project.write({"a.txt": "\n".join(lines) + "\n"})
    project.apply(
        "a.txt\n```\n" + "\n".join(lines).replace("line 20", "changed") + "\n```\n", format=Format.WHOLE
    )
    project.write({"a.txt": project.read()["a.txt"].replace("line 2\n", "mine\n")})
    assert isinstance(project.landing.undo(), Landed)
    assert project.read()["a.txt"] == "\n".join(lines).replace("line 2\n", "mine\n") + "\n"


@pytest.mark.parametrize(
    ("text", "newline"),
    [("x\r\ny\r\n", "\r\n"), ("x\r\ny\n", "\n"), ("x\ny\r\n", "\n"), ("x\n", "\n"), ("", "\n")],
)
def test_a_new_file_has_the_line_endings_of_all_its_lines(text: str, newline: str) -> None:
    (hunk,) = hunks(f"f.py\n```\n{text}```\n")
    assert hunk.newline == newline


def test_a_shebang_names_no_file() -> None:
    """Qwen2.5-Coder 1.5B wrote the files one after the other, without a name."""
    parser = AutoParser(whole=True, lenient=True)
    events = parser.feed("```bash\n#!/bin/sh\necho done\n```\n```yaml\na: 1\n```\n")
    samples = [event.hunk for event in [*events, *parser.close(clean=True)] if isinstance(event, Sampled)]
    assert [(hunk.path, hunk.new[0]) for hunk in samples] == [("", "#!/bin/sh"), ("", "a: 1")]
