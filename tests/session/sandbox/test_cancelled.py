"""A sandbox whose making is cancelled, at any moment, leaves no folder."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from session.sandbox.sandbox import Sandboxes
from session.storage.folders import state_folder

MOMENTS = 40


@pytest.mark.parametrize("walls", [True, False])
async def test_a_sandbox_that_is_cancelled_while_it_is_made_leaves_nothing(
    walls: bool, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not walls:
        monkeypatch.setattr(Sandboxes, "_known_refusal", lambda _: "the test wants a copy")
    for number in range(200):
        (root / f"{number}.txt").write_text("text\n")
    sandboxes = Sandboxes(root, os.environ)
    for moment in range(MOMENTS):
        making = asyncio.create_task(sandboxes.make())
        for _ in range(moment):
            await asyncio.sleep(0.001 if moment % 2 else 0)
        making.cancel()
        await asyncio.wait({making})
        if not making.cancelled():
            await making.result().remove()
    await asyncio.get_running_loop().shutdown_default_executor()
    assert list((state_folder() / "sandboxes").iterdir()) == []
