"""Fill-in-the-middle dialects: text before and behind a gap goes out, what belongs between comes back.

Sources: OpenAI's reference of ``POST /completions`` with ``suffix`` (Ollama serves it too, and DeepSeek
below ``/beta``: api-docs.deepseek.com/guides/fim_completion); the README of llama.cpp's server for
``/infill``, which stands beside ``/v1``; ``/fim/completions`` of Mistral (docs.mistral.ai/api), whose chunks
are those of a chat, and of Inception (docs.inceptionlabs.ai). Only suggestions are asked for in them. A
server that knows none of them is sent the tokens of the model itself (``fim_tokens.toml``).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import Any

from session.wire.protocol.errors import read_error
from session.wire.protocol.events import Garbled, TokenUsage, WireEvent
from session.wire.protocol.frames import NotAnObject, parse_object
from session.wire.protocol.items import Sent, text_of
from session.wire.protocol.parts import Parts, count
from session.wire.protocol.request import RequestProfile

_DONE = b"[DONE]"


def encode_completions(profile: RequestProfile, items: Sequence[Sent]) -> dict[str, Any]:
    """The body of ``POST /completions``; ``items`` are the text before the gap and the text behind it."""
    before, after = map(text_of, items)
    return {
        "model": profile.model,
        "prompt": before,
        "suffix": after,
        "max_tokens": profile.max_output_tokens,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def encode_fim(profile: RequestProfile, items: Sequence[Sent]) -> dict[str, Any]:
    """The body of ``POST /fim/completions``; ``items`` as in :func:`encode_completions`. Mistral refuses
    fields that it does not know, and counts without being asked."""
    body = encode_completions(profile, items)
    del body["stream_options"]
    return body


def encode_tokens(profile: RequestProfile, items: Sequence[Sent]) -> dict[str, Any]:
    """The body of ``POST /completions`` with the gap in the model's own tokens; ``items`` as in
    :func:`encode_completions`. Raises KeyError for a model that is not known to have any."""
    row = _tokens_of(profile.model)
    if row is None:
        raise KeyError(profile.model)
    before, behind = map(text_of, items)
    # Not by str.format: the texts hold braces, and one must not be read in the other.
    first, middle, last = _split(row["prompt"])
    turned = row["prompt"].index("{behind}") < row["prompt"].index("{before}")
    left, right = (behind, before) if turned else (before, behind)
    return {
        "model": profile.model,
        "prompt": f"{first}{left}{middle}{right}{last}",
        "stop": row["stop"],
        "max_tokens": profile.max_output_tokens,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def has_tokens(model: str) -> bool:
    """Whether the tokens are known with which ``model`` is told of a gap."""
    return _tokens_of(model) is not None


def _tokens_of(model: str) -> Mapping[str, Any] | None:
    own = model.lower().rpartition("/")[2]
    return next((row for row in _rows() if any(fnmatchcase(own, name) for name in row["names"])), None)


def _split(prompt: str) -> tuple[str, str, str]:
    first, _, rest = prompt.partition("{")
    _, _, rest = rest.partition("}")
    middle, _, last = rest.partition("{")
    return first, middle, last.partition("}")[2]


@cache
def _rows() -> tuple[Mapping[str, Any], ...]:
    text = resources.files("session.wire.protocol").joinpath("fim_tokens.toml").read_text("utf-8")
    return tuple(tomllib.loads(text)["model"])


def encode_infill(profile: RequestProfile, items: Sequence[Sent]) -> dict[str, Any]:
    """The body of ``POST /infill``; ``items`` as in :func:`encode_completions`. The text before the gap is
    kept in the server's cache."""
    before, after = map(text_of, items)
    return {
        "input_prefix": before,
        "input_suffix": after,
        "n_predict": profile.max_output_tokens,
        "temperature": 0,
        "cache_prompt": True,
        "stream": True,
    }


class FimDecoder:
    """Reads the chunks of an answer in either dialect."""

    def __init__(self, origin: str = "") -> None:
        self.finished = False
        self._parts = Parts(origin)
        self._usage: TokenUsage | None = None
        self._ended = False
        self._cut = False

    def feed(self, frame: str | bytes | bytearray) -> list[WireEvent]:
        """The events in ``frame``, the data of one server-sent event."""
        if self.finished:
            return []
        data = frame.encode("utf-8", "replace") if isinstance(frame, str) else bytes(frame)
        if data.strip() == _DONE:
            return self._finish()
        try:
            body = parse_object(data)
        except NotAnObject as problem:
            return [Garbled(str(problem))]
        if body.get("error"):
            self.finished = True
            return [read_error(body)]
        usage = body.get("usage")
        if isinstance(usage, dict):
            self._usage = TokenUsage(
                count(usage, "prompt_tokens"),
                count(usage, "prompt_tokens_details", "cached_tokens"),
                count(usage, "completion_tokens"),
                0,
            )
        choices = body.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else body
        if not isinstance(choice, dict):
            return []
        delta = choice.get("delta")
        piece = delta if isinstance(delta, dict) else choice
        text = piece.get("text", piece.get("content"))
        events = self._parts.text(text) if isinstance(text, str) and text else []
        self._ended = self._ended or bool(choice.get("finish_reason"))
        limit = choice.get("finish_reason") == "length" or choice.get("stop_type") == "limit"
        self._cut = self._cut or limit or choice.get("stopped_limit") is True
        if choice.get("stop") is True:
            read, made = count(body, "tokens_evaluated"), count(body, "tokens_predicted")
            cached = min(read, count(body, "tokens_cached"))
            self._usage = TokenUsage(read, cached, made, 0) if read or made else None
            return [*events, *self._finish()]
        return events

    def end(self) -> list[WireEvent]:
        """The last events when the stream ends without saying so."""
        return [] if self.finished or not self._ended else self._finish()

    def _finish(self) -> list[WireEvent]:
        self.finished = True
        if self._cut:
            return self._parts.finish("incomplete", "", self._usage, "max_output_tokens")
        return self._parts.finish("completed", "", self._usage, None)
