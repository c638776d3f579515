"""A client for model hubs with Hugging Face's API: lists a repository's files and downloads them.

Source: the hub's public HTTP API. ``/api/models/REPO?blobs=true`` lists the files with size and, for large
ones, SHA-256; ``/REPO/resolve/REVISION/FILE`` redirects to the content, usually on another host. That host
must not get the token, so redirects are followed here, one at a time.
"""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin, urlsplit

from session.base.text.sanitize import clean_line
from session.wire.protocol.frames import NotAnObject, parse_object
from session.wire.transport.connect import trust
from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import LinkError, one_line

if TYPE_CHECKING:
    import httpx2

USUAL_HUB = "https://huggingface.co"
ENDPOINT_VARIABLE, TOKEN_VARIABLE = "HF_ENDPOINT", "HF_TOKEN"
_MOST_REDIRECTS = 5
_MOST_LIST_BYTES = 16 * 1024 * 1024
_CONNECT_SECONDS, _SILENT_SECONDS = 15.0, 60.0


class HubError(Exception):
    """The hub cannot be reached or refuses the request; the message says what to do.

    ``passing`` is true if the same request may succeed a little later.
    """

    def __init__(self, message: str, *, passing: bool = False) -> None:
        super().__init__(message)
        self.passing = passing


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a repository: ``size`` in bytes; ``sha256`` is empty if the hub does not list it."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Repository:
    """A model's files at one ``revision``."""

    name: str
    revision: str
    files: tuple[HubFile, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """A model with a short name, from ``hub.toml``."""

    name: str
    repository: str
    file: str
    gigabytes: float
    verified: bool


class Hub:
    """One hub. Use it as a context manager."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Raises HubError for an unusable address in ``HF_ENDPOINT`` or an unusable token."""
        import httpx2

        self.address = (environ.get(ENDPOINT_VARIABLE) or USUAL_HUB).rstrip("/")
        endpoint = Endpoint(self.address, environ.get(TOKEN_VARIABLE) or None)
        try:
            self._base = endpoint.http_url("")
            self._authority = endpoint.request_headers()
        except LinkError as problem:
            raise HubError(f"{ENDPOINT_VARIABLE} or {TOKEN_VARIABLE}: {problem.message}") from problem
        self._client = httpx2.Client(
            headers={"User-Agent": "spark", "Accept-Encoding": "identity"},
            verify=trust() if self._base.startswith("https:") else False,
            trust_env=not endpoint.is_loopback,
            follow_redirects=False,
            timeout=httpx2.Timeout(_SILENT_SECONDS, connect=_CONNECT_SECONDS),
        )

    def __enter__(self) -> Hub:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def repository(self, name: str) -> Repository:
        """The files of the repository ``name`` (``owner/model``). Raises HubError."""
        url = f"{self._base}/api/models/{quote(name)}?blobs=true"
        with self._open(url, {}, name) as response:
            body = b""
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > _MOST_LIST_BYTES:
                    raise HubError(f"{self.address} lists more of {name} than can be read")
        try:
            said = parse_object(body)
        except NotAnObject as problem:
            raise HubError(
                f"{self.address} gave no list of files for {name}: {one_line(problem)}"
            ) from problem
        siblings = said.get("siblings")
        rows = siblings if isinstance(siblings, list) else []
        revision = said.get("sha")
        files = tuple(file for file in map(_file, rows) if file is not None)
        return Repository(name, revision if isinstance(revision, str) and revision else "main", files)

    @contextlib.contextmanager
    def content(self, repository: Repository, file: str, start: int, etag: str) -> Iterator[httpx2.Response]:
        """The content of ``file`` from byte ``start`` on, if status is 206; with 200 it is the whole file.

        ``etag`` is that of the bytes already there. Raises HubError.
        """
        headers = {"Range": f"bytes={start}-"} if start else {}
        if start and etag and not etag.startswith("W/"):
            headers["If-Range"] = etag
        url = f"{self._base}/{quote(repository.name)}/resolve/{quote(repository.revision)}/{quote(file)}"
        with self._open(url, headers, f"{repository.name}: {file}") as response:
            yield response

    @contextlib.contextmanager
    def _open(self, url: str, headers: dict[str, str], what: str) -> Iterator[httpx2.Response]:
        import httpx2

        try:
            for _ in range(_MOST_REDIRECTS + 1):
                authority = self._authority if _origin(url) == _origin(self._base) else {}
                request = self._client.build_request("GET", url, headers={**headers, **authority})
                response = self._client.send(request, stream=True)
                try:
                    if response.is_redirect:
                        url = self._next(url, response.headers.get("location", ""))
                        continue
                    self._judge(response, what)
                    yield response
                    return
                finally:
                    response.close()
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as problem:
            host = urlsplit(url).netloc
            raise HubError(
                f"{host}: {one_line(problem) or type(problem).__name__}", passing=True
            ) from problem
        raise HubError(f"{self.address} redirects in circles for {what}")

    def _next(self, url: str, location: str) -> str:
        """The target of a redirect; never from https to plain http."""
        target = urljoin(url, location)
        try:
            scheme, host = urlsplit(target).scheme, urlsplit(target).hostname
        except ValueError:
            scheme, host = "", None
        plain_before = urlsplit(url).scheme == "http"
        if not host or scheme not in ("https", "http") or (scheme == "http" and not plain_before):
            raise HubError(f"{self.address} redirects to {one_line(location)}, which is not followed")
        return target

    def _judge(self, response: httpx2.Response, what: str) -> None:
        status = response.status_code
        if status in (200, 206):
            return
        if status in (401, 403):
            token = f"{TOKEN_VARIABLE} is not accepted" if self._authority else f"{TOKEN_VARIABLE} is not set"
            raise HubError(
                f"{self.address} does not give {what} ({status}; {token}): it is private, or gated until you "
                "have accepted its terms there, or there is no such model"
            )
        if status == 404:
            raise HubError(f"{self.address} has no {what}")
        passing = status in (408, 429) or status >= 500
        raise HubError(f"{self.address} answered with {status} for {what}", passing=passing)


def known_models() -> tuple[Known, ...]:
    """The models with a short name."""
    return _known()


@cache
def _known() -> tuple[Known, ...]:
    rows = tomllib.loads(resources.files("session.models.engine").joinpath("hub.toml").read_text("utf-8"))[
        "models"
    ]
    return tuple(
        Known(name, row["repository"], row["file"], row["gigabytes"], bool(row["verified"]))
        for name, row in rows.items()
    )


def _file(row: Any) -> HubFile | None:
    if not isinstance(row, dict) or not isinstance(name := row.get("rfilename"), str):
        return None
    blob = row.get("lfs")
    large: dict[str, Any] = blob if isinstance(blob, dict) else {}
    size, digest = large.get("size", row.get("size")), large.get("sha256", large.get("oid"))
    if type(size) is not int or size <= 0 or clean_line(name) != name:
        return None
    return HubFile(name, size, digest.lower().removeprefix("sha256:") if isinstance(digest, str) else "")


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc
