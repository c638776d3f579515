"""The keys of ``[attempts]`` about a cluster. Only the user's own ``config.toml`` can name one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from session.base.text.tables import Table

_ADDRESS = re.compile(r"(tcp|tls)://(?:\[[0-9A-Fa-f:]+\]|[\w.-]+):\d{1,5}")


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """A Dask scheduler. ``ca``, ``cert`` and ``key`` are files; ``files`` are ignored folders that travel
    with the project."""

    address: str
    ca: str = ""
    cert: str = ""
    key: str = ""
    files: tuple[str, ...] = ()

    @property
    def encrypted(self) -> bool:
        """Whether nothing is sent in the clear."""
        return self.address.startswith("tls://")


def read_cluster(table: Table) -> ClusterSettings | None:
    """The cluster in ``table``, or None. Raises TableError."""
    address = table.text("cluster", "")
    files = table.texts("cluster_files")
    tls = table.inner("cluster_tls")
    if not address:
        if tls is not None or files:
            raise table.wrong('cluster_tls and cluster_files need cluster, as "tls://HOST:8786"')
        return None
    if not _ADDRESS.fullmatch(address):
        raise table.wrong('cluster must be "tcp://HOST:PORT" or "tls://HOST:PORT"')
    for each in files:
        path = PurePosixPath(each)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise table.wrong(f"cluster_files names {each!r}, which is not a folder in the project")
    if address.startswith("tls://") != (tls is not None):
        raise table.wrong("cluster_tls, with ca, cert and key, belongs to a tls:// address, which needs it")
    if tls is None:
        return ClusterSettings(address, files=files)
    ca, cert, key = (str(Path(tls.text(name)).expanduser()) for name in ("ca", "cert", "key"))
    tls.end()
    return ClusterSettings(address, ca, cert, key, files)
