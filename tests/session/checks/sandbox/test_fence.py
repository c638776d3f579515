"""The fence around commands where namespaces are refused, tried from inside, and what runs without one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from session.checks.sandbox import fenced_copy, kernel
from session.checks.sandbox.command import End
from session.checks.sandbox.fence_plan import NoFenceError
from session.checks.sandbox.plan import MEGABYTE, Limits
from session.checks.sandbox.syscall_filter import NoFilterError, namespace_filter, syscall_filter
from tests.session.checks.sandbox.shell import Shell, a_copy, needs_bubblewrap, needs_landlock, shell

KEYS = (
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".netrc",
    ".config/gh/hosts.yml",
    ".cargo/credentials.toml",
    ".m2/settings.xml",
    ".config/rclone/rclone.conf",
    ".bash_history",
)


@pytest.fixture(
    params=[
        pytest.param("landlock", marks=needs_landlock),
        pytest.param("bubblewrap", marks=needs_bubblewrap),
        pytest.param("bubblewrap alone", marks=needs_bubblewrap),
    ]
)
def fence(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The walls that this machine has: Landlock, bubblewrap or both."""
    fence = str(request.param)
    if fence == "landlock":
        monkeypatch.setattr(fenced_copy, "bubblewrap", no_bubblewrap)
    if fence == "bubblewrap alone":
        monkeypatch.setattr(kernel, "landlock_version", no_landlock)
    return fence


def no_bubblewrap(*_: object, **__: object) -> list[str]:
    raise NoFenceError("bubblewrap is not installed")


def no_landlock() -> int:
    raise OSError(38, "Function not implemented")


@pytest.fixture
async def fenced(project: Path, fence: str) -> AsyncIterator[Shell]:
    """Runs lines in a copy of ``project``, with keys in the home folder."""
    for path in KEYS:
        key = Path.home() / path
        key.parent.mkdir(parents=True, exist_ok=True)
        key.write_text(f"the key {path}\n")
    (Path.home() / ".cargo" / "registry").write_text("known crates\n")
    sandbox = a_copy(project)
    sandbox.fill()
    yield shell(sandbox)
    assert sandbox.walls == fence.split()[0] and "for the test" in sandbox.note
    await sandbox.remove()


async def test_a_command_behind_the_fence_works_on_its_copy(project: Path, fenced: Shell) -> None:
    ran = await fenced("echo changed > app.py; mkdir new; mv notes.md new/; cat app.py; ls new; exit 3")
    assert (ran.outcome.end, ran.outcome.code, ran.output) == (End.EXIT, 3, "changed\nnotes.md\n")
    assert (project / "notes.md").exists() and "changed" not in (project / "app.py").read_text()
    ran = await fenced('cd "$TMPDIR"; echo x > a; mkdir "$XDG_CACHE_HOME/b"; cat a "$HOME/.cargo/registry"')
    assert ran.output == "x\nknown crates\n"
    ran = await fenced(f"{sys.executable} -c 'import asyncio; asyncio.run(asyncio.sleep(0)); print(1)' | cat")
    assert ran.output == "1\n"


TRY_TO_WRITE = {
    "the home folder": 'echo x > "$HOME/spark-was-here"',
    "the project": "echo x > {project}/app.py",
    "cutting a file of the project": "truncate -s 0 {project}/app.py",
    "deleting a file of the project": "rm -f {project}/app.py; test ! -e {project}/app.py",
    "moving a file of the project": "mv {project}/app.py .",
    "a link to a file of the project": "ln {project}/notes.md here && echo x > here",
    "a system folder": "echo x > /etc/spark-was-here",
    "a temporary folder": "echo x > /tmp/spark-was-here-$$",
    "shared memory": "echo x > /dev/shm/spark-was-here-$$",
    "the folder of what runs": "echo x > /run/spark-was-here",
    "the plan of the fence": "echo x > ../../plan",
    "the report of the fence": "echo x > ../../report",
    "the lock of the sandbox": "echo x > ../../lock",
    "a namespace": "unshare -Urm true",
    "a device node": "mknod disk c 1 1",
    "user 0": "chown 0 app.py",
}
"""Shell lines that succeed only where the fence is open."""

