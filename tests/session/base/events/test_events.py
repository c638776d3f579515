from __future__ import annotations

import json
from dataclasses import MISSING, FrozenInstanceError, fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from session.base.events import (
    FilesChanged,
    HunkLanded,
    Notice,
    TextDelta,
    TurnEnded,
    event_types,
    from_dict,
    to_dict,
)

KINDS: tuple[Any, ...] = tuple(event_types().values())
TEXT = st.text(max_size=20)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "str": TEXT,
    "int": st.integers(),
    "bool": st.booleans(),
    "str | None": st.none() | TEXT,
    "int | None": st.none() | st.integers(),
    "float": st.floats(allow_nan=False, allow_infinity=False),
    "float | None": st.none() | st.floats(allow_nan=False, allow_infinity=False),
    "tuple[str, ...]": st.lists(TEXT, max_size=3).map(tuple),
}


def events_of(kind: Any) -> st.SearchStrategy[Any]:
    return st.builds(kind, **{field.name: VALUES[str(field.type)] for field in fields(kind)})


def sample(kind: Any) -> Any:
    given_values = {"str": "x", "int": 7, "bool": True, "str | None": "y", "tuple[str, ...]": ("a", "b")}
    given_values["int | None"] = 7
    given_values["float"] = given_values["float | None"] = 1.5
    return kind(**{field.name: given_values[str(field.type)] for field in fields(kind)})


@pytest.mark.parametrize("kind", KINDS)
def test_every_event_survives_json(kind: Any) -> None:
    event = sample(kind)
    assert from_dict(json.loads(json.dumps(to_dict(event)))) == event


@given(st.one_of(*map(events_of, KINDS)))
def test_any_values_survive_json(event: Any) -> None:
    assert from_dict(json.loads(json.dumps(to_dict(event)))) == event


def test_every_type_tag_is_its_own() -> None:
    tags = [kind.type for kind in KINDS]
    assert len(set(tags)) == len(tags)
    for kind in KINDS:
        assert to_dict(sample(kind))["type"] == kind.type


def test_the_tags_of_the_command_lines_contract() -> None:
    contract = {
        "turn.started",
        "text.delta",
        "reasoning.delta",
        "hunk.open",
        "hunk.landed",
        "hunk.refused",
        "usage",
        "turn.ended",
        "apply.ended",
    }
    assert contract <= {kind.type for kind in KINDS}


def test_optional_fields_that_are_none_are_left_out() -> None:
    assert to_dict(TurnEnded(turn="t1", status="completed")) == {
        "type": "turn.ended",
        "turn": "t1",
        "status": "completed",
    }


@pytest.mark.parametrize("record", [{}, {"type": "no.such"}, {"type": ["x"]}, {"type": None}, {"type": 3}])
def test_an_unknown_type_is_no_event(record: dict[str, Any]) -> None:
    assert from_dict(record) is None


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_field_is_ignored(kind: Any) -> None:
    event = sample(kind)
    assert from_dict({**to_dict(event), "at": 1.5, "from_the_future": {}}) == event


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, field.name) for kind in KINDS for field in fields(kind) if field.default is MISSING],
)
def test_a_missing_field_is_a_type_error(kind: Any, name: str) -> None:
    record = to_dict(sample(kind))
    del record[name]
    with pytest.raises(TypeError):
        from_dict(record)


@pytest.mark.parametrize(("kind", "name"), [(kind, field.name) for kind in KINDS for field in fields(kind)])
def test_a_field_of_another_kind_is_a_type_error(kind: Any, name: str) -> None:
    with pytest.raises(TypeError, match=name):
        from_dict({**to_dict(sample(kind)), name: {"an": "object"}})


def test_true_is_not_a_number_and_paths_are_strings() -> None:
    landed = to_dict(HunkLanded("t", "h1", "a.py", "applied", 1, 1, 2))
    with pytest.raises(TypeError, match=r"hunk\.landed\.start must be int, not True"):
        from_dict({**landed, "start": True})
    with pytest.raises(TypeError, match="paths"):
        from_dict({"type": "files.changed", "paths": ["a", 3]})
    assert from_dict({"type": "files.changed", "paths": []}) == FilesChanged(())


def test_an_optional_field_may_be_missing() -> None:
    landed = HunkLanded("t", "h1", "a", "applied", 1, 1, 2)
    record = to_dict(landed)
    del record["action"]
    assert from_dict(record) == landed


def test_events_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        TextDelta("t", "x").text = "y"  # type: ignore[misc]
    assert Notice("info", "x") == Notice("info", "x")
