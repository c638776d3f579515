"""Word of a session that ended while nobody watched, for whoever opens the project next."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from session.base.storage.line_files import StoreError, open_to_read
from session.base.storage.private_files import replace_private
from session.base.text.sanitize import clean_line

ENDED = ".ended"
_LONGEST = 200


def leave_word(folder: Path, name: str, line: str) -> None:
    """Say in a line how the session ``name`` ended. Raises StoreError."""
    file = folder / f"{name}{ENDED}"
    try:
        replace_private(file, line.encode("utf-8", "replace"))
    except OSError as problem:
        raise StoreError(f"cannot write {file}: {problem.strerror}") from problem


def forget_word(folder: Path, name: str) -> None:
    """Tell nothing of the session ``name`` any more: whoever resumes it sees how it ended."""
    with suppress(OSError):
        (folder / f"{name}{ENDED}").unlink(missing_ok=True)


def take_words(folder: Path) -> list[str]:
    """What was left, a line for each session; each is told once."""
    told = []
    for file in sorted(folder.glob(f"*{ENDED}")):
        try:
            with open_to_read(file) as content:
                line = clean_line(content.read(_LONGEST).decode("utf-8", "replace"))
            file.unlink()
        except OSError:
            continue  # another process told it
        told.append(
            f"session {file.stem} went on without a screen and is over ({line}): spark resume {file.stem}"
        )
    return told
