"""The real engine, as ``spark --local`` runs it, and a recorder before it that keeps every raw answer."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import session.models.engine

KEY = "bench"
_LOAD_SECONDS = 600
_ANSWER_SECONDS = 1800
_CHILD = Path(session.models.engine.__file__).with_name("__main__.py")


@contextlib.contextmanager
def engine(file: Path, *, threads: int, context: int) -> Iterator[str]:
    """The address of an engine that serves ``file`` until the end of the block."""
    line = [sys.executable, str(_CHILD), str(file), "--threads", str(threads), "--context", str(context)]
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(f"{KEY}\n".encode())
            child.stdin.flush()
            url = json.loads(child.stdout.readline())["url"]
            _wait(url)
            yield url
        finally:
            child.kill()


def _wait(url: str) -> None:
    end = time.monotonic() + _LOAD_SECONDS
    while time.monotonic() < end:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/health", timeout=5):
            return
        time.sleep(0.2)
    raise SystemExit("the engine did not load the model in time")


@dataclass(frozen=True, slots=True)
class Answer:
    """One exchange: what was asked, what came, and how it ended."""

    messages: list[dict[str, Any]]
    text: str
    end: str
    tokens_in: int
    tokens_out: int
    seconds: float


@dataclass(slots=True)
class _Pieces:
    """The parts of a streamed answer."""

    text: list[str] = field(default_factory=list)
    end: str = ""
    usage: dict[str, int] = field(default_factory=dict)

    def take(self, line: bytes) -> None:
        """Take a line of the stream."""
        if not line.startswith(b"data: {"):
            return
        data = json.loads(line[6:])
        self.usage = data.get("usage") or self.usage
        for choice in data.get("choices", []):
            self.text.append((choice.get("delta") or {}).get("content") or "")
            self.end = choice.get("finish_reason") or self.end


class Recorder:
    """Passes requests on to the engine at ``target``, at temperature 0 with a seed, and keeps the answers."""

    def __init__(self, target: str, *, seed: int) -> None:
        self.answers: list[Answer] = []
        self._target = target
        self._seed = seed
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            """Hands every request to the recorder."""

            def do_GET(self) -> None:
                recorder.pass_on(self, None)

            def do_POST(self) -> None:
                recorder.pass_on(self, self.rfile.read(int(self.headers.get("content-length", 0))))

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()

    def pass_on(self, handler: BaseHTTPRequestHandler, body: bytes | None) -> None:
        """Send a request to the engine, and its answer back as it comes."""
        sent = None if body is None else self._settled(body)
        head = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
        asked = urllib.request.Request(f"{self._target}{handler.path}", sent, head)
        began, pieces = time.monotonic(), _Pieces()
        try:
            with urllib.request.urlopen(asked, timeout=_ANSWER_SECONDS) as answer:
                handler.send_response(answer.status)
                handler.send_header("Content-Type", answer.headers.get("Content-Type", "application/json"))
                handler.end_headers()
                for line in answer:
                    pieces.take(line)
                    handler.wfile.write(line)
                    handler.wfile.flush()
        except urllib.error.HTTPError as problem:
            handler.send_response(problem.code)
            handler.end_headers()
            handler.wfile.write(problem.read())
        except OSError:  # the client has gone: what came so far is kept
            pass
        if sent is not None and handler.path.endswith("/chat/completions"):
            self.answers.append(
                Answer(
                    json.loads(sent)["messages"],
                    "".join(pieces.text),
                    pieces.end,
                    pieces.usage.get("prompt_tokens", 0),
                    pieces.usage.get("completion_tokens", len(pieces.text)),
                    round(time.monotonic() - began, 1),
                )
            )

    def _settled(self, body: bytes) -> bytes:
        return json.dumps({**json.loads(body), "temperature": 0, "seed": self._seed}).encode()
