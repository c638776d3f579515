"""The model's commands within walls: they run unasked, and what they write lands as hunks like any others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from session.base.events import HunkHeld, HunkLanded, HunkRefused, ToolEnded, ToolHeld, ToolOutput
from session.checks.sandbox.sandbox import Sandboxes
from session.project.trust import AnswerFile
from session.setup.config import Flags
from session.setup.opening import open_project
from session.tools.command.rules import KeptRules
from session.tools.settings import Running
from tests.session.calling import allow, calling, outputs, running
from tests.session.checks.sandbox.shell import needs_landlock
from tests.session.talking import COLOURS, Listening, colours_project, environment, talking

SANDBOX = Running.SANDBOX


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return colours_project(tmp_path)


async def ran(talk: Listening, turn: str = "t1") -> str:
    """The model's answer to its last call, once the turn has ended."""
    talk.session.submit("go")
    assert (await talk.ended(turn)).status == "completed"
    return outputs(talk)[-1]


def command(line: str, **more: object) -> str:
    return calling(("run", {"command": line, **more}))


async def test_a_command_runs_at_once_and_what_it_writes_lands_as_hunks(root: Path) -> None:
    line = "sed -i 's/return 1/return 10/; s/return 3/return 30/' colours.py; echo x > new.py; exit 1"
    async with talking(root, command(line), run=SANDBOX) as talk:
        told = await ran(talk)
        assert not talk.all(ToolHeld)
        landed = talk.all(HunkLanded)
        assert [(each.path, each.status) for each in landed] == [("colours.py", "applied")] * 2 + [
            ("new.py", "applied")
        ]
        assert talk.text("new.py") == "x\n" and "return 10" in talk.text("colours.py")
        assert told.startswith(
            "exit 1, in the sandbox, without output\nWhat became of what it wrote:\n- h1 applied colours.py"
        )
        await talk.session.hunks.undo(landed[0].hunk)
        await talk.session.hunks.undo(landed[2].hunk)
        assert (
            talk.text("colours.py") == COLOURS.replace("return 3", "return 30")
            and not (root / "new.py").exists()
        )
    (ended,) = talk.all(ToolEnded)
    assert ended.status == "failed" and ended.line.endswith("in the sandbox · 3 edits")


async def test_deleted_and_moved_files_are_hunks(root: Path) -> None:
    (root / "old.py").write_text("old\n")
    async with talking(root, command("mv colours.py paint.py; rm old.py"), run=SANDBOX) as talk:
        await ran(talk)
        landed = talk.all(HunkLanded)
        assert {(each.action, each.path, each.moved_to) for each in landed} == {
            ("delete", "old.py", None),
            ("move", "colours.py", "paint.py"),
        }
        assert talk.text("paint.py") == COLOURS and not (root / "old.py").exists()
        for each in landed:
            await talk.session.hunks.undo(each.hunk)
        assert talk.text("colours.py") == COLOURS and talk.text("old.py") == "old\n"


async def test_there_is_no_network_no_key_and_no_way_to_write_elsewhere(root: Path) -> None:
    key = Path.home() / ".ssh" / "id_ed25519"
    key.parent.mkdir(exist_ok=True)
    key.write_text("the key\n")
    line = f"cat {key}; echo x > {Path.home()}/here; echo x > {root.parent}/there; wc -l < /proc/net/route"
    async with talking(root, command(line), run=SANDBOX) as talk:
        told = await ran(talk)
    assert "the key" not in told and "\n1\n" in told, "there is no route"
    assert not (Path.home() / "here").exists() and not (root.parent / "there").exists()


GUARDED = {
    "a file that runs by itself": ("mkdir -p .vscode; echo '{}' > .vscode/tasks.json", "runs"),
    "a dependency": ("sed -i 's/= \\[\\]/= [\"evil\"]/' pyproject.toml", "dependency"),
    "many deleted lines": ("head -1 long.txt > l; cat l > long.txt; rm l", "deletes"),
    "a locked file": ("echo x >> colours.py", "locked"),
}  # fmt: skip


