"""Whether the user wants suggestions and reviews that cost money: asked once, kept in the state folder."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from session.base.storage.private_files import replace_private
from session.setup.user_tables import SideSettings

FILE_NAME = "side-requests.json"


class SideAnswer:
    """The user's answer, in one file that all sessions share. A damaged file is no file."""

    def __init__(self, state: Path) -> None:
        self._file = state / FILE_NAME
        self._offered = self._keeps = False

    def given(self, setting: bool | None, *, priced: bool) -> bool:
        """Whether the requests go out: by the setting, else by the answer, else where they cost nothing."""
        kept = self._kept()
        self._keeps = setting is None and priced
        self._offered = kept is not None or not self._keeps
        if setting is not None:
            return setting
        return kept if kept is not None else not priced

    def offer(self, told: str, settings: SideSettings) -> str:
        """What the user is offered, once; empty afterwards. ``told`` names the model and its price."""
        if self._offered:
            return ""
        self._offered = True
        return (
            f"Suggestions while you type and reviews of what you save are off. They would ask {told}, for "
            f"${settings.dollars_per_hour:g} an hour at most ([side] in config.toml). "
            "Alt+S turns them on and off."
        )

    def answered(self, *, on: bool) -> None:
        """Keep the answer for the next sessions, where it is one about money. Where it cannot be kept, they
        ask again."""
        self._offered = True
        if not self._keeps:
            return
        with contextlib.suppress(OSError):
            replace_private(self._file, json.dumps({"on": on}).encode())

    def _kept(self) -> bool | None:
        try:
            answer = json.loads(self._file.read_text("utf-8"))
        except (OSError, ValueError):
            return None
        on = answer.get("on") if isinstance(answer, dict) else None
        return on if isinstance(on, bool) else None
