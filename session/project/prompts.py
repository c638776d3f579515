"""Stores what the user types in a project: the unsent draft, and the prompts of all sessions."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from session.base.storage.private_files import (
    StoreError,
    open_for_lines,
    open_to_read,
    replace_private,
    write_all,
)
from session.base.text.sanitize import clean

if TYPE_CHECKING:
    from session.base.events import Event

_LONGEST_WAIT = 1.0
"""Seconds to wait for a process that shortens the file, which takes some milliseconds."""


class Draft:
    """The unsent text of the composer, which survives every end of spark.

    All processes in a project share one file. A draft that another process left there is not lost: it stays
    where this one has none, and else goes into the history of prompts.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "draft.txt"
        self._history = PromptHistory(folder)
        self._known = ""
        """What this process read or stored last."""
        with contextlib.suppress(StoreError):  # told by who reads it for its text
            self.read()

    def read(self) -> str:
        """The stored draft, or an empty text. Control characters in it are made visible.

        Raises StoreError if it cannot be read.
        """
        try:
            self._known = self._stored()
        except OSError as problem:
            raise StoreError(f"cannot read the draft {self._file}: {problem.strerror}") from problem
        return self._known

    def write(self, text: str) -> None:
        """Store ``text`` in place of the old draft; an empty text removes it. Raises StoreError."""
        kept = _as_read(text)
        try:
            stored = self._stored()
            if stored not in ("", kept, self._known):  # another process left it
                if not kept:
                    return
                self._history.add(stored)
            if text:
                replace_private(self._file, text.encode("utf-8", errors="replace"))
            else:
                self._file.unlink(missing_ok=True)
        except OSError as problem:
            raise StoreError(f"cannot store the draft in {self._file}: {problem.strerror}") from problem
        self._known = kept

    def _stored(self) -> str:
        try:
            return _as_read(self._file.read_bytes().decode("utf-8", errors="replace"))
        except FileNotFoundError:
            return ""


def _as_read(text: str) -> str:
    return "\r".join(clean(part) for part in text.split("\r"))


class PromptHistory:
    """The prompts of all sessions of a project, for the composer's history: one JSON string a line.

    Several processes may add prompts at once: each holds a shared lock on the file, and the one that shortens
    it an exclusive one. After the lock is had, a file that was replaced meanwhile is opened anew.
    """

    LONGEST = 500
    """Most prompts that are read, and that are kept when the file is shortened."""
    LARGEST = 4_000_000
    """Bytes from which on the file is shortened, to half of that at most; its last prompt always stays."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "prompts.jsonl"

    def read(self) -> list[str]:
        """The last prompts, oldest first, without repetitions in a row. Raises StoreError."""
        try:
            lines = self._last_lines()
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise StoreError(f"cannot read the prompts in {self._file}: {problem.strerror}") from problem
        prompts: list[str] = []
        for line in lines:
            try:
                prompt = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(prompt, str) and prompts[-1:] != [prompt]:
                prompts.append(prompt)
        return prompts

    def take(self, event: Event) -> None:
        """Add what the user typed of the prompt that was submitted. Raises StoreError."""
        # Imported here: the first frame shows prompts, and waits for no events.
        from session.base.events import PromptSubmitted

        if isinstance(event, PromptSubmitted) and (
            typed := event.text if event.typed is None else event.typed
        ):
            self.add(typed)

    def add(self, prompt: str) -> None:
        """Append ``prompt``. Raises StoreError if it cannot be written."""
        try:
            descriptor = self._open_shared()
            try:
                write_all(descriptor, json.dumps(prompt).encode("ascii") + b"\n")
                size = os.fstat(descriptor).st_size
            finally:
                os.close(descriptor)
        except OSError as problem:
            raise StoreError(f"cannot store the prompt in {self._file}: {problem.strerror}") from problem
        if size > self.LARGEST:
            # The prompt is written. If the file cannot be shortened now, the next prompt tries again.
            with contextlib.suppress(OSError):
                self._shorten()

    def _last_lines(self) -> list[bytes]:
        """The last lines, from a bounded part of the file unless the last line alone is longer."""
        with open_to_read(self._file) as file:
            size, part = file.seek(0, os.SEEK_END), self.LARGEST
            while True:
                start = max(0, size - part)
                file.seek(start)
                data = file.read(size - start)
                if start:
                    data = data.partition(b"\n")[2]
                if data or not start:
                    return data.splitlines()[-self.LONGEST :]
                part *= 2

    def _open_shared(self) -> int:
        """Open the file for appending, while nobody shortens it. Raises OSError."""
        end = time.monotonic() + _LONGEST_WAIT
        while True:
            descriptor = open_for_lines(self._file)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
                if self._is_open_as(descriptor):
                    return descriptor
            except BlockingIOError as problem:
                if time.monotonic() > end:
                    os.close(descriptor)
                    raise OSError(errno.EBUSY, "another process of spark holds it") from problem
                time.sleep(0.005)
            except OSError:
                os.close(descriptor)
                raise
            os.close(descriptor)

    def _shorten(self) -> None:
        """Replace the file by its last lines, unless another process is busy with it. Raises OSError."""
        descriptor = os.open(self._file, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not self._is_open_as(descriptor):
                return
            for left in self._file.parent.glob(f".{self._file.name}.*.new"):  # by a process that was killed
                left.unlink()
            kept: list[bytes] = []
            size = 0
            for line in reversed(self._last_lines()):
                size += len(line) + 1
                if kept and size > self.LARGEST // 2:
                    break
                kept.append(line)
            replace_private(self._file, b"".join(line + b"\n" for line in reversed(kept)))
        finally:
            os.close(descriptor)

    def _is_open_as(self, descriptor: int) -> bool:
        """Whether ``descriptor`` is the file that has the name now."""
        try:
            return os.path.samestat(os.fstat(descriptor), self._file.stat())
        except FileNotFoundError:
            return False