OF_THE_SANDBOX = {"the home folder", "a temporary folder", "shared memory", "the folder of what runs"}
"""What is written to the sandbox's own files there: in these tests the home folder is a temporary one."""


async def test_nothing_but_the_copy_can_be_written(project: Path, fenced: Shell, fence: str) -> None:
    before = {path.name: path.read_text() for path in project.iterdir() if path.is_file()}
    tries = "".join(
        f"({line.format(project=project)}) >&2 && echo {name}\n" for name, line in TRY_TO_WRITE.items()
    )
    ran = await fenced(f"exec 2>/dev/null; {tries}echo over")
    own = OF_THE_SANDBOX if fence == "bubblewrap alone" else ()
    assert [line for line in ran.output.splitlines() if line not in own] == ["over"], "this was possible"
    assert not [*Path.home().glob("spark-*"), *Path("/tmp").glob("spark-was-*")], "it is outside"
    assert {path.name: path.read_text() for path in project.iterdir() if path.is_file()} == before


async def test_no_key_can_be_read(fenced: Shell) -> None:
    ran = await fenced(f'cd "$HOME"; cat {" ".join(KEYS)}; cat "$XDG_STATE_HOME"/*/*; echo over')
    assert ran.output.splitlines()[-1] == "over" and "the key" not in ran.output


CALLS = """
import ctypes, os, signal, socket, sys
libc = ctypes.CDLL(None, use_errno=True)

def tried(name, do):
    try:
        do()
    except (OSError, AttributeError):
        return
    print(name)

def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")

for family in range(46):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
        tried(f"a socket of family {family}", lambda: socket.socket(family, kind))
a, b = socket.socketpair()
a.send(b"x")
assert b.recv(1) == b"x"
tried("io_uring", lambda: call(425, 8, bytes(120)))
tried("ptrace", lambda: call(101, 16, int(sys.argv[1]), 0, 0))
tried("another's memory", lambda: open(f"/proc/{sys.argv[1]}/mem", "rb"))
tried("another's environment", lambda: open(f"/proc/{sys.argv[1]}/environ", "rb").read())
tried("a signal", lambda: os.kill(int(sys.argv[1]), 0))
tried("a user namespace", lambda: call(272, 0x10000000))
tried("a keyring", lambda: call(250, 1, None))
tried("shared memory", lambda: call(29, 0, 4096, 0o1600))
print("over")
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers of these calls are x86's")
async def test_no_other_program_can_be_reached(fenced: Shell, fence: str) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(Path.home() / "socket"))
        server.listen()
        script = f"cat > calls.py <<'END'\n{CALLS}\nEND\n{sys.executable} calls.py {os.getpid()}"
        ran = await fenced(script)
    said = ran.output.splitlines()
    if fence == "landlock" and kernel.landlock_version() < kernel.SCOPED:
        said.remove("a signal")
    if fence != "landlock":  # sockets of the internet lead no further than the namespace
        said = [line for line in said if line not in {f"a socket of family {each}" for each in (2, 10, 16)}]
    assert said == ["over"], ran.output


async def test_limits_hold_for_a_process(fenced: Shell) -> None:
    memory = Limits(memory=64 * MEGABYTE)
    ran = await fenced(f"{sys.executable} -c 'x = bytearray(200_000_000); print(len(x))'", limits=memory)
    assert ran.outcome.code == 1 and "MemoryError" in ran.output
    ran = await fenced("head -c 5000000 /dev/zero > large", limits=Limits(disk=MEGABYTE))
    assert ran.outcome.code != 0


async def test_a_check_with_the_network_gets_sockets_of_the_internet_alone(fenced: Shell) -> None:
    line = f"""{sys.executable} -c '
import socket
socket.socket(socket.AF_INET)
try: socket.socket(socket.AF_UNIX)
except OSError: print("no other")'"""
    assert (await fenced(line, network=True)).output == "no other\n"


