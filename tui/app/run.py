"""Runs the full-screen app on a session, from a terminal that can hold it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from session.base.storage.private_files import StoreError
from themes.loader import ThemeError
from tui.app.pending_session import PendingSession, first_frame_of
from tui.front.event_loop import PROMPTLY, run
from tui.front.exits import CONFIGURATION, DONE, FAILED, leave
from tui.front.printing import say

if TYPE_CHECKING:
    from textual import events

    from session.session import Session
    from session.setup.model_offers import Offer
    from session.setup.opening import Opening
    from tui.app.app import SparkApp
    from tui.app.overlays.offer_screen import FindOffers
    from tui.screen.terminal.signals import StandardStreams

LAST_SECONDS = 5.0
"""Seconds that a turn has to end by itself after SIGTERM: a system that shuts down waits little longer."""
Typed = Sequence["events.Key | events.Paste"]
Again = Callable[["Offer", Typed], tuple["Opening", str | None]]
"""Maps the offer that was taken, and the keys typed since, to the project to open the app with and a line to
show there."""


def run_app(
    opening: Opening,
    *,
    prompt: str | None = None,
    resume: Path | None = None,
    notice: str | None = None,
    suggestions: Sequence[str] = (),
    again: Again | None = None,
    typed: Typed = (),
    tour: bool = False,
) -> int:
    """Open the app and return its exit code; exits with 3 where it cannot be shown. ``typed`` are keys that
    it handles first. With ``tour`` it guides through the demo.

    Where a key is missing and ``again`` is given, the app offers what the user can begin with, and opens
    again with what they take.
    """
    require_terminal()
    use_own_keys(opening)
    from session.base.storage.error_log import log_faults_to
    from tui.app.app import SparkApp
    from tui.app.control.background import fault
    from tui.screen.terminal.signals import StandardStreams
    from tui.screen.theme_choice import ThemeChoice

    log_faults_to(opening.workspace.folders.error_log)
    streams = StandardStreams()
    lean = ""
    while True:
        offers = _finder(opening) if again is not None and opening.keyless else None
        try:
            pending = PendingSession(
                first_frame_of(opening, lean), partial(_make, opening, resume, join=not prompt)
            )
            choice = ThemeChoice(opening.workspace.folders.shared_state, opening.settings.theme, os.environ)
            app = SparkApp(
                pending,
                theme=choice.first,
                theme_choice=choice,
                notify=opening.settings.notify,
                prompt=prompt,
                notice=notice,
                suggestions=suggestions,
                offers=offers,
                tour=tour,
            )
        except (StoreError, ThemeError) as problem:
            leave(str(problem), CONFIGURATION)
        app.key_turns.hold(*typed)
        try:
            run(_show(app, opening, streams), PROMPTLY)
        except Exception as problem:  # noqa: BLE001 (a fault of any kind is told in a line and logged)
            _keep_unsaved(app)
            leave(fault("running the screen", problem), FAILED)
        typed = app.key_turns.held
        lean = app.start.lean.wish if app.ready else lean
        if (followed := app.successor) is not None:
            resume, prompt, notice = followed, None, None
            continue
        # The prompt is in the draft by now.
        prompt = None
        if app.ready and app.controls.sessions.switch is not None:
            resume, notice = app.controls.sessions.switch.journal, None
        elif app.taken is not None and again is not None:
            opening, notice = again(app.taken, typed)
        else:
            return app.return_code or DONE


def _keep_unsaved(app: SparkApp) -> None:
    """Keep the unsaved texts of the editor, however the app ended."""
    if app.ready:
        app.controls.files.flush()
        app.session.unsaved.close()


async def _show(app: SparkApp, opening: Opening, streams: StandardStreams) -> None:
    """Run the app on this event loop; a turn that it left running goes on there without it."""
    from tui.screen.terminal.signals import leaving_on_signals

    loop = asyncio.get_running_loop()
    with leaving_on_signals(partial(_leave, app)):
        await app.run_async()
    app.ending.over()
    for number in (signal.SIGTSTP, signal.SIGCONT):
        loop.remove_signal_handler(number)
    _keep_unsaved(app)
    code = app.return_code or DONE
    if streams.lost or code == 128 + signal.SIGHUP:
        streams.let_go()
    if app.detached:
        await _carry_on(app, opening, code, streams)
    elif app.ready and app.start.taken_by:
        told = (
            f"process {app.start.taken_by} took this session over: spark resume {app.session.name} follows it"
        )
        say(f"spark: {told}", err=True)


async def _carry_on(app: SparkApp, opening: Opening, code: int, streams: StandardStreams) -> None:
    from tui.app.unattended import carry_on

    ends = code in (128 + signal.SIGTERM, 128 + signal.SIGQUIT)
    seconds = LAST_SECONDS if ends else opening.settings.unattended_minutes * 60.0
    why = "asked to end" if ends else "the screen of this session is gone"
    if app.start.left_on_purpose:
        why = "you left the screen"
    if app.start.taken_by:
        why = f"process {app.start.taken_by} takes this session over"
    if not streams.gone:
        say(f"spark: {why}; what runs goes on in process {os.getpid()}", err=True)
    await carry_on(app.session, seconds, why, streams)


def _make(opening: Opening, resume: Path | None, *, join: bool) -> Session:
    from session.ways.followed_session import open_session

    return open_session(opening, resume, join=join)


def _leave(app: SparkApp, code: int, heard: Callable[[], None]) -> None:
    """Have the app leave with ``code``, once there is a session that keeps the draft; called in a thread."""

    async def leave_when_settled() -> None:
        await app.start.settle()
        if app.start.lose_screen(code):
            heard()

    with suppress(RuntimeError):  # it is not on the screen, or has left already
        app.call_from_thread(lambda: app.background.start(leave_when_settled(), "leaving"))


def _finder(opening: Opening) -> FindOffers:
    from session.setup.model_offers import find_offers

    return partial(find_offers, opening)


def use_own_keys(opening: Opening) -> None:
    """Use the keys of the user's settings; exit with 3 where they contradict each other."""
    if not opening.settings.keymap:
        return
    from tui.front.keys.keymap import default_keymap, use
    from tui.front.keys.own_keys import KeymapError, own_keys

    try:
        own = own_keys(default_keymap(), opening.settings.keymap)
    except KeymapError as problem:
        leave(f"{opening.workspace.folders.config / 'config.toml'}: {problem}", CONFIGURATION)
    use(own.scopes, vi=own.vi)


def require_terminal() -> None:
    """Exit with 3 where there is no terminal that can show the app."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        leave("the app needs a terminal; without one use: spark exec PROMPT", CONFIGURATION)
    if os.environ.get("TERM", "dumb") == "dumb":
        leave("this terminal (TERM=dumb) cannot show the app; use: spark line", CONFIGURATION)
