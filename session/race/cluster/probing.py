"""Finds out in a sandbox which versions of a check's tools a machine has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version

from session.checks.runner import PLAIN, SHELL
from session.checks.sandbox.command import Command
from session.checks.sandbox.sandbox import Sandboxes
from session.race.cluster.tools import Tools, probe, read

_SECONDS = 60.0
_MOST_OUTPUT = 1_000_000


async def installed(sandboxes: Sandboxes, environ: Mapping[str, str], names: Sequence[str]) -> Tools:
    """The versions of the programs ``names``, and of spark. Raises OSError and SandboxRefused."""
    output = bytearray()

    def take(piece: bytes) -> bool:
        output.extend(piece)
        return len(output) < _MOST_OUTPUT

    sandbox = await sandboxes.make()
    try:
        await sandbox.run(Command([SHELL, "-c", probe(names)], _SECONDS, {**environ, **PLAIN}), take)
    finally:
        await sandbox.remove()
    return {"spark": version("spark"), **read(output.decode("utf-8", "replace"))}
