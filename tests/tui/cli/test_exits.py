from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from session.base.storage.folders import state_folder
from session.wire.transport.errors import LinkProblem
from tui.cli.main import settle_home
from tui.front.exits import exit_code, leave


@pytest.mark.parametrize(
    ("status", "code", "refused", "expected"),
    [
        ("completed", None, False, 0),
        ("completed", None, True, 1),
        ("interrupted", None, False, 130),
        ("interrupted", None, True, 130),
        ("failed", None, False, 1),
        ("failed", "a code of the server's", False, 1),
        ("failed", "rounds", True, 1),
        ("failed", "credentials", False, 3),
        ("failed", LinkProblem.UNAUTHORIZED.value, False, 3),
        ("failed", LinkProblem.UNREACHABLE.value, False, 4),
        ("failed", LinkProblem.REFUSED.value, False, 4),
        ("failed", LinkProblem.NO_WEBSOCKET.value, False, 4),
        ("failed", LinkProblem.MODEL.value, False, 4),
        ("failed", LinkProblem.CLOSED.value, False, 4),
        ("failed", "incomplete", False, 4),
        ("failed", "incomplete", True, 4),
        ("failed", LinkProblem.SERVER.value, False, 1),
    ],
)
def test_the_exit_codes_of_the_contract(status: str, code: str | None, refused: bool, expected: int) -> None:
    assert exit_code(status, code, refused=refused) == expected


def test_leaving_says_why_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        leave("no key", 3)
    assert caught.value.code == 3
    written = capsys.readouterr()
    assert (written.out, written.err) == ("", "spark: no key\n")


@pytest.mark.parametrize("home", ["", "here", "./here"])
def test_a_home_that_is_no_whole_path_is_looked_up_instead(
    monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    monkeypatch.setenv("HOME", home)
    settle_home()
    assert Path.home() == Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert state_folder({}).is_absolute() and str(Path.home()) in str(state_folder({}))
    assert os.environ.get("HOME") is None, "git and every other child are told the same"