@pytest.mark.parametrize("kind", GUARDED)
async def test_guards_hold_what_a_command_wrote(root: Path, kind: str) -> None:
    line, guard = GUARDED[kind]
    (root / "pyproject.toml").write_text('[project]\nname = "a"\ndependencies = []\n')
    (root / "long.txt").write_text("".join(f"line {n}\n" for n in range(400)))
    before = {path.name: path.read_text() for path in root.iterdir() if path.is_file()}
    async with talking(root, command(line), run=SANDBOX) as talk:
        if guard == "locked":
            await talk.session.locks.lock("colours.py")
        talk.session.submit("go")
        held = await talk.until(HunkHeld)
        assert held.guard == guard
        assert talk.session.answer(held.hunk, land=False, why="not that")
        await talk.ended("t1")
        assert "not that" in outputs(talk)[-1]
    assert {path.name: path.read_text() for path in root.iterdir() if path.is_file()} == before


async def test_review_mode_holds_what_a_command_wrote(root: Path) -> None:
    async with talking(root, command("echo x > new.py"), run=SANDBOX, review=True) as talk:
        talk.session.submit("go")
        held = await talk.until(HunkHeld)
        assert not (root / "new.py").exists()
        talk.session.answer(held.hunk, land=True)
        await talk.ended("t1")
        assert talk.text("new.py") == "x\n"


async def test_what_is_no_edit_is_told(root: Path) -> None:
    line = "ln -s /etc evil; mkfifo pipe; chmod +x colours.py; printf '\\000' > binary; mkdir .git; :> .git/x"
    async with talking(root, command(line), run=SANDBOX) as talk:
        told = await ran(talk)
        assert not talk.all(HunkLanded)
    for part in (
        "- .git belongs",
        "- evil is a link",
        "- pipe is a pipe",
        "- colours.py was made executable",
        "binary",
    ):
        assert part in told
    assert sorted(each.name for each in root.iterdir()) == ["colours.py"]


async def test_an_interrupted_command_lands_nothing(root: Path) -> None:
    mark = f"spark-test-{os.getpid()}-walls"
    line = f"echo x > new.py; echo ready; sleep 1000; : {mark}"
    async with talking(root, command(line), run=SANDBOX) as talk:
        talk.session.submit("go")
        await talk.until(ToolOutput, lambda event: "ready" in event.text)
        talk.session.interrupt()
        assert (await talk.ended("t1")).status == "interrupted"
        assert running(mark) == []
    assert not (root / "new.py").exists() and not talk.all(HunkLanded)


async def test_a_command_that_takes_too_long_lands_nothing(root: Path) -> None:
    async with talking(root, command("echo x > new.py; sleep 100", timeout_seconds=1), run=SANDBOX) as talk:
        told = await ran(talk)
    assert "did not end within 1 s" in told and "nothing of what it wrote" in told
    assert not (root / "new.py").exists()


async def test_what_needs_out_asks_and_says_what_it_wants(root: Path) -> None:
    script = command("echo x > ../outside", needs="to write\nnext to the project")
    async with talking(root, script, run=SANDBOX) as talk:
        talk.session.submit("go")
        held = await talk.until(ToolHeld)
        assert held.text == "run echo x > ../outside" and not (root.parent / "outside").exists()
        assert held.why.startswith("it wants out of the sandbox: to write") and "\n" not in held.why
        assert held.always == ""
        talk.session.answer(held.call, land=True)
        await talk.ended("t1")
    assert (root.parent / "outside").read_text() == "x\n"


