"""Measures a race of eight attempts at 1,000 tokens a second each, without a screen or in the real app.

    python3 -m tests.bench.race_bench [ATTEMPTS] [screen]

Prints the longest steps of the event loop, the memory, how long after the verdict the losers' sockets were
cut, and how long after it the winner's last hunk had landed. With ``screen`` the app runs at 160×48 with the
panel of the race, and keys are typed all the while: printed is how long each took to be in the prompt. The
partner runs in a process of its own.
"""

from __future__ import annotations

import asyncio
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual import events

from session.base.events import AttemptChecked, AttemptStarted, Event, HunkLanded, RaceEnded
from session.checks.check import Check, Kind
from session.checks.finding import Verdict
from session.race.attempt import Attempt
from session.race.race_rules import Race
from session.session import Session
from session.setup.config import Flags
from session.setup.opening import open_project
from tui.app.app import SparkApp

ATTEMPTS = 8
RATE = 1_000
WORDS = "Each attempt says a good deal before it edits, so that all of them stream at the same time. " * 600
CHECK = Check("tests", f"{sys.executable} -B -c 'import calc; assert calc.add(2, 3) == 5'", Kind.TESTS)


def script(attempts: int) -> str:
    """The first answer is wrong and short, the second right; the others stream on until they are cut."""
    parts = ['models = ["spark-practice"]']
    for number in range(1, attempts + 1):
        answer = "return a * b" if number == 1 else f"return a + b + 0 * {number}"
        words = WORDS if number > 2 else WORDS[: len(WORDS) // 12]
        parts.append(
            f'[[scenario]]\nid = "a{number}"\nmatch = ["add"]\ntimes = 1\n[[scenario.hunk]]\nid = "fix"\n'
            f'path = "calc.py"\nlines = """\n def add(a, b):\n-    return a - b\n+    {answer}\n"""\n'
            f'[[scenario.step]]\nsay = "Answer {number}. {words}\\n"\n'
            '[[scenario.step]]\npatch = ["fix"]\n[[scenario.step]]\nsay = "Done.\\n"\n'
        )
    return "\n".join(parts)


async def watch_loop(late: list[float], held: list[float]) -> None:
    """Note by how much each sleep of 2 ms was late, which is how long a key would have waited; and the CPU
    that the loop used meanwhile, which is that without the other programs of the machine."""
    while True:
        began, cpu = time.perf_counter(), time.thread_time()
        await asyncio.sleep(0.002)
        late.append(time.perf_counter() - began - 0.002)
        held.append(time.thread_time() - cpu)


def p99(values: list[float]) -> float:
    """The value that 99 of 100 do not pass, in milliseconds."""
    return sorted(values)[int(len(values) * 0.99)] * 1000


async def type_keys(app: SparkApp, took: list[float]) -> None:
    """Type a key every 40 ms, and note the seconds until each is in the prompt."""
    typed = 0
    while True:
        typed += 1
        began = time.perf_counter()
        app.post_message(events.Key("x", "x"))
        while len(app.composer.draft) < typed:
            await asyncio.sleep(0.001)
        took.append(time.perf_counter() - began)
        await asyncio.sleep(0.04)


@asynccontextmanager
async def opened(session: Session, *, screen: bool) -> AsyncIterator[SparkApp | None]:
    """The session, open: by itself or in the app."""
    if not screen:
        await session.open()
        yield None
        await session.close()
        return
    app = SparkApp(session, theme="dark")
    async with app.run_test(size=(160, 48)):
        while app.status.status.link != "ready":
            await asyncio.sleep(0.05)
        app.composer.focus()
        yield app
        await session.close()


async def measure(root: Path, url: str, attempts: int, *, screen: bool) -> None:
    """Run one race and print its figures."""
    environ = {f"XDG_{kind}_HOME": str(root.parent / kind) for kind in ("STATE", "CONFIG", "CACHE")}
    flags = Flags(base_url=url, model="spark-practice", provider="partner")
    session = Session(open_project(root, flags, environ))
    verdicts: list[float] = []
    cuts: list[float] = []
    landed: list[float] = []
    over: list[float] = []

    checked, cut = Race.checked, Attempt.cut

    def note_verdict(self: Race, attempt: int, check: int, verdict: Verdict) -> object:
        verdicts.append(time.perf_counter())
        return checked(self, attempt, check, verdict)

    def note_cut(self: Attempt) -> None:
        cut(self)
        if not over:
            cuts.append(time.perf_counter())

    Race.checked = note_verdict  # type: ignore[method-assign,assignment]
    Attempt.cut = note_cut  # type: ignore[method-assign]
    started: list[AttemptStarted] = []
    checks: list[AttemptChecked] = []

    def take(event: Event) -> None:
        if isinstance(event, AttemptStarted):
            started.append(event)
        elif isinstance(event, AttemptChecked):
            checks.append(event)
        elif isinstance(event, RaceEnded):
            over.append(time.perf_counter())
        elif isinstance(event, HunkLanded):
            landed.append(time.perf_counter())

    session._recorder.subscribe(take)
    keys: list[float] = []
    late: list[float] = []
    held: list[float] = []
    async with opened(session, screen=screen) as app:
        await asyncio.sleep(2)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        watching = [asyncio.create_task(watch_loop(late, held))]
        if app is not None:
            watching.append(asyncio.create_task(type_keys(app, keys)))
        await session.race.start("mend add", attempts, [CHECK])
        while not landed or session.running:
            await asyncio.sleep(0.01)
        for task in watching:
            task.cancel()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    verdict = max(each for each in verdicts if each < over[0])
    print(f"attempts {len(started)}, checks {len(checks)}")
    print(f"loop late, median             {statistics.median(late) * 1000:8.1f} ms   p99 {p99(late):.1f} ms")
    print(f"CPU of the loop meanwhile     {statistics.median(held) * 1000:8.1f} ms   p99 {p99(held):.1f} ms")
    print(f"verdict to losers cut         {(max(cuts) - verdict) * 1000:8.1f} ms   {len(cuts)} cut")
    print(f"verdict to landed             {(landed[-1] - verdict) * 1000:8.1f} ms")
    print(
        f"memory, most                  {memory / 1024:8.1f} MB   {(memory - before) / 1024:.1f} for the race"
    )
    if keys:
        print(
            f"key to prompt, median         {statistics.median(keys) * 1000:8.1f} ms   p99 {p99(keys):.0f} ms"
        )


def main() -> None:
    """Serve, race, print."""
    given = sys.argv[1:]
    screen = "screen" in given
    attempts = next((int(each) for each in given if each.isdigit()), ATTEMPTS)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "project"
        root.mkdir()
        (root / "calc.py").write_text("def add(a, b):\n    return a - b\n")
        file = Path(folder) / "race.toml"
        file.write_text(script(attempts))
        command = [sys.executable, "-m", "session.partner", str(RATE), str(file)]
        partner = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            assert partner.stdout is not None
            asyncio.run(measure(root, partner.stdout.readline().strip(), attempts, screen=screen))
        finally:
            partner.terminate()
            partner.wait()


if __name__ == "__main__":
    main()
