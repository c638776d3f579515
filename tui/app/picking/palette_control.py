"""The help that is a command palette: every key and every command, found by typing, run by Enter."""

from __future__ import annotations

from textual.app import App

from tui.app.control.overlay_control import OverlayControl
from tui.app.panes.layout import Panes
from tui.editor.signs import signs
from tui.front.keys.keymap import Key, is_alt_letter, keymap, textual_action
from tui.front.matching import Choice
from tui.front.slash.table import slashes, split_slash
from tui.screen.terminal.driver import tells_alt

PANES = ("composer", "editor", "chat")
"""The scopes that are panes: their actions are run there."""
COMMANDS = "In place of a prompt"
_SIGN = "sign"
"""The value of every line that is there to be read only."""
SIGNS = "Signs beside the lines of the editor"


NOT_WHILE_A_TURN_RUNS = "; not while a turn runs: this terminal sends the same for Esc and the letter"


def choices(*, tells_alt: bool) -> list[Choice]:
    """All keys by the place where they work, then all commands, then what the signs of the editor mean.

    ``tells_alt`` says whether the terminal tells Alt and a letter from Esc and that letter."""

    def about(entry: Key) -> str:
        stops = not (tells_alt or entry.harmless) and entry.keys and all(map(is_alt_letter, entry.keys))
        return f"{entry.help}{NOT_WHILE_A_TURN_RUNS}" if stops else entry.help

    keys = [
        Choice(f"{scope.name}\n{entry.action}", entry.shown, about(entry), scope.title)
        for scope in keymap()
        for entry in scope.keys
    ]
    commands = [Choice(f"/{slash.name}", slash.shown, slash.help, COMMANDS) for slash in slashes()]
    legend = [Choice(_SIGN, f"{sign.glyph}  {sign.name}", sign.about, SIGNS) for sign in signs().values()]
    return [*keys, *commands, *legend]


class PaletteControl:
    """Shows the palette, and runs what is taken from it."""

    def __init__(self, app: App[int], panes: Panes, overlays: OverlayControl) -> None:
        self._app = app
        self._panes = panes
        self._overlays = overlays

    def show(self) -> None:
        """Show every key and every command."""
        hint = f"Enter runs it · {self._overlays.how_to_leave('help')} · type to find"
        self._overlays.pick(
            "Keys and commands", choices(tells_alt=tells_alt(self._app)), self._run, hint=hint
        )

    def earlier_prompts(self) -> None:
        """Have the user pick an earlier prompt; it is put in the place of the draft, which undo brings
        back."""
        composer = self._panes.composer
        prompts = composer.history_of_prompts.newest_first
        draft = composer.draft
        found = [Choice(prompt, " ⏎ ".join(prompt.split("\n"))) for prompt in prompts if prompt != draft]
        query = draft if "\n" not in draft and len(draft) < 60 else ""
        if not any(query.lower() in prompt.lower() for prompt in prompts):
            query = ""
        self._overlays.pick(
            "Earlier prompts",
            found,
            composer.put_in_place,
            hint=f"Enter selects · {self._overlays.how_to_leave()} · Ctrl+R next · type to find",
            empty="no earlier prompt has that",
            query=query,
            further="ctrl+r",
        )

    def _run(self, value: str) -> None:
        """Run what was taken: a command is typed, and sent where it needs nothing more."""
        if value == _SIGN:
            return
        if value.startswith("/"):
            slash = next(each for each in slashes() if split_slash(value) == (each.name, ""))
            composer = self._panes.composer
            composer.focus()
            if slash.argument and not slash.argument.startswith("["):
                composer.put_in_place(f"{value} ")
            else:
                composer.on_sending(value)
                composer.post_message(composer.Sent(value, queued=False))
            return
        name, _, action = value.partition("\n")
        self._app.call_later(self._run_key, name, action)

    async def _run_key(self, scope: str, action: str) -> None:
        """Run the action of a key, in the pane that it is a key of."""
        if scope == "app" or action.startswith("app."):
            await self._app.run_action(textual_action(scope, action))
        elif scope in PANES and (scope != "editor" or self._panes.editor.path):
            pane = {"composer": self._panes.composer, "editor": self._panes.editor, "chat": self._panes.chat}[
                scope
            ]
            self._app.screen.set_focus(pane)
            await pane.run_action(action)
        else:
            self._panes.status.say("that key works only where it is listed")
