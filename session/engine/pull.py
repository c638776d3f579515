"""Bringing a model from the hub onto the shelf: resumed where it was cut, and whole or not at all.

``huggingface_hub`` would do the same with a cache of its own, and checks the size of what it loaded; the
checksum is what a person who runs a stranger's file relies on, so the 200 lines are ours.
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

from session.engine.hub import Hub, HubError, HubFile, Repository, known_models
from session.engine.settings import LocalError
from session.engine.shelf import PART, SUFFIX, Origin, Shelf

_SPARE_DISK = 256 * 1024 * 1024
_FAVOURITE = "q4_k_m"
"""The quantisation that is taken where several are offered: the usual middle between size and wit."""
_PART_OF_SEVERAL = re.compile(r"-\d{5}-of-\d{5}\.gguf$", re.IGNORECASE)
_WAITS = (1.0, 2.0, 4.0, 8.0)
"""Seconds before a lost transfer is taken up again; it is given up when they are used up in a row."""
_MOST_NAMED = 12


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be pulled: the file, where it is, and the name it gets here."""

    repository: Repository
    file: HubFile
    name: str


Progress = Callable[[int, int], None]
"""Told the bytes that are there and the bytes of the whole, often."""
Say = Callable[[str], None]


def choose(hub: Hub, name: str, file: str | None) -> Wanted:
    """The file that ``name`` (a known short name or ``owner/model``) means. Raises HubError or LocalError."""
    known = next((each for each in known_models() if each.name == name), None)
    if known is None and name.count("/") != 1:
        names = ", ".join(each.name for each in known_models())
        raise LocalError(f"{name!r} is neither owner/model of the hub nor one of {names}")
    repository = hub.repository(known.repository if known else name)
    found = _chosen(repository, file or (known.file if known else None))
    title = PurePosixPath(found.name).name.removesuffix(SUFFIX)
    if title.startswith(".") or not title:
        raise LocalError(f"{found.name!r} is no name for a file here")
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
        raise LocalError(f"{found[0].name} is one of several parts, which are not put together here")
    return found[0]


def pull(hub: Hub, shelf: Shelf, wanted: Wanted, progress: Progress, say: Say) -> Path:
    """Bring ``wanted`` onto the shelf and return its place; an earlier, unfinished pull is resumed.

    Raises HubError (what was loaded stays, to be resumed), LocalError (no space, wrong checksum, being
    pulled already) or OSError. KeyboardInterrupt leaves what was loaded as well.
    """
    if not wanted.file.sha256:
        raise LocalError(f"the hub tells no checksum of {wanted.file.name}: it is not taken")
    folder = shelf.make()
    place = folder / (wanted.name + SUFFIX)
    origin = Origin(wanted.repository.name, wanted.file.name, wanted.file.size, wanted.file.sha256, "")
    before = shelf.origin(wanted.name)
    if place.exists():
        if before is not None and replace(before, etag="") == origin:
            say(f"{wanted.name} is there already")
            return place
        raise LocalError(f"another {wanted.name} is there; first: spark local remove {wanted.name}")
    part = folder / (wanted.name + SUFFIX + PART)
    with part.open("ab") as stream:
        _lock(stream, wanted.name)
        if before is None or replace(before, etag="") != origin:
            if before is not None and stream.tell():
                say("the file has changed at the hub since; starting from its beginning")
            stream.truncate(0)
            shelf.keep_origin(wanted.name, origin)
            before = origin
        transfer = _Transfer(hub, shelf, wanted, before, part, stream)
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
    """One file on its way, over as many connections as it takes."""

    def __init__(
        self, hub: Hub, shelf: Shelf, wanted: Wanted, origin: Origin, part: Path, stream: BinaryIO
    ) -> None:
        self._hub, self._shelf, self._wanted = hub, shelf, wanted
        self._origin, self._part, self._stream = origin, part, stream
        self._size = wanted.file.size

    @property
    def _there(self) -> int:
        return os.fstat(self._stream.fileno()).st_size

    def check_space(self) -> None:
        """Raise LocalError where the disk cannot take the rest."""
        free = shutil.disk_usage(self._part.parent).free
        needed = self._size - self._there + _SPARE_DISK
        if free < needed:
            message = f"{needed / 1e9:.1f} GB are needed in {self._part.parent}, {free / 1e9:.1f} GB are free"
            raise LocalError(message)

    def run(self, progress: Progress, say: Say) -> None:
        """Load what is missing and hold the whole against its checksum."""
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
                    kept = "; what was loaded is kept: pull again to go on" if self._there else ""
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
                say("the hub gives the file from its beginning only; starting anew")
                self._stream.truncate(0)
            self._keep_etag(answer.headers.get("etag", ""))
            there = self._there
            for chunk in answer.iter_raw():
                there += len(chunk)
                if there > self._size:
                    self._forget()
                    raise LocalError(f"{self._wanted.file.name} is longer than the hub said; it was dropped")
                self._stream.write(chunk)
                self._stream.flush()
                progress(there, self._size)
        if there < self._size:
            raise HubError("the connection ended before the file did", passing=True)

    def _keep_etag(self, etag: str) -> None:
        if etag != self._origin.etag:
            self._origin = replace(self._origin, etag=etag)
            self._shelf.keep_origin(self._wanted.name, self._origin)

    def _verify(self) -> None:
        with self._part.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        if found != self._wanted.file.sha256:
            self._forget()
            raise LocalError(
                f"{self._wanted.file.name} does not have the checksum that the hub tells; it was dropped"
            )

    def _forget(self) -> None:
        """Drop what was loaded: nothing of it can be built on."""
        self._part.unlink(missing_ok=True)
        self._shelf.note(self._wanted.name).unlink(missing_ok=True)
