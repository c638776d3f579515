"""The walls of a sandbox, tried from inside: writing, reading keys, reaching the network, outliving it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import shlex
import socket
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from context.text.key_material import key_material
from session.base.storage.folders import state_folder
from session.checks.sandbox.command import End, SandboxRefused
from session.checks.sandbox.plan import MEGABYTE, Limits, view
from session.checks.sandbox.sandbox import OverlaySandbox
from session.checks.sandbox.sandbox_folder import Box
from tests.checkout import ROOT
from tests.session.checks.sandbox.shell import Shell, sandbox_of, shell

PYTHON = sys.executable
TRY_TO_WRITE = {
    "a system folder": "echo x > /etc/spark-was-here",
    "the home folder": 'echo x > "$HOME/spark-was-here"',
    "a folder beside the project": "echo x > ../outside/was-here",
    "by way of a link": "ln -s ../outside link && echo x > link/was-here",
    "by way of ..": "cd .. && rm -f outside/kept && test ! -e outside/kept",
    "a kernel setting": "cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern",
    "mounting it writable": "mount -o remount,rw / && echo x > /etc/spark-was-here",
    "unmounting the overlay": 'umount "$PWD" && cd "$PWD"',
    "a namespace inside": "unshare -Urm sh -c 'mount -o remount,rw,bind / && echo x > /etc/spark-was-here'",
    "a device node": "mknod disk b 8 0 || mknod disk c 1 1",
    "the disk itself": "ls /dev/sd* /dev/vd* /dev/nvme* /dev/mem /dev/kmsg",
}
"""Shell lines that succeed only where a wall is missing."""


@pytest.fixture
def outside(root: Path) -> Path:
    folder = root.parent / "outside"
    folder.mkdir()
    (folder / "kept").write_text("kept")
    return folder


async def test_nothing_outside_the_project_can_be_written(outside: Path, root: Path) -> None:
    # The project is under /tmp here, which would be hidden; shown, it must be as safe as any other folder.
    box = Box(state_folder() / "sandboxes")
    seen = view(root, Path.home(), os.environ, [])
    sandbox = OverlaySandbox(root, box, replace(seen, temporary=()))
    tries = "".join(f"({line}) >&2 && echo {name}\n" for name, line in TRY_TO_WRITE.items())
    try:
        ran = await shell(sandbox)(
            f"exec 2>/dev/null; test -e ../outside/kept && echo seen\n{tries}echo over"
        )
    except SandboxRefused as problem:
        pytest.skip(f"this system makes no overlays in namespaces: {problem}")
    finally:
        await sandbox.remove()
    assert ran.output.splitlines() == ["seen", "over"], "what is told between them was possible"
    assert [entry.name for entry in outside.iterdir()] == ["kept"]
    assert not Path("/etc/spark-was-here").exists()
    assert not Path.home().joinpath("spark-was-here").exists()


async def test_what_is_written_in_the_project_stays_in_the_sandbox(root: Path, walled: Shell) -> None:
    (root / "made by hand").write_text("untracked")
    first = await walled("echo changed > app.py; rm 'made by hand'; mkdir new; echo x > new/file; pwd")
    assert first.output == f"{root}\n"
    second = await walled("cat app.py new/file; ls")
    assert second.output == "changed\nx\napp.py\nnew\n"
    assert (root / "app.py").read_text() == "print('as it is')\n"
    assert sorted(path.name for path in root.iterdir()) == ["app.py", "made by hand"]


async def test_a_cache_of_a_package_manager_is_read_and_written_without_effect(root: Path) -> None:
    cache = Path.home() / ".cargo"
    cache.mkdir()
    (cache / "registry").write_text("known crates\n")
    async with sandbox_of(root) as walled:
        ran = await walled(
            'cat "$HOME/.cargo/registry"; echo x > "$HOME/.cargo/lock" && cat "$HOME/.cargo/lock"'
        )
    assert ran.output == "known crates\nx\n"
    assert [entry.name for entry in cache.iterdir()] == ["registry"]


async def test_temporary_folders_are_the_sandboxs_own(walled: Shell, tmp_path: Path) -> None:
    assert tmp_path.is_relative_to("/tmp"), "pytest's folders are under /tmp here"
    marker = Path("/tmp") / f"spark-test-{os.getpid()}"
    marker.write_text("seen")
    try:
        ran = await walled(f"test ! -e {marker} && echo mine > {marker} && cat {marker}")
        assert (ran.outcome.code, ran.output) == (0, "mine\n")
        assert marker.read_text() == "seen"
    finally:
        marker.unlink()


async def test_keys_in_the_home_folder_cannot_be_read(root: Path) -> None:
    paths = (".ssh/id_ed25519", ".aws/credentials", ".netrc", ".config/gh/hosts.yml", ".bash_history")
    for path in paths:
        key = Path.home() / path
        key.parent.mkdir(parents=True, exist_ok=True)
        key.write_text(f"the key {path}\n")
    async with sandbox_of(root) as walled:
        ran = await walled(f'cd "$HOME"; cat {" ".join(paths)}; echo over')
    assert ran.output.splitlines()[-1] == "over" and "the key" not in ran.output


@pytest.mark.parametrize("place", ["elsewhere", "the home folder", ".config"])
async def test_no_listed_key_can_be_read_wherever_the_project_is(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in ("STATE", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))
    home = Path.home()
    keys = []
    for name in key_material().in_home():
        key = home / name / "key"
        key.parent.mkdir(parents=True, exist_ok=True)
        key.write_text(f"the key {name}\n")
        keys.append(str(key))
    (home / ".cargo" / "registry").write_text("no key\n")
    root = {"elsewhere": tmp_path / "project", "the home folder": home, ".config": home / ".config"}[place]
    root.mkdir(exist_ok=True)
    async with sandbox_of(root) as walled:
        ran = await walled('grep -rs "the key" "$HOME"; cat "$HOME/.cargo/registry"')
        assert ran.output == "no key\n"
        direct = await walled(f"cat {' '.join(map(shlex.quote, keys))} 2>/dev/null; echo over")
        assert direct.output == "over\n"


OTHER_WAYS = """
import ctypes, socket
libc = ctypes.CDLL(None, use_errno=True)
of_namespaces = {socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET}
for family in {*range(46)} - of_namespaces:
    try:
        socket.socket(family, socket.SOCK_STREAM)
    except OSError:
        continue
    print("family", family)
