"""Runs the engine as a child process that starts on demand and ends with spark.

The child holds one end of a pipe. When spark ends, in whatever way, the pipe closes and the child exits. Its
key is new for each start and is sent through that pipe, never on a command line.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import secrets
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path

from session.base.text.sanitize import clean_line
from session.models.engine.model import LocalModel
from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import LinkError, LinkProblem
from session.wire.transport.links import HOST_ENDED

LOAD_SECONDS = 600.0
"""Time limit for loading a model."""
_TELL_SECONDS = 2.0
"""Seconds between two lines about the progress of loading."""
_END_SECONDS = 5.0
"""Seconds to wait for the end of a killed process."""
_DYING_SECONDS = 1.0
"""Most seconds between the end of the engine's socket and that of its process."""
_KEPT_LINES = 200
"""Number of last lines of the engine's log that are kept, to say why it ended."""
_OTHER_WORDS = re.compile(r"[\d.]+ [IWD] ")
"""The beginning of llama.cpp's lines that are no errors; what a library prints before it aborts has none."""
_ERROR, _LOADING = " E ", "error loading model: "
"""llama.cpp's mark of an error, and the words before the cause."""
_LONGEST_LINE = 64 * 1024
"""Most bytes of one line of the log; longer lines are dropped."""
_CACHE_MIB = 1024
"""Memory for the engine's cache of prompts, in MiB."""
_CHILD = Path(__file__).with_name("__main__.py")


