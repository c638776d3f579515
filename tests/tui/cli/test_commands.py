from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from edits.checked_lines import to_line
from session.base.events import PromptSubmitted, TurnEnded
from session.base.storage.folders import project_folders
from session.record.journal.journals import Journal
from tests.conftest import RunSpark


def keep_session(project: Path, name: str, *prompts: str) -> Path:
    journal = Journal(project_folders(project).sessions, name)
    for number, prompt in enumerate(prompts, 1):
        journal.write(PromptSubmitted(f"t{number}", prompt))
        journal.write(TurnEnded(f"t{number}", "completed"))
    journal.close()
    return journal.file


# --- sessions and export --------------------------------------------------------------------------


def test_a_project_without_sessions_says_so_on_standard_error(run_spark: RunSpark, project: Path) -> None:
    ran = run_spark("sessions", cwd=project)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == "this project has no sessions yet; start one with: spark\n"
    as_json = run_spark("sessions", "--json", cwd=project)
    assert (as_json.code, as_json.out, as_json.err) == (0, "", "")


def test_sessions_are_one_line_each_newest_first(run_spark: RunSpark, project: Path) -> None:
    older = keep_session(project, "20260101-100000-aaaa", "fix \x1b[31mthe\nbug", "more")
    os.utime(older, (1000, 1000))
    keep_session(project, "20260202-100000-bbbb", "explain " + "x" * 200)
    ran = run_spark("sessions", cwd=project)
    newest, oldest = ran.out.splitlines()
    assert newest.startswith("20260202-100000-bbbb") and "1 turn " in newest and len(newest) < 140
    assert oldest.startswith("20260101-100000-aaaa") and oldest.endswith("2 turns  fix \u241b[31mthe bug")
    rows = [json.loads(line) for line in run_spark("sessions", "--json", cwd=project).out.splitlines()]
    assert [(row["name"], row["turns"]) for row in rows] == [
        ("20260202-100000-bbbb", 1),
        ("20260101-100000-aaaa", 2),
    ]


def test_another_projects_sessions_are_not_listed(run_spark: RunSpark, project: Path, tmp_path: Path) -> None:
    keep_session(project, "20260101-100000-aaaa", "x")
    (tmp_path / "other").mkdir()
    assert run_spark("sessions", "-C", str(tmp_path / "other")).out == ""
    assert "aaaa" in run_spark("sessions", "-C", str(project)).out


def test_a_session_is_exported_as_its_journal(run_spark: RunSpark, project: Path) -> None:
    file = keep_session(project, "20260101-100000-aaaa", "Grüße \ud800")
    with file.open("ab") as handle:
        handle.write(to_line({"type": "from.the.future", "x": 1}) + b'{"torn')
    ran = run_spark("export", "20260101", cwd=project)
    assert ran.code == 0
    records = [json.loads(line) for line in ran.out.splitlines()]
    assert [record["type"] for record in records] == ["prompt.submitted", "turn.ended", "from.the.future"]
    assert records[0]["text"] == "Grüße \ud800"
    assert type(records[0]["at"]) is float


def test_an_unknown_or_ambiguous_session_is_refused(run_spark: RunSpark, project: Path) -> None:
    none = run_spark("export", "x", cwd=project)
    assert (none.code, none.out) == (2, "") and "no sessions yet" in none.err
    keep_session(project, "20260101-100000-aaaa", "x")
    keep_session(project, "20260101-100000-bbbb", "x")
    names = "20260101-100000-bbbb, 20260101-100000-aaaa"
    for command in ("export", "resume"):
        unknown = run_spark(command, "nope", cwd=project)
        said = f"spark: no session is called 'nope'; the last: {names}; spark sessions lists all\n"
        assert (unknown.code, unknown.out, unknown.err) == (2, "", said)
        near = run_spark(command, "20260101-100000-aaba", cwd=project)
        assert near.code == 2 and "; the nearest: 20260101-100000-aaaa, " in near.err
        ambiguous = run_spark(command, "2026", cwd=project)
        assert ambiguous.code == 2
        assert f"several sessions begin with '2026': {names}; type more of it" in ambiguous.err