if libc.syscall(425, 8, bytes(120)) >= 0:
    print("io_uring")
with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
    print("over")
"""


async def test_no_other_family_of_sockets_and_no_io_uring(walled: Shell) -> None:
    ran = await walled(f"cat > ways.py <<'END'\n{OTHER_WAYS}\nEND\n{PYTHON} ways.py")
    assert ran.output == "over\n"


async def test_sparks_own_folders_cannot_be_read(walled: Shell) -> None:
    ran = await walled('cat "$XDG_CONFIG_HOME"/spark/*; ls "$XDG_STATE_HOME/spark"')
    assert "lock" not in ran.output and "report" not in ran.output


async def test_the_network_cannot_be_reached_but_loopback_is_there(walled: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        line = f"{PYTHON} -SEc 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5)'"
        assert (await walled(line)).outcome.code != 0
        assert (await walled(line, network=True)).outcome.code == 0
    own = textwrap.dedent(
        """
        import socket
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), 5).close()
        """
    )
    assert (await walled(f"{PYTHON} -SE - <<'END'\n{own}\nEND")).outcome.code == 0


async def test_a_socket_that_a_program_outside_listens_on_cannot_be_reached(
    root: Path, walled: Shell
) -> None:
    path = root / "daemon.sock"
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind(str(path))
        daemon.listen()
        ran = await walled(
            f"{PYTHON} -SEc 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"daemon.sock\")'"
        )
    assert ran.outcome.code != 0


REACH = """
import os, socket, sys
for name in sys.argv[1:]:
    if name.endswith("pipe"):
        try: os.close(os.open(name, os.O_WRONLY | os.O_NONBLOCK)); print("reached", name)
        except OSError: pass
        continue
    kind = socket.SOCK_DGRAM if "datagram" in name else socket.SOCK_STREAM
    try: socket.socket(socket.AF_UNIX, kind).connect(name); print("reached", name)
    except OSError: pass
print("over")
"""


@pytest.fixture(params=["home", "elsewhere"])
def seen_home(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home folder that a sandbox shows, or one beside: those of the tests are in folders that it has of its
    own."""
    places = [Path(pwd.getpwuid(os.getuid()).pw_dir), ROOT.parent, Path("/opt")]
    hidden = ("/tmp", "/var/tmp", "/run", "/dev")
    for place in places:
        if os.access(place, os.W_OK) and not str(place.resolve()).startswith(hidden):
            with tempfile.TemporaryDirectory(dir=place, prefix="spark-test-") as home:
                if request.param == "home":
                    monkeypatch.setenv("HOME", home)
                yield Path(home)
            return
    pytest.skip("no folder can be made outside of temporary ones")


