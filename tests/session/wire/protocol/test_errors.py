"""Tests how errors are read: their places and words, and the waits that they ask for."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from session.wire.link.retries import Retries, passing, when_to_ask_again
from session.wire.protocol.errors import header_wait, limit_wait, read_error, retry_after
from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import LinkError, LinkProblem
from session.wire.transport.refusals import from_server, read_refusal

NOON = 784_111_777.0
"""Sun, 06 Nov 1994 08:49:37 GMT."""


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Rate limit reached. Please try again in 1.5s.", 1.5),
        ("Please try again in 20ms.", 0.02),
        ("Please try again in 500 milliseconds", 0.5),
        ("please retry again in 6m0s", 360.0),
        ("try again in 7m12.48s. Visit the console", 432.48),
        ("try again in 1h2m3s", 3723.0),
        ("try again in 12 seconds", 12.0),
        ("Please retry after 26 seconds.", 26.0),
        ("Try again in 5 minutes.", 300.0),
        ("Try again in about 2 hours.", 7200.0),
        ("Try again in 2 days.", 172_800.0),
        ("Too many requests, please wait 3 seconds before asking again.", 3.0),
        ("Please wait for another 1.5 s and try again", 1.5),
        ("You exceeded your current quota. Please retry in 3.2s.", 3.2),
        ("The next slot is available in 20s.", 20.0),
        ("Your limit resets in 1 hour, 2 minutes", 3720.0),
        ("Rate limited. Retry-After: 30", 30.0),
        ("retry_after=2.5, code=slow", 2.5),
        ("Please wait. Your plan allows 5 requests", None),
        ("the limit resets at 3 pm", None),
        ("You asked for 5 s of audio", None),
        ("try again in a moment", None),
        ("try again in 5 apples", None),
        ("try again in " + "9" * 400 + "s", None),
        ("no hint", None),
    ],
)
def test_the_wait_in_a_message_is_read(message: str, seconds: float | None) -> None:
    assert retry_after(message) == (seconds if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after": "77", "retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "Sun, 06 Nov 1994 08:50:37 GMT"}, 60.0),
        ({"retry-after": "Sunday, 06-Nov-94 08:50:37 GMT"}, 60.0),
        ({"retry-after": "Sun, 06 Nov 1994 08:49:00 GMT"}, 0.0),
        (
            {"retry-after": "Sun, 06 Nov 1994 09:50:07 GMT", "date": "Sun, 06 Nov 1994 09:49:37 GMT"},
            30.0,
        ),
        ({"retry-after": "Sun, 06 Nov 1994 08:50:37 GMT", "date": "yesterday"}, 60.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan", "retry-after-ms": "x"}, None),
        ({"retry-after": "99 Nov 99999999999 08:50:37"}, None),
        ({"retry-after": "20s"}, 20.0),
        ({}, None),
    ],
)
def test_the_wait_in_headers_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert header_wait(headers, NOON) == seconds


LIMITS = {
    "x-ratelimit-remaining-requests": "59",
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-reset-requests": "1s",
    "x-ratelimit-remaining-tokens": "500",
    "x-ratelimit-limit-tokens": "30000",
    "x-ratelimit-reset-tokens": "6m0s",
}
ANTHROPIC = {
    "anthropic-ratelimit-requests-remaining": "0",
    "anthropic-ratelimit-requests-reset": "1994-11-06T08:50:07Z",
    "anthropic-ratelimit-input-tokens-remaining": "900",
    "anthropic-ratelimit-input-tokens-reset": "1994-11-06T09:00:00Z",
}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"x-ratelimit-reset": "12"}, 12.0),
        ({"x-ratelimit-reset": "1784111807"}, 1_000_000_030.0),
        ({"x-ratelimit-reset": "1784111807000"}, 1_000_000_030.0),
        ({"x-ratelimit-reset-tokens": "12ms"}, 0.012),
        ({"ratelimit-reset": "5"}, 5.0),
        (LIMITS, 360.0),
        ({**LIMITS, "x-ratelimit-remaining-requests": "0"}, 1.0),
        ({"x-ratelimit-reset-requests": "6h0m0s", "x-ratelimit-reset-tokens": "5s"}, 5.0),
        (ANTHROPIC, 30.0),
        ({**ANTHROPIC, "anthropic-ratelimit-input-tokens-remaining": "0"}, 623.0),
        ({"x-ratelimit-reset": "soon", "x-ratelimit-limit": "5"}, None),
        ({"x-ratelimit-reset": "9h", "x-ratelimit-limit": "50", "x-ratelimit-remaining": "49"}, None),
        ({"x-ratelimit-reset": "9", "x-ratelimit-limit": "50", "x-ratelimit-remaining": "1"}, 9.0),
        ({"x-ratelimit-reset": "9", "x-ratelimit-remaining": "49"}, 9.0),
        ({}, None),
    ],
)
def test_the_end_of_a_limit_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert limit_wait(headers, NOON) == (seconds if seconds is None else pytest.approx(seconds))


def test_headers_of_limits_count_for_limits_alone() -> None:
    for status, wait in ((429, 360.0), (503, 360.0), (500, None), (400, None)):
        assert read_refusal(status, b"{}", LIMITS).retry_after == wait
    named = read_refusal(429, b'{"error": {"message": "try again in 2s"}}', LIMITS)
    assert named.retry_after == 2.0, "what it says comes before the headers of limits"
    assert read_refusal(429, b"{}", {**LIMITS, "retry-after": "3"}).retry_after == 3.0


RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3s"}


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        ({"details": [{"@type": "other"}, RETRY_INFO], "message": "Please retry in 9s."}, 3.0),
        ({"details": [{**RETRY_INFO, "retryDelay": "3.5s"}]}, 3.5),
        ({"details": [{**RETRY_INFO, "retryDelay": {"seconds": "4", "nanos": 1}}]}, 4.0),
        ({"details": ["x", {"retryDelay": True}, {"retryDelay": "soon"}], "message": "retry in 9s"}, 9.0),
        ({"retry_after": 7}, 7.0),
        ({"retryAfter": "7s"}, 7.0),
        ({"retry_after_ms": 1500}, 1.5),
        ({"retry_after_seconds": 7}, 7.0),
        ({"metadata": {"headers": {"X-RateLimit-Reset": "60"}}}, 60.0),
    ],
)
def test_the_wait_in_the_fields_of_an_error_is_read(error: dict[str, object], seconds: float) -> None:
    assert read_error({"error": {"code": 429, "message": "slow", **error}}).retry_after == seconds
    assert read_refusal(429, json.dumps([{"error": error}]).encode(), {}).retry_after == seconds


def test_a_moment_in_an_error_counts_from_now() -> None:
    body = {"error": {"type": "usage_limit_reached", "resets_at": 1_800_000_060}}
    assert read_error(body, 1_800_000_000.0).retry_after == 60.0
    assert read_error(body).retry_after is None


@pytest.mark.parametrize(
    ("seconds", "code", "words"),
    [
        (None, "", ""),
        (60.0, "rate_limit_exceeded", ""),
        (600.0, "rate_limit_exceeded", " Ask again at 12:10 (in 10 min)."),
        (60.0, "usage_limit_reached", " Ask again at 12:01 (in 1 min)."),
        (3 * 86_400.0, "usage_limit_reached", " Ask again on Tuesday, 24 November, at 12:00 (in 72 h)."),
        (1e300, "usage_limit_reached", ""),
    ],
)
def test_a_message_names_the_end_of_a_long_wait(seconds: float | None, code: str, words: str) -> None:
    error = LinkError(LinkProblem.SERVER, "said", code=code, retry_after=seconds)
    assert when_to_ask_again(error, Retries(), datetime(2026, 11, 21, 12)) == words


def test_the_wait_in_an_error_frames_headers_is_read() -> None:
    for frame in (
        {"type": "error", "error": {"message": "slow", "headers": {"Retry-After": "7"}}},
        {"type": "error", "error": {"message": "slow"}, "headers": {"retry-after-ms": 7000}},
        {"type": "error", "error": {"message": "slow", "headers": {"retry-after": "7"}}, "headers": {"x": 1}},
    ):
        assert read_error(frame).retry_after == 7.0
    assert read_error({"type": "error", "error": {"message": "slow", "headers": ["7"]}}).retry_after is None


LOCATED = {"loc": ["body", "reasoning", "summary"], "msg": "Extra inputs are not permitted", "type": "extra"}
QUOTED = '{"error": {"message": "Context too long", "metadata": {"raw": "upstream"}}}'


@pytest.mark.parametrize(
    ("body", "message", "code", "param"),
    [
        (
            {"detail": [LOCATED]},
            "'reasoning.summary': Extra inputs are not permitted",
            "",
            "reasoning.summary",
        ),
        ({"detail": [LOCATED, 7, {"loc": ["x", 0]}]}, "'reasoning.summary': Extra", "", "reasoning.summary"),
        ({"detail": "Not authenticated"}, "Not authenticated", "", ""),
        (
            {"error": {"error": {"message": "inner", "code": "model_not_found"}}},
            "inner",
            "model_not_found",
            "",
        ),
        ({"error": {"message": "outer", "error": {"message": "inner"}}}, "outer", "", ""),
        ({"error": [{"message": "listed", "param": "text"}]}, "listed", "", "text"),
        ({"error": {"code": "x"}, "message": "beside"}, "beside", "x", ""),
        ({"errors": ["words"]}, "words", "", ""),
        ({"errors": [{"error": {"message": "in a list"}}]}, "in a list", "", ""),
        ({"errors": [], "title": "Forbidden"}, "Forbidden", "", ""),
        (
            {"error": {"message": "Provider", "metadata": {"raw": QUOTED}}},
            "Provider: Context too long",
            "",
            "",
        ),
        ({"error": {"message": "Provider", "metadata": {"raw": "<html>"}}}, "Provider: <html>", "", ""),
        ({"error": [[[]]], "detail": [[]]}, "without a message", "", ""),
        ({"error": True, "errors": 7}, "without a message", "", ""),
    ],
)
def test_an_error_is_read_wherever_the_server_puts_it(
    body: dict[str, object], message: str, code: str, param: str
) -> None:
    error = read_error(body)
    assert message in error.message and (error.code, error.param) == (code, param)


@pytest.mark.parametrize(
    ("error", "status", "again"),
    [
        ({"message": "Provider disconnected", "code": 502}, 502, True),
        ({"message": "later", "type": "None", "param": "None", "code": "429"}, 429, True),
        ({"message": "no", "code": "400"}, 400, False),
        ({"message": "no", "code": 7}, None, False),
        ({"message": "no", "code": "server said 500"}, None, False),
    ],
)
def test_a_status_in_place_of_the_code_is_read(
    error: dict[str, object], status: int | None, again: bool
) -> None:
    read = read_error({"error": error})
    assert (read.status, read.param) == (status, "")
    assert passing(from_server(read, Endpoint("https://host/v1"), "model")) is again


@pytest.mark.parametrize(
    "message",
    [
        "prompt is too long: 210000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000",
        "Input is too long for requested model.",
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "Please reduce the length of the messages or completion.",
        "prompt token count of 128044 exceeds the limit of 128000",
        "the request exceeds the available context size, try increasing it",
        "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with "
        "context length of only 4096 tokens, which is not enough.",
        "invalid params, context window exceeds limit (2013)",
        "Invalid request: Your request exceeded model token limit: 262144",
        "Range of input length should be [1, 98304]",
        "prompt too long; exceeded max context length by 4 tokens",
        "Your input exceeds the context window of this model.",
        "Input tokens exceed the configured limit of 272000 tokens.",
        "Requested token count exceeds the model's maximum context length of 131072 tokens.",
    ],
)
def test_a_request_that_is_too_long_is_known_by_what_each_server_says(message: str) -> None:
    said = from_server(
        read_error({"error": {"message": message, "code": 400}}), Endpoint("https://h/v1"), "m"
    )
    assert said.kind is LinkProblem.CONTEXT


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (400, "API key not valid. Please pass a valid API key.", LinkProblem.UNAUTHORIZED),
        (400, "API key expired. Please renew the API key.", LinkProblem.UNAUTHORIZED),
        (400, "Incorrect API key provided", LinkProblem.UNAUTHORIZED),
        (400, "the key of this map is not valid JSON", LinkProblem.SERVER),
        (400, "rate too high; context is fine; reduce the tokens per minute", LinkProblem.SERVER),
        (403, "no access", LinkProblem.UNAUTHORIZED),
        (403, "Country, region, or territory not supported", LinkProblem.REFUSED),
        (403, "Attention Required! | Cloudflare Sorry, you have been blocked", LinkProblem.REFUSED),
    ],
)
def test_an_error_is_about_the_key_where_another_key_would_help(
    status: int, message: str, kind: LinkProblem
) -> None:
    error = read_refusal(status, json.dumps({"error": {"message": message}}).encode(), {})
    assert from_server(error, Endpoint("https://h/v1", "sk-1"), "m").kind is kind


def test_an_error_in_a_list_is_read() -> None:
    body = b' [{"error": {"code": 404, "message": "models/x is not found", "status": "NOT_FOUND"}}]'
    assert read_refusal(404, body, {}).message == "models/x is not found"
    assert read_refusal(500, b"[broken", {}).message == "[broken"


def test_a_servers_words_are_ended_before_more_is_said() -> None:
    assert LinkError(LinkProblem.SERVER, "slow").saying(" Ask again.").message == "slow. Ask again."
    assert LinkError(LinkProblem.SERVER, "slow.").saying(" Ask again.").message == "slow. Ask again."