def test_a_damaged_session_is_told_and_the_others_are_listed(run_spark: RunSpark, project: Path) -> None:
    keep_session(project, "20260101-100000-aaaa", "fix")
    damaged = project_folders(project).sessions / "20260202-100000-bbbb.jsonl"
    os.mkfifo(damaged)
    for options in ([], ["--json"]):
        ran = run_spark("sessions", *options, cwd=project)
        assert ran.code == 0
        assert len(ran.out.splitlines()) == 1 and "20260101-100000-aaaa" in ran.out
        assert ran.err == f"spark: cannot read {damaged}: it is not a regular file; it is left out\n"
    for command in ("export", "resume"):
        named = run_spark(command, "20260202", cwd=project)
        said = f"spark: cannot read {damaged}: it is not a regular file\n"
        assert (named.code, named.out, named.err) == (3, "", said)
    last = run_spark("line", "-c", "--base-url", "http://127.0.0.1:9/v1", cwd=project)
    told = "it is not a regular file; this is the session before, 20260101-100000-aaaa"
    assert told in last.err
    doctor = run_spark("doctor", "--base-url", "http://127.0.0.1:9/v1", cwd=project)
    assert f"!!  sessions     cannot read {damaged}: it is not a regular file; other" in doctor.out


def test_doctor_names_a_theme_and_keys_that_the_app_cannot_use(
    run_spark: RunSpark, project: Path, tmp_path: Path
) -> None:
    config = tmp_path / "config" / "spark" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('theme = "nope"\n[keymap.app]\nzoom = "ctrl+s"\n')
    doctor = run_spark("doctor", cwd=project, env={"XDG_CONFIG_HOME": str(config.parents[1])})
    assert "!!  theme        there is no theme 'nope'" in doctor.out
    assert f"!!  keymap       {config}: [keymap]: ctrl+s would be both" in doctor.out


# --- folders, settings, keys ----------------------------------------------------------------------

ANY_COMMAND = [
    ["sessions"],
    ["export", "x"],
    ["apply"],
    ["undo"],
    ["redo"],
    ["context", "x"],
    ["exec", "x"],
    ["open"],
    ["line"],
    ["resume"],
]


@pytest.mark.parametrize("command", ANY_COMMAND, ids=lambda command: command[0])
def test_a_folder_that_is_not_there_leaves_with_2(run_spark: RunSpark, command: list[str]) -> None:
    ran = run_spark(*command, "-C", "nowhere")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "spark: nowhere cannot be opened: No such file or directory\n"


ASKING = [command for command in ANY_COMMAND if command[0] in ("context", "exec", "open", "line", "resume")]


def test_line_mode_without_a_terminal_leaves_with_3(run_spark: RunSpark, project: Path) -> None:
    ran = run_spark("line", "--base-url", "http://127.0.0.1:9/v1", cwd=project)
    told = "spark: line mode needs a terminal; without one use: spark exec PROMPT\n"
    assert (ran.code, ran.out, ran.err) == (3, "", told)


@pytest.mark.parametrize("command", ASKING, ids=lambda command: command[0])
def test_a_wrong_option_leaves_with_2_and_one_line(
    run_spark: RunSpark, project: Path, command: list[str]
) -> None:
    effort = run_spark(*command, "--effort", "huge", cwd=project)
    assert (effort.code, effort.err) == (
        2,
        "spark: effort 'huge' is not one of none, minimal, low, medium, high, xhigh, max, auto\n",
    )
    provider = run_spark(*command, "--provider", "nobody", cwd=project)
    assert provider.code == 2 and provider.err.startswith("spark: unknown provider 'nobody'; known are ")


@pytest.mark.parametrize("command", ASKING, ids=lambda command: command[0])
def test_bad_settings_leave_with_3_and_one_line(
    run_spark: RunSpark, project: Path, own_folders: Path, command: list[str]
) -> None:
    config = own_folders / "config" / "spark"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('effort = "huge"\n')
    effort = run_spark(*command, cwd=project)
    assert effort.code == 3 and "effort 'huge' is not one of" in effort.err
    (config / "config.toml").write_text("model = [\n")
    broken = run_spark(*command, cwd=project)
    assert broken.code == 3
    assert broken.err.startswith(f"spark: {config / 'config.toml'} is not valid TOML")
    assert len(broken.err.splitlines()) == 1


def test_exec_without_a_key_leaves_with_3_and_says_what_to_set(run_spark: RunSpark, project: Path) -> None:
    ran = run_spark("exec", "hello", cwd=project)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == (
        "spark: no key: set OPENAI_API_KEY, or run: spark login openai, "
        "or with a ChatGPT plan: spark login chatgpt (spark demo needs none)\n"
    )


