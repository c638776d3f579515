"""The sample project of ``spark demo``: a small task list in Python and JavaScript, under git."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from session.base.programs import find_program

SAMPLE = Path(__file__).parent / "sample"

_IDENTITY = ("-c", "user.name=spark demo", "-c", "user.email=demo@example.invalid")
_QUIET = ("-c", "commit.gpgsign=false", "-c", "core.hooksPath=", "-c", "init.defaultBranch=main")
_GIT_SECONDS = 20.0

# An unfinished change, so that the sample has uncommitted work like a real project.
_PENDING_FILE = "tasks/model.py"
_PENDING_BEFORE = "    @classmethod\n    def from_json("
_PENDING_ADDED = '''\
    def is_late(self, today: date) -> bool:
        """Whether the task should have been done before ``today``."""
        return not self.done and self.due is not None and self.due < today

'''


def make_sample(folder: Path) -> str | None:
    """Put the sample project into ``folder``, committed to git except for one change to ``tasks/model.py``.

    Returns None, or a line for the user if git is missing and the project has no repository.
    Raises OSError if the folder cannot be written.
    """
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(SAMPLE, folder, ignore=ignored, dirs_exist_ok=True)
    problem = _commit(folder)
    target = folder / _PENDING_FILE
    text = target.read_text(encoding="utf-8")
    target.write_text(text.replace(_PENDING_BEFORE, _PENDING_ADDED + _PENDING_BEFORE, 1), encoding="utf-8")
    return problem


def _commit(folder: Path) -> str | None:
    git = find_program("git", folder)
    if git is None:
        return "git is not installed: the sample project has no history, and no changed files to show."
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "A small task list")):
        try:
            subprocess.run(
                (git, *_IDENTITY, *_QUIET, *command),
                cwd=folder,
                check=True,
                capture_output=True,
                text=True,
                timeout=_GIT_SECONDS,
            )
        except subprocess.CalledProcessError as error:
            said = error.stderr.strip().splitlines()
            return f"git {command[0]} failed: {said[-1] if said else 'it gave no reason'}"
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"git {command[0]} failed: {error}"
    return None