async def test_no_socket_or_pipe_in_the_home_folder_or_beside_leads_outside(
    root: Path, seen_home: Path
) -> None:
    """Sockets under any name: /proc/net/unix has the name that they were bound by, not the one they have."""
    with ExitStack() as open_ones, contextlib.chdir(seen_home):
        for name in ("relative", "bound", "linked", "line\nend", "datagram"):
            kind = socket.SOCK_DGRAM if name == "datagram" else socket.SOCK_STREAM
            made = open_ones.enter_context(socket.socket(socket.AF_UNIX, kind))
            made.bind(name)
            if kind == socket.SOCK_STREAM:
                made.listen()
        Path("bound").rename("renamed")
        os.link("linked", "another")
        os.mkfifo("pipe")
        reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
        names = ["relative", "renamed", "linked", "another", "line\nend", "datagram", "pipe"]
        (root / "reach.py").write_text(REACH)
        line = [PYTHON, "-SE", "reach.py", *(str(seen_home / name) for name in names)]
        done = subprocess.run(line, cwd=root, capture_output=True, text=True, check=True)
        assert done.stdout.count("reached") == len(names), "outside, all of them are reached"
        (seen_home / "read me").write_text("as before\n")
        sandbox = OverlaySandbox(
            root, Box(state_folder() / "sandboxes"), view(root, Path.home(), os.environ, [])
        )
        try:
            ran = await shell(sandbox)(f"cat {seen_home}/read*; ls {seen_home} | wc -l; {shlex.join(line)}")
            assert ran.output == f"as before\n{len(names) + 2}\nover\n"
            assert (await shell(sandbox)(f"echo x > {seen_home}/new")).outcome.code != 0
        finally:
            await sandbox.remove()
            os.close(reader)
    assert not (seen_home / "new").exists()


async def test_processes_outside_are_not_seen(walled: Shell) -> None:
    other = subprocess.Popen(["sleep", "60"])
    try:
        ran = await walled(f"kill {other.pid}; ls /proc | grep -c '^[0-9]'")
        assert other.poll() is None
        assert int(ran.output.split()[-1]) < 10
    finally:
        other.kill()
        other.wait()


async def test_no_process_outlives_its_command(walled: Shell, root: Path) -> None:
    seconds = f"59.{os.getpid()}"
    ran = await walled(f"setsid sleep {seconds} & (trap '' TERM HUP; sleep {seconds}) & sleep 0.2; echo over")
    assert ran.output == "over\n"
    assert not _running(f"sleep {seconds}")


async def test_a_cancelled_command_leaves_no_process(walled: Shell) -> None:
    seconds = f"58.{os.getpid()}"
    task = asyncio.ensure_future(walled(f"setsid sleep {seconds}"))
    while not _running(f"sleep {seconds}"):
        assert not task.done()
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not _running(f"sleep {seconds}")


LIMITS = {
    End.MEMORY: (f"{PYTHON} -SEc 'b = bytearray(150_000_000); import time; time.sleep(60)'", "memory"),
    End.PROCESSES: ("for i in $(seq 60); do sleep 60 & done; wait", "processes"),
    End.DISK: ("for i in 1 2 3 4 5 6 7 8 9; do head -c 9M /dev/zero > f$i; done; sleep 60", "wrote"),
}


async def test_a_command_that_passes_a_limit_is_ended_and_told_why(walled: Shell) -> None:
    for end, (line, word) in LIMITS.items():
        ran = await walled(line, limits=Limits(memory=60 * MEGABYTE, processes=40, disk=40 * MEGABYTE))
        assert ran.outcome.end is end and word in ran.outcome.why


SHARED = {
    "a mapping": "m = mmap.mmap(-1, 150_000_000)",
    "a file without a name": "m = open(os.memfd_create('m'), 'wb')",
    "a file in memory": "m = open('/dev/shm/m', 'wb')",
    "a file in memory that is deleted": "m = open('/dev/shm/m', 'wb'); os.unlink('/dev/shm/m')",
}


async def test_memory_that_processes_share_counts(walled: Shell) -> None:
    fill = "[m.write(b'a' * 1_000_000) for _ in range(150)]; time.sleep(60)"
    for kind, taken in SHARED.items():
        line = f'{PYTHON} -SEc "import mmap, os, time; {taken}; {fill}"'
        ran = await walled(line, limits=Limits(memory=60 * MEGABYTE))
        assert ran.outcome.end is End.MEMORY and "memory" in ran.outcome.why, kind


