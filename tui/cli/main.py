"""The command line: which commands there are, and what all of them share.

The modules of ``tui.cli`` hold the commands and are imported when one of theirs is run, so that ``spark
--version`` and shell completion stay quick. ``spark PROMPT`` is the command ``open`` with its name left out.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import re
import sys
from pathlib import Path
from typing import NoReturn

import click

from tui.front.exits import CONFIGURATION, DONE, FAILED, INTERRUPTED, OUTPUT_FULL, leave
from tui.front.printing import drop_output, say

COMMAND_MODULES = {
    "app_commands": {
        "open": "Open the app in this folder (also without its name).",
        "resume": "Open an earlier session again.",
        "demo": "Try spark on a sample project: no key, no network.",
    },
    "turn_commands": {
        "line": "The same session without a full screen.",
        "exec": "Run one turn without a terminal.",
        "run": "Run a command; where it fails, offer what failed to the model.",
        "acp": "Be the agent of an editor: the Agent Client Protocol on standard streams.",
    },
    "session_commands": {
        "sessions": "List this project's sessions.",
        "fork": "Begin a session from a turn or a hunk of another.",
        "export": "Print a session: its journal, or as a document.",
        "replay": "Play a session again on the screen, without a model.",
    },
    "hunk_commands": {
        "apply": "Land edits from standard input as they stream in.",
        "diff": "Show what hunks changed, as a patch for git apply.",
        "undo": "Undo the hunk that landed last, or a named one.",
        "redo": "Redo the hunk that was undone last, or a named one.",
    },
    "check_command": {
        "check": "Run the project's checks in a sandbox.",
    },
    "race_command": {
        "race": "List the attempts of the last race with their verdicts.",
    },
    "review_command": {
        "review": "Review a change: findings for people, hooks and CI.",
    },
    "bench_command": {
        "bench": "Measure what many attempts are worth in this repository.",
    },
    "context_commands": {
        "context": "Show the window a request would be sent with.",
        "trust": "Read and answer what in this project may instruct the model.",
        "mcp": "List the tools of the configured MCP servers.",
    },
    "model_commands": {
        "models": "List the models that the key can use.",
        "usage": "Show tokens and cost by day and model.",
        "login": "Store a key for a provider, or sign in with a plan.",
        "logout": "Take a stored key away.",
    },
    "local_commands": {
        "local": "Pull, list and remove models for the embedded engine.",
        "partner": "Run the built-in practice server alone.",
    },
    "setup_commands": {
        "doctor": "Say what is wrong with the setup, the link and the terminal.",
        "keys": "Show what the terminal sends for each key.",
        "completion": "Print the completion script for a shell.",
    },
}
"""The commands with their help, by the module of ``tui/cli`` that holds them."""
COMMANDS = {name: help_line for commands in COMMAND_MODULES.values() for name, help_line in commands.items()}
GROUP_OPTIONS = frozenset({"--help", "-h", "--version"})
VALUE_OPTIONS = frozenset(
    {
        "--base-url", "--model", "--provider", "--account", "--effort", "--theme", "-C",
        "--local", "--budget", "--pin", "--remove", "--days", "--format", "--rate", "--port", "--script",
        "--attempts", "--check", "--without-walls", "--session", "--turn", "--last", "--hunk", "--search",
        "--bundle", "--speed", "--most", "--max-cost", "--forget", "--fix",
    }
)  # fmt: skip
"""The options whose value is the next word, of all commands: a test holds this list complete."""
_PROMPTED = ("open", "exec", "line")
_DASHED = re.compile(r"-[^\s=]*\s")
"""A word of the command line that begins as an option does, and is none."""


class SparkGroup(click.Group):
    """Imports a command when it is used; without a command name, it runs ``open``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All command names, sorted."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command called ``cmd_name``."""
        module = next((module for module, commands in COMMAND_MODULES.items() if cmd_name in commands), None)
        if module is None:
            return None
        command = getattr(importlib.import_module(f"tui.cli.{module}"), f"{cmd_name}_command")
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the command's name first, wherever it is among the options."""
        first = prompt_last(command_first(args))
        if ctx.resilient_parsing and first == ["open", *args]:
            # Shell completion asks for the next word: a command's name is still a possible answer.
            first = args
        return super().parse_args(ctx, first)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; an interrupt, a closed pipe or a system error ends it with the right exit code."""
        try:
            try:
                settle_home()
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()
        except BrokenPipeError:
            # A reader that closes the pipe early (spark ... | head) is no error.
            drop_output()
            raise SystemExit(DONE) from None
        except OSError as problem:
            _give_up(problem)
        except KeyboardInterrupt:
            leave("interrupted", INTERRUPTED)


def settle_home() -> None:
    """Leave a HOME that is no whole path out of the environment, as the XDG variables that are none: the list
    of users says where home is, and nothing is written into the project."""
    if not Path(os.environ.get("HOME", "/")).is_absolute():
        del os.environ["HOME"]
    try:
        Path.home()
    except RuntimeError:
        leave("you have no home folder: set HOME to a whole path", CONFIGURATION)


def _give_up(problem: OSError) -> NoReturn:
    """Print which system call failed and what to do about it, and exit."""
    drop_output()
    where = f"{problem.filename}: " if problem.filename else ""
    if not where and problem.errno in (errno.ENOSPC, errno.EDQUOT):
        leave(f"standard output cannot be written: {problem.strerror}", OUTPUT_FULL)
    full = "; make room there" if problem.filename and problem.errno in (errno.ENOSPC, errno.EDQUOT) else ""
    leave(f"{where}{problem.strerror or problem}{full}", FAILED)


def command_first(args: list[str]) -> list[str]:
    """Move the command's name to the front of ``args``: it is the first word that is no option and no
    option's value. If that word names no command, or follows ``--``, it is a prompt, and the command is
    ``open``. ``help``, ``help COMMAND`` and ``version`` are what many programs call their options."""
    if args and args[0] in GROUP_OPTIONS:
        return args
    if args[:1] == ["help"] and (args[1:] == [] or (len(args) == 2 and args[1] in COMMANDS)):
        return [*args[1:], "--help"]
    if args == ["version"]:
        return ["--version"]
    position = 0
    while position < len(args):
        word = args[position]
        if word == "--":
            break
        if word.startswith("-") and word != "-":
            position += 2 if word in VALUE_OPTIONS else 1
            continue
        if word in COMMANDS:
            return [word, *args[:position], *args[position + 1 :]]
        break
    return ["open", *args]


def prompt_last(args: list[str]) -> list[str]:
    """``args``, where they are of a command that takes a prompt and that begins with a dash, as a list does,
    with the prompt behind ``--``. No option has a blank in its name."""
    if args[0] not in _PROMPTED or "--" in args:
        return args
    for position, word in enumerate(args):
        if _DASHED.match(word) and not {word[:2], args[position - 1]} & VALUE_OPTIONS:
            return [*args[:position], *args[position + 1 :], "--", word]
    return args


@click.group(
    cls=SparkGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Without a command: spark [PROMPT] opens the app here. spark COMMAND --help tells more of each.",
)
@click.version_option(package_name="spark", prog_name="spark", message="%(prog)s %(version)s")
def spark() -> None:
    """A pair programmer in the terminal, for models that stream 1,000 tokens a second and more."""


def main() -> None:
    """The console script ``spark``; exits with one of the documented exit codes."""
    try:
        _main()
    except SystemExit as leaving:
        if "tui.front.event_loop" not in sys.modules or isinstance(leaving.code, str):
            raise
        from tui.front.event_loop import end

        end(leaving.code or DONE)


def _main() -> None:
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # If a standard stream is closed, open its number now: the next opened file would get it.
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 (it stays open)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # File names may not be valid text, and terminals may lack characters: replace those.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = spark.main(prog_name="spark", standalone_mode=False)
    except click.ClickException as problem:
        # Click would print it as it is, with what the command line holds in it.
        text = io.StringIO()
        problem.show(text)
        say(text.getvalue(), err=True, end="")
        code = problem.exit_code
    except click.Abort:
        leave("interrupted", INTERRUPTED)
    except OSError as problem:  # the help had nowhere to go: it is printed before a command runs
        _give_up(problem)
    raise SystemExit(code if isinstance(code, int) else DONE)
