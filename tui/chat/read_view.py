"""What the keys and the mouse of the chat need of its pane."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from textual.geometry import Size, Spacing
from textual.strip import Strip

from tui.chat.reading import Reading
from tui.chat.transcript.transcript import Transcript
from tui.screen.drawing.palette import Palette

if TYPE_CHECKING:
    from textual.timer import Timer


class Page(Protocol):
    """What the pane shows before the conversation begins."""

    problem: str
    """What is told in its place; empty where there is nothing to tell."""

    def line(self, y: int, size: Size, palette: Palette) -> Strip:
        """Line ``y`` in a pane of ``size``."""
        ...

    def scroll(self, by: int, size: Size) -> None:
        """Scroll in a pane of ``size``."""


class ReadView(Protocol):
    """The pane in which the user reads. The methods without a sentence are those of Textual's widgets."""

    transcript: Transcript
    reading: Reading
    top: int
    """The transcript row at the pane's first line."""
    following: bool

    def scroll_rows_by(self, rows: int) -> None:
        """Scroll; reaching the end follows it again."""

    def reveal_cursor(self, *, first: bool = False) -> None:
        """Scroll to the cursor; ``first`` puts it at the top."""

    def fold_blocks(self, *, folded: bool) -> bool:
        """Fold or unfold all long code blocks; whether that changed anything."""
        ...

    def settle_now(self) -> None:
        """Paint now instead of at the next frame."""

    @property
    def size(self) -> Size: ...  # noqa: D102 (Textual's)

    @property
    def gutter(self) -> Spacing: ...  # noqa: D102 (Textual's)

    @property
    def is_attached(self) -> bool: ...  # noqa: D102 (Textual's)

    def refresh(self) -> object: ...  # noqa: D102 (Textual's)

    def capture_mouse(self) -> None: ...  # noqa: D102 (Textual's)

    def release_mouse(self) -> None: ...  # noqa: D102 (Textual's)

    def set_interval(self, interval: float, callback: Callable[[], None]) -> Timer: ...  # noqa: D102 (Textual's)
