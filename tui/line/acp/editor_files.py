"""The client's open files, for the session's edit thread."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from acp import RequestError
from acp.interfaces import Client
from acp.schema import FileSystemCapabilities

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
