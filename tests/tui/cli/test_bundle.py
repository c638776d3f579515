"""``spark doctor --bundle``: shown before it is written, without keys and without content."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from session.base.storage.folders import config_folder, project_folders
from tests.conftest import RunSpark
from tests.tui.cli.test_commands import keep_session

KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
OPTIONS = ("--base-url", "http://127.0.0.1:9/v1", "--model", "spark-practice")


@pytest.fixture
def told(project: Path) -> Path:
    keep_session(project, "20260101-100000-aaaa", "a prompt about secret plans")
    config = config_folder(os.environ)
    config.mkdir(parents=True, exist_ok=True)
    (config / "config.toml").write_text(
        'effort = "low"\nbase_url = "http://me:hunter2hunter2@127.0.0.1:9/v1"\n'
    )
    folders = project_folders(project)
    folders.error_log.write_text('{"level": "error", "message": "failed with ' + KEY + '"}\n')
    return project


def test_a_bundle_is_shown_whole_and_not_written_without_consent(run_spark: RunSpark, told: Path) -> None:
    ran = run_spark("doctor", "--bundle", "report.md", *OPTIONS, cwd=told, env={"OPENAI_API_KEY": KEY})
    assert ran.code == 1 and "--yes writes what is shown" in ran.err
    assert "# A report about spark" in ran.out and "## The log of faults" in ran.out
    assert not (told / "report.md").exists()


def test_a_bundle_has_no_key_and_no_content_and_is_what_was_shown(run_spark: RunSpark, told: Path) -> None:
    ran = run_spark(
        "doctor", "--bundle", "report.md", "--yes", *OPTIONS, cwd=told, env={"OPENAI_API_KEY": KEY}
    )
    text = (told / "report.md").read_text()
    assert text.strip() in ran.out
    assert "failed with" in text and 'effort = "low"' in text and "20260101-100000-aaaa" in text
    for secret in (KEY, "hunter2", "secret plans", str(Path.home())):
        assert secret not in text, secret
    again = run_spark("doctor", "--bundle", "report.md", "--yes", *OPTIONS, cwd=told)
    assert again.code == 1 and "cannot write report.md: File exists" in again.err
