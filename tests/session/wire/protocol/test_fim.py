"""The dialects that fill in the middle, as the servers' documents show them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from session.wire.protocol.dialects import dialect
from session.wire.protocol.events import Finished, Garbled, ServerError, TextDelta, TokenUsage
from session.wire.protocol.fim import has_tokens
from session.wire.protocol.items import user_message
from session.wire.protocol.request import RequestProfile
from session.wire.transport.endpoint import Endpoint

PROFILE = RequestProfile(model="coder", instructions="never sent", max_output_tokens=50)
GAP = (user_message("def a"), user_message("\n    return 1\n"))


def test_prefix_and_suffix_go_out_under_each_servers_names() -> None:
    body = dialect("completions").encode(PROFILE, GAP)
    assert (body["prompt"], body["suffix"], body["max_tokens"]) == ("def a", "\n    return 1\n", 50)
    body = dialect("infill").encode(PROFILE, GAP)
    assert (body["input_prefix"], body["input_suffix"]) == ("def a", "\n    return 1\n")
    assert body["n_predict"] == 50
    assert "never sent" not in json.dumps(body)


def test_infill_stands_beside_the_version_of_the_api() -> None:
    at = Endpoint("http://127.0.0.1:8080/v1")
    assert at.http_url(dialect("infill").path) == "http://127.0.0.1:8080/infill"
    assert at.http_url(dialect("completions").path) == "http://127.0.0.1:8080/v1/completions"
    assert Endpoint("http://127.0.0.1:8080").http_url("/../infill") == "http://127.0.0.1:8080/infill"


def test_the_routes_of_mistral_inception_and_deepseek() -> None:
    mistral, deepseek = Endpoint("https://api.mistral.ai/v1"), Endpoint("https://api.deepseek.com/v1")
    assert mistral.http_url(dialect("fim").path) == "https://api.mistral.ai/v1/fim/completions"
    assert deepseek.http_url(dialect("beta").path) == "https://api.deepseek.com/beta/completions"
    body = dialect("fim").encode(PROFILE, GAP)
    assert (body["prompt"], body["suffix"]) == ("def a", "\n    return 1\n") and "stream_options" not in body
    assert dialect("beta").encode(PROFILE, GAP)["stream_options"] == {"include_usage": True}
    decoder = dialect("fim").decoder(PROFILE)
    assert decoder.feed('{"choices":[{"delta":{"content":"rea("}}]}') == [TextDelta("rea(")]
    counts = '"usage":{"prompt_tokens":9,"completion_tokens":2}'
    end = f'{{"choices":[{{"delta":{{"content":""}},"finish_reason":"stop"}}],{counts}}}'
    assert decoder.feed(end) == []
    *_, last = decoder.feed("[DONE]")
    assert isinstance(last, Finished) and last.usage == TokenUsage(9, 0, 2, 0)


def test_the_chunks_of_completions_are_read() -> None:
    decoder = dialect("completions").decoder(PROFILE)
    assert decoder.feed('{"choices":[{"index":0,"text":"rea("}]}') == [TextDelta("rea(")]
    assert decoder.feed('{"choices":[{"index":0,"text":"","finish_reason":"stop"}]}') == []
    assert decoder.feed('{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}') == []
    *_, last = decoder.feed("[DONE]")
    assert isinstance(last, Finished) and last.usage == TokenUsage(9, 0, 2, 0) and decoder.finished


def test_the_chunks_of_infill_are_read() -> None:
    decoder = dialect("infill").decoder(PROFILE)
    assert decoder.feed('{"content":"rea(","stop":false}') == [TextDelta("rea(")]
    end = '{"content":"","stop":true,"tokens_evaluated":9,"tokens_cached":7,"tokens_predicted":2}'
    *_, last = decoder.feed(end)
    assert isinstance(last, Finished) and last.usage == TokenUsage(9, 7, 2, 0)


@pytest.mark.parametrize(
    ("model", "prompt"),
    [
        ("Qwen/Qwen2.5-Coder-1.5B", "<|fim_prefix|>a{b<|fim_suffix|>\n{before}\n<|fim_middle|>"),
        ("starcoder2:3b", "<fim_prefix>a{b<fim_suffix>\n{before}\n<fim_middle>"),
        ("deepseek-coder-v2-lite", "<｜fim▁begin｜>a{b<｜fim▁hole｜>\n{before}\n<｜fim▁end｜>"),
        ("CodeLlama-7B", "<PRE> a{b <SUF>\n{before}\n <MID>"),
        ("codestral-2508", "[SUFFIX]\n{before}\n[PREFIX]a{b"),
    ],
)
def test_a_model_is_told_of_the_gap_in_its_own_tokens(model: str, prompt: str) -> None:
    items = (user_message("a{b"), user_message("\n{before}\n"))
    body = dialect("tokens").encode(replace(PROFILE, model=model), items)
    assert body["prompt"] == prompt and body["stop"] and dialect("tokens").path == "/completions"
    assert has_tokens(model) and not has_tokens("llama3.2:3b")


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("completions", '{"choices":[{"index":0,"text":"de","finish_reason":"length"}]}'),
        ("infill", '{"content":"de","stop":true,"stop_type":"limit","tokens_predicted":2}'),
    ],
)
def test_an_answer_at_its_limit_is_not_whole(name: str, end: str) -> None:
    decoder = dialect(name).decoder(PROFILE)
    *_, last = [*decoder.feed(end), *decoder.feed("[DONE]")]
    assert isinstance(last, Finished) and last.status == "incomplete"


def test_errors_and_noise_end_nothing_but_themselves() -> None:
    decoder = dialect("infill").decoder(PROFILE)
    assert isinstance(decoder.feed("noise")[0], Garbled)
    assert decoder.feed('{"choices":[7]}') == [] and decoder.feed('{"choices":null}') == []
    refused = '{"error":{"code":501,"message":"Infill is not supported by this model"}}'
    assert isinstance(decoder.feed(refused)[0], ServerError) and decoder.finished
