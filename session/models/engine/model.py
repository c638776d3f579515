"""Finds a model file for the embedded engine, reads its header and plans its context.

Reads the metadata of a GGUF file that comes before the vocabulary: enough to plan the model's context.

Source of the format: the GGUF specification in ggml's documentation (versions 2 and 3). The file is
untrusted, so every length is checked against the file's size before it is used.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

from session.base.text.wording import install_command
from session.models.engine.model_store import SUFFIX, ModelStore
from session.models.engine.settings import LocalError, LocalSettings

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_STRING, _ARRAY = 8, 9
_PLAIN = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""The format's type numbers for values of a fixed size, and their ``struct`` codes."""
_LONGEST_KEPT = 4096
"""A value with more elements, or bytes of a string, is skipped."""
_MOST_ENTRIES = 65_536
_HALF_FLOAT = 2
"""The size of one number in the attention cache, in bytes."""


class HeaderError(Exception):
    """The engine could not load the file as a model; the message says why."""


@dataclass(frozen=True, slots=True)
class Header:
    """``context`` is the length the model was trained for, in tokens; ``cache_bytes`` the memory that one
    token of context takes; ``size`` the file's size in bytes."""

    architecture: str
    name: str
    context: int
    cache_bytes: int
    size: int


def read_header(file: Path) -> Header:
    """Read the header of ``file``. Raises HeaderError, or OSError if it cannot be read."""
    size = file.stat().st_size
    with file.open("rb") as stream:
        values = _Reader(stream, size).values()
    architecture = values.get("general.architecture")
    if not isinstance(architecture, str):
        raise HeaderError("it does not name its architecture")
    context = _whole(values, f"{architecture}.context_length")
    layers = _whole(values, f"{architecture}.block_count")
    if not context or not layers:
        raise HeaderError(f"it is not a language model (its architecture is {architecture})")
    name = values.get("general.name")
    return Header(
        architecture,
        name if isinstance(name, str) else "",
        context,
        _cache_bytes(values, architecture, layers),
        size,
    )


def _cache_bytes(values: dict[str, Any], architecture: str, layers: int) -> int:
    """The bytes that one token's keys and values take in all layers."""
    heads = _each(values, f"{architecture}.attention.head_count", layers) or [1] * layers
    shared = _each(values, f"{architecture}.attention.head_count_kv", layers) or heads
    head_size = _whole(values, f"{architecture}.embedding_length") // max(1, *heads)
    key = _whole(values, f"{architecture}.attention.key_length") or head_size
    value = _whole(values, f"{architecture}.attention.value_length") or head_size
    return sum(shared) * (key + value) * _HALF_FLOAT


def _whole(values: dict[str, Any], key: str) -> int:
    value = values.get(key)
    return value if isinstance(value, int) and 0 < value < 2**31 else 0


def _each(values: dict[str, Any], key: str, layers: int) -> list[int]:
    value = values.get(key)
    if isinstance(value, tuple):
        return [each for each in value if isinstance(each, int) and 0 <= each < 2**20]
    return [_whole(values, key)] * layers if _whole(values, key) and layers <= _LONGEST_KEPT else []


class _Reader:
    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._size = size

    def values(self) -> dict[str, Any]:
        """The metadata up to the vocabulary, which is long and always comes after the model's own."""
        if self._stream.read(len(_MAGIC)) != _MAGIC:
            raise HeaderError("it is not a GGUF file")
        version = self._number("I")
        if version not in _VERSIONS:
            raise HeaderError(f"it is in GGUF version {version}; spark reads versions 2 and 3")
        self._number("Q")  # the number of tensors
        count = self._number("Q")
        if count > _MOST_ENTRIES:
            raise self._damaged()
        found: dict[str, Any] = {}
        for _ in range(count):
            key = self._string() or ""
            if key.startswith("tokenizer."):
                break
            found[key] = self._value(self._number("I"))
        return found

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            return self._array()
        if kind not in _PLAIN:
            raise self._damaged()
        return self._number(_PLAIN[kind])

    def _array(self) -> tuple[Any, ...] | None:
        kind, count = self._number("I"), self._number("Q")
        if kind == _STRING and count <= self._size:
            kept = tuple(self._string() for _ in range(count))
            return kept if count <= _LONGEST_KEPT else None
        if kind not in _PLAIN:
            raise self._damaged()
        if count > _LONGEST_KEPT:
            self._pass_over(count * struct.calcsize(_PLAIN[kind]))
            return None
        return tuple(self._number(_PLAIN[kind]) for _ in range(count))

    def _string(self) -> str | None:
        length = self._number("Q")
        if length > _LONGEST_KEPT:
            self._pass_over(length)
            return None
        return self._exactly(length).decode("utf-8", "replace")

    def _pass_over(self, length: int) -> None:
        if length > self._size - self._stream.tell():
            raise self._damaged()
        self._stream.seek(length, 1)

    def _number(self, letter: str) -> Any:
        (value,) = struct.unpack("<" + letter, self._exactly(struct.calcsize("<" + letter)))
        return value

    def _exactly(self, length: int) -> bytes:
        data = self._stream.read(length)
        if len(data) < length:
            raise HeaderError("it ends inside its header; the file may be an incomplete copy or download")
        return data

    def _damaged(self) -> HeaderError:
        return HeaderError(f"its header is damaged near byte {self._stream.tell():,}")


