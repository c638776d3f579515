"""All open files, in the order of their tabs."""

from __future__ import annotations

from collections.abc import Iterator

from tui.editor.buffers.buffer import Buffer

MOST_FOLLOWING = 12
"""Files that came up with the model's hunks and were not touched by the user; the oldest is closed."""


class OpenBuffers:
    """The open files by path. One of them is shown, or none."""

    def __init__(self) -> None:
        self._buffers: dict[str, Buffer] = {}
        self.shown: Buffer | None = None
        self._before: list[str] = []
        """The paths of the files that were shown before, the last one last."""

    def __iter__(self) -> Iterator[Buffer]:
        return iter(list(self._buffers.values()))

    def __len__(self) -> int:
        return len(self._buffers)

    def of(self, path: str) -> Buffer | None:
        """The open file ``path``."""
        return self._buffers.get(path)

    @property
    def dirty(self) -> list[Buffer]:
        """The files with unsaved text."""
        return [buffer for buffer in self if buffer.dirty]

    def show(self, buffer: Buffer) -> list[Buffer]:
        """Show a file, opening it behind the shown one; returns the files that are closed for it."""
        self._remember()
        if buffer.path not in self._buffers:
            after = list(self._buffers)
            at = after.index(self.shown.path) + 1 if self.shown and self.shown.path in after else len(after)
            order = [*after[:at], buffer.path, *after[at:]]
            self._buffers[buffer.path] = buffer
            self._buffers = {path: self._buffers[path] for path in order}
        self.shown = buffer
        following = [each for each in self if not each.pinned and not each.dirty and each is not buffer]
        closed = following[: max(0, len(following) + 1 - MOST_FOLLOWING)]
        for each in closed:
            self._drop(each)
        return closed

    def close(self, buffer: Buffer) -> Buffer | None:
        """Close a file; returns the one that was shown before, if the closed one was shown."""
        order = list(self._buffers)
        at = order.index(buffer.path)
        self._drop(buffer)
        if self.shown is not buffer:
            return self.shown
        self.shown = None
        earlier = [path for path in self._before if path in self._buffers]
        left = list(self._buffers)
        path = earlier[-1] if earlier else left[min(at, len(left) - 1)] if left else ""
        return self._buffers.get(path)

    def neighbour(self, step: int) -> Buffer | None:
        """The next (1) or the previous (-1) file, going round."""
        order = list(self._buffers.values())
        if self.shown is None or self.shown.path not in self._buffers:
            return order[0] if order else None
        return order[(order.index(self.shown) + step) % len(order)]

    def renamed(self, path: str, to: str) -> None:
        """A file was moved; a file open under the new path stays as it is."""
        if path in self._buffers and to not in self._buffers:
            self._buffers[path].path = to
            self._buffers = {buffer.path: buffer for buffer in self}

    def _remember(self) -> None:
        if self.shown is not None:
            self._before = [path for path in self._before if path != self.shown.path][-50:]
            self._before.append(self.shown.path)

    def _drop(self, buffer: Buffer) -> None:
        del self._buffers[buffer.path]
        self._before = [path for path in self._before if path != buffer.path]
