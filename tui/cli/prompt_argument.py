"""The argument PROMPT, and what is told where it cannot be meant as one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import Any, TypeVar

import click

from tui.front.exits import USAGE, leave

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_MISTYPED = 0.8
"""Least similarity of a word and a command's name, from 0 to 1, as difflib counts it, for a mistake."""


def prompt_argument(*, required: bool = False) -> Callable[[Decorated], Decorated]:
    """The argument ``prompt``: one word of the command line, in quotes where it has blanks."""
    metavar = "PROMPT" if required else "[PROMPT]"
    return click.argument("prompt", nargs=-1, required=required, metavar=metavar, callback=_one_prompt)


def _one_prompt(context: click.Context, _parameter: click.Parameter, words: tuple[str, ...]) -> str | None:
    if len(words) > 1:
        command = context.command_path.removesuffix(" open")
        raise click.UsageError(f"Put the prompt in quotes: {command} {shlex.quote(' '.join(words))}")
    return words[0] if words else None


def refuse_mistyped(prompt: str | None) -> None:
    """Exit with 2 where the prompt of ``spark PROMPT`` is a command's name with a typing mistake."""
    if prompt is None or not re.fullmatch("[a-z]{3,}", prompt):
        return
    from difflib import get_close_matches  # imported for a prompt of one word alone

    from tui.cli.main import COMMANDS

    if prompt not in COMMANDS and (near := get_close_matches(prompt, COMMANDS, 1, _MISTYPED)):
        leave(
            f"there is no command {prompt!r}; did you mean spark {near[0]}? As a prompt, type it in the app",
            USAGE,
        )
