"""Outlines texts in a process of their own, which is started when it is first needed and replaced if it ends.

A grammar's query is compiled in one step that takes up to half a second, and is run in one too. In this
process that would hold up every thread, the event loop's among them. Where no process can be started, this
process outlines the text itself.

Starts processes of spark's own: this interpreter with this module path, and nothing of the project's.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import resource
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from context.code.definitions import definitions
from context.code.languages import language_in, language_of, named_language
from context.code.outline import Outline, outline, outline_by_head
from context.code.symbols import KINDS, Symbol
from context.disk.programs import plain_environment

_START = (
    "import sys, json, importlib; sys.path[:] = json.loads(sys.argv.pop());"
    " importlib.import_module(sys.argv.pop()).main()"
)


class NotStarted(Exception):
    """No process could be started; the message says why."""


def start_python(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start ``main`` of a module of spark's, with pipes to its input and from its output.

    It has no folder of the project on its module path, so nothing in the project is ever imported, and it is
    in a session of its own, so that a key such as Ctrl+C does not reach it. It reads files of strangers, so
    its environment has no keys. Raises NotStarted.
    """
    if not sys.executable:
        raise NotStarted("the interpreter does not know its own path")
    modules = json.dumps([path for path in sys.path if path])
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-c", _START, *arguments, module, modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=plain_environment(),
            start_new_session=True,
        )
    except (OSError, ValueError) as problem:
        raise NotStarted(f"no process can be started: {problem}") from problem


def memory_taken() -> int:
    """The memory of this process in bytes."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * resource.getpagesize()
    except OSError:
        # The peak, which on Linux would include the parent's memory at the start.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


_LONGEST = 10.0
"""Seconds that an answer may take; the parser's own limit is far below."""
_LOOK_SECONDS = 0.05
"""Seconds between two looks whether the project is closing."""
_NOT_AGAIN = 60.0
"""Seconds for which no process is started after one could not be."""
_MOST_MEMORY = 120_000_000
"""Memory in bytes at which the process is replaced. With the queries of all languages it takes 75 MB."""
_TRIES = 2
_PIECE = 1 << 16
_MODULE = "context.index.outline_process"


class Abandoned(Exception):
    """The project was closed before the text was outlined."""


class _Ended(Exception):
    """The process ended, or answered what is no answer."""


class _Late(Exception):
    """The process took too long."""


class _Process:
    """One process, used by one thread at a time."""

    def __init__(self, languages: Iterable[str]) -> None:
        """Raises NotStarted."""
        self._process = start_python(_MODULE, str(_MOST_MEMORY))
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._answered = bytearray()
        self.ready = False
        """Whether it has said that it is."""
        self._unsent = b""
        """What nobody waits for is sent with the next request, if the pipe is full."""
        self.load(languages)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def load(self, languages: Iterable[str]) -> None:
        """Have it compile the queries of ``languages`` while nothing is asked."""
        wanted = sorted(languages)
        if wanted:
            self._unsent += _line({"load": wanted})
            self._unsent = self._unsent[self._write(self._unsent) :]

    def ask(self, about: dict[str, str], text: str, is_closing: Callable[[], bool]) -> tuple[Outline, bool]:
        """The outline of a text, and whether the process is worn.

        Raises Abandoned, _Late, and _Ended; the process cannot be used any more then.
        """
        content = text.encode("utf-8", "surrogatepass")
        request = b"".join((self._unsent, _line({**about, "size": len(content)}), content))
        self._unsent = b""
        lines = self._exchange(request, is_closing)
        symbols: list[Symbol] = []
        try:
            if not self.ready:
                self.ready = json.loads(next(lines)) == {}
            for line in lines:
                found = json.loads(line)
                if isinstance(found, dict):
                    head = tuple(map(str, found["head"]))
                    return Outline(tuple(symbols), head, bool(found["more"])), bool(found["worn"])
                symbols += [_symbol(row) for row in found]
        except (ValueError, TypeError, LookupError) as problem:
            raise _Ended(f"an invalid answer: {problem}") from problem
        raise AssertionError("the lines end with an exception only")

    def _exchange(self, request: bytes, is_closing: Callable[[], bool]) -> Iterator[bytes]:
        """Send a request, and return the lines of the answer as they come."""
        end = time.monotonic() + _LONGEST
        left = memoryview(request)
        with selectors.DefaultSelector() as selector:
            selector.register(self._out, selectors.EVENT_READ)
            selector.register(self._in, selectors.EVENT_WRITE)
            while True:
                if is_closing():
                    raise Abandoned
                if time.monotonic() > end:
                    raise _Late
                for key, _ in selector.select(_LOOK_SECONDS):
                    if key.fd == self._in:
                        left = left[self._write(left) :]
                        if not left:
                            selector.unregister(self._in)
                    elif more := os.read(self._out, _PIECE):
                        self._answered += more
                    else:
                        raise _Ended("it ended")
                while (at := self._answered.find(b"\n")) >= 0:
                    line = bytes(self._answered[:at])
                    del self._answered[: at + 1]
                    yield line

    def _write(self, what: bytes | memoryview) -> int:
        try:
            return os.write(self._in, what[:_PIECE])
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            return len(what)  # it has ended, which its output says too

    def kill(self) -> None:
        """End it, from any thread."""
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        """End it, and close its pipes."""
        self.kill()
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()


