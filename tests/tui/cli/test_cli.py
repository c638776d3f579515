from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from tests.checkout import ROOT
from tests.conftest import RunSpark
from tui.cli.main import (
    COMMAND_MODULES,
    COMMANDS,
    GROUP_OPTIONS,
    VALUE_OPTIONS,
    command_first,
    prompt_last,
    spark,
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], ["open"]),
        (["fix the bug"], ["open", "fix the bug"]),
        (["exec", "fix it"], ["exec", "fix it"]),
        (["--model", "m", "exec", "fix it", "--json"], ["exec", "--model", "m", "fix it", "--json"]),
        (["--model", "exec", "fix it"], ["open", "--model", "exec", "fix it"]),
        (["--model=m", "exec", "x"], ["exec", "--model=m", "x"]),
        (["-C", "dir", "undo"], ["undo", "-C", "dir"]),
        (["-C", "undo"], ["open", "-C", "undo"]),
        (["-c"], ["open", "-c"]),
        (["--fast", "fix", "exec"], ["open", "--fast", "fix", "exec"]),
        (["--", "exec"], ["open", "--", "exec"]),
        (["--fast", "--", "undo"], ["open", "--fast", "--", "undo"]),
        (["-"], ["open", "-"]),
        (["--format", "v4a", "apply"], ["apply", "--format", "v4a"]),
        (["--budget", "10", "context", "x"], ["context", "--budget", "10", "x"]),
        (["--help"], ["--help"]),
        (["-h"], ["-h"]),
        (["--version"], ["--version"]),
        (["exec", "--help"], ["exec", "--help"]),
        (["--model"], ["open", "--model"]),
    ],
)
def test_the_commands_name_comes_first(given: list[str], expected: list[str]) -> None:
    assert command_first(given) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["exec", "- fix it\n- and that", "--json"], ["exec", "--json", "--", "- fix it\n- and that"]),
        (["--help is wrong"], ["open", "--", "--help is wrong"]),
        (["exec", "-C/a b", "x"], ["exec", "-C/a b", "x"]),
        (["exec", "x", "--check", "-m pytest"], ["exec", "x", "--check", "-m pytest"]),
        (["exec", "--check=a b", "x"], ["exec", "--check=a b", "x"]),
        (["exec", "--", "- a b"], ["exec", "--", "- a b"]),
        (["run", "- a b"], ["run", "- a b"]),
    ],
)
def test_a_prompt_may_begin_with_a_dash(given: list[str], expected: list[str]) -> None:
    assert prompt_last(command_first(given)) == expected


def test_every_option_that_takes_a_value_is_known_to_take_one() -> None:
    context = click.Context(spark)
    taking: set[str] = set()
    bare = set(GROUP_OPTIONS)
    for name in COMMANDS:
        command = spark.get_command(context, name)
        assert command is not None and command.name == name
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                (bare if parameter.is_flag else taking).update(parameter.opts)
    assert taking == VALUE_OPTIONS
    assert not taking & bare


def test_each_command_is_in_its_module_and_each_module_of_commands_is_listed() -> None:
    files = (ROOT / "tui" / "cli").glob("*_command*.py")
    defined = {
        file.stem: set(re.findall(r"^def (\w+)_command\(", file.read_text("utf-8"), re.M)) for file in files
    }
    assert defined == {module: set(commands) for module, commands in COMMAND_MODULES.items()}


def test_an_unknown_command_is_none() -> None:
    assert spark.get_command(click.Context(spark), "nonsense") is None


# --- the installed script -------------------------------------------------------------------------


def test_the_version_is_the_packages(run_spark: RunSpark) -> None:
    ran = run_spark("--version")
    assert (ran.code, ran.out, ran.err) == (0, f"spark {importlib.metadata.version('spark')}\n", "")


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_the_help_lists_every_command(run_spark: RunSpark, option: str) -> None:
    ran = run_spark(option)
    assert ran.code == 0
    for name in COMMANDS:
        assert f"\n  {name} " in ran.out
    assert "spark [PROMPT]" in ran.out


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help(run_spark: RunSpark, name: str) -> None:
    ran = run_spark(name, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"Usage: spark {name}")


@pytest.mark.parametrize(
    "arguments",
    [
        ["exec"],
        ["--no-such-option"],
        ["undo", "h1", "h2"],
        ["exec", "x", "--json=3"],
        ["context", "--budget", "0"],
    ],
)
def test_a_wrong_command_line_leaves_with_2(run_spark: RunSpark, arguments: list[str]) -> None:
    ran = run_spark(*arguments)
    assert ran.code == 2
    assert ran.out == "" and "Error: " in ran.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["fix", "the", "bug"], "Error: Put the prompt in quotes: spark 'fix the bug'\n"),
        (["exec", "it's", "odd"], "Error: Put the prompt in quotes: spark exec 'it'\"'\"'s odd'\n"),
        (["line", "a", "b"], "Error: Put the prompt in quotes: spark line 'a b'\n"),
    ],
)
def test_a_prompt_without_quotes_is_told_with_them(
    run_spark: RunSpark, arguments: list[str], told: str
) -> None:
    ran = run_spark(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith(told)


@pytest.mark.parametrize(
    ("word", "meant"), [("sesions", "sessions"), ("docter", "doctor"), ("exce", "exec"), ("udno", "undo")]
)
def test_a_mistyped_command_is_not_sent_as_a_prompt(run_spark: RunSpark, word: str, meant: str) -> None:
    told = (
        f"spark: there is no command {word!r}; did you mean spark {meant}? As a prompt, type it in the app\n"
    )
    for behind in ([], ["fix it"], ["fix", "it"]):
        ran = run_spark(word, *behind)
        assert (ran.code, ran.out, ran.err) == (2, "", told)


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["help"], ["--help"]),
        (["help", "exec"], ["exec", "--help"]),
        (["version"], ["--version"]),
    ],
)
def test_help_and_version_are_no_prompts(run_spark: RunSpark, words: list[str], option: list[str]) -> None:
    ran, meant = run_spark(*words), run_spark(*option)
    assert (ran.code, ran.out, ran.err) == (0, meant.out, "") and meant.out


