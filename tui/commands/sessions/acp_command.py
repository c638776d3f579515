"""``spark acp``: the agent of an editor."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import click

from tui.commands.options import agent_options
from tui.exits import CONFIGURATION, leave


@click.command("acp")
@agent_options
def command(**given: Any) -> None:
    """Be the agent of an editor that speaks the Agent Client Protocol, on standard input and output.

    The editor starts this command, and names the folder of each session.
    """
    if find_spec("acp") is None:
        leave("spark acp needs a package: pip install 'spark[acp]'", CONFIGURATION)
    from session.setup.config import Flags
    from tui.acp.run import run_agent

    run_agent(Flags(**given))