MOST_CONTEXT = 32_768
"""The most tokens of context by default; reading more takes minutes without a GPU."""
LEAST_CONTEXT = 4_096
_STEP = 256
_CACHE_SHARE = 0.5
"""The share of the memory left beside the weights that the attention cache may take."""
_RESERVE_SHARE = 4
_MOST_RESERVE = 16_000


@dataclass(frozen=True, slots=True)
class LocalModel:
    """``context`` is the window in tokens, ``size`` the file's in bytes, ``free`` the bytes of memory that
    were available then."""

    file: Path
    name: str
    context: int
    threads: int
    size: int
    free: int

    @property
    def output_reserve(self) -> int:
        """The tokens of the window that are reserved for the answer."""
        return min(_MOST_RESERVE, self.context // _RESERVE_SHARE)


def installed() -> bool:
    """Whether the engine is installed, without importing it."""
    return find_spec("xllamacpp") is not None


def find_model(wanted: str, settings: LocalSettings, environ: Mapping[str, str]) -> LocalModel:
    """The model for ``wanted``, a file or a pulled model's name. Raises LocalError."""
    file = _file(wanted, environ)
    if not installed():
        raise LocalError(f"--local needs the embedded engine: {install_command('xllamacpp')}")
    try:
        header = read_header(file)
    except HeaderError as problem:
        raise LocalError(f"{file} cannot be used as a model: {problem}") from problem
    except OSError as problem:
        raise LocalError(f"cannot read {file}: {problem.strerror}") from problem
    free = free_memory()
    if settings.context > header.context:
        trained = f"{file.name} was trained for {header.context:,} tokens"
        raise LocalError(f"[local] context is {settings.context:,}, and {trained}")
    context = settings.context or plan_context(header.context, header.cache_bytes, header.size, free)
    threads = settings.threads or spare_threads()
    return LocalModel(file, file.name.removesuffix(SUFFIX), context, threads, header.size, free)


def spare_threads() -> int:
    """The threads for the engine: a core is left free. With a thread on every core, all of them wait for one
    that anything else holds up, and a model writes a tenth of what it does with one thread fewer."""
    import psutil

    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(psutil.cpu_count(logical=False) or usable, usable) - 1)


def plan_context(trained: int, cache_bytes: int, weights: int, free: int) -> int:
    """The context to ask for, in tokens: the model's own, limited by memory and by the time to read it."""
    context = min(trained, MOST_CONTEXT)
    if cache_bytes:
        fits = int(max(0, free - weights) * _CACHE_SHARE) // cache_bytes
        context = min(context, max(LEAST_CONTEXT, fits - fits % _STEP))
    return context


def free_memory() -> int:
    """The bytes of memory that a new process could take."""
    import psutil

    return psutil.virtual_memory().available


def _file(wanted: str, environ: Mapping[str, str]) -> Path:
    if not wanted:
        raise LocalError("which model? give --local FILE.gguf, or model in the [local] table of config.toml")
    file = Path(wanted).expanduser()
    if file.is_file():
        return file.resolve()
    if file.exists():
        raise LocalError(f"{file} is not a file; --local takes a GGUF file or a pulled model's name")
    store = ModelStore(environ)
    pulled = store.find(wanted)
    if pulled is None:
        raise LocalError(f"there is no file {wanted}, nor a pulled model of that name{store.said()}")
    return pulled