class Engine:
    """Runs llama.cpp for one model. ``serve`` starts it, and starts it again if it has ended by itself.

    ``on_end`` is called with a line for the user when a running engine ends by itself.
    """

    def __init__(
        self,
        model: LocalModel,
        *,
        load_seconds: float = LOAD_SECONDS,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """``environ`` is the child's environment; spark's own if it is None."""
        self.model = model
        self._environ = environ
        self.on_end: Callable[[str], None] = lambda _: None
        self.starts = 0
        self._load_seconds = load_seconds
        self._process: Process | None = None
        self._endpoint: Endpoint | None = None
        self._said: deque[str] = deque(maxlen=_KEPT_LINES)
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended: str | None = None

    @property
    def pid(self) -> int | None:
        """The child's process id while it runs."""
        running = self._process is not None and self._process.returncode is None
        return self._process.pid if running and self._process else None

    async def serve(self, say: Callable[[str], None]) -> Endpoint:
        """The engine's endpoint once the model is loaded; ``say`` is called with the progress of loading.

        Raises LinkError (``refused``, code ``engine``) if it cannot be started or cannot load the model.
        """
        if self._endpoint is not None:
            if self.pid is not None:
                return self._endpoint
            # It has just ended; report that end first.
            raise self._problem(await self.why_ended() or "The engine has stopped.")
        await self._stop()
        self._said.clear()
        self._ended = None
        key = secrets.token_urlsafe(32)
        try:
            process = await self._start()
            self._process = process
            url = await self._ready(process, key, say)
        except BaseException:  # a cancelled start must not leave an engine running either
            await self._stop()
            raise
        self._endpoint = Endpoint(f"{url}/v1", key)
        self._spawn(self._watch(process), "engine-watch")
        say(f"{clean_line(self.model.name)} is loaded")
        return self._endpoint

    async def why_ended(self) -> str | None:
        """Why the engine has ended, as a line for the user; None while it runs.

        Waits a moment, since a process closes its sockets shortly before it has ended.
        """
        watch = self._named("engine-watch")
        if self._ended is None and watch:
            await asyncio.wait(watch, timeout=_DYING_SECONDS)
        return self._ended

    async def close(self) -> None:
        """End the process. May be repeated."""
        await self._stop()

    async def _start(self) -> Process:
        self.starts += 1
        model = self.model
        arguments = ["--context", str(model.context), "--cache-mib", str(_CACHE_MIB)]
        if model.threads:
            arguments += ["--threads", str(model.threads)]
        try:
            # By its path and with -P, so that it never imports modules from the project's folder.
            return await asyncio.create_subprocess_exec(
                sys.executable, "-P", str(_CHILD), str(model.file), *arguments,
                stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd="/", env=self._environ,
                limit=_LONGEST_LINE, start_new_session=True,
            )  # fmt: skip
        except OSError as problem:
            raise self._problem(f"The engine could not be started: {problem.strerror}") from problem

    async def _ready(self, process: Process, key: str, say: Callable[[str], None]) -> str:
        """The base URL that the child reports, within the time limit."""
        assert process.stdin is not None and process.stdout is not None
        self._spawn(self._listen(process), "engine-words")
        telling = self._spawn(self._tell(process.pid, say), "engine-loading")
        try:
            async with asyncio.timeout(self._load_seconds):
                process.stdin.write(key.encode("ascii") + b"\n")
                with contextlib.suppress(ConnectionError):
                    await process.stdin.drain()
                line = await process.stdout.readline()
                if line:
                    return str(json.loads(line)["url"])
                code = await process.wait()
        except TimeoutError:
            limit = f"{self._load_seconds:g} s"
            raise self._problem(
                f"{self.model.name} was not loaded within {limit}: try a smaller one"
            ) from None
        finally:
            telling.cancel()
        await self._words_read()
        raise self._problem(f"The engine could not load {self.model.name}: {self._why(code, 0)}")

    async def _tell(self, pid: int, say: Callable[[str], None]) -> None:
        """Report what is being loaded and, if the system says, how far it is."""
        model = self.model
        on = f", {model.threads} threads ([local] threads sets it)" if model.threads > 1 else ""
        what = f"loading {clean_line(model.name)} ({said_bytes(model.size)}{on})"
        if model.size > model.free:
            what += f", more than the {said_bytes(model.free)} of memory that are free"
        say(what)
        while True:
            await asyncio.sleep(_TELL_SECONDS)
            there = resident_bytes(pid)
            share = f": {min(99, 100 * there // max(1, model.size))} %" if there else ""
            say(what + share)

    async def _listen(self, process: Process) -> None:
        """Keep the last lines of llama.cpp's log, which include the reason if it ends."""
        assert process.stderr is not None
        while True:
            try:
                line = await process.stderr.readline()
            except ValueError:  # the line is longer than the limit and was dropped
                continue
            if not line:
                return
            self._said.append(clean_line(line.decode("utf-8", "replace")).strip())

    async def _watch(self, process: Process) -> None:
        code = await process.wait()
        await self._words_read()
        self._endpoint = None
        self._ended = f"The engine has stopped: {self._why(code, -1)}. Your next prompt starts it again."
        self.on_end(self._ended)

    async def _words_read(self) -> None:
        """Wait until the child's log is read to its end; its pipe closes with it."""
        words = self._named("engine-words")
        if words:
            await asyncio.wait(words, timeout=_DYING_SECONDS)

    def _named(self, name: str) -> list[asyncio.Task[None]]:
        return [task for task in self._tasks if task.get_name() == name]

    def _why(self, code: int, which: int) -> str:
        """Why the child ended, from the error number ``which`` in its log.

        After a failed load the first error is the cause and the others follow from it; for a running engine
        the last one is the nearest to its end.
        """
        if code == -signal.SIGKILL:
            return "it was killed, probably for lack of memory (take a smaller model or [local] context)"
        errors = [line for line in self._said if line and not _OTHER_WORDS.match(line)]
        if which == 0:
            # llama.cpp's own lines may arrive after those of its caller, which gave up because of them.
            errors.sort(key=lambda line: _ERROR not in line)
        said = errors[which] if errors else ""
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        words = said.rpartition(_ERROR)[2].rpartition(_LOADING)[2]
        return f"{words} ({how})" if words else how

    async def _stop(self) -> None:
        """End the child and every task without reporting it."""
        tasks, self._tasks = self._tasks, set()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        process, self._process, self._endpoint = self._process, None, None
        if process is None or process.returncode is not None:
            return
        # It has no data to save, so it can be killed at once.
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                await process.wait()

    def _spawn(self, work: Coroutine[None, None, None], name: str) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        return task

    def _problem(self, message: str) -> LinkError:
        return LinkError(LinkProblem.REFUSED, message, code=HOST_ENDED)


def resident_bytes(pid: int) -> int | None:
    """The bytes of memory that process ``pid`` holds; None if the system does not say."""
    import psutil

    try:
        return psutil.Process(pid).memory_info().rss
    except psutil.Error:
        return None


def said_bytes(size: float) -> str:
    """``size`` bytes in decimal units, as hubs show them: ``4.7 GB``."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
