"""An OpenID provider on loopback, on authlib's server side: what spark signs in to in tests.

It checks what a real one checks (PKCE, the client, the redirect, one use of each code and refresh token), and
registers a client for each first sign-in. Tests set who sits in front of the browser, and what goes wrong.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from authlib.oauth2.rfc6749 import AuthorizationServer, OAuth2Error, OAuth2Request
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant, RefreshTokenGrant
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core.grants import OpenIDCode
from joserfc.jwk import RSAKey

ENTRY = "dynamic_agent_client"
PLAN_SCOPE = "chatgpt.tokens.use.direct"
_KEYS: dict[str, RSAKey] = {}


def signing_key(name: str) -> RSAKey:
    """A key of that name; made once, since making one takes a while."""
    if name not in _KEYS:
        _KEYS[name] = RSAKey.generate_key(2048, {"kid": name, "use": "sig", "alg": "RS256"}, auto_kid=False)
    return _KEYS[name]


@dataclass
class User:
    """Who sits in front of the browser. ``allows``: whether they agree; ``plan``: to the plan too."""

    subject: str = "user-1"
    email: str = "me@example.org"
    allows: bool = True
    plan: bool = True


@dataclass
class Client:
    """A registration; it is public, and bound to a user."""

    name: str
    host: str
    hint: str

    def get_client_id(self) -> str:
        return self.name

    def get_default_redirect_uri(self) -> str:
        return ""

    def get_allowed_scope(self, scope: str) -> str:
        return scope

    def check_redirect_uri(self, uri: str) -> bool:
        parts = urlsplit(uri)
        return (parts.scheme, parts.hostname, parts.path) == ("http", "127.0.0.1", "/auth/callback")

    def check_client_secret(self, secret: str) -> bool:
        return False

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == "none"

    def check_response_type(self, kind: str) -> bool:
        return kind == "code"

    def check_grant_type(self, kind: str) -> bool:
        return kind in ("authorization_code", "refresh_token")


@dataclass
class Code:
    """An authorization code that was not used yet."""

    client: str
    redirect: str
    scope: str
    nonce: str
    code_challenge: str
    code_challenge_method: str
    user: User

    def get_redirect_uri(self) -> str:
        return self.redirect

    def get_scope(self) -> str:
        return self.scope

    def get_nonce(self) -> str:
        return self.nonce

    def get_auth_time(self) -> int:
        return int(time.time())

    def get_acr(self) -> None:
        return None

    def get_amr(self) -> None:
        return None


@dataclass
class Issued:
    """Tokens that were handed out. ``used``: the refresh token was; ``revoked``: neither holds any more."""

    client: str
    scope: str
    user: User
    access: str
    refresh: str
    used: bool = False
    revoked: bool = False

    def check_client(self, client: Client) -> bool:
        return self.client == client.name

    def get_scope(self) -> str:
        return self.scope

    def get_expires_in(self) -> int:
        return 3600

    def is_expired(self) -> bool:
        return False

    def is_revoked(self) -> bool:
        return self.revoked


@dataclass
class Fault:
    """An answer in place of the right one: a status and a body, or what is done to the right body."""

    status: int = 200
    body: Any = None
    change: Callable[[dict[str, Any]], Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class ReusedError(OAuth2Error):
    """A refresh token that was used before."""

    error = "refresh_token_reused"


class _Grant(AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS: ClassVar = ["none"]

    def save_authorization_code(self, code: str, request: Any) -> None:
        data = request.payload.data
        names = ("redirect_uri", "scope", "nonce", "code_challenge", "code_challenge_method")
        redirect, scope, nonce, challenge, method = (data.get(name, "") for name in names)
        kept = Code(request.client.name, redirect, scope, nonce, challenge, method, request.user)
        self.server.issuer.codes[code] = kept

    def query_authorization_code(self, code: str, client: Client) -> Code | None:
        found = self.server.issuer.codes.get(code)
        return found if found is not None and found.client == client.name else None

    def delete_authorization_code(self, code: Code) -> None:
        codes = self.server.issuer.codes
        for name in [name for name, each in codes.items() if each is code]:
            del codes[name]

    def authenticate_user(self, code: Code) -> User:
        return code.user


class _Renewal(RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS: ClassVar = ["none"]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, token: str) -> Issued | None:
        found = self.server.issuer.issued.get(token)
        if found is not None and found.used:
            # As RFC 9700 asks: a token that comes twice was stolen, and ends the whole sign-in.
            for each in self.server.issuer.issued.values():
                each.revoked = each.revoked or each.client == found.client
            raise ReusedError()
        return None if found is None or found.revoked else found

    def authenticate_user(self, token: Issued) -> User:
        return token.user

    def revoke_old_credential(self, token: Issued) -> None:
        token.used = True


class _Identity(OpenIDCode):
    def __init__(self, issuer: IssuerServer) -> None:
        super().__init__(require_nonce=True)
        self.issuer = issuer

    def exists_nonce(self, nonce: str, request: Any) -> bool:
        return False

    def resolve_client_private_key(self, client: Client) -> RSAKey:
        return signing_key(self.issuer.signs_with)

    def get_client_claims(self, client: Client) -> dict[str, Any]:
        return {"iss": self.issuer.url, "aud": [client.name, *self.issuer.also_for], **self.issuer.claims}

    def get_encode_header(self, client: Client) -> dict[str, str]:
        return {"alg": "RS256", "kid": self.issuer.claims_kid}

    def generate_user_info(self, user: User, scope: str) -> dict[str, str]:
        return {"sub": user.subject, "email": user.email, **self.issuer.claims}


class _Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS: ClassVar = ["none"]

    def query_token(self, token: str, hint: str) -> Issued | None:
        return self.server.issuer.issued.get(token)

    def revoke_token(self, token: Issued, request: Any) -> None:
        for each in self.server.issuer.issued.values():
            each.revoked = each.revoked or each.client == token.client


class _Request(OAuth2Request):
    @property
    def args(self) -> dict[str, str]:
        return dict(self.payload.data)

    @property
    def form(self) -> dict[str, str]:
        return dict(self.payload.data)


class _Authorization(AuthorizationServer):
    def __init__(self, issuer: IssuerServer) -> None:
        super().__init__()
        self.issuer = issuer

    def query_client(self, name: str) -> Client | None:
        return self.issuer.clients.get(name)

    def save_token(self, token: dict[str, Any], request: Any) -> None:
        issued = Issued(
            request.client.name, token["scope"], request.user, token["access_token"], token["refresh_token"]
        )
        self.issuer.issued[issued.refresh] = issued

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        pass

    def create_oauth2_request(self, request: Any) -> _Request:
        method, fields = request
        made = _Request(method, "https://issuer.invalid/")
        made.payload = BasicOAuth2Payload(fields)
        return made

    def handle_response(self, status: int, body: Any, headers: Any) -> tuple[int, Any, dict[str, str]]:
        return status, body, dict(headers)


class IssuerServer:
    """The provider; ``url`` is its name, and tests change the other attributes while it serves."""

    def __init__(self) -> None:
        self.user = User()
        self.clients: dict[str, Client] = {}
        self.codes: dict[str, Code] = {}
        self.issued: dict[str, Issued] = {}
        self.claims: dict[str, Any] = {}
        """Claims of the ID token that are other than they should be."""
        self.also_for: tuple[str, ...] = ()
        """Other programs that the ID token is for."""
        self.signs_with = self.claims_kid = "published"
        self.faults: dict[str, list[Fault]] = defaultdict(list)
        """For each path the answers to its next requests."""
        self.seen: list[tuple[str, dict[str, str]]] = []
        """The paths that were asked for, and their fields."""
        self.lifetime = 3600
        self.narrowed = ""
        """A scope that renewed tokens no longer have."""
        self.may_answer = threading.Event()
        """While it is not set, a renewal is done and not answered."""
        self.may_answer.set()
        self.renewing = threading.Event()
        """Set when a renewal is done."""
        self._oauth = _Authorization(self)
        self._oauth.register_grant(_Grant, [CodeChallenge(required=True), _Identity(self)])
        self._oauth.register_grant(_Renewal)
        self._oauth.register_endpoint(_Revocation)
        self._oauth.register_token_generator("default", self._tokens)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def serve(self) -> None:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self.may_answer.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def live(self) -> list[Issued]:
        """The tokens that still hold."""
        return [each for each in self.issued.values() if not each.used and not each.revoked]

    def count(self, path: str, **fields: str) -> int:
        """How often ``path`` was asked for with these fields."""
        return sum(path == asked and fields.items() <= given.items() for asked, given in self.seen)

    def _tokens(self, **given: Any) -> dict[str, Any]:
        scope = given["scope"] if given["user"].plan else given["scope"].replace(f" {PLAN_SCOPE}", "")
        if given["grant_type"] == "refresh_token" and self.narrowed:
            scope = scope.replace(f" {self.narrowed}", "")
        return {
            "token_type": "Bearer",
            "access_token": f"at-{secrets.token_urlsafe(24)}",
            "refresh_token": f"rt-{secrets.token_urlsafe(24)}",
            "expires_in": self.lifetime,
            "scope": scope,
        }

    def answer(self, method: str, path: str, fields: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        self.seen.append((path, fields))
        fault = self.faults[path].pop(0) if self.faults[path] else None
        if fault is not None and fault.change is None:
            return fault.status, fault.body, dict(fault.headers)
        status, body, headers = self._answer(method, path, fields)
        if fault is not None and fault.change is not None:
            body = fault.change(body)
        return status, body, headers

    def _answer(self, method: str, path: str, fields: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        if path == "/.well-known/openid-configuration":
            names = ("authorization_endpoint", "token_endpoint", "jwks_uri", "revocation_endpoint")
            places = ("/authorize", "/token", "/keys", "/revoke")
            found = {name: self.url + place for name, place in zip(names, places, strict=True)}
            return 200, {"issuer": self.url, **found}, {}
        if path == "/keys":
            return 200, {"keys": [signing_key("published").as_dict(private=False)]}, {}
        if path == "/authorize":
            return self._authorize(fields)
        if path == "/token":
            answer = self._oauth.create_token_response((method, fields))
            if fields.get("grant_type") == "refresh_token":
                self.renewing.set()
                self.may_answer.wait(30)
            return tuple(answer)
        if path == "/revoke":
            return tuple(self._oauth.create_endpoint_response("revocation", (method, fields)))
        return 404, {"error": "not_found"}, {}

    def _authorize(self, fields: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        if fields.get("client_id") == ENTRY:
            name = f"oaiapp_{secrets.token_hex(8)}"
            self.clients[name] = Client(name, fields["ext_agent_host_id"], fields["agent_name_hint"])
            fields = {**fields, "client_id": name}
        request = self._oauth.create_oauth2_request(("GET", fields))
        try:
            grant = self._oauth.get_consent_grant(("GET", fields), self.user)
        except OAuth2Error as error:
            return tuple(self._oauth.handle_error_response(request, error))
        grant_user = self.user if self.user.allows else None
        status, body, headers = self._oauth.create_authorization_response(("GET", fields), grant_user, grant)
        if "Location" in headers:
            parts = urlsplit(headers["Location"])
            more = urlencode([*parse_qsl(parts.query), ("client_id", fields["client_id"])])
            headers["Location"] = urlunsplit(parts._replace(query=more))
        return status, body, headers


def _handler(issuer: IssuerServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            self._send(*issuer.answer("GET", parts.path, dict(parse_qsl(parts.query))))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            self._send(*issuer.answer("POST", urlsplit(self.path).path, dict(parse_qsl(body))))

        def _send(self, status: int, body: Any, headers: Mapping[str, str]) -> None:
            data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in headers.items():
                if name.lower() != "content-length":
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            pass

    return Handler


@contextmanager
def issuing() -> Iterator[IssuerServer]:
    """A provider that serves."""
    server = IssuerServer()
    server.serve()
    try:
        yield server
    finally:
        server.close()


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


def end_of(address: str) -> str:
    """Where the browser is sent to from ``address``: the page with the answer, which it has not opened."""
    try:
        urllib.request.build_opener(_Stay).open(address, timeout=20).close()
    except urllib.error.HTTPError as answer:
        return str(answer.headers["Location"])
    raise AssertionError("the browser was not sent on")


def browse(address: str) -> str:
    """Open ``address`` in a browser that goes where it is sent; returns the last page."""
    with urllib.request.urlopen(address, timeout=20) as page:
        return str(page.read().decode())