WITHOUT = """
import asyncio, os, sys
from pathlib import Path
from session.base.storage.folders import state_folder
from session.checks.check import Check, Kind
from session.checks.known_checks import Agreements
from session.checks.runner import CheckRunner
from session.checks.sandbox import fenced_copy, fence_plan, kernel, syscall_filter
from session.checks.sandbox.sandbox import Sandboxes

def nothing(*_, **__) -> int:
    raise OSError(38, "Function not implemented")

def no_bubblewrap(*_, **__) -> list[str]:
    raise fence_plan.NoFenceError("bubblewrap is not installed")

def no_tables() -> dict:
    return {}

async def main() -> None:
    root = Path(sys.argv[1])
    agreements = Agreements(root.parent / "agreed")
    sandboxes = Sandboxes(root, os.environ, agreements.without_walls)
    runner = CheckRunner(root, sandboxes, os.environ, list)
    for agreed in (None, True, False):
        if agreed is not None:
            agreements.agree_to_no_walls(agreed)
        verdict = await runner.run(Check("steal", f"cat {sys.argv[3]}; exit 1"))
        read = "the key" in verdict.last
        print(verdict.status, verdict.ran, verdict.walls or "-", read, verdict.why, verdict.note)

user, group = os.getuid(), os.getgid()
kernel.unshare(kernel.NEW_USER)
as_user_0 = sys.argv[2] == "but bubblewrap of user 0"
if as_user_0:
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
else:
    kernel.map_own_user(user, group)
    fenced_copy.bubblewrap = no_bubblewrap
Path("/proc/sys/user/max_user_namespaces").write_text("0")
if sys.argv[2] != "no filter":
    kernel.landlock_version = nothing
else:
    syscall_filter._tables = no_tables
asyncio.run(main())
"""


def without_namespaces(project: Path, missing: str, key: Path) -> list[str]:
    """What becomes of a check that reads ``key`` where the kernel allows no namespaces and something else is
    ``missing``: before the user agrees to no walls, then, and once that is taken back."""
    key.parent.mkdir()
    key.write_text("the key\n")
    line = [sys.executable, "-c", WITHOUT, str(project), missing, str(key)]
    return subprocess.run(
        line, capture_output=True, text=True, check=True, cwd=Path.cwd()
    ).stdout.splitlines()


@needs_bubblewrap
def test_where_namespaces_are_refused_to_spark_bubblewrap_makes_them(project: Path) -> None:
    key = Path.home() / ".ssh" / "id"
    ran = without_namespaces(project, "but bubblewrap of user 0", key)
    assert len(ran) == 3 and all(each.startswith("red True bubblewrap False exit 1") for each in ran), ran


@pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux's")
@pytest.mark.parametrize("missing", ["no Landlock", "no filter"])
def test_without_walls_nothing_runs_until_the_user_agrees(project: Path, missing: str) -> None:
    key = Path.home() / ".ssh" / "id"
    before, agreed, after = without_namespaces(project, missing, key)
    for refused in (before, after):
        assert refused.startswith("unclear False - False "), refused
        assert "has no walls" in refused and "spark check --without-walls agree" in refused
    assert agreed.startswith("red True none True ") and "as you agreed" in agreed


def test_a_machine_without_a_table_has_no_filter() -> None:
    with pytest.raises(NoFilterError, match="mips"):
        syscall_filter(network=False, truncate=True, machine="mips")


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_jump_of_a_filter_lands_in_it(machine: str) -> None:
    fence = syscall_filter(network=True, truncate=False, machine=machine)
    for program in (fence, namespace_filter(machine)):
        steps = [program[at : at + 8] for at in range(0, len(program), 8)]
        for at, step in enumerate(steps):
            if step[0] & 7 == 5:  # a jump
                assert at + 1 + max(step[2], step[3]) < len(steps)
        assert steps[-1] == bytes([6, 0, 0, 0, 0, 0, 0xFF, 0x7F]) and len(steps) < 4_096