class Outliner:
    """Outlines texts. Thread-safe; one text is outlined at a time."""

    def __init__(self) -> None:
        self._asking = threading.Lock()
        self._process: _Process | None = None
        self._languages: frozenset[str] = frozenset()
        self._not_before = 0.0

    @property
    def pid(self) -> int | None:
        """The number of the process, or None if there is none."""
        process = self._process
        return None if process is None else process.pid

    def outline(self, path: str, text: str, is_closing: Callable[[], bool] = lambda: False) -> Outline:
        """The outline of a file, as :func:`context.code.outline.outline` makes it.

        A text of which the process ends twice, or takes longer than 10 s, has no definitions. Raises
        Abandoned once ``is_closing``.
        """
        if language_in(path, text) is None:
            return outline(path, text)
        try:
            return self._ask({"path": path}, text, is_closing) or outline_by_head(text)
        except NotStarted:
            return outline(path, text)

    def definitions(self, language: str, text: str) -> tuple[Symbol, ...]:
        """All definitions in a text, as :func:`context.code.definitions.definitions` finds them; none of one
        of which the process ends twice, or takes longer than 10 s."""
        try:
            found = self._ask({"language": language}, text, lambda: False)
        except NotStarted:
            known = named_language(language)
            return () if known is None else definitions(known, text)
        return () if found is None else found.symbols

    def prepare(self, paths: Iterable[str]) -> None:
        """Start the process if there is none, and have it compile the queries of the languages of ``paths``.

        So the first save in each of them is outlined as soon as a later one. It does not wait for that.
        """
        found = {language.name for language in map(language_of, paths) if language is not None}
        if "c" in found:
            found.add("cpp")  # a header may be one of C++
        with self._asking:
            new = found - self._languages
            self._languages |= new
            if self._process is None:
                self._restart()
            elif new:
                self._process.load(new)

    def stop(self) -> None:
        """End the process for good, without waiting for who asks it; later on, texts are outlined here."""
        self._not_before = math.inf
        process = self._process
        if process is not None:
            process.kill()

    def _ask(self, about: dict[str, str], text: str, is_closing: Callable[[], bool]) -> Outline | None:
        """What the process answers; None if it ends twice, or is late. Raises Abandoned and NotStarted."""
        while not self._asking.acquire(timeout=_LOOK_SECONDS):
            if is_closing():
                raise Abandoned
        try:
            for _ in range(_TRIES):
                try:
                    return self._ask_once(about, text, is_closing)
                except _Ended:
                    continue
                except _Late:
                    return None
            return None
        finally:
            self._asking.release()

    def _ask_once(self, about: dict[str, str], text: str, is_closing: Callable[[], bool]) -> Outline:
        process = self._process if self._process is not None else self._start()
        try:
            found, worn = process.ask(about, text, is_closing)
        except BaseException as problem:
            # Nobody reads the rest of the answer.
            self._end()
            if isinstance(problem, _Ended | _Late) and not process.ready:
                raise self._no_process("it never got ready") from problem
            raise
        if worn:
            self._end()
            self._restart()
        return found

    def _start(self) -> _Process:
        """Start a process. Raises NotStarted."""
        if time.monotonic() < self._not_before:
            raise NotStarted("none could be started a short while ago")
        try:
            self._process = _Process(self._languages)
        except NotStarted as problem:
            raise self._no_process(str(problem)) from problem
        return self._process

    def _restart(self) -> None:
        """Start a process for later, if that is possible."""
        try:
            self._start()
        except NotStarted:
            return  # the next request tries again, and does without

    def _no_process(self, why: str) -> NotStarted:
        self._not_before = max(self._not_before, time.monotonic() + _NOT_AGAIN)
        return NotStarted(why)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end()


def _line(request: dict[str, Any]) -> bytes:
    return json.dumps(request).encode("ascii") + b"\n"


def _symbol(row: list[Any]) -> Symbol:
    """A definition from the other process. Raises TypeError and ValueError."""
    symbol = Symbol(*row)
    kind, name, signature, doc, *lines, local, variant = symbol
    if not all(isinstance(text, str) for text in (kind, name, signature, doc)) or kind not in KINDS:
        raise ValueError("no definition")
    if not all(type(line) is int and line >= 0 for line in lines):
        raise ValueError("no lines")
    if not isinstance(local, bool) or not isinstance(variant, bool):
        raise ValueError("no definition")
    return symbol


OUTLINER = Outliner()
"""The one of this process."""
atexit.register(OUTLINER.stop)
