"""Fill-in-the-middle dialects: text before and behind a gap goes out, what belongs between comes back.

Sources: OpenAI's reference of ``POST /completions`` with ``suffix`` (Ollama serves it too, and DeepSeek
below ``/beta``: api-docs.deepseek.com/guides/fim_completion); the README of llama.cpp's server for
``/infill``, which stands beside ``/v1``; ``/fim/completions`` of Mistral (docs.mistral.ai/api), whose chunks
are those of a chat, and of Inception (docs.inceptionlabs.ai). Only suggestions are asked for in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from session.wire.protocol.errors import read_error
from session.wire.protocol.events import Garbled, TokenUsage, WireEvent
from session.wire.protocol.frames import NotAnObject, parse_object
from session.wire.protocol.items import Item, text_of
from session.wire.protocol.parts import Parts, count
from session.wire.protocol.request import RequestProfile

_DONE = b"[DONE]"


def encode_completions(profile: RequestProfile, items: Sequence[Item]) -> dict[str, Any]:
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


def encode_fim(profile: RequestProfile, items: Sequence[Item]) -> dict[str, Any]:
    """The body of ``POST /fim/completions``; ``items`` as in :func:`encode_completions`. Mistral refuses
    fields that it does not know, and counts without being asked."""
    body = encode_completions(profile, items)
    del body["stream_options"]
    return body


def encode_infill(profile: RequestProfile, items: Sequence[Item]) -> dict[str, Any]:
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
        return self._parts.finish("completed", "", self._usage, None)
