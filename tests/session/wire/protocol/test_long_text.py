"""A message of any length streams whole, while only its newest text is kept in memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from session.base.text import pieces
from session.wire.protocol import output, parts
from session.wire.protocol.events import Finished
from session.wire.protocol.output import OutputItem, OutputItems
from session.wire.protocol.parts import Parts

WORDS = some.lists(some.text("abc\n", min_size=1, max_size=12), min_size=1, max_size=30)


@given(said=some.lists(WORDS, min_size=1, max_size=4), shown=some.integers(0, 30), most=some.integers(1, 80))
def test_what_no_delta_sent_is_passed_on_however_much_is_kept(
    said: list[list[str]], shown: int, most: int
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(output, "MOST_TEXT", most)
        patched.setattr(pieces, "SHORTEST", 8)
        item, passed = OutputItem("message", 0), ""
        for part in said:
            for piece in part[:shown]:
                passed += item.delta(piece)
                assert len(item._said) <= most + 20
            passed += item.part_done("".join(part))
            assert len(item._earlier) <= most + 8 + max(map(len, map("".join, said)))
        whole = "".join(map("".join, said)) + "end"
        content = [{"type": "output_text", "text": whole}]
        passed += item.finish({"type": "message", "content": content})
        assert passed == whole
        assert not len(item._said) and not len(item._earlier)


def test_a_delta_without_an_id_goes_on_with_the_last_open_item_of_its_kind() -> None:
    items = OutputItems()
    first = items.for_delta("message", None, None)
    assert items.for_delta("reasoning", None, None) is not first
    assert items.for_delta("message", None, None) is first
    assert items.for_delta("message", "m1", None) is first, "which has no id yet"
    second = items.for_delta("message", "m2", None)
    assert second is not first and items.for_delta("message", "m1", None) is first
    assert items.for_delta("message", None, None) is second


def test_a_message_that_never_came_whole_keeps_its_newest_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "MOST_TEXT", 5_000)
    monkeypatch.setattr(parts, "MOST_TEXT", 5_000)
    item, dialect = OutputItem("message", 0), Parts(keeps_reasoning=True)
    for number in range(10_000):
        item.delta(f"word {number} ")
        dialect.text(f"word {number} ")
        dialect.reasoning(f"word {number} ")
    dialect.sign("signed", "reasoning")
    finished = dialect.finish("completed", "r1", None, None)[-1]
    assert isinstance(finished, Finished)
    message, reasoning = finished.output
    streamed = item.as_streamed()
    assert streamed is not None
    for text in (
        streamed["content"][0]["text"],
        message["content"][0]["text"],
        reasoning["reasoning_content"],
    ):
        assert text.startswith(pieces.LEFT_OUT) and text.endswith(" word 9999 ") and len(text) < 8_000
    assert "thinking" not in reasoning, "a signature is of the whole text"


def test_the_input_of_a_tool_is_kept_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "MOST_TEXT", 50)
    monkeypatch.setattr(parts, "MOST_TEXT", 50)
    item, dialect = OutputItem("custom_tool_call", 0), Parts()
    item.identify({"call_id": "c", "name": "apply_patch"})
    text = "".join(f"+line {number}\n" for number in range(9_000))
    for line in text.splitlines(keepends=True):
        item.delta(line)
        dialect.tool(0, call_id="c", name="run", piece=line)
    streamed, finished = item.as_streamed(), dialect.finish("completed", "r1", None, None)[-1]
    assert isinstance(finished, Finished)
    assert streamed is not None and streamed["input"] == text
    assert finished.output[0]["arguments"] == text
