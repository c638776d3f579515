"""Small HTTP servers that answer as Ollama, llama.cpp, LM Studio and vLLM do, each on a port of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import Future
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")
Pages = Mapping[str, tuple[int, Any]]


def models(*names: str, **more: Any) -> tuple[int, Any]:
    return 200, {"object": "list", "data": [{"id": name, "object": "model", **more} for name in names]}


OLLAMA: Pages = {
    "/v1/models": models("qwen3:8b", "llama3.2", owned_by="library"),
    "/api/version": (200, {"version": "0.12.6"}),
}
LLAMA_CPP: Pages = {
    "/v1/models": models("/models/tiny.gguf", owned_by="llamacpp"),
    "/props": (200, {"default_generation_settings": {"n_ctx": 4096}, "build_info": "b6700-abc"}),
}
LM_STUDIO: Pages = {
    "/v1/models": (200, {"object": "list", "data": [{"id": "gemma"}, {"id": "e", "type": "embeddings"}]}),
    "/api/v0/models": (200, {"object": "list", "data": [{"id": "gemma", "state": "loaded"}]}),
    # It answers paths that it does not know with an error and the status 200.
    **{path: (200, {"error": "Unexpected endpoint"}) for path in ("/api/version", "/props", "/version")},
}
VLLM: Pages = {
    "/v1/models": models("mistral", owned_by="vllm"),
    "/version": (200, {"version": "0.11.0"}),
}
OTHER: Pages = {"/v1/models": models("mystery"), "/version": (200, {"version": "9"})}
LOCKED: Pages = {"/v1/models": (401, {"error": {"message": "no key"}}), "/props": LLAMA_CPP["/props"]}
WEB_SITE: Pages = {"/": (200, {"hello": "world"})}


class Serving:
    """One such server: its port, and the heads of the requests it got."""

    def __init__(self, pages: Pages) -> None:
        self.pages = pages
        self.heads: list[str] = []
        self.port = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.heads.append(head)
            status, body = self.pages.get(head.split(" ")[1], (404, {"error": "not found"}))
            data = json.dumps(body).encode()
            lines = [f"HTTP/1.1 {status} X", "Content-Type: application/json", f"Content-Length: {len(data)}"]
            writer.write("\r\n".join([*lines, "", ""]).encode() + data)
            await writer.drain()
        writer.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


@contextlib.asynccontextmanager
async def serving(pages: Pages) -> AsyncIterator[Serving]:
    it = Serving(pages)
    server = await asyncio.start_server(it.answer, "127.0.0.1", 0)
    it.port = server.sockets[0].getsockname()[1]
    async with server:
        yield it


@contextlib.contextmanager
def aside(server: contextlib.AbstractAsyncContextManager[T]) -> Iterator[T]:
    """A server in a thread, for tests that run commands and wait for them."""
    began: Future[tuple[T, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def run() -> None:
        async with server as it:
            end = asyncio.Event()
            began.set_result((it, asyncio.get_running_loop(), end))
            await end.wait()

    thread = Thread(target=lambda: asyncio.run(run()))
    thread.start()
    it, loop, end = began.result(30)
    try:
        yield it
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join()
