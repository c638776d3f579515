"""Unsaved texts outlive the process that they were typed in, and are offered only then."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

from session.project.unsaved_texts import UnsavedTexts

TYPIST = """
import sys
from pathlib import Path
from session.project.unsaved_texts import UnsavedTexts
texts = UnsavedTexts(Path(sys.argv[1]))
texts.keep("a.py", "first", "base")
texts.keep("a.py", "typed\\r\\n\\ud800", "base")
texts.keep("b.py", "saved", "")
texts.drop("b.py")
print("typed", flush=True)
sys.stdin.read()
"""


def test_a_text_is_offered_once_its_process_is_killed_and_no_sooner(tmp_path: Path) -> None:
    folder = tmp_path / "unsaved"
    texts = UnsavedTexts(folder)
    assert texts.left() == []
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", TYPIST, str(folder)], stdin=pipe, stdout=pipe) as typist:
        assert typist.stdout is not None and typist.stdout.readline() == b"typed\n"
        assert texts.left() == []
        typist.kill()
        typist.wait()
        (left,) = texts.left()
        assert (left.path, left.text, left.base) == ("a.py", "typed\r\n\ud800", "base")
        assert stat.S_IMODE(left.file.stat().st_mode) == 0o600
    (left,) = UnsavedTexts(folder).left()
    texts.discard(left)
    assert texts.left() == [] and list(folder.iterdir()) == []


def test_what_is_no_unsaved_text_is_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "1-dead"
    folder.mkdir()
    for name, data in {"a": b"", "b": b"[]", "c": b"{}", "d": b'{"path": 1}', "e": b"[" * 9999}.items():
        (folder / f"{name}.json").write_bytes(data)
    (tmp_path / "a file").write_text("no folder")
    assert UnsavedTexts(tmp_path).left() == []
    assert len(list(folder.iterdir())) == 5, "they are left for whoever wants to look"


def test_a_large_text_is_kept_as_it_is(tmp_path: Path) -> None:
    text = 'é"\\\n\ud800\U0001f600' * 50_000
    code = f"""
import sys
from pathlib import Path
from session.project.unsaved_texts import UnsavedTexts
UnsavedTexts(Path(sys.argv[1])).keep("a.py", {text[:6]!r} * 50_000, "x" + {text[:6]!r} * 50_000)
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "unsaved")], check=True)
    (left,) = UnsavedTexts(tmp_path / "unsaved").left()
    assert left.path == "a.py" and left.text == text and left.base == "x" + text
