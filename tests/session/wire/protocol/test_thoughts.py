"""Tests that what a model thinks between tags is no part of its answer, however the text is cut."""

from __future__ import annotations

import json

import pytest

from session.wire.protocol.chat import ChatDecoder
from session.wire.protocol.events import Finished, ItemDone, ReasoningDelta, TextDelta
from session.wire.protocol.items import text_of
from session.wire.protocol.responses import ResponseDecoder
from session.wire.protocol.thoughts import NO_END, ThoughtsApart

CASES: dict[str, tuple[str, str, str]] = {
    "a thought before the answer": ("<think>\nhm </thin\n</think>\n\nYes.\n", "\nhm </thin\n", "Yes.\n"),
    "blank lines before it": ("\n\n<think>hm</think>Yes.", "hm", "Yes."),
    "two thoughts": ("<think>a</think>\n<thinking>b</thinking> Yes.", "ab", "Yes."),
    "an empty thought": ("<think>\n\n</think>\n\nYes.", "\n\n", "Yes."),
    "capitals": ("<Think>hm</THINK>Yes.", "hm", "Yes."),
    "Magistral": ("[THINK]hm[/THINK]Yes.", "hm", "Yes."),
    "Kimi": ("◁think▷hm◁/think▷Yes.", "hm", "Yes."),
    "Sky": ("<|begin_of_thought|>hm<|end_of_thought|>Yes.", "hm", "Yes."),
    "gpt-oss": (
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes.",
        "hm",
        "Yes.",
    ),
    "other names": (
        "<reasoning>a</reasoning><thought>b</thought><seed:think>c</seed:think>Yes.",
        "abc",
        "Yes.",
    ),
    "a thought that ends the answer": ("<think>hm</think>", "hm", ""),
    "a tag in the answer": ("Use <think> and\n</think> so.", "", "Use <think> and\n</think> so."),
    "other markup": (" <thinker>x</thinker>", "", " <thinker>x</thinker>"),
    "nothing but the beginning of a tag": ("\n <thin", "", "\n <thin"),
    "no tag": (" Yes.\n", "", " Yes.\n"),
    "nothing": ("", "", ""),
}


def chunks(text: str, size: int) -> list[str]:
    def chunk(finish: str | None = None, **delta: str) -> str:
        return json.dumps({"choices": [{"delta": delta, "finish_reason": finish}]})

    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return [*(chunk(content=piece) for piece in pieces), chunk("stop")]


@pytest.mark.parametrize("case", CASES)
def test_thoughts_between_tags_are_no_answer(case: str) -> None:
    text, thought, said = CASES[case]
    for size in (1, 3, 1000):
        decoder = ThoughtsApart(ChatDecoder())
        events = [event for frame in chunks(text, size) for event in decoder.feed(frame)] + decoder.end()
        assert "".join(event.text for event in events if isinstance(event, ReasoningDelta)) == thought
        assert "".join(event.text for event in events if isinstance(event, TextDelta)) == said
        assert decoder.finished
        kept = [text_of(event.item) for event in events if isinstance(event, ItemDone)]
        (last,) = [event for event in events if isinstance(event, Finished)]
        assert last.status == "completed"
        assert kept == [text_of(item) for item in last.output] == ([said] if text else [])


def test_a_thought_without_an_end_is_no_answer_and_no_complete_one() -> None:
    for size in (1, 1000):
        decoder = ThoughtsApart(ChatDecoder())
        frames = chunks("<think>One could write\n\na.py\n", size)
        events = [event for frame in frames for event in decoder.feed(frame)] + decoder.end()
        assert not any(isinstance(event, TextDelta) for event in events)
        last = events[-1]
        assert isinstance(last, Finished)
        assert (last.status, last.reason, [text_of(item) for item in last.output]) == (
            "incomplete",
            NO_END,
            [""],
        )


def test_a_cut_within_a_thought_stays_a_cut() -> None:
    decoder = ThoughtsApart(ChatDecoder())
    decoder.feed(chunks("<think>hm", 100)[0])
    decoder.feed(json.dumps({"choices": [{"delta": {}, "finish_reason": "length"}]}))
    last = decoder.end()[-1]
    assert isinstance(last, Finished) and (last.status, last.reason) == ("incomplete", "max_output_tokens")


def test_each_message_of_a_response_has_its_own_beginning() -> None:
    decoder = ThoughtsApart(ResponseDecoder())
    said, thought = [], []
    for index, text in enumerate(("<think>a</think>One.", "<think>b</think>Two.")):
        where = {"output_index": index, "item_id": f"m{index}"}
        message = {"type": "message", "id": f"m{index}", "content": [{"type": "output_text", "text": text}]}
        for frame in (
            {"type": "response.output_text.delta", "delta": text[:9], **where},
            {"type": "response.output_text.delta", "delta": text[9:], **where},
            {"type": "response.output_item.done", "item": message, **where},
        ):
            for event in decoder.feed(json.dumps(frame)):
                said += [event.text] if isinstance(event, TextDelta) else []
                thought += [event.text] if isinstance(event, ReasoningDelta) else []
                if isinstance(event, ItemDone):
                    assert text_of(event.item) == text[-4:]
    assert ("".join(said), "".join(thought)) == ("One.Two.", "ab")
