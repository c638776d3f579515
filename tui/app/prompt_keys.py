"""What sending, stopping and leaving do: prompts, typed commands, the draft, Esc and Ctrl+C."""

from __future__ import annotations

import asyncio

from textual import work
from textual.screen import ModalScreen
from textual.widgets import TextArea

from session.storage.line_files import StoreError
from tui.app.work_keys import WorkKeys
from tui.keys.keymap import shown
from tui.overlays.overlay import Overlay
from tui.panes.composer.composer import Composer
from tui.words.completion import Candidates, completer, foresee, from_files, typed
from tui.words.slash import SlashError, obey, split_slash

_BETWEEN_LETTERS = 0.05
"""Seconds without a key after which suggestions are looked for."""
_KEPT_FREE = 2
"""Rows of the panes that suggestions leave in sight."""
_SOON = 0.3
"""Seconds after which a command that is still being done is said to be: it may ask a server."""
TWICE = 1.5
"""Seconds within which a second Ctrl+C quits."""
REACHABLE = frozenset({"interrupt", "cancel", "quit_spark", "next_theme", "mouse", "context", "open_file"})
"""What the keys do even while help or the file list is open."""


class PromptKeys(WorkKeys, inherit_bindings=False):
    """The half of the app that talks to the session for the user."""

    _looking: asyncio.Future[Candidates | None] | None = None
    """The search for suggestions that runs, or ran last."""
    _found: tuple[str, Candidates] | None = None
    """What was found, and for which text before the cursor."""
    _told = ""
    """What was said of the match that was put in last."""
    _last_cancel = 0.0
    _warned_of: str | None = None
    """The unsaved text of which the user was told on the way out."""

    def on_composer_sent(self, event: Composer.Sent) -> None:
        """The user sends a prompt."""
        if event.queued:
            self.session.queue(event.text)
            return
        command = split_slash(event.text)
        if command is not None:
            self._command(event.text, *command)
            return
        if self.session.running:
            self.feed.stop()
        self.session.submit(event.text)

    def on_composer_completing(self, event: Composer.Completing) -> None:
        """Say which match was put in."""
        self._told = event.told
        self.status.say(event.told)

    def on_composer_left(self) -> None:
        """Nothing is typed any more."""
        self._suggest()

    def _suggest(self) -> None:
        """Show what is typed at the cursor could become; what was said of the last one is old now."""
        row, column = self.composer.cursor_location
        before = self.composer.document.get_line(row)[:column]
        now = typed(before) if row == 0 or "@" in before else None
        if self._parts is None or not self.composer.has_focus or now is None:
            self._hide_suggestions()
            if self._told and self.status.status.message == self._told:
                self.status.show(message="")
            self._told = ""
        elif not self.suggestions.choose(now.word):
            self._look_for_suggestions(before)

    def _complete(self, before: str) -> Candidates | None:
        """What Tab goes round: what was found for the suggestions, or what is found now."""
        if self._found is not None and self._found[0] == before:
            return self._found[1]
        return completer(self.session)(before)

    def _hide_suggestions(self) -> None:
        self._found = None
        self.workers.cancel_group(self, "suggestions")
        self.suggestions.hide()

    @work(group="suggestions", exclusive=True)
    async def _look_for_suggestions(self, before: str) -> None:
        """In a thread where it takes its time: one search at once, for the last letter alone."""
        look = completer(self.session)
        if from_files(before):
            await asyncio.sleep(_BETWEEN_LETTERS)
            if self._looking is not None:
                await asyncio.wait({self._looking})
            self._looking = asyncio.ensure_future(asyncio.to_thread(look, before))
            found = await asyncio.shield(self._looking)
            self._found = None if found is None else (before, found)
        else:
            found = look(before)
        if found is None or not self.composer.has_focus or list(found.texts) == [found.word]:
            self.suggestions.hide()
            return
        over = self.composer.outer_size.height + self.status.outer_size.height
        self.suggestions.offer(
            found.texts, found.details, self.size.width, self.size.height - over - _KEPT_FREE, over
        )
        if self.suggestions.display and self.status.status.message in ("", self._told):
            self._told = "Tab puts the first in, again the next"
            self.status.say(self._told)

    @work(group="command")
    async def _command(self, text: str, name: str, argument: str) -> None:
        """Obey a command typed in place of a prompt; one that cannot be obeyed is given back, to be
        corrected, or overwritten by what is typed next."""
        meanwhile = f"/{name} is being done …"
        timer = self.set_timer(_SOON, lambda: self.status.say(meanwhile))
        done = await self._obey(name, argument)
        timer.stop()
        if self.status.status.message == meanwhile:
            self.status.say("")
        if not done and not self.composer.draft.strip():
            self.composer.put(text)
            self.composer.select_all()

    async def _obey(self, name: str, argument: str) -> bool:
        match name, argument:
            case "context", "":
                self._show_context()
                return True
            case "help", "":
                self.action_help()
                return True
            case "quit", "":
                self.action_quit_spark()
                return True
            case "land", "all":
                self.action_answer("apply all")
                return True
            case (("land" | "decline"), _):
                self.action_answer("apply" if name == "land" else "reject", argument)
                return True
        try:
            told = await obey(self.session, name, argument)
        except SlashError as problem:
            self._answer_command(str(problem), "error")
            return False
        if told:
            self._answer_command(told, "info")
        return True

    def _answer_command(self, told: str, level: str) -> None:
        """Say what came of a command: in the status line, and where there is no room, in the chat."""
        if "\n" not in told:
            self.status.say(told, level)
        if "\n" in told or self.status.cut:
            self.chat.remark(told, level)

    def on_composer_draft_changed(self, event: Composer.DraftChanged) -> None:
        """Keep the draft, and what it takes ready by the time it is sent or completed."""
        if self._parts is not None:
            self._keep_draft(event.text)
            foresee(self.session, event.text)
            self.session.wake()

    def on_app_focus(self) -> None:
        """The terminal gains focus: the user was elsewhere, where files change."""
        if self._parts is not None:
            self.session.wake()

    def _keep_draft(self, text: str) -> None:
        try:
            self.session.save_draft(text)
        except StoreError as problem:
            self.status.say(str(problem), "warning")

    def action_interrupt(self) -> None:
        """Stop the turn before anything else happens; then close what lies over the panes."""
        if self.session.running:
            self.session.interrupt()
            self.feed.stop()
            self.status.show(phase="stopping")
            if queued := self.session.unqueue():
                # What follows a turn is not wanted unread when that turn had to be stopped.
                self.composer.put("\n\n".join(filter(str.strip, [*queued, self.composer.draft])))
                self.status.say("what was queued is in the composer again", "warning")
        else:
            self.status.show(message="")
            self._hide_suggestions()
        self._uncover()

    def _uncover(self) -> bool:
        """Close the screen that lies over the panes, or what is open in it, if there is one."""
        screen = self.screen
        if isinstance(screen, ModalScreen):
            if not (isinstance(screen, Overlay) and screen.back()):
                screen.dismiss(None)
            return True
        return False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Under a screen that lies over them the panes are out of reach, stopping and leaving are not."""
        covered = len(self.screen_stack) > 1 and isinstance(self.screen, ModalScreen)
        return not covered or action in REACHABLE

    def action_cancel(self) -> None:
        """Ctrl+C: stop at once; else copy, or set the draft aside; twice in a row quits."""
        if self.session.running:
            self.action_interrupt()
        else:
            self._in_turn(self._cancel)

    async def _cancel(self) -> None:
        now = asyncio.get_running_loop().time()
        again, self._last_cancel = now - self._last_cancel < TWICE, now
        focused = self.focused
        if self._uncover():
            self._last_cancel = 0.0
        elif isinstance(focused, TextArea) and focused.selected_text:
            self.copy_to_clipboard(focused.selected_text)
            self.status.say("copied")
            self._last_cancel = 0.0
        elif again:
            await self._quit()
        else:
            kept = self.composer.set_aside()
            told = "draft set aside (↑ brings it back); " if kept else ""
            self.status.say(f"{told}Ctrl+C again quits")

    def action_quit_spark(self) -> None:
        """Leave."""
        self._in_turn(self._quit)

    async def _quit(self) -> None:
        """Leave, keeping the draft; unsaved text in the editor must be saved or left on purpose."""
        await self.desk.saved()
        if self.desk.dirty and self._warned_of != self.editor.content:
            self._warned_of = self.editor.content
            told = f"{self.desk.path} has unsaved text: {shown('save')} saves it, quitting again drops it"
            self.status.say(told, "warning")
            return
        self._keep_draft(self.composer.draft)
        await self.session.close()
        self.exit(0)

    def action_help(self) -> None:
        """Show every key."""
        from tui.overlays.screens import HelpScreen

        self.push_screen(HelpScreen(self._palette))
