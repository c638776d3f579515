"""What the keys of the app do, by the names that ``tui/front/keys/keymap.toml`` has for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from textual.app import App

from tui.app.control.overlay_control import OverlayControl
from tui.app.control.pane_control import PaneControl
from tui.app.panes.layout import Layout, Panes
from tui.app.picking.theme_control import ThemeControl
from tui.app.session_start import SessionStart
from tui.front.keys.key_order import after_typing
from tui.front.keys.keymap import shown
from tui.screen.terminal.driver import repaint

if TYPE_CHECKING:
    from tui.app.controls import Controls


class Actions:
    """One method for each action of the app's keys, called with the arguments that the table gives."""

    def __init__(
        self,
        app: App[int],
        panes: Panes,
        layout: Layout,
        themes: ThemeControl,
        overlays: OverlayControl,
        pane_control: PaneControl,
        start: SessionStart,
    ) -> None:
        self._app = app
        self._panes = panes
        self._layout = layout
        self._themes = themes
        self._overlays = overlays
        self._pane_control = pane_control
        self._start = start

    @property
    def _controls(self) -> Controls:
        return self._start.made

    def interrupt(self) -> None:
        """Leave the list of messages that wait, if that has the focus; else stop the turn; without one, hide
        the suggestion, else keep a change of a hunk from being sent."""
        if self._panes.queue.has_focus:
            self._panes.queue.action_leave()
            return
        running = self._controls.session.running
        if not running and self._panes.editor.has_focus and self._controls.ghosts.refuse():
            return
        self._controls.prompts.interrupt()
        if not running and self._controls.touches.give_up():
            self._panes.status.say("Not sent: your change stays in the editor, unsaved")

    def cancel(self) -> None:
        """Ctrl+C: stop the turn or the user's command; else copy the selection, or set the draft aside;
        pressed twice, quit."""
        quitting, session = self._controls.quitting, self._controls.session
        if session.running and not quitting.leaving:
            self._controls.prompts.interrupt()
        elif not quitting.leaving and session.shell.stop():
            from tui.front.words.check_lines import command_ends  # the first frame needs no session

            self._panes.status.say(command_ends(), stays=True)
        else:
            quitting.cancel()

    def quit_spark(self) -> None:
        """Quit."""
        self._controls.quitting.quit()

    def detach(self) -> None:
        """Leave the screen, and let what runs go on."""
        if not self._start.detach():
            self._panes.status.say(f"nothing runs that could go on: {shown('quit_spark')} quits")

    def help(self) -> None:
        """Show every key and every command."""
        self._controls.palette.show()

    def earlier_prompts(self) -> None:
        """Search the earlier prompts."""
        self._controls.palette.earlier_prompts()

    def open_file(self) -> None:
        """Pick a file."""
        self._controls.files.pick_file()

    def context(self) -> None:
        """Show what the model is shown."""
        self._controls.hunks.toggle_context()

    def attempts(self) -> None:
        """Show the attempts of the last race."""
        if not self._overlays.uncover():
            self._controls.races.look()

    def save(self) -> None:
        """Save the file in the editor."""
        self._controls.files.save()

    def go_hunk(self, by: int) -> None:
        """Go to the next landed hunk, or to the previous one."""
        self._controls.hunks.go(by)

    def go_finding(self, by: int) -> None:
        """Go to the next finding of a check, or to the previous one."""
        self._controls.findings.go(by)

    def fix(self) -> None:
        """Send what is red to the model."""
        self._controls.findings.fix()

    def undo_hunk(self) -> None:
        """Undo a hunk."""
        self._controls.hunks.undo()

    def before_hunk(self) -> None:
        """Show what stood in the place of the hunk at the cursor."""
        self._controls.hunks.before()

    def queue(self) -> None:
        """Go to the messages that wait."""
        if self._panes.queue.messages:
            self._app.screen_stack[0].set_focus(self._panes.queue)
        else:
            self._panes.status.say("no messages are queued")

    def after_hunk(self) -> None:
        """Send the draft once the hunk that is being typed has ended."""
        after_typing(self._app, self._controls.prompts.send_after_hunk)

    def review(self) -> None:
        """Review the hunks."""
        self._controls.review.open()

    def findings(self) -> None:
        """Show the findings of reviews on save."""
        if not self._overlays.uncover():
            self._controls.reviews.open()

    def next_edit(self) -> None:
        """Go to the next place that a change needs too."""
        self._controls.next_edits.go()

    def review_on_save(self) -> None:
        """Review on save in another way."""
        self._controls.reviews.next_mode()

    def redo_hunk(self) -> None:
        """Redo a hunk."""
        self._controls.hunks.redo()

    def undo_turn(self) -> None:
        """Undo the last turn."""
        self._controls.prompts.ask_to_undo_turn()

    def answer_held(self) -> None:
        """Go to what needs the user's OK."""
        self._panes.held.come()

    def follow(self) -> None:
        """Let the editor follow the hunks again."""
        self._panes.editor.follow()

    def focus_pane(self, name: str) -> None:
        """Go to a pane."""
        self._pane_control.focus(name)

    def next_pane(self) -> None:
        """Go to the next pane."""
        self._pane_control.focus_next()

    def zoom(self) -> None:
        """Show one pane alone, or both again."""
        self._pane_control.zoom()

    def resize(self, by: int) -> None:
        """Give the editor more or less of the room."""
        self._layout.share(by)

    def scroll_chat(self, pages: int = 0) -> None:
        """Scroll the chat from the composer, without pages to its end."""
        self._panes.chat.action_scroll_page(pages) if pages else self._panes.chat.action_to_end()

    def reasoning(self) -> None:
        """Unfold or fold the reasoning."""
        chat = self._panes.chat
        chat.fold(unfolded=not chat.unfolded)
        self._panes.status.say(f"reasoning and figures are {'un' if chat.unfolded else ''}folded")

    def copy(self, what: Literal["answer", "code"]) -> None:
        """Copy the last answer or the last code block."""
        chat = self._panes.chat
        text = chat.last_answer() if what == "answer" else chat.last_code()
        self._controls.clipboard.copy(text, f"the last {'answer' if what == 'answer' else 'code block'}")

    def suspend(self) -> None:
        """Suspend spark."""
        self._pane_control.suspend()

    def repaint(self) -> None:
        """Paint the whole screen again."""
        repaint(self._app)

    def mouse(self) -> None:
        """Turn mouse reporting on or off."""
        self._pane_control.toggle_mouse()

    def side(self) -> None:
        """Turn off what spark asks by itself, or on again."""
        self._controls.side.toggle()

    def lean(self, wish: str = "") -> None:
        """Draw lean, or not, or by the line."""
        self._start.lean.choose(wish)

    def next_theme(self) -> None:
        """Change to the next theme."""
        self._themes.next()

    def begin_new(self) -> None:
        """Go to a new session."""
        self._controls.sessions.begin_new()

    def resume(self, name: str) -> None:
        """Go to another session, or have the user pick one."""
        self._controls.sessions.resume(name)

    def use_theme(self, name: str) -> None:
        """Use a theme."""
        self._themes.choose(name)

    def pick_theme(self) -> None:
        """Have the user pick a theme."""
        self._themes.pick()
