"""Whole conversations, window by window: what is shown, with tokens and reasons, and what is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from context.text.tokens import Counter
from tests.context.window.telling import ACTS, conversation

TOLD = {
    section.split("\n", 1)[0]: section.split("\n", 1)[1].rstrip("\n")
    for section in Path(__file__)
    .with_name("windows.txt")
    .read_text("utf-8")
    .removeprefix("== ")
    .split("\n== ")
}


@pytest.mark.parametrize("name", ACTS)
def test_each_window_of_a_conversation(name: str, tmp_path: Path, counter: Counter) -> None:
    assert conversation(name, tmp_path, counter).split("\n") == TOLD[name].split("\n")


def test_every_conversation_is_held() -> None:
    assert TOLD.keys() == ACTS.keys()
