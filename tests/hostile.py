"""The table of attacks in docs/security.md: what is promised, where, and how many hostile inputs it held.

``python3 -m tests.hostile`` writes it. Each input is a test, or one set of values of a test, that passes only
where the input is not admitted, so that as many are held as were tried once the tests pass.
"""

from __future__ import annotations

import contextlib
import io
from collections import Counter
from collections.abc import Sequence

import pytest

from tests.checkout import ROOT

ANY, LINUX = "any", "Linux"
CLASSES = {
    "a repository's configuration, hooks, filters, index and data run nothing and lead nowhere": (
        ANY,
        "tests/context/disk/test_hostile_repositories.py",
        "tests/context/disk/test_hostile_index.py",
        "tests/context/disk/test_hostile_data.py",
        "tests/session/assist/review/test_hostile_trees.py",
        "tests/session/tools/test_hostile_search.py",
    ),
    "links, races, devices and hard links take no edit out of the project": (
        ANY,
        "tests/edits/files/test_containment.py",
        "tests/edits/files/test_hard_links.py",
        "tests/context/disk/test_source.py",
    ),
    "checks and attempts read no key, write nowhere else, reach nobody and outlive nothing": (
        LINUX,
        "tests/session/checks/sandbox/test_walls.py",
        "tests/session/checks/sandbox/test_fence.py",
        "tests/session/checks/test_checks.py",
        "tests/session/checks/test_hostile_checks.py",
        "tests/session/race/attempts/test_hostile_races.py",
        "tests/session/race/cluster/test_lying_workers.py",
    ),
    "a command lands what is an edit, and nothing else": (
        LINUX,
        "tests/session/checks/sandbox/test_written.py",
        "tests/session/tools/command/test_sandboxed.py",
    ),
    "no way round a rule for commands, and none for what runs anything": (
        ANY,
        "tests/session/tools/command/test_rules.py::test_no",
        "tests/session/tools/command/test_rules.py::test_damaged",
        "tests/session/tools/command/test_rules.py::test_a_rule_is_about",
    ),
    "files that run by themselves or decide are held": (
        ANY,
        "tests/edits/guards/test_off_limits.py",
        "tests/edits/guards/test_self_running.py",
        "tests/session/turn/test_guarded_files.py",
    ),
    "a change of where code comes from, or of what runs at install, is held": (
        ANY,
        "tests/edits/guards/test_dependencies.py::test_a_change_of_where_code_comes_from",
        "tests/edits/guards/test_dependencies.py::test_any_change_of_what_a_package_manager",
    ),
    "key material is hidden, covered and refused, wherever the project is": (
        ANY,
        "tests/project/test_key_material.py",
        "tests/context/text/test_secrets.py",
        "tests/session/assist/suggest/test_secrets.py",
    ),
    "control sequences, hidden characters and names act on no terminal": (
        ANY,
        "tests/tui/line/scroll/test_hostile_text.py",
        "tests/tui/app/review/checks/test_shell_in_app.py::test_what_a_command_prints_is_only_shown",
        "tests/session/base/text/test_sanitize.py",
        "tests/context/text/test_unseen.py",
    ),
    "no bytes of a terminal crash, type, stop or deafen": (
        ANY,
        "tests/tui/screen/terminal/test_escape_keys.py::test_an_answer",
        "tests/tui/screen/terminal/test_escape_keys.py::test_the_rest_of_an_answer",
        "tests/tui/screen/terminal/test_escape_keys.py::test_no_bytes",
    ),
    "no text holds a key for long, whatever its shape": (ANY, "tests/tui/editor/test_shapes.py"),
    "instructions and settings that nobody agreed to are not used": (
        ANY,
        "tests/session/project/trust",
        "tests/tui/app/test_trust.py",
    ),
    "orders in data, and calls that ask for more, get nothing": (
        ANY,
        "tests/session/turn/test_hostile_calls.py",
        "tests/session/tools/test_injections.py",
        "tests/session/tools/test_taint.py",
        "tests/tui/app/panes/test_held_bar.py",
    ),
    "giant, cut and malformed data of servers end a turn at the most": (
        ANY,
        "tests/session/tools/mcp/test_hostile_servers.py",
        "tests/session/tools/mcp/test_hostile_addresses.py",
        "tests/session/wire/transport/test_bombs.py",
        "tests/session/wire/transport/test_hostile_streams.py",
        "tests/session/wire/link/test_hostile.py",
        "tests/session/wire/link/test_endless.py",
        "tests/session/turn/test_hostile_turns.py",
    ),
    "damaged and foreign journals, ledgers and messages are set aside, and told": (
        ANY,
        "tests/session/record/journal/test_checksums.py",
        "tests/edits/ledger/test_damage.py",
        "tests/session/record/sharing/test_messages.py",
        "tests/session/ways/playback/test_player.py",
    ),
}
"""What is promised, on which machines, and the beginnings of the names of the tests that hold it."""
BEGINS, ENDS = "<!-- attacks: python3 -m tests.hostile -->", "<!-- end of attacks -->"
PAGE = ROOT / "docs" / "security.md"


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
    files = sorted({str(ROOT / name.partition("::")[0]) for _, *names in CLASSES.values() for name in names})
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main(["--collect-only", "-qq", "-p", "no:cacheprovider", "-n", "0", *files], [collected])
    return Counter(
        {
            promise: sum(each.startswith(tuple(names)) for each in collected.names)
            for promise, (_, *names) in CLASSES.items()
        }
    )


def table() -> str:
    """The table, with its marks."""
    counts = counted()
    rows = ["| promise | machine | tried | held | tests |", "| --- | --- | --- | --- | --- |"]
    for promise, (machine, *names) in CLASSES.items():
        tests = ", ".join(f"`{name}`" for name in names)
        rows.append(f"| {promise} | {machine} | {counts[promise]} | {counts[promise]} | {tests} |")
    rows.append(f"| all | | {counts.total()} | {counts.total()} | |")
    return "\n".join([BEGINS, *rows, ENDS])


def main() -> int:
    """Write the table into the page."""
    text = PAGE.read_text("utf-8")
    head, _, rest = text.partition(BEGINS)
    PAGE.write_text(head + table() + rest.partition(ENDS)[2], "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
