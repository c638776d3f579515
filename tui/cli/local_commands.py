"""Commands for servers on this machine: ``spark local`` keeps models for the embedded engine, downloaded from
a hub, and ``spark partner`` is the built-in practice server alone.
"""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from pathlib import Path
from shutil import get_terminal_size

import click

from tui.front.exits import CONFIGURATION, FAILED, UNREACHABLE, USAGE, leave
from tui.front.printing import say, say_again

WARNED_BYTES = 5_000_000_000
"""Downloads above this size have to be confirmed."""
DRAWN_SECONDS, LOGGED_SECONDS = 0.1, 10.0
"""Between two lines of progress, on a terminal and elsewhere."""
_WINDOW_SECONDS = 10.0
"""The speed is measured over this many seconds."""


@click.group("local")
def local_command() -> None:
    """Models for --local: download them from a hub, list them, remove them."""


@local_command.command("pull")
@click.argument("name")
@click.option("--file", metavar="F", help="Which GGUF file of the repository.")
@click.option("--yes", is_flag=True, help="Do not ask, however large it is.")
def pull_model(name: str, file: str | None, yes: bool) -> None:
    """Bring NAME here: a short name (spark local list --known) or the hub's owner/model.

    HF_ENDPOINT names another hub, HF_TOKEN opens gated models. An interrupted pull is resumed.
    """
    from session.base.text.sanitize import clean_line
    from session.models.engine.model_hub import Hub, HubError
    from session.models.engine.model_store import ModelStore
    from session.models.engine.process import said_bytes
    from session.models.engine.pull import choose, pull
    from session.models.engine.settings import LocalError

    store = ModelStore()
    try:
        with Hub(os.environ) as hub:
            wanted = choose(hub, name, file)
            size = said_bytes(wanted.file.size)
            say(f"{clean_line(wanted.repository.name)}: {wanted.file.name}, {size}", err=True)
            _confirm_size(wanted.file.size, yes)
            progress = PullProgress(wanted.name)
            place = pull(hub, store, wanted, progress.show, progress.say)
            progress.end()
    except LocalError as problem:
        leave(clean_line(str(problem)), FAILED)
    except HubError as problem:
        leave(clean_line(str(problem)), UNREACHABLE)
    say(str(place))
    say(f"try it: spark --local {wanted.name}", err=True)


def _confirm_size(size: int, yes: bool) -> None:
    from session.models.engine.model import free_memory
    from session.models.engine.process import said_bytes

    free = free_memory()
    if free is not None and size > free:
        say(f"spark: it is larger than the {said_bytes(free)} of memory that are free", err=True)
    if yes or size < WARNED_BYTES:
        return
    if not sys.stdin.isatty():
        leave(f"that is {said_bytes(size)}: --yes pulls it", USAGE)
    if not click.confirm(f"Pull {said_bytes(size)}?", err=True):
        raise SystemExit(FAILED)


@local_command.command("list")
@click.option("--known", is_flag=True, help="The short names that pull knows, instead of what is here.")
def list_models(known: bool) -> None:
    """List the models on this machine."""
    from session.models.engine.model_hub import known_models
    from session.models.engine.model_store import ModelStore
    from session.models.engine.process import said_bytes

    if known:
        for model in known_models():
            note = "" if model.verified else "  (not checked at the hub)"
            say(f"{model.name:<24} {model.gigabytes:>5.1f} GB  {model.repository}{note}")
        return
    models = ModelStore().models()
    for each in models:
        state = "" if each.whole else "  unfinished: pull it again to go on"
        source = f"  {each.origin.repository}" if each.origin else ""
        say(f"{each.name:<40} {said_bytes(each.size):>9}{source}{state}")
    if not models:
        say("no model is pulled yet: spark local pull NAME", err=True)


@local_command.command("remove")
@click.argument("name")
def remove_model(name: str) -> None:
    """Delete the model NAME from this machine, including an unfinished download."""
    from session.models.engine.model_store import ModelStore
    from session.models.engine.process import said_bytes
    from session.models.engine.settings import LocalError

    try:
        freed = ModelStore().remove(name)
    except LocalError as problem:
        leave(str(problem), CONFIGURATION)
    say(f"freed {said_bytes(freed)}", err=True)


class PullProgress:
    """Shows how much is downloaded, the speed and the time left."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._alive = sys.stderr.isatty()
        self._shown = 0.0
        self._seen: deque[tuple[float, int]] = deque()
        self._drawn = False

    def show(self, there: int, whole: int) -> None:
        """Bytes downloaded so far, and of the whole file."""
        now = time.monotonic()
        self._seen.append((now, there))
        while now - self._seen[0][0] > _WINDOW_SECONDS:
            self._seen.popleft()
        if there < whole and now - self._shown < (DRAWN_SECONDS if self._alive else LOGGED_SECONDS):
            return
        self._shown = now
        line = progress_line(self._name, there, whole, self._speed())
        if self._alive:
            width = get_terminal_size().columns - 1
            say_again(line[:width], width)
            self._drawn = True
        else:
            say(line, err=True)

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self.end()
        say(f"spark: {text}", err=True)

    def end(self) -> None:
        """End the line that is redrawn."""
        if self._drawn:
            say(err=True)
            self._drawn = False

    def _speed(self) -> float:
        (began, first), (now, last) = self._seen[0], self._seen[-1]
        return (last - first) / (now - began) if now > began else 0.0


def progress_line(name: str, there: int, whole: int, speed: float) -> str:
    """One line of progress; ``speed`` is in bytes per second, 0 where it is unknown."""
    from session.models.engine.process import said_bytes

    share = f"{name}  {said_bytes(there)} of {said_bytes(whole)}  {100 * there // max(1, whole)} %"
    if speed <= 0 or there >= whole:
        return share
    left = int((whole - there) / speed)
    minutes, seconds = divmod(left, 60)
    hours, minutes = divmod(minutes, 60)
    wait = (
        f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
    )
    return f"{share}  {said_bytes(speed)}/s  {wait} left"


@click.command("partner")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8417, show_default=True, help="0 takes a free one."
)
@click.option(
    "--rate", default="1000", show_default=True, metavar="TOKENS_PER_S", help="How fast it answers."
)
@click.option("--script", type=click.Path(path_type=Path), help="A script of your own (docs/partner.md).")
def partner_command(port: int, rate: str, script: Path | None) -> None:
    """Serve scripted answers on a loopback WebSocket until Ctrl+C; its address is printed first."""
    from session.partner.server.server import ServingError, serve_until_stopped

    try:
        serve_until_stopped(port, rate, script, announce=lambda url: say(url))
    except ServingError as problem:
        leave(str(problem), UNREACHABLE if problem.address else CONFIGURATION)
