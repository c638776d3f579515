"""A model hub on loopback for tests, in Hugging Face's layout: a hub that lists, a store that serves.

The store listens on a port of its own, as a hub's does on a host of its own, and can be told to misbehave.
"""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

REPOSITORY = "someone/tiny-GGUF"


@dataclass(slots=True)
class Behaviour:
    """The files of the hub, and its faults; ``cuts``: bytes after which an answer breaks off."""

    files: dict[str, bytes] = field(default_factory=dict)
    cuts: list[int] = field(default_factory=list)
    ranges: bool = True
    token: str = ""
    checksum: str | None = None
    tell_checksum: bool = True
    redirect: str = ""
    statuses: list[int] = field(default_factory=list)
    hold: threading.Event | None = None
    """An event that each answer waits for in its middle."""
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    """Each request: to ``hub`` or ``store``, its path, and its headers."""


class HubServer:
    """Both servers. ``url`` is the hub's address."""

    def __init__(self, **files: bytes) -> None:
        self.does = Behaviour({name.replace("__", "."): content for name, content in files.items()})
        self._store = _Server("store", self.does)
        self._hub = _Server("hub", self.does)
        self.does.redirect = f"http://127.0.0.1:{self._store.server_port}/blob/"
        self.url = f"http://127.0.0.1:{self._hub.server_port}"

    def __enter__(self) -> HubServer:
        for server in (self._store, self._hub):
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for server in (self._store, self._hub):
            server.shutdown()
            server.server_close()

    def environ(self, **more: str) -> dict[str, str]:
        """The environment that leads here."""
        return {"HF_ENDPOINT": self.url, **more}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, role: str, does: Behaviour) -> None:
        self.role, self.does = role, does
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, format: str, *arguments: Any) -> None:
        pass

    def do_GET(self) -> None:
        does, path = self.server.does, self.path.partition("?")[0]
        headers = {name.lower(): value for name, value in self.headers.items()}
        does.asked.append((self.server.role, path, headers))
        if self.server.role == "store":
            self._content(does.files.get(path.removeprefix("/blob/")), headers)
        elif does.token and headers.get("authorization") != f"Bearer {does.token}":
            self._answer(401, b"{}")
        elif path == f"/api/models/{REPOSITORY}":
            self._answer(200, json.dumps(self._listing()).encode())
        elif path.startswith(f"/{REPOSITORY}/resolve/abc123/") and path.rpartition("/")[2] in does.files:
            self._answer(302, b"", location=does.redirect + path.rpartition("/")[2])
        else:
            self._answer(404, b"{}")

    def _listing(self) -> dict[str, Any]:
        does = self.server.does
        siblings: list[dict[str, Any]] = [{"rfilename": "README.md", "size": 3}]
        for name, content in does.files.items():
            digest = does.checksum or hashlib.sha256(content).hexdigest()
            blob = {"lfs": {"sha256": digest, "size": len(content)}} if does.tell_checksum else {}
            siblings.append({"rfilename": name, "size": len(content), **blob})
        return {"id": REPOSITORY, "sha": "abc123", "siblings": siblings}

    def _content(self, content: bytes | None, headers: dict[str, str]) -> None:
        does = self.server.does
        if does.statuses:
            self._answer(does.statuses.pop(0), b"")
            return
        if content is None:
            self._answer(404, b"")
            return
        etag = f'"{hashlib.md5(content).hexdigest()}"'
        start = 0
        wanted = headers.get("range", "")
        if does.ranges and wanted and headers.get("if-range", etag) == etag:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("ETag", etag)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        end = start + does.cuts.pop(0) if does.cuts else len(content)
        if does.hold is not None:
            self.wfile.write(content[start : (start := start + 100_000)])
            does.hold.wait(30)
        self.wfile.write(content[start:end])
        self.close_connection = True

    def _answer(self, status: int, body: bytes, location: str = "") -> None:
        self.send_response(status)
        if location:
            self.send_header("Location", location)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
