"""Lines of hints, as in ``Enter sends · F1 keys``, for the width that there is."""

from __future__ import annotations

from tui.front.keys.keymap import key_line, shown
from tui.front.words.cell_width import cell_len


def fitting(line: str, width: int, between: str = " · ") -> str:
    """The hints of ``line`` that fit into ``width`` cells, from the first on: half a hint tells nothing. The
    first one is kept whatever the width."""
    kept, *rest = line.split(between)
    for hint in rest:
        if cell_len(kept) + cell_len(between) + cell_len(hint) > width:
            break
        kept += between + hint
    return kept


def unfolds() -> str:
    """The key that shows the rest of what the chat shows the beginning or the end of."""
    return key_line("chat", ("read('fold')", "unfolds"))


def save_first() -> str:
    """What the user has to do before the session can be left for another one."""
    return f"save the file in the editor first ({shown('save')})"
