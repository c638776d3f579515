"""A language server on standard input and output: opens files, lists symbols, renames."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path
from queue import Empty, Queue
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlparse

_SECONDS = 240.0
_QUIET = 4.0
_IDS = {"typescript": "typescript", "python": "python", "go": "go", "rust": "rust"}

Edit = tuple[str, int, int, int, str]
"""A file, a line, two columns (from 0) and the text between them."""


class ServerError(Exception):
    """The server refused, or gave no answer."""


class LanguageServer:
    """A running server; it ends with the ``with`` block."""

    def __init__(self, command: list[str], root: Path, environment: dict[str, str]) -> None:
        self._root = root
        self._opened: set[str] = set()
        self._number = 0
        self._answers: Queue[dict[str, Any]] = Queue()
        self._process = subprocess.Popen(
            command, cwd=root, env=environment, stdin=-1, stdout=-1, stderr=subprocess.DEVNULL
        )
        threading.Thread(target=self._read, daemon=True).start()
        uri = root.as_uri()
        text = {
            "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
            "rename": {"prepareSupport": False},
        }
        self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": uri,
                "workspaceFolders": [{"uri": uri, "name": root.name}],
                "capabilities": {"textDocument": text, "workspace": {"workspaceFolders": True}},
                "initializationOptions": {"checkOnSave": {"enable": False}},
            },
        )
        self.tell("initialized", {})

    def __enter__(self) -> LanguageServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()

    def open(self, path: str, language: str) -> None:
        """Open a file, once."""
        if path in self._opened:
            return
        self._opened.add(path)
        kind = "javascript" if path.endswith(".js") else _IDS[language]
        text = (self._root / path).read_text("utf-8", "replace")
        document = {"uri": self._uri(path), "languageId": kind, "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})

    def symbols(self, path: str, language: str) -> list[dict[str, Any]]:
        """The symbols of a file, as a tree; none where it gives a list."""
        self.open(path, language)
        found = self.ask("textDocument/documentSymbol", {"textDocument": {"uri": self._uri(path)}})
        return [each for each in found or [] if "selectionRange" in each]

    def rename(self, path: str, language: str, line: int, column: int, new: str) -> list[Edit]:
        """Where a rename would write, and what. Raises ServerError."""
        self.open(path, language)
        position = {"line": line, "character": column}
        asked = {"textDocument": {"uri": self._uri(path)}, "position": position, "newName": new}
        made = self.ask("textDocument/rename", asked)
        if made is None:
            raise ServerError("nothing to rename")
        listed = dict(made.get("changes") or {})
        for each in made.get("documentChanges") or []:
            if "edits" not in each:
                raise ServerError("a file would be renamed")
            listed.setdefault(each["textDocument"]["uri"], []).extend(each["edits"])
        return [self._edit(uri, each) for uri, edits in listed.items() for each in edits]

    def settle(self) -> None:
        """Wait until it has said nothing for some seconds."""
        while True:
            try:
                self._answered(self._answers.get(timeout=_QUIET))
            except Empty:
                return

    def ask(self, method: str, asked: object) -> Any:
        """The answer to a request. Raises ServerError."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": asked})
        while True:
            try:
                answer = self._answers.get(timeout=_SECONDS)
            except Empty:
                raise ServerError(f"no answer to {method}") from None
            if answer.get("id") == self._number and "method" not in answer:
                if "error" in answer:
                    raise ServerError(str(answer["error"]))
                return answer.get("result")
            self._answered(answer)

    def tell(self, method: str, told: object) -> None:
        """Send a notification."""
        self._send({"method": method, "params": told})

    def _answered(self, message: dict[str, Any]) -> None:
        """Answer what the server asks, with nothing."""
        if "id" in message and "method" in message:
            count = (
                len(message.get("params", {}).get("items", [])) if "configuration" in message["method"] else 0
            )
            self._send({"id": message["id"], "result": [None] * count or None})

    def _edit(self, uri: str, edit: dict[str, Any]) -> Edit:
        path = Path(unquote(urlparse(uri).path))
        start, end = edit["range"]["start"], edit["range"]["end"]
        if start["line"] != end["line"] or not path.is_relative_to(self._root):
            raise ServerError("an edit of several lines, or of another package")
        name = path.relative_to(self._root).as_posix()
        return name, start["line"], start["character"], end["character"], edit["newText"]

    def _uri(self, path: str) -> str:
        return (self._root / path).as_uri()

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _read(self) -> None:
        out = self._process.stdout
        assert out is not None
        while head := out.readline():
            length = 0
            while head.strip():
                if head.lower().startswith(b"content-length:"):
                    length = int(head.split(b":")[1])
                head = out.readline()
            if length:
                self._answers.put(json.loads(out.read(length)))
