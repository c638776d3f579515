"""The profile for macOS' Seatbelt, by its text: no test has run it on a Mac."""

from __future__ import annotations

from pathlib import Path

import pytest

from session.checks.sandbox.fence_plan import NoFenceError
from session.checks.sandbox.plan import Limits, View
from session.checks.sandbox.seatbelt import PROGRAM, profile, seatbelt

SEEN = View(
    home="/Users/ada",
    elsewhere=(),
    shown=("/tmp/venv",),
    hidden=("/Users/ada/.ssh", '/Users/ada/odd "name"\\'),
    caches=("/Users/ada/.cache",),
    temporary=("/nowhere/tmp",),
    run_time=(),
)


def rules(*, network: bool) -> list[str]:
    text = profile(SEEN, project=Path("/Users/ada/code"), writable=["/box/copy", "/box/tmp"], network=network)
    assert text.count("(") == text.count(")")
    return [" ".join(rule.split()) for rule in text.split("\n(")]


def test_the_last_rule_that_fits_hides_keys_and_lets_only_the_copy_be_written() -> None:
    said = rules(network=False)
    assert said[:2] == ["(version 1)", "deny default)"]
    keys = 'deny file-read* file-write* (subpath "/Users/ada/.ssh") '
    keys += '(subpath "/Users/ada/odd \\"name\\"\\\\"))'
    order = [
        "allow file-read*)",
        'deny file-read-data file-write* (subpath "/nowhere/tmp"))',
        'allow file-read* (subpath "/tmp/venv") (subpath "/Users/ada/code"))',
        keys,
        'allow file-read* file-write* (subpath "/box/copy") (subpath "/box/tmp"))',
    ]
    assert [rule for rule in said if rule in order] == order
    writes = [rule for rule in said if rule.startswith("allow") and "file-write" in rule]
    assert len(writes) == 2 and all("/dev/null" in each for each in writes[1:])


def test_without_the_network_there_is_no_rule_for_it() -> None:
    without = "\n".join(rules(network=False))
    assert "network" not in without and "system-socket" not in without
    assert "unix" not in "\n".join(rules(network=True))
    assert "allow network-outbound (remote ip))" in rules(network=True)


@pytest.mark.skipif(PROGRAM.exists(), reason="this machine has Seatbelt")
def test_where_there_is_none_it_says_so() -> None:
    with pytest.raises(NoFenceError, match="macOS"):
        seatbelt(SEEN, Limits(), project=Path("/Users/ada/code"), writable=[], network=False)
