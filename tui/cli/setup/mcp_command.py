"""``spark mcp``: the configured MCP servers and their tools."""

from __future__ import annotations

from pathlib import Path

import click

from tui.cli.options import folder_option, json_option, opening
from tui.front.printing import say, say_json


@click.command("mcp")
@json_option
@folder_option
def command(as_json: bool, folder: Path) -> None:
    """Open the configured MCP servers and list their tools.

    Servers are tables [mcp.NAME] of config.toml; docs/configuration.md tells more. Leaves with 4 where one
    cannot be had.
    """
    import asyncio

    from session.tools.mcp.listing import ask_servers
    from tui.front.exits import UNREACHABLE

    opened = opening(folder)
    servers = opened.settings.mcp
    if not servers:
        say("no MCP server is configured: add a table [mcp.NAME] to config.toml", err=True)
        return
    reports = asyncio.run(ask_servers(servers, opened.program_environ, opened.server_folders))
    for report in reports:
        if as_json:
            say_json(report.as_dict())
            continue
        say(f"{report.name}  {report.problem or f'{len(report.tools)} tools'}")
        for tool in report.tools:
            asks = "  (asks first)" if tool.asks else ""
            say(f"  {tool.name}{asks}  {tool.description}"[:110].rstrip())
        for line in report.left_out:
            say(f"  left out: {line}")
    if any(report.problem for report in reports):
        raise SystemExit(UNREACHABLE)