def test_a_credentials_file_that_others_can_read_is_refused(
    run_spark: RunSpark, project: Path, own_folders: Path
) -> None:
    file = own_folders / "config" / "spark" / "credentials.toml"
    file.parent.mkdir(parents=True)
    file.write_text('openai = "sk-secret"\n')
    file.chmod(0o644)
    ran = run_spark("exec", "hello", cwd=project)
    assert ran.code == 3
    assert f"chmod 600 {file}" in ran.err and "sk-secret" not in ran.err


def test_plain_http_to_another_machine_is_refused(run_spark: RunSpark, project: Path) -> None:
    ran = run_spark(
        "exec", "--base-url", "http://example.com/v1", "x", cwd=project, env={"OPENAI_API_KEY": "sk-1"}
    )
    assert ran.code == 3
    assert "https://" in ran.err and "sk-1" not in ran.err


@pytest.mark.parametrize("arguments", [[""], ["  \n"], ["-"]])
def test_an_empty_prompt_leaves_with_2(run_spark: RunSpark, project: Path, arguments: list[str]) -> None:
    ran = run_spark("exec", *arguments, cwd=project, given=b" \n")
    assert ran.code == 2
    assert "the prompt is empty" in ran.err


def test_a_prompt_that_is_no_text_leaves_with_2(run_spark: RunSpark, project: Path) -> None:
    ran = run_spark("exec", "-", cwd=project, given=b"fix \xff")
    assert ran.code == 2
    assert "not UTF-8" in ran.err


# --- context --------------------------------------------------------------------------------------


def test_context_prints_one_object_as_the_contract_says(run_spark: RunSpark, project: Path) -> None:
    ran = run_spark("context", "--json", "--budget", "5000", "explain @app.py", cwd=project)
    assert (ran.code, len(ran.out.splitlines())) == (0, 1)
    window = json.loads(ran.out)
    assert set(window) == {"budget", "tokens", "model", "pieces", "left_out"}
    assert window["tokens"] <= window["budget"] == 5000
    for piece in window["pieces"]:
        assert {"kind", "tokens", "text", "why"} <= set(piece) <= {"kind", "path", "tokens", "text", "why"}
    for left in window["left_out"]:
        assert set(left) == {"path", "tokens", "why"}


def test_context_needs_neither_a_key_nor_a_request(run_spark: RunSpark, project: Path) -> None:
    ran = run_spark("context", cwd=project)
    assert ran.code == 0
    assert "of 266,560 tokens for gpt-6-luna" in ran.out.splitlines()[0]
    unknown = run_spark("context", "--model", "some-open-model", cwd=project).out.splitlines()[0]
    assert unknown.endswith(" tokens for some-open-model") and " of " not in unknown


def test_a_budget_too_small_for_the_words_is_an_error(run_spark: RunSpark, project: Path) -> None:
    ran = run_spark("context", "--json", "--budget", "10", "x", cwd=project)
    assert (ran.code, ran.out) == (1, "")
    assert "does not fit" in ran.err and len(ran.err.splitlines()) == 1


@pytest.mark.parametrize("budget", ["0", "-5", "many", "1.5"])
def test_a_budget_that_is_no_number_of_tokens_is_a_usage_error(
    run_spark: RunSpark, project: Path, budget: str
) -> None:
    assert run_spark("context", "--budget", budget, cwd=project).code == 2


@pytest.mark.parametrize("as_json", [True, False])
def test_file_names_that_are_no_text_are_shown_somehow(
    run_spark: RunSpark, project: Path, as_json: bool
) -> None:
    for name in (b"caf\xe9.py", b"esc\x1b[31m.py"):
        try:
            (Path(os.fsdecode(bytes(project))) / os.fsdecode(name)).write_text("def f():\n    pass\n")
        except OSError:
            pytest.skip("this file system takes only names that are text")
    ran = run_spark("context", *(["--json"] if as_json else []), "explain f", cwd=project)
    assert ran.code == 0
    if as_json:
        json.loads(ran.out)
    else:
        assert "\x1b" not in ran.out


def test_letters_that_the_output_does_not_know_are_no_fault(run_spark: RunSpark, project: Path) -> None:
    keep_session(project, "20260101-100000-aaaa", "party 🎉")
    ran = run_spark("sessions", cwd=project, env={"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"})
    assert ran.code == 0
    assert ran.out.endswith("party \\U0001f389\n")


# --- the others -----------------------------------------------------------------------------------


