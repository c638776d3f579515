"""The link to a Dask scheduler: a project's content goes out once, checks go out, answers come back.

Source: the documentation of ``distributed`` (Client, scatter, submit). The scheduler hands checks to workers,
workers pass the content on to each other, and the checks of a worker that is lost go to another one.

Looks at what a worker answered before it is believed: its types and sizes, and that it is about the check.

A worker is trusted with code on this machine, since Dask's messages are Python objects. What is held here is
what a broken worker, or one of another version, can do: end spark, keep a race waiting, write to a screen.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import secrets
import warnings
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import Any

from session.base.text.sanitize import clean, clean_line
from session.base.text.wording import install_command
from session.checks.check import Check
from session.checks.finding import Finding, Status, Verdict
from session.checks.output import MOST_FINDINGS
from session.checks.runner import LAST_LINES, LONGEST_LAST
from session.race.cluster.content import Content
from session.race.cluster.worker import Answer, Job
from session.setup.user_tables import ClusterSettings

LONGEST_LINE = 1_000
LONGEST_TEXT = LAST_LINES * (LONGEST_LAST + 1)
_LAST_LINE = 10**8
_LONGEST_PATH = 4_096


class OddAnswerError(Exception):
    """An answer that no worker of this version gives; the message says what is odd."""


def looked_at(found: object, check: Check) -> Answer:
    """``found`` as the answer to ``check``, with its texts made safe to show. Raises OddAnswerError."""
    if type(found) is not Answer:
        raise OddAnswerError("no answer that this spark understands")
    worker, differs = (_line(text, LONGEST_LINE) for text in (found.worker, found.differs))
    if found.verdict is None:
        if not differs:
            raise OddAnswerError("neither a verdict nor why there is none")
        return Answer(worker, None, differs)
    return Answer(worker, _verdict(found.verdict, check), differs)


def shown_problem(problem: object) -> str:
    """An exception from elsewhere in one line: its kind, and the first line of what it says."""
    kind = clean_line(type(problem).__name__)[:LONGEST_LINE]
    try:
        lines = str(problem)[:LONGEST_TEXT].strip().splitlines()
    except Exception:  # noqa: BLE001 - its class is not ours, and may fail at anything
        lines = []
    said = clean_line(lines[0])[:LONGEST_LINE] if lines else ""
    return f"{kind}: {said}" if said else kind


def _verdict(verdict: Any, check: Check) -> Verdict:
    if type(verdict) is not Verdict or type(verdict.status) is not Status:
        raise OddAnswerError("a verdict that this spark does not understand")
    if type(verdict.check) is not Check or verdict.check != check:
        raise OddAnswerError("a verdict for another check")
    if type(verdict.seconds) is not float or not math.isfinite(verdict.seconds) or verdict.seconds < 0:
        raise OddAnswerError("a time that cannot be")
    if type(verdict.findings) is not tuple or len(verdict.findings) > MOST_FINDINGS:
        raise OddAnswerError("findings that this spark does not understand")
    if type(verdict.ran) is not bool:
        raise OddAnswerError("a verdict that this spark does not understand")
    return Verdict(
        check,
        verdict.status,
        verdict.seconds,
        tuple(map(_finding, verdict.findings)),
        _line(verdict.why, LONGEST_LINE),
        clean(_text(verdict.last)[:LONGEST_TEXT]),
        _line(verdict.note, LONGEST_LINE),
        verdict.ran,
    )


def _finding(finding: Any) -> Finding:
    if type(finding) is not Finding or type(finding.line) is not int or not 0 <= finding.line < _LAST_LINE:
        raise OddAnswerError("findings that this spark does not understand")
    path = _text(finding.path)
    parts = PurePosixPath(path[: _LONGEST_PATH + 1])
    if not parts.parts or parts.is_absolute() or ".." in parts.parts or "\0" in path:
        raise OddAnswerError("a finding outside of the project")
    if len(path) > _LONGEST_PATH:
        raise OddAnswerError("a finding in no file")
    return Finding(path, finding.line, _line(finding.message, LONGEST_LINE))


def _line(text: Any, most: int) -> str:
    return clean_line(_text(text)[: most * 4])[:most]


def _text(text: Any) -> str:
    if type(text) is not str:
        raise OddAnswerError("a text that is none")
    return text


CONNECT_SECONDS = 10.0
SEND_SECONDS = 600.0
LOOK_SECONDS = 15.0
"""Seconds between two looks at whether the scheduler still answers while a check runs."""
_CANCEL_SECONDS = 2.0
_TIMES = 3
"""Times that the content is sent again because every worker that had it is gone."""
_PREFIX = "spark-"


class ClusterError(Exception):
    """The cluster cannot judge; the message says why."""


class DaskLink:
    """A connection to a scheduler. Everything runs on the event loop."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._held: dict[str, Any] = {}
        """The futures of the content that workers hold for this client, by name."""
        self._sending = asyncio.Lock()
        self.sent = 0
        """The bytes of content that went out."""

    @classmethod
    async def open(cls, settings: ClusterSettings) -> DaskLink:
        """Connect. Raises ClusterError."""
        for file in (settings.ca, settings.cert, settings.key):
            if file and not await asyncio.to_thread(Path(file).is_file):
                raise ClusterError(f"cluster_tls names {file}, which is not a file")
        try:
            distributed = await asyncio.to_thread(_loaded)
        except ImportError as problem:
            raise ClusterError(f"distributed is not installed: {install_command('distributed')}") from problem
        try:
            security = distributed.Security(
                require_encryption=settings.encrypted,
                tls_ca_file=settings.ca or None,
                tls_client_cert=settings.cert or None,
                tls_client_key=settings.key or None,
            )
            client = await distributed.Client(
                settings.address,
                asynchronous=True,
                set_as_default=False,
                timeout=CONNECT_SECONDS,
                security=security,
                name="spark",
            )
        except (OSError, ValueError, TypeError, RuntimeError) as problem:
            raise ClusterError(f"{settings.address} cannot be reached: {shown_problem(problem)}") from problem
        return cls(client)

    @property
    def open_still(self) -> bool:
        """Whether the scheduler is connected."""
        return bool(self._client.status == "running")

    async def judge(self, job: Job, content: Content, without: Collection[str]) -> Answer:
        """Have a worker that is not in ``without`` do ``job``. Raises ClusterError."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        for _ in range(_TIMES):
            needed = await self._send(content)
            workers = await self._workers(without)
            name = f"{_PREFIX}check-{secrets.token_hex(8)}"
            try:
                return await self._judge(job, name, needed, workers)
            except FutureCancelledError:
                # The workers that held the content are gone, or the scheduler is.
                self._held.clear()
                if not self.open_still:
                    break
            except KilledWorker as problem:
                raise ClusterError("every worker that ran it was lost") from problem
            except OSError as problem:
                raise ClusterError(shown_problem(problem)) from problem
        raise ClusterError("the scheduler is lost" if not self.open_still else "its workers are lost")

    async def _judge(self, job: Job, name: str, needed: list[Any], workers: list[str] | None) -> Answer:
        from dataclasses import replace

        from session.race.cluster import worker

        future = self._client.submit(
            worker.judge,
            replace(job, name=name),
            *needed,
            key=name,
            workers=workers,
            allow_other_workers=False,
            pure=False,
        )
        waiting = asyncio.ensure_future(_result(future))
        try:
            while not waiting.done():
                await asyncio.wait({waiting}, timeout=LOOK_SECONDS)
                if not waiting.done():
                    await self._ask_for_life()
            answer = _answer(waiting.result(), job)
            if answer.verdict is None:
                await self._check_name(answer.worker, workers)
            return answer
        finally:
            waiting.cancel()
            with contextlib.suppress(TimeoutError, OSError):
                async with asyncio.timeout(_CANCEL_SECONDS):
                    await future.cancel()

    async def _check_name(self, name: str, asked: Collection[str] | None) -> None:
        """Raises ClusterError for a worker that names itself as none of those that were ``asked``: another
        one would be left out in its place, and it would be asked again without end."""
        if name not in (await self._client.nthreads() if asked is None else asked):
            raise ClusterError("a worker answered under a name that none of those asked has")

    async def _send(self, content: Content) -> list[Any]:
        """Send what of ``content`` no worker has, and return the futures of all of it."""
        async with self._sending:
            parts = {f"{_PREFIX}{content.key}": content.manifest}
            parts |= {f"{_PREFIX}{key}": data for key, data in sorted(content.packs.items())}
            missing = {name: data for name, data in parts.items() if name not in self._held}
            if missing:
                try:
                    async with asyncio.timeout(SEND_SECONDS):
                        self._held |= await self._client.scatter(
                            missing, broadcast=True, timeout=CONNECT_SECONDS
                        )
                except TimeoutError as problem:
                    raise ClusterError("it has no workers") from problem
                except (OSError, ValueError) as problem:
                    raise ClusterError(shown_problem(problem)) from problem
                self.sent += sum(map(len, missing.values()))
            # Workers forget what no future stands for: older states go.
            self._held = {name: self._held[name] for name in parts}
            return list(self._held.values())

    async def _workers(self, without: Collection[str]) -> list[str] | None:
        """The workers that may judge; None for all."""
        if not without:
            return None
        await self._ask_for_life()
        left = [each for each in await self._client.nthreads() if each not in without]
        if not left:
            raise ClusterError("none of its workers has the tools")
        return left

    async def _ask_for_life(self) -> None:
        """Raises ClusterError where the scheduler does not answer."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await self._client.scheduler.identity(n_workers=0)
        except (OSError, TimeoutError) as problem:
            raise ClusterError("the scheduler does not answer") from problem

    async def close(self) -> None:
        """Close the connection; what still runs there for it ends."""
        self._held.clear()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(_CANCEL_SECONDS):
                await self._client.close(timeout=_CANCEL_SECONDS)


