"""``spark local``: models for the embedded engine, downloaded from a hub and kept on this machine."""

from __future__ import annotations

import os
import sys

import click

from tui.front.exits import CONFIGURATION, FAILED, UNREACHABLE, USAGE, leave
from tui.front.printing import say

WARNED_BYTES = 5_000_000_000
"""Downloads above this size have to be confirmed."""


@click.group("local")
def command() -> None:
    """Models for --local: download them from a hub, list them, remove them."""


@command.command("pull")
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
    from tui.front.words.pull_progress import PullProgress

    store = ModelStore()
    try:
        with Hub(os.environ) as hub:
            wanted = choose(hub, name, file)
            size = said_bytes(wanted.file.size)
            say(f"{clean_line(wanted.repository.name)}: {wanted.file.name}, {size}", err=True)
            _confirm(wanted.file.size, yes)
            progress = PullProgress(wanted.name)
            place = pull(hub, store, wanted, progress.show, progress.say)
            progress.end()
    except LocalError as problem:
        leave(clean_line(str(problem)), FAILED)
    except HubError as problem:
        leave(clean_line(str(problem)), UNREACHABLE)
    say(str(place))
    say(f"try it: spark --local {wanted.name}", err=True)


def _confirm(size: int, yes: bool) -> None:
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


@command.command("list")
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


@command.command("remove")
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