async def test_without_walls_it_is_asked_as_before(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(self: Sandboxes) -> None:
        from session.checks.sandbox.command import SandboxRefused

        raise SandboxRefused("this machine has no walls")

    monkeypatch.setattr(Sandboxes, "make", refused)
    async with talking(root, command("echo x > new.py"), run=SANDBOX) as talk:
        talk.session.submit("go")
        held = await talk.until(ToolHeld)
        assert held.why == "it cannot run in a sandbox: this machine has no walls"
        assert not (root / "new.py").exists()
        talk.session.answer(held.call, land=False)
        await talk.ended("t1")
    assert not (root / "new.py").exists()


@needs_landlock
async def test_behind_the_fence_alone_it_lands_the_same(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sandboxes, "_known_refusal", lambda self: "for the test")
    line = "sed -i 's/return 1/return 10/' colours.py; echo x > new.py; echo x > ../out"
    async with talking(root, command(line), run=SANDBOX) as talk:
        await ran(talk)
        assert {each.path for each in talk.all(HunkLanded)} == {"colours.py", "new.py"}
        assert not talk.all(ToolHeld) and not (root.parent / "out").exists()


ANSWERS = {"session": (True, False), "always": (True, True), "": (False, False)}


@pytest.mark.parametrize("scope", ANSWERS)
async def test_an_answer_holds_as_long_as_it_says(root: Path, scope: str) -> None:
    again, kept = ANSWERS[scope]
    calls = [("run", {"command": f"touch {name}"}) for name in ("one", "two")]
    async with talking(root, calling(*calls)) as talk:
        talk.session.submit("go")
        held = await talk.until(ToolHeld)
        assert held.always == "touch …"
        talk.session.answer(held.call, land=True, scope=scope)
        if not again:
            second = await talk.until(ToolHeld, lambda event: event.call != held.call)
            talk.session.answer(second.call, land=False)
        await talk.ended("t1")
        state = talk.session.folders.state
    assert (root / "one").exists() and (root / "two").exists() is again
    assert [str(rule) for rule in KeptRules(state).read()] == (["touch"] if kept else [])


async def test_a_rule_of_the_project_counts_once_it_is_agreed_to(root: Path, tmp_path: Path) -> None:
    (root / ".spark.toml").write_text('allow = ["touch"]\n')
    own = environment(tmp_path / "xdg")
    assert open_project(root, Flags(), own).settings.allow == ()
    opened = open_project(root, Flags(), own)
    from session.project.trust import read_settings_file

    source = read_settings_file(root)
    assert source is not None and hasattr(source, "digest")
    AnswerFile(opened.workspace.folders.state, root).add({".spark.toml": source.digest}, agreed=True)
    async with talking(root, command("touch ran")) as talk:
        await ran(talk)
        assert not talk.all(ToolHeld)
    assert (root / "ran").exists()


async def test_a_rule_of_the_user_lets_only_what_it_names_run(root: Path, tmp_path: Path) -> None:
    allow(tmp_path, '[tools]\nrun = "ask"\nallow = ["touch"]\n')
    script = calling(("run", {"command": "touch one"}), ("run", {"command": "touch two; touch three"}))
    async with talking(root, script) as talk:
        talk.session.submit("go")
        held = await talk.until(ToolHeld)
        assert held.text == "run touch two; touch three"
        talk.session.answer(held.call, land=False)
        await talk.ended("t1")
    assert (root / "one").exists() and not (root / "two").exists()


async def test_a_mode_holds_from_the_next_call_on(root: Path) -> None:
    async with talking(root, command("touch ran"), run=SANDBOX) as talk:
        talk.session.commands.choose(Running.NEVER)
        assert "no tool called 'run'" in await ran(talk)
        talk.session.commands.choose(Running.SANDBOX)
        assert "in the sandbox" in await ran(talk, "t2")
    assert (root / "ran").exists(), "an empty file is a hunk too"


async def test_nobody_there_means_no_commands_unless_they_are_set(root: Path, tmp_path: Path) -> None:
    async with talking(root, command("echo x > new.py"), attended=False) as talk:
        assert "no tool called 'run'" in await ran(talk)
    allow(tmp_path, '[tools]\nrun = "sandbox"\n')
    async with talking(root, command("echo x > new.py"), attended=False, run=SANDBOX) as talk:
        assert "in the sandbox" in await ran(talk)
    assert (root / "new.py").read_text() == "x\n"


@pytest.mark.parametrize("kind", ["HunkRefused"])
async def test_a_hunk_whose_lines_changed_meanwhile_is_refused(root: Path, kind: str) -> None:
    async with talking(
        root, command("sed -i 's/return 1/return 10/' colours.py"), run=SANDBOX, review=True
    ) as talk:
        talk.session.submit("go")
        held = await talk.until(HunkHeld)
        (root / "colours.py").write_text(COLOURS.replace("return 1", "return 99"))
        talk.session.answer(held.hunk, land=True)
        refused = await talk.until(HunkRefused)
        assert "have changed since" in refused.message
        await talk.ended("t1")
    assert "return 99" in (root / "colours.py").read_text()