async def _result(future: Any) -> object:
    """What the worker returned. Raises ClusterError for an exception of the worker's.

    That is asked for and never raised: SystemExit would end spark, and CancelledError would be taken for a
    stop of the race, which would then wait for this check without end.
    """
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError

    problem = await future.exception()
    if problem is None:
        try:
            return await future.result()
        except Exception as failed:  # noqa: BLE001 - an answer that cannot be read may fail at anything
            problem = failed
    if isinstance(problem, FutureCancelledError | KilledWorker):
        raise problem
    raise ClusterError(f"a worker failed: {shown_problem(problem)}")


def _answer(found: object, job: Job) -> Answer:
    """What the worker answered to ``job``. Raises ClusterError."""
    try:
        return looked_at(found, job.check)
    except OddAnswerError as problem:
        raise ClusterError(f"a worker gave {problem}") from problem


def _loaded() -> Any:
    """Import distributed, and keep its log and its warnings from the terminal."""
    import distributed
    from distributed.versions import VersionMismatchWarning

    for name in ["distributed", "tornado", "bokeh", *logging.root.manager.loggerDict]:
        if name.split(".")[0] in ("distributed", "tornado", "bokeh"):
            logger = logging.getLogger(name)
            logger.handlers = [logging.NullHandler()]
            logger.propagate = False
    warnings.filterwarnings("ignore", category=VersionMismatchWarning)
    warnings.filterwarnings("ignore", message="Sending large graph")
    return distributed
