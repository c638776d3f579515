"""What is drawn can be read: the colours that meet on the real screens, held to WCAG 2.2 AA in every theme.

The screens are drawn in a theme in which each role has a colour of its own, so that the cells tell which
roles stand on each other: matches, selections and cursors lie over text, and Textual's fields bring colours
of their own. The pairs are then looked up in the themes.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from rich.color import Color
from rich.style import Style

from tests.themes.test_loader import COLOURS, contrast
from tests.tui.stage import Stage, stage
from themes.loader import TOKEN_ROLES, UI_ROLES, load_theme
from tui.screen.drawing.palette import Palette

LINES = range(0x2500, 0x25A0)
"""Box drawing and blocks: signs rather than letters, 3:1 (1.4.11)."""
Pair = tuple[str, str, bool]
"""The ink, the ground, and whether it is a sign rather than text."""


@pytest.fixture
def roles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The role of each colour of the theme ``roles``, which it writes; tokens have a dot before them."""
    tables: list[str] = ['about = "each role in a colour of its own"', "dark = true"]
    colours: dict[str, str] = {}
    for table, lead, names in (("ui", "", UI_ROLES), ("tokens", ".", TOKEN_ROLES)):
        tables.append(f"[{table}]")
        for name in sorted(names):
            colour = f"#{len(colours) * 2 + 20:02x}40{200 - len(colours):02x}"
            colours[colour] = lead + name
            tables.append(f'{name} = "{colour}"')
    folder = tmp_path / "config" / "spark" / "themes"
    folder.mkdir(parents=True)
    (folder / "roles.toml").write_text("\n".join(tables))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return colours


class Seen:
    """The pairs that were drawn, with the first place and text of each."""

    def __init__(self, roles: dict[str, str]) -> None:
        self._roles = roles
        self.pairs: dict[Pair, str] = {}

    def look(self, it: Stage, state: str) -> None:
        """Take the pairs of the screen as it is now."""
        for strip in it.app.screen._compositor.render_strips():
            for text, style, control in strip:
                if control is None and text.strip():
                    ink, ground = self._pair(style or Style())
                    sign = all(ord(letter) in LINES for letter in text.strip())
                    self.pairs.setdefault((ink, ground, sign), f"{state}: {text.strip()!r}")

    def _pair(self, style: Style) -> tuple[str, str]:
        ink, ground = self._role(style.color), self._role(style.bgcolor)
        if style.dim:
            ink = f"dim {ink}"
        return (ground, ink) if style.reverse else (ink, ground)

    def _role(self, colour: Color | None) -> str:
        name = colour.get_truecolor().hex if colour is not None else "none"
        return self._roles.get(name, name)

    def faults(self) -> list[str]:
        """The pairs of colours that are no theme's, and those that cannot be read in one."""
        out: list[str] = []
        known = set(self._roles.values())
        for (ink, ground, sign), where in self.pairs.items():
            if not {ink, ground} <= known:
                out.append(f"{where}: {ink} on {ground} is not in the theme")
                continue
            for name in COLOURS:
                theme = load_theme(name)
                colours = {**{role: each.colour for role, each in theme.ui.items()}}
                colours |= {f".{token}": each.colour for token, each in theme.tokens.items()}
                least = 3.0 if sign else 7.0 if "contrast" in name else 4.5
                if (found := contrast(colours[ink], colours[ground])) < least:
                    out.append(f"{where}: {ink} on {ground} is {found:.1f} in {name}")
        return sorted(out)


@pytest.mark.parametrize("name", [*COLOURS, "ansi16"])
def test_the_match_that_was_gone_to_differs_from_the_others(name: str) -> None:
    palette = Palette(load_theme(name))
    text = palette.style("text", "surface")
    assert len({str(text), str(text + palette.match), str(text + palette.match + palette.selection)}) == 3


async def test_the_panes_can_be_read(tmp_path: Path, roles: dict[str, str]) -> None:
    seen = Seen(roles)
    async with stage(tmp_path, size=(110, 30), theme="roles") as it:
        seen.look(it, "welcome")
        await it.pilot.press(*"/re")
        await it.until(lambda: it.app.panes.suggestions.display, "the list")
        seen.look(it, "completing")
        await it.pilot.press("escape", "ctrl+u")
        await it.ask("just talk")
        await it.done()
        seen.look(it, "talk")
        await it.ask("make it polite")
        await it.done()
        seen.look(it, "answered")
        for state, keys in {
            "selecting in the chat": ["f3", "v", "up", "up", "up"],
            "searching the chat": ["escape", "slash", *"greet", "enter"],
            "what stood before a hunk": ["escape", "f2", "f19"],
            "selecting in the editor": ["shift+up", "shift+up"],
            "finding": ["ctrl+f", *"name", "tab"],
        }.items():
            await it.pilot.press(*keys)
            await it.pilot.pause()
            seen.look(it, state)
    assert len(seen.pairs) > 20 and not (found := seen.faults()), "\n".join(found)


async def test_the_screens_over_the_panes_can_be_read(tmp_path: Path, roles: dict[str, str]) -> None:
    seen = Seen(roles)
    async with stage(tmp_path, size=(110, 30), theme="roles") as it:
        await it.ask("make it polite")
        await it.done()
        for state, keys in {
            "help": ["f1"],
            "help, filtered": ["f1", *"undo"],
            "files": ["ctrl+p"],
            "files, filtered": ["ctrl+p", *"gre"],
            "context": ["ctrl+t"],
            "review": ["f20"],
            "review in columns": ["f20", "s"],
            "themes": [*"/theme", "enter"],
        }.items():
            it.app.composer.focus()
            await it.pilot.press(*keys)
            await it.until(lambda: len(it.app.screen_stack) > 1, state)
            await asyncio.sleep(0.1)
            seen.look(it, state)
            while len(it.app.screen_stack) > 1:
                await it.pilot.press("escape")
    assert len(seen.pairs) > 20 and not (found := seen.faults()), "\n".join(found)


RISKY = """
[[scenario]]
match = ["swap"]
[[scenario.hunk]]
id = "one"
path = "requirements.txt"
lines = '''
-one
+left-pad
'''
[[scenario.step]]
think = "This adds a dependency."
[[scenario.step]]
patch = ["one"]
"""


async def test_what_needs_an_ok_can_be_read(tmp_path: Path, roles: dict[str, str]) -> None:
    seen = Seen(roles)
    files = {"requirements.txt": "one\ntwo\n"}
    async with stage(tmp_path, files=files, script=RISKY, size=(110, 30), theme="roles") as it:
        await it.ask("swap it")
        await it.until(lambda: it.app.panes.held.question is not None, "the question")
        await it.pilot.pause()
        seen.look(it, "held")
        for state, keys in {
            "the bar with the focus": ["shift+tab"],
            "a queued message": ["tab", *"more", "tab"],
            "the queue with the focus": ["f18"],
            "the held hunk in the review": ["f20"],
            "the sessions": ["q", "f4", *"/resume", "enter"],
        }.items():
            await it.pilot.press(*keys)
            await it.pilot.pause()
            seen.look(it, state)
    assert not (found := seen.faults()), "\n".join(found)
    assert {"removed", "added"} <= {ink for ink, _, _ in seen.pairs}, "the hunk in flight was never drawn"
