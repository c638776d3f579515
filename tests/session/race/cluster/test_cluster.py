"""Attempts judged on a real cluster: a scheduler and workers in processes of their own, one killed."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from session.base.events import AttemptChecked, HunkLanded, Notice, RaceEnded, TurnEnded
from session.checks.check import Check, Kind
from session.checks.finding import Status, Verdict
from session.checks.runner import CheckRunner
from session.checks.sandbox.command import Edits
from session.checks.sandbox.sandbox import Sandboxes
from session.race.cluster import dask_link
from session.race.cluster.dask_link import ClusterError, DaskLink
from session.race.cluster.runner import Cluster, ClusterRunner
from session.setup.user_tables import ClusterSettings
from session.tools.command.environment import allowed_environment
from tests.session.race.attempts.races import ADD, RIGHT, WRONG, project, script
from tests.session.race.cluster.conftest import TOOL, Machines, tool
from tests.session.race.cluster.dask_cluster import Nursery, dask_cluster
from tests.session.talking import talking

pytestmark = pytest.mark.xdist_group("cluster")
WHERE = Check("tests", f"{TOOL}; grep -q 'a + b' calc.py || {{ echo judged in $PWD; exit 1; }}", Kind.TESTS)
"""Green for the right answer; of another one it says in which folder it was judged."""
ON_A_WORKER = "/dask/"
STAGE_SECONDS = 300.0
EDIT: Edits = {"calc.py": b"def add(a, b):\n    return a + b\n"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path / "project")


@dataclass
class Judging:
    """What runs the checks of one race, and what it told the user."""

    runner: ClusterRunner
    cluster: Cluster
    told: list[str] = field(default_factory=list)

    async def attempt(self, check: Check, edits: Edits | None = None) -> Verdict:
        return await self.runner.run(check, ["calc.py"], edits=edits or EDIT)


@asynccontextmanager
async def judging(root: Path, address: str, path: str) -> AsyncIterator[Judging]:
    own = {**os.environ, "PATH": path, "XDG_STATE_HOME": str(root.parent / "state")}
    sandboxes, environ = Sandboxes(root, own), allowed_environment(own)
    cluster = Cluster(ClusterSettings(address), root)
    here = CheckRunner(root, sandboxes, environ, lambda: ["calc.py"])
    told: list[str] = []
    runner = ClusterRunner(cluster, here, sandboxes, environ, told.append, 1)
    holding = asyncio.create_task(cluster.hold())
    try:
        yield Judging(runner, cluster, told)
    finally:
        await runner.close()
        holding.cancel()
        await asyncio.wait({holding})


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(90):
        while not true():
            await asyncio.sleep(0.02)


async def a_race_is_judged_on_the_cluster_and_lands_what_is_right(machines: Machines, root: Path) -> None:
    config = root.parent / "xdg" / "config" / "spark" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[attempts]\ncluster = "{machines.dask.address}"\n')
    judged = "import calc, os; assert calc.add(2, 3) == 5, os.getcwd()"
    check = Check("tests", f"{sys.executable} -B -c '{judged}'", Kind.TESTS)
    async with talking(root, script(WRONG, RIGHT)) as it:
        await it.session.race.start("mend add", 2, [check], judge_all=True)
        async with asyncio.timeout(90):
            while not it.all(TurnEnded):
                await it.news()
        (ended,) = it.all(TurnEnded)
        assert ended.status == "completed", ended
        assert it.text("calc.py") == ADD.replace("return a - b", RIGHT)
        checked = it.all(AttemptChecked)
        assert sorted(each.status for each in checked) == ["green", "red"]
        assert ON_A_WORKER in next(each.why for each in checked if each.status == "red")
        assert len(it.all(HunkLanded)) == 1 and it.all(RaceEnded)[0].winner
        assert not [each for each in it.all(Notice) if "cluster" in each.text]


async def a_worker_with_other_tools_says_so_and_does_not_judge(machines: Machines, root: Path) -> None:
    async with judging(root, machines.dask.address, machines.path) as it:
        assert (await it.runner.run(WHERE)).status is Status.RED
        verdicts: list[Verdict] = []
        while not it.told and len(verdicts) < 60:  # the odd worker may be slow to ask for work
            some = [it.attempt(WHERE, {"calc.py": b"%d" % (len(verdicts) + n)}) for n in range(6)]
            verdicts += await asyncio.gather(*some)
        assert all(ON_A_WORKER in each.last for each in verdicts)
        assert not any("/dask/c/" in each.last for each in verdicts)
        (odd,) = it.told
        assert "'judging-tool 2.0' and not 'judging-tool 1.0'" in odd


async def the_content_travels_once_and_without_keys(machines: Machines, root: Path) -> None:
    for name in ("b", "c", "d", "e"):
        (root / f"{name}.txt").write_bytes(os.urandom(20_000))
    (root / ".env").write_text("TOKEN=abc\n")
    check = Check("keys", f'{TOOL}; test -f b.txt && test ! -e .env && test -z "$SECRET"', Kind.TESTS)
    os.environ["SECRET"] = "sesame"
    try:
        async with judging(root, machines.dask.address, machines.path) as it:
            assert (await it.runner.run(WHERE)).status is Status.RED
            keys = replace(check, name=WHERE.name)
            assert (await it.attempt(keys)).status is Status.GREEN
            link = await it.cluster.link()
            sent = link.sent
            assert sent > 80_000
            assert (await it.attempt(keys)).status is Status.GREEN and link.sent == sent
            (root / "e.txt").write_text("changed\n")
            await it.runner.close()
            again = ClusterRunner(
                it.cluster, it.runner._here, it.runner._sandboxes, it.runner._environ, it.told.append, 1
            )
            assert (await again.run(WHERE)).status is Status.RED
            assert (await again.run(keys, ["calc.py"], edits=EDIT)).status is Status.GREEN
            assert 0 < link.sent - sent < 10_000
            await again.close()
        assert "1 files that may hold keys do not go to the cluster" in it.told
    finally:
        del os.environ["SECRET"]


async def a_check_ends_on_its_worker_when_nobody_wants_it(machines: Machines, root: Path) -> None:
    slow = replace(WHERE, command=f"{TOOL}; sleep 600")
    dask = machines.dask
    async with judging(root, dask.address, machines.path) as it:
        await it.runner.run(WHERE)
        await it.attempt(WHERE)
        running = asyncio.create_task(it.attempt(slow))
        await until(lambda: dask.checks("a") + dask.checks("b") >= 3)
        running.cancel()
        await asyncio.wait({running})
        await until(lambda: dask.checks("a") + dask.checks("b") == 0)
        # The same where the spark that asked is gone: its connection is closed and nothing else is said.
        alone = asyncio.create_task(it.attempt(slow))
        await until(lambda: dask.checks("a") + dask.checks("b") >= 3)
        link = await it.cluster.link()
        link._client.scheduler_comm.comm.abort()
        await until(lambda: dask.checks("a") + dask.checks("b") == 0)
        alone.cancel()
        await asyncio.wait({alone})


async def where_the_cluster_says_something_else_of_the_project_the_checks_run_here(
    machines: Machines, root: Path
) -> None:
    (root / ".git").mkdir()  # it does not travel
    needs = Check("tests", f"{TOOL}; test -d .git && echo judged in $PWD", Kind.TESTS)
    async with judging(root, machines.dask.address, machines.path) as it:
        assert (await it.runner.run(needs)).status is Status.GREEN
        assert (await it.attempt(needs)).status is Status.GREEN
        assert any("says red of the project on the cluster, and green here" in each for each in it.told)


async def the_checks_of_a_lost_worker_are_done_again_elsewhere(machines: Machines, root: Path) -> None:
    """The last test on these machines: two of them are killed, the first while it runs a check."""
    hanging = f"case $PWD in */dask/a/*) sleep 600;; esac; {WHERE.command}"
    slow = replace(WHERE, command=hanging)
    dask = machines.dask
    async with judging(root, dask.address, machines.path) as it:
        await it.runner.run(WHERE)
        running: list[asyncio.Task[Verdict]] = []
        while not dask.checks("a"):
            # Of single checks in turn an idle worker may get all: six at once are more than one can take.
            for _ in range(6):
                edits: Edits = EDIT if len(running) % 2 else {"calc.py": b"%d" % len(running)}
                running.append(asyncio.create_task(it.attempt(slow, edits)))
            await until(lambda: bool(dask.checks("a")) or all(each.done() for each in running))
        dask.kill("a")
        verdicts = await asyncio.gather(*running)
        assert [each.status is Status.GREEN for each in verdicts] == [
            bool(n % 2) for n in range(len(running))
        ]
        assert all("/dask/b/" in each.last for each in verdicts if each.status is Status.RED)
        # Where the last one with the tools is gone too, this machine goes on.
        dask.kill("b")
        assert (await it.attempt(WHERE)).status is Status.GREEN
        assert any("is not used: none of its workers has the tools" in each for each in it.told)


async def test_attempts_are_judged_on_the_cluster_with_the_same_files_and_tools(
    machines: Machines, tmp_path: Path
) -> None:
    # One test for what needs a cluster: to start it takes longer than each of these.
    for stage in (
        a_race_is_judged_on_the_cluster_and_lands_what_is_right,
        a_worker_with_other_tools_says_so_and_does_not_judge,
        the_content_travels_once_and_without_keys,
        where_the_cluster_says_something_else_of_the_project_the_checks_run_here,
        a_check_ends_on_its_worker_when_nobody_wants_it,
        the_checks_of_a_lost_worker_are_done_again_elsewhere,
    ):
        folder = tmp_path / stage.__name__
        folder.mkdir()
        async with asyncio.timeout(STAGE_SECONDS):
            await stage(machines, project(folder / "project"))


async def test_a_scheduler_that_is_not_there_is_told_and_the_checks_run_here(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_link, "CONNECT_SECONDS", 0.2)
    async with judging(root, "tcp://127.0.0.1:9", tool(tmp_path / "bin", "1.0")) as it:
        assert (await it.runner.run(WHERE)).status is Status.RED
        assert (await it.attempt(WHERE)).status is Status.GREEN
        (told,) = it.told
        assert told.startswith(
            "the cluster tcp://127.0.0.1:9 is not used: tcp://127.0.0.1:9 cannot be reached"
        )
        assert told.endswith("; checks run on this machine")


def certificate(folder: Path, name: str) -> tuple[str, str]:
    """The files of a certificate, which is its own authority, and of its key."""
    cert, key = str(folder / f"{name}.pem"), str(folder / f"{name}.key")
    line = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    own = ["-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", key, "-out", cert]
    subprocess.run([*line, *own], check=True, capture_output=True)
    return cert, key


async def test_only_the_right_certificate_reaches_a_cluster_with_tls(
    tmp_path: Path, nursery: Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_link, "CONNECT_SECONDS", 20.0)
    (cert, key), others = certificate(tmp_path, "ours"), certificate(tmp_path, "others")
    with dask_cluster(tmp_path / "dask", nursery) as dask:
        dask.start_scheduler("--protocol", "tls", "--tls-ca-file", cert, "--tls-cert", cert, "--tls-key", key)
        address = dask.address
        assert address.startswith("tls://")
        link = await DaskLink.open(ClusterSettings(address, cert, cert, key))
        assert link.open_still
        await link.close()
        monkeypatch.setattr(dask_link, "CONNECT_SECONDS", 0.5)
        plain = ClusterSettings(address.replace("tls://", "tcp://"))
        for settings in (ClusterSettings(address, others[0], *others), plain):
            with pytest.raises(ClusterError, match="cannot be reached"):
                await DaskLink.open(settings)
        with pytest.raises(ClusterError, match="cluster_tls names /no/key, which is not a file"):
            await DaskLink.open(ClusterSettings(address, cert, cert, "/no/key"))
