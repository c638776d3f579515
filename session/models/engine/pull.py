"""Downloads a model from the hub: an interrupted download is resumed, and only a whole file is kept.

``huggingface_hub`` would do the same with a cache of its own, but checks only the size of a download. Whoever
runs a stranger's file relies on the checksum, so spark does this itself.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from session.models.engine.model_hub import Hub, HubError, HubFile, Repository, known_models
from session.models.engine.model_store import PART, SUFFIX, ModelStore, Origin
from session.models.engine.settings import LocalError

_SPARE_DISK = 256 * 1024 * 1024
_FAVOURITE = "q4_k_m"
"""The quantisation to prefer when there are several: the usual compromise of size and quality."""
_PART_OF_SEVERAL = re.compile(r"-\d{5}-of-\d{5}\.gguf$", re.IGNORECASE)
_WAITS = (1.0, 2.0, 4.0, 8.0)
"""Seconds to wait before each new attempt after a lost connection; after the last one the pull fails."""
_MOST_NAMED = 12


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file to pull, its repository, and the name that it gets on this machine."""

    repository: Repository
    file: HubFile
    name: str


Progress = Callable[[int, int], None]
"""Called often, with the bytes downloaded so far and the file's size."""
Say = Callable[[str], None]


def choose(hub: Hub, name: str, file: str | None) -> Wanted:
    """The file for ``name``, a known short name or ``owner/model``. Raises HubError or LocalError."""
    known = next((each for each in known_models() if each.name == name), None)
    if known is None and name.count("/") != 1:
        names = ", ".join(each.name for each in known_models())
        raise LocalError(f"{name!r} is neither owner/model at the hub nor one of {names}")
    repository = hub.repository(known.repository if known else name)
    found = _chosen(repository, file or (known.file if known else None))
    title = PurePosixPath(found.name).name.removesuffix(SUFFIX)
    if title.startswith(".") or not title:
        raise LocalError(f"{found.name!r} cannot be used as a file name")
    return Wanted(repository, found, title)


def _chosen(repository: Repository, file: str | None) -> HubFile:
    models = [each for each in repository.files if each.name.lower().endswith(SUFFIX)]
    offered = ", ".join(each.name for each in models[:_MOST_NAMED])
    if file is not None:
        found = [each for each in models if each.name == file]
        if not found:
            has = f"; it has {offered}" if models else ", nor any GGUF file"
            raise LocalError(f"{repository.name} has no file {file}{has}")
    else:
        whole = [
            each for each in models if not _PART_OF_SEVERAL.search(each.name) and "mmproj" not in each.name
        ]
        found = [each for each in whole if _FAVOURITE in each.name.lower()] or whole
        if len(found) != 1:
            has = f"choose one with --file: {offered}" if models else "has no GGUF file"
            raise LocalError(f"{repository.name}: {has}")
    if _PART_OF_SEVERAL.search(found[0].name):
        raise LocalError(f"{found[0].name} is one of several parts, which spark cannot join")
    return found[0]


def pull(hub: Hub, store: ModelStore, wanted: Wanted, progress: Progress, say: Say) -> Path:
    """Download ``wanted`` and return its path; an unfinished pull is resumed.

    Raises HubError, LocalError (no space, wrong checksum, already being pulled) or OSError. After a HubError
    or KeyboardInterrupt the downloaded part stays and can be resumed.
    """
    if not wanted.file.sha256:
        raise LocalError(f"the hub lists no checksum for {wanted.file.name}, so it is not pulled")
    folder = store.make()
    place = folder / (wanted.name + SUFFIX)
    origin = Origin(wanted.repository.name, wanted.file.name, wanted.file.size, wanted.file.sha256, "")
    before = store.origin(wanted.name)
    if place.exists():
        if before is not None and replace(before, etag="") == origin:
            say(f"{wanted.name} is there already")
            return place
        raise LocalError(f"another {wanted.name} is here; first run: spark local remove {wanted.name}")
    part = folder / (wanted.name + SUFFIX + PART)
    with part.open("ab") as stream:
        _lock(stream, wanted.name)
        if before is None or replace(before, etag="") != origin:
            if before is not None and stream.tell():
                say("the file has changed at the hub; starting again")
            stream.truncate(0)
            store.keep_origin(wanted.name, origin)
            before = origin
        transfer = _Transfer(hub, store, wanted, before, part, stream)
        transfer.check_space()
        transfer.run(progress, say)
        os.fsync(stream.fileno())
        part.replace(place)
    return place


def _lock(stream: BinaryIO, name: str) -> None:
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        raise LocalError(f"{name} is being pulled by another spark already") from problem


class _Transfer:
    """The download of one file, over as many connections as necessary."""

    def __init__(
        self, hub: Hub, store: ModelStore, wanted: Wanted, origin: Origin, part: Path, stream: BinaryIO
    ) -> None:
        self._hub, self._store, self._wanted = hub, store, wanted
        self._origin, self._part, self._stream = origin, part, stream
        self._size = wanted.file.size

    @property
    def _there(self) -> int:
        return os.fstat(self._stream.fileno()).st_size

    def check_space(self) -> None:
        """Raise LocalError if the rest does not fit on the disk."""
        free = shutil.disk_usage(self._part.parent).free
        needed = self._size - self._there + _SPARE_DISK
        if free < needed:
            message = f"{needed / 1e9:.1f} GB are needed in {self._part.parent}, {free / 1e9:.1f} GB are free"
            raise LocalError(message)

    def run(self, progress: Progress, say: Say) -> None:
        """Download the missing part and check the whole file's checksum."""
        waits = iter(_WAITS)
        while self._there < self._size:
            before = self._there
            try:
                self._load(progress, say)
            except HubError as problem:
                if self._there > before:
                    waits = iter(_WAITS)
                wait = next(waits, None) if problem.passing else None
                if wait is None:
                    kept = "; the downloaded part is kept: pull again to resume" if self._there else ""
                    raise HubError(f"{problem}{kept}") from problem
                say(f"{problem}; going on in {wait:g} s")
                time.sleep(wait)
        self._verify()

    def _load(self, progress: Progress, say: Say) -> None:
        start = self._there
        with self._hub.content(
            self._wanted.repository, self._wanted.file.name, start, self._origin.etag
        ) as answer:
            begins = f"bytes {start}-"
            if start and not (
                answer.status_code == 206 and answer.headers.get("content-range", "").startswith(begins)
            ):
                say("the hub cannot resume; starting again")
                self._stream.truncate(0)
            self._keep_etag(answer.headers.get("etag", ""))
            there = self._there
            for chunk in answer.iter_raw():
                there += len(chunk)
                if there > self._size:
                    self._forget()
                    raise LocalError(f"{self._wanted.file.name} is longer than listed and was deleted")
                self._stream.write(chunk)
                self._stream.flush()
                progress(there, self._size)
        if there < self._size:
            raise HubError("the connection closed before the end of the file", passing=True)

    def _keep_etag(self, etag: str) -> None:
        if etag != self._origin.etag:
            self._origin = replace(self._origin, etag=etag)
            self._store.keep_origin(self._wanted.name, self._origin)

    def _verify(self) -> None:
        with self._part.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        if found != self._wanted.file.sha256:
            self._forget()
            raise LocalError(
                f"{self._wanted.file.name} does not have the checksum that the hub tells; it was dropped"
            )

    def _forget(self) -> None:
        """Delete the downloaded part, which cannot be used."""
        self._part.unlink(missing_ok=True)
        self._store.note(self._wanted.name).unlink(missing_ok=True)