async def test_shared_memory_counts_although_others_give_some_back_meanwhile(walled: Shell) -> None:
    others = os.memfd_create("others")
    os.posix_fallocate(others, 0, 150 * MEGABYTE)
    part = "m.write(b'a' * 45_000_000); m.flush(); time.sleep(0.6)"
    program = f"import os, time; m = open(os.memfd_create('m'), 'wb'); {part}; {part}; time.sleep(20)"
    running = asyncio.ensure_future(walled(f'{PYTHON} -SEc "{program}"', limits=Limits(memory=60 * MEGABYTE)))
    await asyncio.sleep(0.4)
    os.close(others)
    ran = await running
    assert ran.outcome.end is End.MEMORY and "memory" in ran.outcome.why


async def test_many_empty_files_are_too_many(walled: Shell) -> None:
    if not os.statvfs(state_folder()).f_ffree:
        pytest.skip("this file system has room for any number of files")
    ran = await walled("touch $(seq -f 'f%.0f' 500); sleep 60", limits=Limits(files=100))
    assert ran.outcome.end is End.DISK and "100 files" in ran.outcome.why


async def test_files_are_counted_although_others_make_room_meanwhile(walled: Shell, tmp_path: Path) -> None:
    others = [tmp_path / "others" / f"{number}" for number in range(1_500)]
    others[0].parent.mkdir()
    for other in others:
        other.touch()

    async def make_room() -> None:
        for other in others:
            other.unlink()
            await asyncio.sleep(0 if int(other.name) % 100 else 0.05)

    making = asyncio.create_task(make_room())
    each = 'touch $(seq -f "$part-%.0f" 100); sleep 0.05'
    line = f"for part in $(seq 12); do {each}; done; sleep 60"
    ran = await walled(line, limits=Limits(files=400), seconds=10)
    making.cancel()
    assert ran.outcome.end is End.DISK and "400 files" in ran.outcome.why


async def test_a_file_that_grows_past_the_limit_is_cut(walled: Shell) -> None:
    ran = await walled("cat /dev/zero > big", limits=Limits(disk=20 * MEGABYTE))
    assert ran.outcome.end is End.DISK and "larger" in ran.outcome.why


async def test_a_command_that_hangs_is_ended(walled: Shell) -> None:
    ran = await walled("trap '' TERM; while :; do sleep 1; done", seconds=0.5)
    assert ran.outcome.end is End.TIME and "0.5 s" in ran.outcome.why


async def test_endless_output_is_cut_by_its_reader(walled: Shell) -> None:
    ran = await walled("yes")
    assert ran.outcome.end is End.CUT


async def test_a_command_that_is_not_there_ends_with_127(walled: Shell) -> None:
    ran = await walled("no-such-program-anywhere")
    assert ran.outcome.code == 127


async def test_a_device_without_effects_works(walled: Shell) -> None:
    ran = await walled("head -c 3 /dev/zero | wc -c; echo x > /dev/null; echo y > /dev/shm/z; tty; id -u")
    assert ran.output.split() == ["3", "not", "a", "tty", str(os.getuid())]


def _running(line: str) -> bool:
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return any(entry.strip() == line for entry in listed.stdout.splitlines())


RUN_FOREVER = """
import asyncio, os, sys
from pathlib import Path
from session.checks.sandbox.command import Command
from session.checks.sandbox.sandbox import Sandboxes

async def main() -> None:
    sandbox = await Sandboxes(Path(sys.argv[1]), os.environ).make()
    await sandbox.run(Command(["/bin/sh", "-c", sys.argv[2]], 60, dict(os.environ)), lambda _: True)

asyncio.run(main())
"""


async def test_a_command_ends_when_spark_is_killed(root: Path, walled: Shell) -> None:
    del walled  # only says whether there are walls here
    seconds = f"57.{os.getpid()}"
    line = f"setsid sleep {seconds} & sleep {seconds}"
    spark = await asyncio.create_subprocess_exec(PYTHON, "-c", RUN_FOREVER, str(root), line)
    while not _running(f"sleep {seconds}"):
        assert spark.returncode is None
        await asyncio.sleep(0.05)
    spark.kill()
    await spark.wait()
    while _running(f"sleep {seconds}"):
        await asyncio.sleep(0.05)
