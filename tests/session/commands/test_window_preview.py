from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from context.window.limits import fill_limit
from session.commands.trust_commands import trust_of
from session.commands.window_preview import Preview, PreviewError, preview_window
from session.project.workspace import open_workspace
from session.setup.config import Flags
from session.setup.opening import open_project

KINDS = {"instructions", "project_instructions", "map", "changed", "mentioned", "history", "request"}


def preview(root: Path, request: str = "explain", budget: int | None = None) -> Preview:
    return preview_window(open_project(root, Flags(), os.environ), request, budget)


def record(root: Path, request: str = "explain", budget: int | None = None) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(preview(root, request, budget).record()))
    return made


def agree(root: Path) -> None:
    trust, found = trust_of(open_workspace(root))
    trust.answer({each.path: each.digest for each in found}, agreed=True)


def test_the_record_is_as_the_contract_says(project: Path) -> None:
    (project / "app.py").write_text("def greet(name):\n    return 'Changed'\n")
    (project / "AGENTS.md").write_text("Be brief.\n")
    made = record(project, "what does @notes.md say?")
    assert any(left["path"] == "AGENTS.md" and "spark trust" in left["why"] for left in made["left_out"])
    assert "project_instructions" not in {piece["kind"] for piece in made["pieces"]}
    agree(project)
    made = record(project, "what does @notes.md say?")
    assert set(made) == {"budget", "tokens", "model", "pieces", "left_out"}
    assert made["model"] == "gpt-6-luna"
    assert 0 < made["tokens"] <= made["budget"] == 266_560
    for piece in made["pieces"]:
        assert set(piece) - {"path"} == {"kind", "tokens", "text", "why"}
        assert piece["kind"] in KINDS
        assert type(piece["tokens"]) is int and piece["why"] and piece["text"]
    kinds = [piece["kind"] for piece in made["pieces"]]
    assert kinds[0] == "instructions" and kinds[-1] == "request"
    assert {"project_instructions", "changed", "mentioned"} <= set(kinds)
    assert made["pieces"][-1]["text"].rstrip().endswith("what does @notes.md say?")
    mentioned = next(piece for piece in made["pieces"] if piece["kind"] == "mentioned")
    assert mentioned["path"] == "notes.md" and "second" in mentioned["text"]


@pytest.mark.parametrize("budget", [3000, 4000, 20_000])
def test_the_window_stays_within_a_given_budget(project: Path, budget: int) -> None:
    for number in range(40):
        (project / f"module_{number}.py").write_text(
            f"def function_{number}(x):\n    return x * {number}\n" * 20
        )
    made = record(project, "explain @module_1.py", budget)
    assert made["tokens"] <= made["budget"] == budget
    limit = fill_limit(budget, made["pieces"][0]["tokens"], 0)
    assert made["tokens"] <= max(limit, 2_500), "a session keeps room for the turn's rounds, and so does this"


def test_pins_and_removals_are_as_in_a_session(project: Path) -> None:
    given = open_project(project, Flags(), os.environ)
    made = preview_window(given, "explain", None, ("notes.md",), ("app.py",)).record()
    (notes,) = (piece for piece in made["pieces"] if piece.get("path") == "notes.md")
    assert (notes["kind"], notes["why"]) == ("mentioned", "pinned; whole")
    assert {"path": "app.py", "tokens": 0, "why": "removed by you"} in made["left_out"]
    assert not any("def greet" in piece["text"] for piece in made["pieces"])
    with pytest.raises(PreviewError, match="names nothing in this project"):
        preview_window(given, "explain", None, ("nowhere.py",))


def test_a_budget_smaller_than_the_request_is_an_error(project: Path) -> None:
    with pytest.raises(PreviewError, match=r"does not fit: .* the\s+budget is 10"):
        preview(project, budget=10)


def test_an_empty_folder_that_is_no_repository_has_a_window_too(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    made = record(tmp_path / "empty")
    assert {piece["kind"] for piece in made["pieces"]} >= {"instructions", "request"}


def test_nothing_is_written_into_the_project(project: Path) -> None:
    before = sorted(path.name for path in project.iterdir())
    preview(project)
    assert sorted(path.name for path in project.iterdir()) == before


def test_a_long_reading_reports_its_progress(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("session.commands.window_preview.TELL_SECONDS", 0.001)
    for number in range(80):
        (project / f"module_{number}.py").write_text(f"def function_{number}(x):\n    return {number}\n" * 20)
    told: list[tuple[int, int]] = []
    given = open_project(project, Flags(), os.environ)
    preview_window(given, "explain", None, told=lambda known, total: told.append((known, total)))
    assert told == sorted(told) and told[-1][0] <= told[-1][1] >= 80