def test_resuming_where_nothing_is_leaves_with_one_line(run_spark: RunSpark, project: Path) -> None:
    for arguments in (["resume"], ["resume", "x"], ["-c"], ["line", "-c"]):
        ran = run_spark(*arguments, cwd=project)
        assert (ran.code, len(ran.err.splitlines())) == (2, 1), arguments
        assert "no sessions yet" in ran.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--rate", "fast"], 3),
        (["--rate", "-1"], 3),
        (["--rate", "nan"], 3),
        (["--script", "nowhere.toml"], 3),
        (["--port", "70000"], 2),
        (["--port", "x"], 2),
    ],
)
def test_a_partner_that_cannot_serve_says_why(run_spark: RunSpark, arguments: list[str], code: int) -> None:
    ran = run_spark("partner", *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert ran.err


def offered(run_spark: RunSpark, line: str, cwd: Path) -> list[str]:
    """What bash is offered at Tab behind ``line``."""
    words = line.split(" ")
    env = {"_SPARK_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    return [answer.partition(",")[2] for answer in run_spark(env=env, cwd=cwd).out.split()]


def test_the_shell_is_offered_sessions_models_and_providers(
    run_spark: RunSpark, project: Path, own_folders: Path
) -> None:
    assert offered(run_spark, "spark resume ", project) == []
    older = keep_session(project, "20260101-100000-aaaa", "fix it")
    os.utime(older, (1000, 1000))
    keep_session(project, "20260202-100000-bbbb", "explain it")
    assert offered(run_spark, "spark resume ", project) == ["20260202-100000-bbbb", "20260101-100000-aaaa"]
    assert offered(run_spark, "spark export 20260101", project) == ["20260101-100000-aaaa"]
    assert offered(run_spark, f"spark export -C {project} 20260101", project.parent) == [
        "20260101-100000-aaaa"
    ]
    assert offered(run_spark, "spark resume -C nowhere 2026", project) == []
    assert offered(run_spark, "spark exec --effort x", project) == ["xhigh"]
    assert offered(run_spark, "spark exec --provider gr", project) == ["groq"]
    assert offered(run_spark, "spark exec --provider partner --model ", project) == [
        "spark-practice",
        "spark-practice-text",
    ]
    config = own_folders / "config" / "spark"
    config.mkdir(parents=True)
    (config / "config.toml").write_text("model = [\n")
    assert offered(run_spark, "spark exec --model ", project) == []


def test_a_session_is_forked_at_a_turn_and_the_fork_is_listed(run_spark: RunSpark, project: Path) -> None:
    keep_session(project, "20260101-100000-aaaa", "one")
    ran = run_spark("fork", "20260101", "--turn", "1", cwd=project)
    assert ran.code == 0 and "spark resume" in ran.err
    made = ran.out.strip()
    assert made != "20260101-100000-aaaa"
    assert made in run_spark("sessions", cwd=project).out
    refused = run_spark("fork", "20260101", "--turn", "9", cwd=project)
    assert refused.code == 2 and "has no turn t9" in refused.err


def test_sessions_are_searched_and_exported_as_documents(run_spark: RunSpark, project: Path) -> None:
    keep_session(project, "20260101-100000-aaaa", "Grüße \x1b[31m", "other words")
    keep_session(project, "20260101-100000-bbbb", "nothing here")
    found = run_spark("sessions", "--search", "GRÜSSE", cwd=project)
    assert found.code == 0 and found.out.startswith("20260101-100000-aaaa  t") and "\x1b" not in found.out
    assert len(found.out.splitlines()) == 1
    assert "no session holds 'zebra'" in run_spark("sessions", "--search", "zebra", cwd=project).err
    document = run_spark("export", "20260101-100000-aaaa", "--format", "markdown", cwd=project).out
    assert document.startswith("# Session 20260101-100000-aaaa\n") and "\n> other words\n" in document
    assert "\x1b" not in document
    whole = json.loads(run_spark("export", "20260101-100000-aaaa", "--format", "json", cwd=project).out)
    assert [turn["prompt"][:5] for turn in whole["turns"]] == ["Grüße", "other"]


def test_where_no_model_server_runs_the_list_of_those_found_says_so(
    run_spark: RunSpark, tmp_path: Path
) -> None:
    (tmp_path / "config" / "spark").mkdir(parents=True)
    away = "\n".join(
        f'[providers.{name}]\nbase_url = "http://127.0.0.1:9/v1"'
        for name in ("ollama", "lmstudio", "llamacpp", "vllm")
    )
    (tmp_path / "config" / "spark" / "config.toml").write_text(away + "\n")
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    ran = run_spark("models", "--found", env=environment)
    told = "no model server answers on the usual ports of this machine\n"
    assert (ran.code, ran.out, ran.err) == (0, "", told)
    assert run_spark("models", "--found", "--json", env=environment).err == ""
