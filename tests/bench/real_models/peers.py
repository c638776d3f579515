"""Other programs on the same requests and the same server; aider runs in an environment of its own.

``python3 -m venv AIDER && AIDER/bin/pip install aider-chat``, then ``--aider AIDER/bin/aider``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.bench.real_models.engine import KEY
from tests.bench.real_models.requests import Request

_TURN_SECONDS = 1500
_QUIET = (
    *("--no-auto-commits", "--yes-always", "--no-check-update", "--no-show-model-warnings", "--no-gitignore"),
    *("--no-analytics", "--no-pretty", "--no-suggest-shell-commands", "--no-detect-urls"),
)


def ask_aider(
    aider: str, folder: Path, home: Path, request: Request, url: str, model: str, form: str
) -> None:
    """One prompt of aider in the edit format ``form``, with all of the project's files in its chat."""
    line = [aider, "--model", f"openai/{model}", "--edit-format", form, *_QUIET, "--message", request.prompt]
    env = {"HOME": str(home), "OPENAI_API_BASE": f"{url}/v1", "OPENAI_API_KEY": KEY}
    subprocess.run(
        [*line, *request.files],
        cwd=folder,
        env={**os.environ, **env},
        capture_output=True,
        timeout=_TURN_SECONDS,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    for left in folder.glob(".aider*"):
        shutil.rmtree(left) if left.is_dir() else left.unlink()
