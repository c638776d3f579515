"""The panes that come with the session. They are hidden until something is in them, so the first frame does
not wait for them."""

from __future__ import annotations

from dataclasses import dataclass

from textual.containers import Container
from textual.screen import Screen

from tui.app.panes.find_bar import FindBar
from tui.app.panes.held_bar import HeldBar
from tui.app.panes.queue_list import QueueList
from tui.editor.editor import EditorPane
from tui.editor.marks import Marks
from tui.screen.drawing.palette import Palette


@dataclass(frozen=True, slots=True)
class LaterPanes:
    """The widgets, hidden until there is something in them."""

    editor: EditorPane
    find: FindBar
    held: HeldBar
    queue: QueueList


async def add_later_panes(screen: Screen[object], palette: Palette) -> LaterPanes:
    """Add them to those of the first frame: the editor beside the chat, the bars above the composer."""
    panes = LaterPanes(
        EditorPane(palette, Marks(), id="editor"),
        FindBar(palette, id="find-bar"),
        HeldBar(palette, id="held"),
        QueueList(palette, id="queue"),
    )
    with screen.app.batch_update():
        await screen.query_one("#work", Container).mount(panes.editor, before="#chat")
        await screen.mount(panes.find, panes.held, panes.queue, before="#composer")
    return panes
