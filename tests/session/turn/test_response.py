"""One response as it streams, and how a turn's end is told: values in, values out."""

from __future__ import annotations

import pytest

from session.turn.failures import INTERNAL, Failure, TurnFailedError, explain, unfinished
from session.turn.response import CUT, SAMPLE, SAMPLES, Response, about
from session.wire.protocol.events import FinalStatus, Finished
from session.wire.protocol.items import ServerItem
from session.wire.transport.errors import LinkError, LinkProblem

SHORT = SAMPLES * SAMPLE


def count(text: str) -> int:
    """A token for each character that is an a."""
    return text.count("a")


@pytest.mark.parametrize(
    ("texts", "unseen", "tokens"),
    [
        ([], 0, 0),
        (["aab", "ab"], 0, 3),
        (["ab"], 2, 2),
        (["ab"], 3, 2),
        (["a" * SHORT], 0, SHORT),
        (["a" * SHORT], SHORT, 2 * SHORT),
        (["a" * SHORT, "a" * SHORT], 0, 2 * SHORT),
        (["a" * SHORT, "a" * SHORT], SHORT, 3 * SHORT),
        (["a" * SHORT + "b"], 0, SHORT - 1 + (SHORT - 1) // SHORT),
        (["b" + "a" * SHORT], 0, SHORT - 1 + (SHORT - 1) // SHORT),
        # The places are spread evenly: the first and the last of them are the text's two ends.
        (["a" * SAMPLE + "b" * SHORT + "a" * SAMPLE], 0, 2 * SAMPLE + 2 * SAMPLE * 2 * SAMPLE // SHORT),
    ],
)
def test_about_how_many_tokens_texts_are(texts: list[str], unseen: int, tokens: int) -> None:
    assert about(texts, count, unseen) == tokens


@pytest.mark.parametrize(("length", "calls"), [(SHORT, 1), (SHORT + 1, SAMPLES)])
def test_a_text_that_is_short_is_counted_as_a_whole(length: int, calls: int) -> None:
    counted: list[str] = []

    def noted(text: str) -> int:
        counted.append(text)
        return 0

    about(["a" * length], noted)
    assert len(counted) == calls


def message(text: str) -> ServerItem:
    content = [{"type": "output_text", "text": text}]
    return {"type": "message", "role": "assistant", "content": content, "id": "m1"}


CALL: ServerItem = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
THOUGHT: ServerItem = {"type": "reasoning", "encrypted_content": "x", "summary": []}


def test_a_response_that_was_cut_keeps_its_items_its_text_and_an_output_for_each_call() -> None:
    response = Response()
    response.text.append("one")
    response.item_done(message("one"))
    response.text.append("two")
    response.item_done(CALL)
    response.answers.texts["c1"] = "seen"
    partial = response.partial_items()
    assert [item["type"] for item in partial] == [
        "message",
        "function_call",
        "message",
        "function_call_output",
    ]
    assert "'one'" in str(partial[0]) and "'two'" in str(partial[2]) and "seen" in str(partial[3])
    response.answers.texts.clear()
    assert CUT in str(response.partial_items()[3])


@pytest.mark.parametrize(
    ("items", "text", "kinds"),
    [
        ([], "", []),
        ([], " \n", []),
        ([THOUGHT], "", []),
        ([THOUGHT], "word", ["reasoning", "message"]),
        ([message("a"), THOUGHT], "", ["message"]),
    ],
)
def test_reasoning_is_kept_where_words_follow(items: list[ServerItem], text: str, kinds: list[str]) -> None:
    response = Response()
    for item in items:
        response.item_done(item)
    response.text.append(text)
    assert [item["type"] for item in response.partial_items()] == kinds


def finished(status: FinalStatus = "completed", reason: str | None = None, *output: ServerItem) -> Finished:
    return Finished(status, "r1", output, None, reason)


def test_a_whole_response_has_the_items_of_its_end_or_those_that_came() -> None:
    response = Response(earlier_calls=frozenset({"c1"}))
    response.text.append("two")
    response.output.append(message("one"))
    response.complete(finished("completed", None, message("end"), CALL, THOUGHT))
    assert [item["type"] for item in response.items] == ["message", "function_call"]
    assert "c1-2" in str(response.items[1]), "no two calls of the conversation have one id"
    assert len(response.text) == 0
    kept = response.partial_items()
    assert "'end'" in str(kept[0]) and len(kept) == 3
    response.complete(finished())
    assert "'one'" in str(response.items)


def test_the_tokens_of_what_arrived_are_estimated() -> None:
    response = Response()
    response.item_done(message("aa"))
    response.text.append("aba")
    response.tool_text = 11
    assert response.estimated_tokens(count) == 2 + 2 + 2


@pytest.mark.parametrize(
    ("status", "reason", "failure"),
    [
        (
            "incomplete",
            "max_output_tokens",
            ("the model reached its limit of output tokens; ask it to continue", "max_output_tokens"),
        ),
        (
            "incomplete",
            "content\nfilter",
            ("the model stopped before the end of its answer (content filter)", "incomplete"),
        ),
        (
            "incomplete",
            None,
            ("the model stopped before the end of its answer (no reason given)", "incomplete"),
        ),
        ("failed", "out of order", ("out of order", "server")),
        ("failed", None, ("the server reported that the answer failed", "server")),
    ],
)
def test_why_an_answer_is_not_whole(
    status: FinalStatus, reason: str | None, failure: tuple[str, str]
) -> None:
    assert unfinished(finished(status, reason)) == Failure(*failure)


TOOLS = ' Set tools = false for it in config.toml, as in [models."NAME"].'


@pytest.mark.parametrize(
    ("problem", "failure"),
    [
        (LinkError(LinkProblem.CLOSED, "it\nclosed"), ("it closed", "closed")),
        (
            LinkError(LinkProblem.SERVER, "gemma does not support tools"),
            (f"gemma does not support tools{TOOLS}", "server"),
        ),
        (
            LinkError(LinkProblem.SERVER, "tools param requires --jinja"),
            (f"tools param requires --jinja{TOOLS}", "server"),
        ),
        (TurnFailedError("no key", "credentials"), ("no key", "credentials")),
        (
            KeyError("x"),
            ("spark itself failed while running the turn (KeyError: 'x')", INTERNAL),
        ),
    ],
)
def test_why_a_turn_failed(problem: Exception, failure: tuple[str, str]) -> None:
    assert explain(problem) == Failure(*failure)