def test_the_app_without_a_terminal_leaves_with_3_and_one_line(run_spark: RunSpark) -> None:
    for arguments in ([], ["fix it"], ["open"], ["demo"]):
        ran = run_spark(*arguments)
        assert ran.code == 3, arguments
        assert ran.err == "spark: the app needs a terminal; without one use: spark exec PROMPT\n"


SHELLS = {"bash": "complete ", "zsh": "#compdef spark", "fish": "complete "}


@pytest.mark.parametrize("shell", SHELLS)
def test_there_is_a_completion_script_for_each_shell(run_spark: RunSpark, shell: str) -> None:
    ran = run_spark("completion", shell)
    assert ran.code == 0
    assert "_SPARK_COMPLETE" in ran.out and SHELLS[shell] in ran.out


def test_an_unknown_shell_is_a_usage_error(run_spark: RunSpark) -> None:
    assert run_spark("completion", "tcsh").code == 2


@pytest.mark.skipif(
    shutil.which("bash") is None, reason="bash is not installed to read its completion script"
)
def test_bash_takes_its_completion_script(run_spark: RunSpark, tmp_path: Path) -> None:
    (tmp_path / "script").write_text(run_spark("completion", "bash").out)
    subprocess.run(["bash", "-n", str(tmp_path / "script")], check=True)


@pytest.mark.parametrize(
    ("line", "offered", "not_offered"),
    [
        ("spark ", set(COMMANDS), set()),
        ("spark ex", {"exec", "export"}, {"undo"}),
        ("spark exec --js", {"--json"}, {"--model"}),
        ("spark completion ", {"bash", "zsh", "fish"}, set()),
        ("spark --model m apply --dry", {"--dry-run"}, set()),
    ],
)
def test_the_shell_is_told_how_a_line_may_go_on(
    run_spark: RunSpark, line: str, offered: set[str], not_offered: set[str]
) -> None:
    words = line.split(" ")
    ran = run_spark(
        env={"_SPARK_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    )
    answers = {answer.partition(",")[2] for answer in ran.out.splitlines()}
    assert offered <= answers
    assert not answers & not_offered


def test_streams_that_are_closed_are_no_fault(project: Path, spark_path: Path) -> None:
    if shutil.which("sh") is None:
        pytest.skip("there is no sh here to close a stream with")
    for arguments, closing, code in (("sessions", ">&-", 0), ("apply", "<&-", 1), ("exec -", "<&- 2>&-", 2)):
        done = subprocess.run(
            ["sh", "-c", f'"$0" {arguments} {closing}', str(spark_path)],
            cwd=project, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == code, (arguments, done)
        assert "Traceback" not in done.stderr


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="this system has no /dev/full to stand in for a full disk"
)
@pytest.mark.parametrize("arguments", [["context", "--json"], ["--help"], ["--version"]])
def test_an_output_that_cannot_be_written_is_one_line(
    project: Path, spark_path: Path, arguments: list[str]
) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [spark_path, *arguments], cwd=project, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (
        74,
        b"spark: standard output cannot be written: No space left on device\n",
    )


def test_a_folder_that_was_removed_under_us_is_named(spark_path: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["sh", "-c", f'rmdir "{gone}" && exec "$0" sessions', str(spark_path)],
        cwd=gone, capture_output=True, text=True, timeout=60, check=False, env=os.environ,
    )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr.startswith("spark: . cannot be opened: ")


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="this system has no /dev/full to stand in for a full disk"
)
def test_a_full_disk_is_told_with_the_file_and_what_to_do(run_spark: RunSpark, tmp_path: Path) -> None:
    state, project = tmp_path / "state", tmp_path / "project"
    project.mkdir()
    patch = "*** Begin Patch\n*** Add File: {}.txt\n+text\n*** End Patch\n"
    environment = {"XDG_STATE_HOME": str(state)}
    assert run_spark("apply", cwd=project, given=patch.format("a"), env=environment).code == 0
    counter = next(state.rglob("counter"))
    counter.unlink()
    counter.symlink_to("/dev/full")
    ran = run_spark("apply", cwd=project, given=patch.format("b"), env=environment)
    assert (ran.code, ran.err) == (1, f"spark: {counter}: No space left on device; make room there\n")
