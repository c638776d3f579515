"""What of a project is trusted: its files that would instruct the model or set something, and the
folder as a whole.

The user's answers are kept in one private file a project, contents by their hashes. An answer is about one
content of one path in one project folder. A file that changes has no answer until the user gives one again; a
content that was agreed to once, as on another branch, stays agreed to.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from session.base.storage.private_files import StoreError, changed_alone, replace_private

if TYPE_CHECKING:
    from context.disk.source import Source, Unread
    from context.window.pieces import Approved


NAME = "trust.json"
_MOST = 16
"""Contents of one path whose answers are kept, the newest."""


class Standing(StrEnum):
    """How the user stands to a file as it is now."""

    TRUSTED = "trusted"
    DECLINED = "declined"
    NEW = "new"
    CHANGED = "changed since you agreed to it"


@dataclass(frozen=True, slots=True)
class Answers:
    """For each path the answers by the SHA-256 of its content, in hex: true where the user agreed."""

    files: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)

    def standing(self, path: str, digest: str) -> Standing:
        """How the user stands to this content of ``path``."""
        given = self.files.get(path, {})
        if digest in given:
            return Standing.TRUSTED if given[digest] else Standing.DECLINED
        return Standing.CHANGED if any(given.values()) else Standing.NEW

    def agreed(self) -> dict[str, frozenset[str]]:
        """The contents that the user agreed to, by path."""
        agreed = {
            path: frozenset(digest for digest, yes in given.items() if yes)
            for path, given in self.files.items()
        }
        return {path: digests for path, digests in agreed.items() if digests}

    def with_answer(self, contents: Mapping[str, str], *, agreed: bool) -> Answers:
        """These answers, and one more about the ``contents``: hashes by path."""
        files = {path: dict(given) for path, given in self.files.items()}
        for path, digest in contents.items():
            given = files.setdefault(path, {})
            given.pop(digest, None)
            given[digest] = agreed
            files[path] = dict(list(given.items())[-_MOST:])
        return Answers(files)


NO_ANSWERS = Answers()


class AnswerFile:
    """The file of answers of the project at ``root``, in its folder ``state``."""

    def __init__(self, state: Path, root: Path) -> None:
        self._file = state / NAME
        self._root = str(root)

    def read(self) -> Answers:
        """The answers. A damaged file, or another folder's, holds none, so that the user is asked again.

        Raises StoreError where it cannot be read.
        """
        found = read_answers(self._file)
        return found[1] if found is not None and found[0] == self._root else Answers()

    def add(self, contents: Mapping[str, str], *, agreed: bool) -> Answers:
        """Keep one more answer; returns all of them. Raises StoreError where it cannot be written."""
        try:
            with changed_alone(self._file.parent):
                answers = self.read().with_answer(contents, agreed=agreed)
                self._write(answers)
        except OSError as problem:
            raise StoreError(f"cannot write {self._file}: {problem.strerror}") from problem
        return answers

    def forget(self) -> bool:
        """Remove all answers; false where there were none. Raises StoreError."""
        try:
            with changed_alone(self._file.parent):
                self._file.unlink()
        except FileNotFoundError:
            return False
        except OSError as problem:
            raise StoreError(f"cannot remove {self._file}: {problem.strerror}") from problem
        return True

    def _write(self, answers: Answers) -> None:
        files = {path: dict(given) for path, given in answers.files.items()}
        data = json.dumps({"root": self._root, "files": files}, indent=1)
        replace_private(self._file, data.encode("ascii") + b"\n")


def read_answers(file: Path) -> tuple[str, Answers] | None:
    """The project folder and the answers in ``file``; None where it is missing or damaged.

    Raises StoreError where it cannot be read.
    """
    try:
        data = json.loads(file.read_bytes())
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        return None
    except OSError as problem:
        raise StoreError(f"cannot read {file}: {problem.strerror}") from problem
    root, files = (data.get("root"), data.get("files")) if isinstance(data, dict) else (None, None)
    if not isinstance(root, str) or not isinstance(files, dict) or not all(map(_is_given, files.values())):
        return None
    return root, Answers(files)


def _is_given(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(yes, bool) for yes in value.values())


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
