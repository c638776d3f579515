"""The findings that the user dismissed, by what their lines say: kept in the project's state folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from session.base.storage.private_files import StoreError, changed_alone, replace_private

NAME = "dismissed.json"
MOST = 1_000
"""Dismissals that are kept, the newest."""


@dataclass(frozen=True, slots=True)
class Dismissal:
    """A finding that is not to be shown again while its lines say the same."""

    path: str
    kind: str
    message: str
    content: str
    """A digest of the lines, without their indentation."""


def content_of(lines: Iterable[str]) -> str:
    """The digest of lines: it does not depend on where they stand, nor on how far they are indented."""
    text = "\n".join(filter(None, map(str.strip, lines)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Dismissals:
    """The dismissals of one project, whose state is in ``folder``. :meth:`read` and :meth:`add` touch the
    disk, and are called in a worker thread."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / NAME
        self._known: tuple[Dismissal, ...] = ()

    @property
    def known(self) -> tuple[Dismissal, ...]:
        """The dismissals as they were last read, oldest first."""
        return self._known

    def covers(self, path: str, kind: str, message: str, lines: Sequence[str]) -> bool:
        """Whether a finding was dismissed: in this file, about lines that say the same, and of the same kind
        or in the same words."""
        content = content_of(lines)
        return any(
            each.path == path and each.content == content and (each.kind == kind or each.message == message)
            for each in self._known
        )

    def read(self) -> None:
        """Read them again. Raises StoreError where they cannot be read."""
        try:
            rows = json.loads(self._file.read_text("utf-8"))["dismissed"]
            self._known = tuple(Dismissal(**{key: str(row[key]) for key in _FIELDS}) for row in rows)
        except FileNotFoundError:
            self._known = ()
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as problem:
            raise StoreError(
                f"the dismissed findings in {self._file} cannot be read ({problem}); "
                "repair or remove that file"
            ) from problem

    def add(self, dismissal: Dismissal) -> None:
        """Keep one more. Raises StoreError where it cannot be written."""
        try:
            with changed_alone(self._file.parent):
                self.read()
                kept = [each for each in self._known if each != dismissal][-(MOST - 1) :]
                self._known = (*kept, dismissal)
                rows = {"dismissed": [asdict(each) for each in self._known]}
                replace_private(self._file, json.dumps(rows, indent=1).encode())
        except OSError as problem:
            raise StoreError(f"the dismissal cannot be kept in {self._file}: {problem.strerror}") from problem


_FIELDS = ("path", "kind", "message", "content")
