"""Finds a model file for the embedded engine, reads its header and plans its context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from session.base.text.install_hint import install_command
from session.models.engine.gguf_header import HeaderError, read_header
from session.models.engine.model_store import SUFFIX, ModelStore
from session.models.engine.settings import LocalError, LocalSettings

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
    return LocalModel(file, file.name.removesuffix(SUFFIX), context, settings.threads, header.size, free)


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
