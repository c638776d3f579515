"""The commands that the user runs in a session: ``!COMMAND``, and one that is run at every save."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from session.base.events import CommandEnded, CommandOutput, CommandStarted, Event, WatchTold
from session.base.tasks import BackgroundTasks
from session.base.text.sanitize import clean_line, invisible_character
from session.record.journal.reading import last_number
from session.record.journal.recorder import Recorder

if TYPE_CHECKING:
    from session.checks.output import Failure
    from session.checks.shell_run import Ran
    from session.checks.watching import Watch


LONGEST_COMMAND = 20_000
MOST_PLACES = 5
LAST_LINES = 40
"""Lines of the output that stay visible after a command that did not fail."""
STOPPED_BYTES = 20_000
"""Bytes of its output that are looked at for the last lines of a stopped command, which are told at once."""


class ShellError(Exception):
    """A command cannot be run; the message says why and what to do."""


class Shell:
    """``Session.shell``. ``files`` gives the project's files as they are known now; ``keep`` gives what keeps
    the output of the command with a name. The commands of a resumed session (``past``) keep their names.

    What the user types is run as it is: it is theirs, so nobody is asked. All methods are called on the event
    loop; nothing of commands is loaded before the first one.
    """

    def __init__(
        self,
        root: Path,
        environ: Mapping[str, str],
        recorder: Recorder,
        tasks: BackgroundTasks,
        files: Callable[[], Iterable[str]],
        keep: Callable[[str], Callable[[bytes], None]],
        past: Iterable[Event] = (),
    ) -> None:
        self._root = root
        self._environ = environ
        self._publish = recorder.publish
        self._tasks = tasks
        self._files = files
        self._keep = keep
        self._number = last_number(
            (event.command for event in past if isinstance(event, CommandStarted | CommandEnded)), "c"
        )
        self._running: asyncio.Task[None] | None = None
        self._request = ""
        self._failed = False
        self._watch: Watch | None = None
        self._watching: asyncio.Task[None] | None = None
        recorder.subscribe(self._note)

    @property
    def running(self) -> bool:
        """Whether a command of the user's runs."""
        return self._running is not None and not self._running.done()

    @property
    def watched(self) -> str:
        """The command that runs at every save; empty where there is none."""
        return self._watch.line if self._watch is not None else ""

    def run(self, line: str) -> None:
        """Run ``line`` in the background; events tell what it prints and how it ends. Raises ShellError."""
        _check(line)
        if self.running:
            raise ShellError("a command still runs; Esc ends it")
        self._number += 1
        self._request, self._failed = "", False
        self._running = self._tasks.start(self._run(f"c{self._number}", line), "running a command")

    def stop(self) -> bool:
        """End the running command with all that it started; false where none runs. The watched one stays.

        What ignores SIGTERM is killed half a second later (``process.GRACE``); its end is told then.
        """
        running = self.running
        if self._running is not None and not self._running.cancelling():  # again, it would not be waited for
            self._running.cancel()
        return running

    async def settled(self) -> None:
        """Wait until no command runs."""
        if self._running is not None:
            await asyncio.wait({self._running})

    def request(self, *, failed: bool = True) -> str:
        """What sends the last command to the model: its output and the places that it names; empty where it
        was sent, or with ``failed`` did not fail."""
        return self._request if self._failed or not failed else ""

    def sent(self) -> None:
        """The request went out: it is not offered again."""
        self._request, self._failed = "", False

    def watch(self, line: str) -> None:
        """Run ``line`` now and at every change of the project from now on. Raises ShellError."""
        from session.checks.shell_run import run_shell
        from session.checks.watching import Watch

        _check(line)
        self.unwatch()
        run = partial(run_shell, line, self._root, self._environ)
        self._watch = Watch(line, self._root, run, self._read)
        self._watching = self._tasks.start(
            self._watch.follow(self._told), "watching", consequence="/watch COMMAND begins again"
        )

    def unwatch(self) -> bool:
        """Watch no more; false where nothing was watched."""
        watched, self._watch = self._watch is not None, None
        if self._watching is not None:
            self._watching.cancel()
        return watched

    async def _run(self, command: str, line: str) -> None:
        from session.checks.shell_run import run_shell
        from session.record.outputs import KeptOutput

        shown = clean_line(line)
        self._publish(CommandStarted(command=command, line=shown))
        say, keep, last = self._publish, self._keep(command), KeptOutput(0, STOPPED_BYTES)

        def take(piece: bytes) -> None:
            keep(piece)
            last.take(piece)

        try:
            ran = await run_shell(
                line,
                self._root,
                self._environ,
                lambda text: say(CommandOutput(command=command, text=text)),
                keep=take,
            )
        except asyncio.CancelledError:
            text = last.text()
            tail = _last(text if last.total <= STOPPED_BYTES else text.split("\n", 2)[2], count=False)
            self._request = _printed(shown, "; I stopped it", tail)
            self._publish(CommandEnded(command, shown, "stopped", "stopped", tail))
            raise
        except OSError as problem:
            why = f"no shell could be started: {problem.strerror or problem}"
            self._publish(CommandEnded(command, shown, "failed", why))
            return
        await self._ended(command, line, ran)

    async def _ended(self, command: str, line: str, ran: Ran) -> None:
        shown = clean_line(line)
        if ran.code == 0:
            tail = await asyncio.to_thread(_last, ran.output)
            self._request = _printed(shown, f"; it ended with exit {ran.code}", tail)
            self._publish(CommandEnded(command, shown, "done", ran.how, tail))
            return
        failure = await self._read(line, ran)
        self._offer(failure)
        places = tuple(map(str, failure.places[:MOST_PLACES]))
        self._publish(CommandEnded(command, shown, "failed", ran.how, failure.excerpt, places))

    async def _read(self, line: str, ran: Ran) -> Failure:
        """What of the output says why a command failed."""
        from session.checks.output import ProjectPaths, read_failure

        def read() -> Failure:
            paths = ProjectPaths(self._root, [], self._files())
            return read_failure(clean_line(line), ran.code, ran.output, paths.resolve)

        return await asyncio.to_thread(read)

    def _told(self, told: WatchTold, failure: Failure | None) -> None:
        """A watched command says something new; what is newly red is offered to the model."""
        if failure is not None and told.red:
            self._offer(failure)
        self._publish(told)

    def _offer(self, failure: Failure) -> None:
        self._request, self._failed = failure.prompt(), True

    def _note(self, event: Event) -> None:
        if self._watch is not None:
            self._watch.take(event)


def _check(line: str) -> None:
    if not line.strip():
        raise ShellError("there is no command after the !")
    if len(line) > LONGEST_COMMAND:
        raise ShellError(f"the command has more than {LONGEST_COMMAND:,} characters; put it into a script")
    if code := invisible_character(line):
        raise ShellError(f"the command has an invisible character ({code}); leave it out")


def _last(output: str, *, count: bool = True) -> str:
    """The last lines of ``output``, below how many there were before them, unless that is not known."""
    from session.record.outputs import printable  # loaded with the first command

    lines = [line.rstrip()[:400] for line in printable(output).split("\n")]
    lines = [line for at, line in enumerate(lines) if line or (at and lines[at - 1])]
    left = len(lines) - LAST_LINES
    return "\n".join([*([f"… {left} lines"] if count and left > 0 else []), *lines[-LAST_LINES:]]).strip("\n")


def _printed(line: str, end: str, tail: str) -> str:
    from context.text.safe import fenced

    said = f" It printed:\n{fenced('', tail)}" if tail else " It printed nothing."
    return f"I ran this command{end}.\n\n    {line}\n\n{said.strip()}"
