"""Suggestions for mistyped names."""

from __future__ import annotations

import pytest

from session.base.text.wording import listed, spelled_like

MODELS = ["gpt-5.3-codex", "gpt-5.3-codex-spark", "gpt-oss-120b", "Qwen3:8b", "llama3.2"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("gpt-5.3", ["gpt-5.3-codex", "gpt-5.3-codex-spark"]),
        ("codex", ["gpt-5.3-codex", "gpt-5.3-codex-spark"]),
        ("GPT-OSS-120B", ["gpt-oss-120b"]),
        ("qwen3:8", ["Qwen3:8b"]),
        ("lama3.2", ["llama3.2"]),
        ("zzz", []),
        (" ", []),
    ],
)
def test_names_that_begin_with_contain_or_resemble_the_typed_one_are_suggested(
    name: str, meant: list[str]
) -> None:
    assert spelled_like(name, MODELS)[: len(meant) or None] == meant


def test_no_more_are_named_than_wanted() -> None:
    assert spelled_like("g", MODELS, 2) == ["gpt-5.3-codex", "gpt-5.3-codex-spark"]
    assert spelled_like("max", ["max", "maximum"]) == ["max", "maximum"]
    assert listed(["a", "b", "c"], 2) == "a, b and 1 more"
    assert listed(("a", "b"), 2) == "a, b"
