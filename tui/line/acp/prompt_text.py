"""The text of a prompt, from the content blocks that a client sends.

Format: https://agentclientprotocol.com/protocol/content.

A prompt may mention files that the client has open: their texts are for the session's edit thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from acp import RequestError
from acp.interfaces import Client
from acp.schema import (
    AudioContentBlock,
    EmbeddedResourceContentBlock,
    FileSystemCapabilities,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from session.wire.input_items import attached

T = TypeVar("T")

PATIENCE = 3.0
"""Seconds in which a client answers for a file; one that does not is asked no more in this session."""


class ClientFiles:
    """Reads and writes files through the client, which has the unsaved texts.

    It is a ``session.project.open_files.OuterEditor``: its methods are called in the edit thread and wait
    for the event loop, which must not wait for that thread.
    """

    def __init__(
        self,
        client: Client,
        session: str,
        root: Path,
        offered: FileSystemCapabilities,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """``offered`` is what the client can do."""
        self._client = client
        self._session = session
        self._root = root
        self._reads = bool(offered.read_text_file)
        self._writes = bool(offered.write_text_file)
        self._loop = loop

    def read(self, path: str) -> str | None:
        """The client's text of ``path``; None where it does not tell."""
        if not (self._reads and self._writes):
            return None
        file = str(self._root / path)
        answer = self._wait(self._client.read_text_file(session_id=self._session, path=file))
        return answer.content if answer is not None else None

    def write(self, path: str, text: str) -> None:
        """Give the client the text of ``path``."""
        file = str(self._root / path)
        self._wait(self._client.write_text_file(session_id=self._session, path=file, content=text))

    def _wait(self, asking: Coroutine[Any, Any, T]) -> T | None:
        """The answer; None for an error, after which the file on disk is all that is known."""
        coming = asyncio.run_coroutine_threadsafe(asking, self._loop)
        try:
            return coming.result(PATIENCE)
        except TimeoutError:
            coming.cancel()
            self._reads = False
            return None
        except (RequestError, ConnectionError, ValueError):
            return None


Block = (
    TextContentBlock
    | ImageContentBlock
    | AudioContentBlock
    | ResourceContentBlock
    | EmbeddedResourceContentBlock
)


class ContentError(ValueError):
    """A block that cannot be part of a prompt; the message says which and why."""


def prompt_text(blocks: Sequence[Block], root: Path) -> str:
    """One prompt: texts as they are, links to files of the project as mentions, embedded texts in fences.

    Raises ContentError for images, audio and binary resources, which no model of spark takes.
    """
    said: list[str] = []
    parts: list[str] = []
    for block in blocks:
        match block:
            case TextContentBlock(text=text):
                said.append(text)
            case ResourceContentBlock(uri=uri, name=name):
                said.append(_mention(uri, name, root))
            case EmbeddedResourceContentBlock(resource=TextResourceContents(uri=uri, text=text)):
                path = path_in_project(uri, root)
                said.append(f"@{path}" if path else uri)
                parts.append(attached(path or uri, text))
            case EmbeddedResourceContentBlock(resource=resource):
                raise ContentError(f"{resource.uri} is not text: spark takes text alone")
            case ImageContentBlock() | AudioContentBlock():
                raise ContentError(f"the prompt holds {_a(block.type)}: spark takes text alone")
    return "\n\n".join(filter(None, ("".join(said).strip(), *parts)))


def path_in_project(uri: str, root: Path) -> str | None:
    """The path from ``root`` of the file that ``uri`` names; None for other places."""
    place = urlsplit(uri)
    if place.scheme == "file" and place.netloc in ("", "localhost"):
        path = Path(unquote(place.path))
    elif not place.scheme and uri.startswith("/"):
        path = Path(uri)
    else:
        return None
    try:
        inside = path.resolve().relative_to(root.resolve())
    except (ValueError, OSError, RuntimeError):
        return None
    return None if inside == Path() else inside.as_posix()


def _mention(uri: str, name: str, root: Path) -> str:
    path = path_in_project(uri, root)
    if path is None:
        return f"{name} ({uri})" if name and name != uri else uri
    return f"@{path}{_lines(urlsplit(uri).fragment)}"


def _lines(fragment: str) -> str:
    """``:10-20`` for a fragment such as ``L10:20``, as editors write it."""
    numbers = fragment.replace("L", "").replace("-", ":").split(":")
    if not fragment.startswith("L") or not all(number.isdecimal() for number in numbers):
        return ""
    return f":{numbers[0]}-{numbers[-1]}" if len(numbers) <= 2 else ""


def _a(kind: str) -> str:
    return "an image" if kind == "image" else kind
