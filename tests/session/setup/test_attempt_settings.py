"""The table ``[attempts]``: the cluster of the user's own file, and never that of a project's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from session.base.text.tables import TableError
from session.setup.user_tables import ClusterSettings, read_attempts
from tests.session.setup.test_config import Setup

TLS = {"ca": "/tls/ca.pem", "cert": "~/own.pem", "key": "/tls/own.key"}


def test_a_cluster_is_read_with_its_certificates() -> None:
    values = {"cluster": "tls://build.example:8786", "cluster_tls": TLS, "cluster_files": ["node_modules"]}
    found = read_attempts(values).cluster
    home = str(Path("~/own.pem").expanduser())
    assert found == ClusterSettings(
        "tls://build.example:8786", "/tls/ca.pem", home, "/tls/own.key", ("node_modules",)
    )
    assert found.encrypted
    assert read_attempts({}).cluster is None
    plain = read_attempts({"cluster": "tcp://[::1]:8786"}).cluster
    assert plain is not None and not plain.encrypted


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"cluster": "build:8786"}, '"tcp://HOST:PORT"'),
        ({"cluster": "tcp://host:1/path"}, '"tcp://HOST:PORT"'),
        ({"cluster": 8786}, "cluster must be a string"),
        ({"cluster": "tls://host:1"}, "which needs it"),
        ({"cluster": "tcp://host:1", "cluster_tls": TLS}, "belongs to a tls:// address"),
        ({"cluster": "tls://host:1", "cluster_tls": {"ca": "x"}}, "needs cert"),
        ({"cluster_files": ["x"]}, "need cluster"),
        ({"cluster": "tcp://host:1", "cluster_files": ["../x"]}, "not a folder in the project"),
        ({"clusters": "tcp://host:1"}, "did you mean 'cluster'"),
    ],
)
def test_a_cluster_that_cannot_be_used_is_refused_with_the_reason(
    values: dict[str, Any], message: str
) -> None:
    with pytest.raises(TableError, match=message.replace("(", "\\(")):
        read_attempts(values)


def test_a_project_cannot_name_a_cluster(tmp_path: Path) -> None:
    setup = Setup(tmp_path)
    setup.trust()
    setup.project('[attempts]\ncluster = "tcp://evil.example:8786"\n')
    assert "'attempts' cannot be set in a project's file" in setup.problem()
