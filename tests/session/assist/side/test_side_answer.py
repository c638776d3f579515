"""Suggestions and reviews that cost money are offered once, with their price, and are off until then."""

from __future__ import annotations

from pathlib import Path

import pytest

from session.assist.side_requests import FILE_NAME, SideAnswer
from session.setup.user_tables import SideSettings, read_side


def offer(answer: SideAnswer) -> str:
    return answer.offer("gpt-6-luna, about $0.0004 each", SideSettings())


def test_what_costs_money_is_off_until_the_user_agrees_once(tmp_path: Path) -> None:
    answer = SideAnswer(tmp_path)
    assert answer.given(None, priced=True) is False
    told = offer(answer)
    assert "gpt-6-luna, about $0.0004 each" in told and "$0.5 an hour at most" in told and "Alt+S" in told
    assert offer(answer) == "", "once"
    answer.answered(on=True)
    later = SideAnswer(tmp_path)
    assert later.given(None, priced=True) is True and offer(later) == ""
    later.answered(on=False)
    assert SideAnswer(tmp_path).given(None, priced=True) is False


def test_what_costs_nothing_is_on_and_turned_off_for_a_session_alone(tmp_path: Path) -> None:
    answer = SideAnswer(tmp_path)
    assert answer.given(None, priced=False) is True and offer(answer) == ""
    answer.answered(on=False)
    assert not (tmp_path / FILE_NAME).exists()


@pytest.mark.parametrize("setting", [True, False])
def test_the_users_setting_is_an_answer(tmp_path: Path, setting: bool) -> None:
    assert read_side({"enabled": setting}).enabled is setting and read_side({}).enabled is None
    answer = SideAnswer(tmp_path)
    assert answer.given(setting, priced=True) is setting and offer(answer) == ""
    answer.answered(on=not setting)
    assert not (tmp_path / FILE_NAME).exists()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"on": "yes"}', "\x00\xff"])
def test_a_damaged_file_is_no_answer(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text, "latin-1")
    assert SideAnswer(tmp_path).given(None, priced=True) is False
