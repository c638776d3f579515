"""The JSON API and the page, over HTTP.

    GET    /api/tasks[?q=TEXT]     the tasks
    POST   /api/tasks              a new task: {"title": …, "due": …}
    POST   /api/tasks/ID/done      mark it as done
    DELETE /api/tasks/ID           take it off the list
"""

from __future__ import annotations

import json
import re
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tasks.model import TaskError, parse_due
from tasks.store import Store

WEB = Path(__file__).parent.parent / "web"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
ONE_TASK = re.compile(r"/api/tasks/(\d+)(/done)?")


class Handler(BaseHTTPRequestHandler):
    """One request."""

    store: Store

    def do_GET(self) -> None:
        """A list of tasks, or a file of the page."""
        url = urlsplit(self.path)
        if url.path == "/api/tasks":
            query = parse_qs(url.query)
            text = query.get("q", [""])[0]
            tasks = self.store.search(text) if text else self.store.all()
            self.send_json(HTTPStatus.OK, [task.to_json() for task in tasks])
        else:
            self.send_file("index.html" if url.path == "/" else url.path.lstrip("/"))

    def do_POST(self) -> None:
        """A new task, or one that is done."""
        path = urlsplit(self.path).path
        one = ONE_TASK.fullmatch(path)
        try:
            if path == "/api/tasks":
                body = self.read_json()
                due = body.get("due")
                task = self.store.add(
                    str(body.get("title", "")),
                    parse_due(str(due)) if due else None,
                )
                self.send_json(HTTPStatus.CREATED, task.to_json())
            elif one and one[2]:
                self.send_json(HTTPStatus.OK, self.store.complete(int(one[1])).to_json())
            else:
                self.send_json(HTTPStatus.NOT_FOUND, {"error": "no such address"})
        except TaskError as error:
            self.send_json(HTTPStatus.BAD_REQUEST, {"error": str(error)})

    def do_DELETE(self) -> None:
        """A task less."""
        one = ONE_TASK.fullmatch(urlsplit(self.path).path)
        try:
            if one and not one[2]:
                self.send_json(HTTPStatus.OK, self.store.remove(int(one[1])).to_json())
            else:
                self.send_json(HTTPStatus.NOT_FOUND, {"error": "no such address"})
        except TaskError as error:
            self.send_json(HTTPStatus.NOT_FOUND, {"error": str(error)})

    def read_json(self) -> dict[str, object]:
        """The request's body, which must be a JSON object."""
        length = int(self.headers.get("Content-Length") or 0)
        try:
            body = json.loads(self.rfile.read(length) or b"{}")
        except ValueError:
            raise TaskError("the body is not JSON") from None
        if not isinstance(body, dict):
            raise TaskError("the body must be a JSON object")
        return body

    def send_json(self, status: HTTPStatus, body: object) -> None:
        """Answer with JSON."""
        self.send_bytes(status, json.dumps(body).encode("utf-8"), "application/json")

    def send_file(self, name: str) -> None:
        """Answer with a file of the page; never one outside its folder."""
        path = (WEB / name).resolve()
        if path.is_relative_to(WEB.resolve()) and path.is_file():
            self.send_bytes(HTTPStatus.OK, path.read_bytes(), TYPES.get(path.suffix, "text/plain"))
        else:
            self.send_json(HTTPStatus.NOT_FOUND, {"error": "no such page"})

    def send_bytes(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        """Answer with these bytes."""
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def make_server(store: Store, port: int) -> ThreadingHTTPServer:
    """A server on this machine's loopback address; port 0 takes a free one."""
    handler = type("StoreHandler", (Handler,), {"store": store})
    return ThreadingHTTPServer(("127.0.0.1", port), handler)


def serve(store: Store, port: int) -> None:
    """Serve until interrupted."""
    server = make_server(store, port)
    print(f"http://127.0.0.1:{server.server_address[1]}/")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
