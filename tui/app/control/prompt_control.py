"""Sends prompts, runs typed commands, stops the turn, saves the draft."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from textual.app import App

from tui.app.control.background import BackgroundTasks
from tui.app.control.hunk_control import DropControl, HunkControl
from tui.app.control.overlay_control import OverlayControl
from tui.app.control.quit_control import QuitControl
from tui.app.panes.held_bar import DROP, READ_ALL, TRUST, UNDO_TURN, Question
from tui.app.panes.layout import Panes
from tui.app.panes.queue_list import Wish
from tui.front.keys.keymap import shown
from tui.front.slash.running import SlashError, run_command, undone_line
from tui.front.slash.session_values import prefetch_models
from tui.front.slash.table import split_slash
from tui.front.words.check_lines import command_ends
from tui.front.words.held_items import is_bare_answer
from tui.screen.terminal.lending import EditorProblem, edit_outside, editor_command, given_back

if TYPE_CHECKING:
    from session.session import Session
    from tui.app.control.feed import Feed
    from tui.app.control.suggestion_control import SuggestionControl
    from tui.app.panes.questions import ReadingQuestion, TrustQuestion
    from tui.chat.composer.history import KeptTexts
    from tui.front.words.held_items import Verdict

SLOW_COMMAND = 0.3
"""Seconds after which a command that is not done is said to run: it may ask a server."""
TAKE_OVER = "/takeover"


class PromptControl:
    """Talks to the session for the user."""

    def __init__(
        self,
        app: App[int],
        panes: Panes,
        overlays: OverlayControl,
        background: BackgroundTasks,
        session: Session,
        feed: Feed,
        hunks: HunkControl,
        quitting: QuitControl,
        kept: KeptTexts,
        suggestions: SuggestionControl,
        trust: TrustQuestion,
        reading: ReadingQuestion,
        drops: DropControl,
    ) -> None:
        self._app = app
        self._panes = panes
        self._overlays = overlays
        self._background = background
        self._session = session
        self._feed = feed
        self._hunks = hunks
        self._quitting = quitting
        self._kept = kept
        self._suggestions = suggestions
        self._trust = trust
        self._reading = reading
        self._drops = drops
        self._to_undo: tuple[str, ...] = ()
        """The hunks that the user was asked about, whether all are to be undone."""

    def send(self, text: str, *, queued: bool) -> None:
        """Send a prompt, or run the command that ``text`` is. ``queued``: after the running turn."""
        command = None if queued else split_slash(text)
        if queued:
            self._session.queue(text)
        elif command is not None:
            self._background.start(self._command(text, *command), f"running /{command[0]}")
        else:
            if self._session.running:
                self._feed.stop()
            self._session.submit(text)

    def typed(self, text: str, *, queued: bool) -> None:
        """The user sends what stood in the composer. ``y`` or ``n`` while something is asked is no prompt,
        which would stop the turn; nor an answer, since it may be meant for another question."""
        asked, composer = self._panes.held.question, self._panes.composer
        before, takes_over = text.rstrip().removesuffix(TAKE_OVER), text.rstrip().endswith(TAKE_OVER)
        if takes_over and before and self._session.standing.owner:
            # The draft that came back stands before the command.
            composer.put(before)
            self.send(TAKE_OVER, queued=False)
        elif asked is not None and is_bare_answer(text):
            composer.put(text)
            composer.select_all()
            self._panes.status.say(f"{shown('answer_held')} answers: {asked.title}", "warning")
        else:
            self.send(text, queued=queued)

    def send_after_hunk(self) -> None:
        """Send the draft as a redirect that waits for the hunk being typed."""
        composer = self._panes.composer
        draft = composer.draft
        if draft.strip():
            composer.history_of_prompts.add(draft)
            composer.put("")
            self._session.after_hunk(draft)
        else:
            self._panes.status.say("type first what to send after the hunk")

    def edit_outside(self) -> None:
        """Edit the draft in the user's own editor, which has the terminal meanwhile; a turn goes on."""
        self._background.start(self._edit_outside(), "editing in another editor")

    async def _edit_outside(self) -> None:
        composer, say = self._panes.composer, self._panes.status.say
        draft = composer.draft
        try:
            command = editor_command(self._session.root)
            with given_back(self._app):
                edited = (await edit_outside(command, "prompt.md", draft)).rstrip("\n")
        except EditorProblem as problem:
            say(str(problem), "error")
            return
        if composer.draft == draft:
            composer.put_in_place(edited)
        else:  # what was waiting came back meanwhile
            composer.put_in_place("\n\n".join(filter(str.strip, [composer.draft, edited])))
        say("nothing was changed" if edited == draft else "Enter sends what you wrote")

    def dequeue(self, number: int, wish: Wish) -> None:
        """Take a message that waits out of the queue: to edit it, to send it now, or for good."""
        texts = self._session.unqueue(number)
        if not texts:
            self._panes.status.say("that message was sent just now")
        elif wish == "now":
            self.send(texts[0], queued=False)
        elif wish == "edit":
            composer = self._panes.composer
            composer.put_before(texts)
            self._app.screen_stack[0].set_focus(composer)

    def stop_turn(self) -> None:
        """Stop the running turn."""
        self._session.interrupt()
        self._feed.stop()
        self._panes.status.show(phase="stopping")
        if queued := self._session.unqueue():
            # A turn had to be stopped: the prompts behind it may not be wanted unread.
            self._panes.composer.put_before(queued)
            self._panes.status.say("Queued messages are back in the prompt", "warning")

    def interrupt(self) -> None:
        """Stop the turn before anything else happens; then close what lies over the panes."""
        if self._session.running:
            self.stop_turn()
        else:
            ends = self._session.shell.running
            self._session.interrupt()  # an undo may wait for another process
            self._panes.status.say(command_ends() if ends else "", stays=True)
            self._suggestions.hide()
            self._panes.chat.let_go()
            self._panes.find.leave()
        self._panes.held.confirm(None)
        if not self._overlays.uncover():
            self._panes.composer.leave_insert_mode()

    def ask_to_undo_turn(self) -> None:
        """Ask before every hunk of the last turn that has any is undone."""
        hunks = self._session.hunks.undoable.last_turn
        if not hunks:
            self._panes.status.say("no turn of this session has a landed hunk")
            return
        self._to_undo = tuple(hunks)
        listed = "\n".join(f"{hunk}  {path}" for hunk, path in hunks.items())
        title = "Undo every hunk of the last turn?"
        self._panes.held.confirm(Question(UNDO_TURN, title, listed, "undo them", "keep them", ""))
        self._app.screen_stack[0].set_focus(self._panes.held)

    def answer(self, name: str, verdict: Verdict) -> None:
        """Act on the user's answer to the question ``name``."""
        if name == UNDO_TURN:
            self._undo_turn(agreed=verdict != "reject")
        elif name == READ_ALL:
            self._reading.answer(verdict)
        elif name == DROP:
            self._drops.answer(verdict)
        elif name == TRUST:
            self._trust.answer(verdict)
        else:
            self._hunks.answer(verdict, name)

    def _undo_turn(self, *, agreed: bool) -> None:
        """Undo the hunks that the user was asked about; another turn may have landed some since."""
        self._panes.held.confirm(None)
        if agreed:
            self._background.start(self._undo_all(self._to_undo), "undoing the turn")

    async def _undo_all(self, hunks: tuple[str, ...]) -> None:
        # The status line is taken by the hunks themselves.
        self._panes.chat.remark(undone_line(await self._session.hunks.undo_all(hunks)), "quiet")

    def draft_changed(self, text: str) -> None:
        """Save the draft, and prepare what is needed to send or complete it."""
        self._kept.keep_draft(text)
        prefetch_models(self._session, text)
        self._session.wake()

    async def _command(self, text: str, name: str, argument: str) -> None:
        """Run a command. One that fails is put back to be corrected, selected so that typing replaces it."""
        status, composer = self._panes.status, self._panes.composer
        meanwhile = f"/{name} is running …"
        timer = self._app.set_timer(SLOW_COMMAND, lambda: status.say(meanwhile, stays=True))
        try:
            done = await self._run_command(name, argument)
        finally:
            timer.stop()
            if status.status.message == meanwhile:
                status.say("")
        if text and done and name == "run":
            self._kept.remember(text)
        if text and not done and not composer.draft.strip():
            composer.put(text)
            composer.select_all()

    async def _run_command(self, name: str, argument: str) -> bool:
        """Run one of the app's own commands here, any other as line mode does. False when it fails."""
        match name, argument:
            case "context", "":
                self._hunks.show_context()
            case "help", "":
                await self._app.run_action("app.do('help')")
            case "theme", "":
                await self._app.run_action("app.do('pick_theme')")
            case "theme", _:
                await self._app.run_action(f"app.do('use_theme', {argument!r})")
            case "lean", _:
                await self._app.run_action(f"app.do('lean', {argument!r})")
            case "trust", _:
                self._trust.ask()
            case "new", "":
                await self._app.run_action("app.do('begin_new')")
            case "resume", _:
                await self._app.run_action(f"app.do('resume', {argument!r})")
            case "quit", "":
                self._quitting.quit()
            case "review", "":
                await self._app.run_action("app.do('review')")
            case "drop", _ if (cut := self._drops.meant(argument)) is not None:
                self._drops.ask(cut)
            case "diff", _:
                return await self._diff(argument)
            case "land", "all":
                self._hunks.answer("apply all")
            case (("land" | "decline"), _):
                self._hunks.answer("apply" if name == "land" else "reject", argument)
            case _:
                try:
                    told = await run_command(self._session, name, argument)
                except SlashError as problem:
                    self._tell(str(problem), "error")
                    return False
                if told:
                    self._tell(told, "info")
        return True

    async def _diff(self, argument: str) -> bool:
        """Show what hunks changed in the chat, coloured as a patch."""
        try:
            told = await run_command(self._session, "diff", argument)
        except SlashError as problem:
            self._tell(str(problem), "error")
            return False
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", told)), default=0))
        self._panes.chat.close_run()
        self._panes.chat.action_to_end()
        self._panes.chat.text(f"{fence}diff\n{told}\n{fence}\n")
        self._panes.chat.close_run()
        return True

    def _tell(self, told: str, level: str) -> None:
        """Show the result of a command in the status line or, where it does not fit, in the chat."""
        if "\n" not in told:
            self._panes.status.say(told, level)
        if "\n" in told or self._panes.status.cut:
            self._panes.chat.remark(told, level)
