from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from session.base.events import Event, HunkDropped, HunkLanded, HunkRefused, TextDelta
from session.partner.load_script import load
from session.partner.server.server import Partner
from tests.conftest import RunSpark
from tests.session.local_servers import aside
from tui.line.event_printers import fate_line

SCRIPT = """
name = "exec"
refuse_models = ["forbidden"]

[[scenario]]
id = "edit"
match = ["greet better"]
[[scenario.hunk]]
id = "greet"
path = "app.py"
action = "update"
lines = '''
-    return 'Hello ' + name
+    return f'Hello {name}'
'''
[[scenario.step]]
think = "How to greet."
[[scenario.step]]
say = "I change the greeting.\\n"
[[scenario.step]]
patch = ["greet"]
[[scenario.step]]
say = "It is changed."

[[scenario]]
id = "slow"
match = ["slow edit"]
[[scenario.hunk]]
id = "slowly"
path = "app.py"
action = "update"
lines = '''
-    return 'Hello ' + name
+    return f'Hello {name}'
'''
[[scenario.step]]
patch = ["slowly"]
[[scenario.step]]
say = "One.\\n"
[[scenario.step]]
stall = 1.0
[[scenario.step]]
say = "Two.\\n"
[[scenario.step]]
stall = 600.0

[[scenario]]
id = "misfit"
match = ["misfit"]
[[scenario.hunk]]
id = "nothing"
path = "app.py"
action = "update"
lines = '''
-this line is nowhere
+x
'''
[[scenario.step]]
patch = ["nothing"]
[[scenario.step]]
say = "That did not fit."

[[scenario]]
id = "cut"
match = ["cut me off"]
[[scenario.step]]
say = "I begin"
[[scenario.step]]
close = {}

[[scenario]]
id = "broken"
match = ["break down"]
[[scenario.step]]
fail = { code = "server_error", message = "it broke\\u001b[31m", status = 500, retry_after = 0.1 }

[[scenario]]
id = "garbage"
match = ["garbage"]
[[scenario.step]]
garbage = ["<html>", "hex:ff00", "[]", "{}"]
[[scenario.step]]
say = "Never mind."

[[scenario]]
id = "endless"
match = ["endless"]
[[scenario.step]]
say = "It begins.\\n"
[[scenario.step]]
stall = 600.0

[[scenario]]
id = "escape"
match = ["escape"]
[[scenario.step]]
say = "red \\u001b[31mtext\\u0007"
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    script = tmp_path_factory.mktemp("script") / "exec.toml"
    script.write_text(SCRIPT)
    with aside(Partner(rate=float("inf"), scripts=load(script))) as partner:
        yield partner.url


RunExec = Callable[..., Any]


@pytest.fixture
def ask(run_spark: RunSpark, project: Path, server: str) -> RunExec:
    def run(*arguments: str, **more: Any) -> Any:
        return run_spark("exec", "--base-url", server, *arguments, cwd=project, **more)

    return run


def records(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_the_answer_goes_to_standard_output_and_the_hunks_land(ask: RunExec, project: Path) -> None:
    ran = ask("greet better")
    assert ran.code == 0
    assert ran.out.startswith("I change the greeting.\n")
    assert "It is changed." in ran.out
    assert ran.err == "h1 landed app.py:2\n"
    assert "f'Hello {name}'" in (project / "app.py").read_text()


def test_json_is_as_the_contract_says(ask: RunExec) -> None:
    ran = ask("--json", "greet better")
    assert (ran.code, ran.err) == (0, "")
    events = records(ran.out)
    wanted = {
        "turn.started": {"session", "turn", "model", "effort", "input_tokens"},
        "text.delta": {"text"},
        "reasoning.delta": {"text"},
        "hunk.open": {"hunk", "path"},
        "hunk.landed": {"hunk", "path", "status", "tier", "start", "end"},
        "usage": {"input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "estimated"},
        "turn.ended": {"status"},
    }
    assert set(wanted) <= {event["type"] for event in events}
    for event in events:
        assert wanted.get(event["type"], set()) <= set(event)
        assert type(event["t"]) is float
    assert [event["t"] for event in events] == sorted(event["t"] for event in events)
    assert events[0]["type"] == "turn.started"
    assert (events[-1]["type"], events[-1]["status"]) == ("turn.ended", "completed")
    assert "message" not in events[-1]
    text = "".join(event["text"] for event in events if event["type"] == "text.delta")
    assert text.startswith("I change the greeting.") and "Patch" not in text


def test_a_model_that_is_not_taught_patches_edits_in_its_text(ask: RunExec, project: Path) -> None:
    ran = ask("--model", "some-open-model", "greet better")
    assert ran.code == 0
    assert "SEARCH" not in ran.out
    assert "f'Hello {name}'" in (project / "app.py").read_text()


def test_the_prompt_can_come_from_standard_input(ask: RunExec, project: Path) -> None:
    assert ask("-", given="greet better\n").code == 0
    assert "f'Hello {name}'" in (project / "app.py").read_text()


def test_a_refused_hunk_makes_the_exit_code_1(ask: RunExec) -> None:
    ran = ask("--json", "misfit")
    assert ran.code == 1
    refused = [event for event in records(ran.out) if event["type"] == "hunk.refused"]
    assert refused and {"hunk", "path", "code", "message"} <= set(refused[0])
    assert refused[0]["code"] == "no_match"
    assert records(ran.out)[-1]["status"] == "completed"


@pytest.mark.parametrize("prompt", ["cut me off", "break down"])
def test_a_turn_that_fails_says_so_in_one_line(ask: RunExec, prompt: str) -> None:
    ran = ask(prompt)
    assert ran.code == (4 if prompt == "cut me off" else 1)
    *taken_up, last = ran.err.splitlines()
    assert last.startswith("spark: ")
    assert all(line.endswith("Resuming the answer.") for line in taken_up)
    assert len(taken_up) == (3 if prompt == "cut me off" else 0)
    assert ran.out == ("I begin" * 4 + "\n" if prompt == "cut me off" else "")
    assert "\x1b" not in ran.err + ran.out
    events = records(ask("--json", prompt).out)
    assert (events[-1]["status"], bool(events[-1]["message"])) == ("failed", True)


def test_garbage_from_the_server_does_no_harm(ask: RunExec) -> None:
    ran = ask("garbage")
    assert (ran.code, ran.out) == (0, "Never mind.\n")


def test_escape_sequences_from_the_server_are_made_visible(ask: RunExec) -> None:
    assert ask("escape").out.strip() == "red \u241b[31mtext\u2407"


def test_a_refused_model_leaves_with_4(ask: RunExec) -> None:
    ran = ask("--model", "forbidden", "greet better")
    assert ran.code == 4
    assert "forbidden" in ran.err and len(ran.err.splitlines()) == 1


def test_an_argument_that_is_no_text_is_no_traceback(ask: RunExec) -> None:
    ran = ask(b"\xff\xfe escape")
    assert ran.code in (0, 1, 2)
    assert ran.code == 0 or ran.err.strip()


def test_a_wrong_key_leaves_with_3(run_spark: RunSpark, project: Path) -> None:
    with aside(Partner(rate=float("inf"), key="sk-right")) as running:
        for key in ({"OPENAI_API_KEY": "sk-wrong"}, {}):
            ran = run_spark("exec", "--base-url", running.url, "hello", cwd=project, env=key)
            assert ran.code == 3, ran
            assert len(ran.err.splitlines()) == 1
            assert "sk-wrong" not in ran.err + ran.out
        right = run_spark(
            "exec",
            "--base-url",
            running.url,
            "hello",
            cwd=project,
            env={"OPENAI_API_KEY": "sk-right"},
        )
        assert right.code == 0


def test_a_server_that_is_no_model_leaves_with_4(run_spark: RunSpark, project: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    ran = run_spark("exec", "--base-url", f"http://127.0.0.1:{port}/v1", "hello", cwd=project)
    assert ran.code == 4
    assert len(ran.err.splitlines()) == 1 and str(port) in ran.err


def test_ctrl_c_ends_the_turn_as_interrupted(quick_spark: Path, project: Path, server: str) -> None:
    process = subprocess.Popen(
        [quick_spark, "exec", "--json", "--base-url", server, "endless"],
        cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None and process.stderr is not None
    with process:
        for line in process.stdout:
            if json.loads(line)["type"] == "text.delta":
                break
        process.send_signal(2)
        rest = [json.loads(line) for line in process.stdout]
        assert process.wait(60) == 130
        assert b"Traceback" not in process.stderr.read()
    assert (rest[-1]["type"], rest[-1]["status"]) == ("turn.ended", "interrupted")


@pytest.mark.parametrize("both", [False, True])
def test_a_reader_that_goes_away_ends_the_turn_as_interrupted(
    quick_spark: Path, project: Path, server: str, run_spark: RunSpark, both: bool
) -> None:
    process = subprocess.Popen(
        [quick_spark, "exec", "--base-url", server, "slow edit"], cwd=project,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT if both else subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    with process:
        assert process.stdout.read(1)
        process.stdout.close()
        assert process.wait(60) == 141
        said = b"" if process.stderr is None else process.stderr.read()
    told = (
        b"standard output was closed, and the turn was stopped; h1 in app.py stays (spark undo takes it back)"
    )
    assert both or told in said
    assert b"Traceback" not in said
    assert "f'Hello {name}'" in (project / "app.py").read_text(), "it had landed"
    (row,) = records(run_spark("sessions", "--json", cwd=project).out)
    assert row["title"] == "slow edit"


def test_a_full_disk_under_standard_output_ends_the_turn(
    quick_spark: Path, project: Path, server: str
) -> None:
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(
            [quick_spark, "exec", "--base-url", server, "slow edit"], cwd=project, check=False,
            stdout=full, stderr=subprocess.PIPE, timeout=60,
        )  # fmt: skip
    assert ran.returncode == 74
    assert (
        b"standard output cannot be written (No space left on device), and the turn was stopped" in ran.stderr
    )


def test_the_session_is_kept_and_can_be_listed_and_exported(
    ask: RunExec, run_spark: RunSpark, project: Path
) -> None:
    assert ask("greet better").code == 0
    (row,) = records(run_spark("sessions", "--json", cwd=project).out)
    assert (row["turns"], row["title"]) == (1, "greet better")
    journal = records(run_spark("export", row["name"][:8], cwd=project).out)
    kinds = [record["type"] for record in journal]
    assert kinds[0] == "session.started" and "hunk.landed" in kinds and kinds.count("turn.ended") == 1
    undone = run_spark("undo", cwd=project)
    assert undone.code == 0
    assert "'Hello ' + name" in (project / "app.py").read_text()


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (HunkLanded("t", "h1", "a.py", "applied", 1, 3, 6), "h1 landed a.py:3-5"),
        (HunkLanded("t", "h1", "a.py", "applied_fuzzy", 3, 3, 3), "h1 landed a.py:3 (fuzzy)"),
        (HunkLanded("t", "h1", "a.py", "already_applied", 1, 3, 4), "h1 landed a.py:3 (was there already)"),
        (HunkLanded("t", "h1", "a.py", "applied", 1, 1, 2, action="add"), "h1 added a.py:1"),
        (HunkLanded("t", "h1", "a.py", "applied", 1, 0, 0, action="delete"), "h1 deleted a.py"),
        (
            HunkLanded("t", "h1", "a.py", "applied", 1, 0, 0, action="move", moved_to="b.py"),
            "h1 moved a.py -> b.py",
        ),
        (HunkRefused("t", "h1", "a.py", "no_match", "not there"), "h1 refused a.py: not there"),
        (HunkDropped("t", "h1", "a.py"), "h1 not received a.py"),
        (TextDelta("t", "x"), None),
    ],
)
def test_each_hunk_has_one_line(event: Event, line: str | None) -> None:
    assert fate_line(event) == line
