"""Which theme the screen begins with, and keeping the user's choice.

The settings name a theme, or ``auto``. What the user picks in the app is kept and comes before the settings,
until these name another theme than they did then. ``auto`` is the dark or the light theme by the terminal's
background; what the terminal answered last is kept, since the first frame does not wait for an answer. The
answer is that to OSC 11 (xterm's ctlseqs, "Operating System Commands").
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from session.base.storage.private_files import StoreError
from themes.loader import theme_names

_ANSWER = re.compile(r"\x1b\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})")
AUTO = "auto"
BY_BACKGROUND = {True: "dark", False: "light"}


def is_dark(answer: str) -> bool | None:
    """Whether the colour in ``answer`` is a dark one; None where the answer is none."""
    found = _ANSWER.match(answer)
    if found is None:
        return None
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in found.groups())
    return bool(0.299 * red + 0.587 * green + 0.114 * blue < 0.5)


def is_dark_by(environ: Mapping[str, str]) -> bool | None:
    """Whether the background is dark according to ``COLORFGBG``, which some terminals set; None where it does
    not say."""
    last = environ.get("COLORFGBG", "").rpartition(";")[2]
    if not last.isdecimal() or int(last) > 15:
        return None
    return int(last) in (0, 1, 2, 3, 4, 5, 6, 8)


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept: the ``theme`` that the user chose ``instead_of`` that of the settings, and whether the
    terminal was ``dark`` last."""

    theme: str = ""
    instead_of: str = ""
    dark: bool | None = None


class ThemeChoice:
    """The choice of all projects, in one file."""

    def __init__(self, folder: Path, configured: str, environ: Mapping[str, str]) -> None:
        """``configured`` is the theme that the settings name."""
        self._file = folder / "theme.json"
        self._configured = configured
        self._environ = environ
        self._kept = self._read()

    @property
    def first(self) -> str:
        """The theme to begin with."""
        theme = self.chosen
        if theme != AUTO:
            return theme

        dark = is_dark_by(self._environ)
        dark = self._kept.dark if dark is None else dark
        return BY_BACKGROUND[dark is not False]

    @property
    def chosen(self) -> str:
        """The theme by its name, or ``auto``."""
        kept = self._kept
        if kept.instead_of == self._configured and kept.theme in (AUTO, *theme_names()):
            return kept.theme
        return self._configured

    def choose(self, theme: str) -> None:
        """Keep the user's choice. Raises StoreError."""
        self._write(replace(self._kept, theme=theme, instead_of=self._configured))

    def answered(self, *, dark: bool) -> str | None:
        """The terminal said how its background is: the theme to change to, or None. Raises StoreError."""
        if self._kept.dark is not dark:
            self._write(replace(self._kept, dark=dark))
        return BY_BACKGROUND[dark] if self.chosen == AUTO else None

    def _read(self) -> Kept:
        """What is kept; nothing where the file is damaged: it holds no more than a preference."""
        try:
            found: Any = json.loads(self._file.read_bytes())
        except (OSError, ValueError):
            return Kept()
        if not isinstance(found, dict):
            return Kept()
        theme, instead_of, dark = found.get("theme"), found.get("instead_of"), found.get("dark")
        return Kept(
            theme if isinstance(theme, str) else "",
            instead_of if isinstance(instead_of, str) else "",
            dark if isinstance(dark, bool) else None,
        )

    def _write(self, kept: Kept) -> None:
        from session.base.storage.private_files import replace_private

        self._kept = kept
        try:
            replace_private(self._file, json.dumps(asdict(kept)).encode())
        except OSError as problem:
            raise StoreError(f"cannot keep the theme in {self._file}: {problem.strerror}") from problem
