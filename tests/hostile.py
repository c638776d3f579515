"""Counts the hostile inputs of the tests by class: ``python3 -m tests.hostile`` prints them.

Each is a test, or one set of values of a test, that passes only where the input is not admitted.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

import pytest

from tests.checkout import ROOT

CLASSES = {
    "configuration, hooks and filters of repositories": (
        "tests/context/disk/test_hostile_repositories.py",
        "tests/context/disk/test_hostile_index.py",
        "tests/context/disk/test_hostile_data.py",
        "tests/session/assist/review/test_hostile_trees.py",
        "tests/session/tools/test_hostile_search.py",
    ),
    "links, races, devices and hard links": (
        "tests/edits/files/test_containment.py",
        "tests/edits/files/test_hard_links.py",
        "tests/context/disk/test_source.py",
    ),
    "checks and their sandbox": (
        "tests/session/checks/sandbox/test_walls.py",
        "tests/session/checks/test_checks.py",
        "tests/session/checks/test_hostile_checks.py",
        "tests/session/race/attempts/test_hostile_races.py",
        "tests/session/race/cluster/test_lying_workers.py",
    ),
    "files that run, decide or hold keys": (
        "tests/edits/guards/test_off_limits.py",
        "tests/edits/guards/test_self_running.py",
        "tests/session/turn/test_guarded_files.py",
    ),
    "control sequences, hidden characters and names": (
        "tests/tui/line/scroll/test_hostile_text.py",
        "tests/tui/app/review/checks/test_shell_in_app.py::test_what_a_command_prints_is_only_shown",
        "tests/session/base/text/test_sanitize.py",
        "tests/context/text/test_unseen.py",
    ),
    "instructions and settings that nobody agreed to": (
        "tests/session/project/trust",
        "tests/tui/app/test_trust.py",
    ),
    "orders in data, and calls that ask for more": (
        "tests/session/turn/test_hostile_calls.py",
        "tests/session/tools/test_injections.py",
        "tests/tui/app/panes/test_held_bar.py",
    ),
    "keys and secrets": (
        "tests/context/text/test_secrets.py",
        "tests/session/assist/suggest/test_secrets.py",
    ),
    "giant, cut and malformed data of servers": (
        "tests/session/tools/mcp/test_hostile_servers.py",
        "tests/session/tools/mcp/test_hostile_addresses.py",
        "tests/session/wire/transport/test_bombs.py",
        "tests/session/wire/transport/test_hostile_streams.py",
        "tests/session/wire/link/test_hostile.py",
        "tests/session/wire/link/test_endless.py",
        "tests/session/turn/test_hostile_turns.py",
    ),
    "damaged and foreign journals, ledgers and messages": (
        "tests/session/record/journal/test_checksums.py",
        "tests/edits/ledger/test_damage.py",
        "tests/session/record/sharing/test_messages.py",
        "tests/session/ways/playback/test_player.py",
    ),
}


class _Collected:
    """A plugin that notes the tests that pytest collects."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def pytest_collection_modifyitems(self, items: Sequence[pytest.Item]) -> None:
        """See the hook of pytest."""
        self.names = [item.nodeid for item in items]


def counted() -> Counter[str]:
    """The number of hostile inputs of each class."""
    collected = _Collected()
    files = [str(ROOT / file) for files in CLASSES.values() for file in files]
    pytest.main(["--collect-only", "-qq", "-p", "no:cacheprovider", "-n", "0", *files], [collected])
    return Counter(
        {name: sum(each.startswith(files) for each in collected.names) for name, files in CLASSES.items()}
    )


def main() -> int:
    """Print the counts."""
    counts = counted()
    for name, count in counts.items():
        print(f"{count:5}  {name}", file=sys.stderr)
    print(f"{counts.total():5}  hostile inputs", file=sys.stderr)
    return 0 if all(counts.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
