"""A certificate authority for tests, and its certificates, made by the ``openssl`` command."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

NEEDS_OPENSSL = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="the openssl command makes the certificates"
)
_EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority; clients that trust it are given ``certificate``."""

    folder: Path

    @property
    def certificate(self) -> Path:
        return self.folder / "authority.pem"

    def server(self, host: str = "localhost", *, expired: bool = False) -> ssl.SSLContext:
        """A server's TLS context for ``host`` with a certificate of this authority."""
        name = f"{host}-{'expired' if expired else 'good'}"
        key, request, chain = (self.folder / f"{name}.{end}" for end in ("key", "csr", "pem"))
        _openssl("req", *_EC, "-subj", f"/CN={host}", "-keyout", key, "-out", request)
        extension = self.folder / f"{name}.ext"
        extension.write_text(f"subjectAltName=DNS:{host}\n")
        signer = ("-CA", self.certificate, "-CAkey", self.folder / "authority.key", "-CAcreateserial")
        span = ("-days", "-1" if expired else "2")
        _openssl("x509", "-req", "-in", request, *signer, *span, "-extfile", extension, "-out", chain)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain, key)
        return context


def authority(folder: Path) -> Authority:
    """Create an authority with its files in ``folder``."""
    subject = ("-x509", "-days", "2", "-subj", "/CN=An authority for tests")
    extension = ("-addext", "keyUsage=critical,keyCertSign")
    files = ("-keyout", folder / "authority.key", "-out", folder / "authority.pem")
    _openssl("req", *subject, *extension, *_EC, *files)
    return Authority(folder)


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(("openssl", *map(str, arguments)), check=True, capture_output=True)
