"""What of a project is trusted: the answers that were given before, and the folder as a whole."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from session.project.trust_answers import AnswerFile, Answers, Standing

if TYPE_CHECKING:
    from context.disk.source import Source, Unread
    from context.window.pieces import Approved

SETTINGS_FILE = ".spark.toml"
"""The project's own settings."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that would instruct the model or set something, as it is now; ``text`` is what it says."""

    path: str
    text: str
    digest: str
    standing: Standing

    @property
    def unanswered(self) -> bool:
        """Whether the user has not said yes or no to this content."""
        return self.standing in (Standing.NEW, Standing.CHANGED)


class ProjectTrust:
    """The answers about the project at ``root``, read from ``file``. With ``whole`` nothing is asked: the
    user's configuration, or an option of the command line, trusts the folder whatever its files say.

    Used on the event loop; what it hands out is immutable.
    """

    def __init__(self, root: Path, file: AnswerFile, answers: Answers, *, whole: bool = False) -> None:
        self.root = root
        self.whole = whole
        self._file = file
        self._answers = answers

    @property
    def approved(self) -> Approved:
        """What of the project may instruct the model."""
        from context.window.pieces import Approved  # the first frame is drawn without it

        return Approved(self._answers.agreed(), all=self.whole)

    def candidate(self, source: Source, path: str = "") -> Candidate:
        """``source`` as a candidate, under the name ``path`` where a link leads to it."""
        path = path or source.path
        standing = Standing.TRUSTED if self.whole else self._answers.standing(path, source.digest)
        return Candidate(path, source.text, source.digest, standing)

    def answer(self, contents: Mapping[str, str], *, agreed: bool) -> None:
        """Keep the user's answer about ``contents``, hashes by path. Raises StoreError."""
        self._answers = self._file.add(contents, agreed=agreed)

    def revoke(self) -> bool:
        """Forget all answers; false where there were none. Raises StoreError."""
        revoked = self._file.forget()
        self._answers = Answers()
        return revoked


def read_settings_file(root: Path) -> Source | Unread | None:
    """The project's own settings, or why they cannot be read; None where there are none. A link is not
    followed: it could show and use a file of the user's."""
    if not os.path.lexists(root / SETTINGS_FILE):
        return None
    from context.disk.source import read  # not needed by most projects before the first frame

    return read(root, SETTINGS_FILE)
