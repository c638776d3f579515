"""``spark completion``: the shell's completion script."""

from __future__ import annotations

import click


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script for SHELL: eval "$(spark completion bash)" in your shell's start file."""
    from click.shell_completion import get_completion_class

    from tui.cli.main import spark

    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(spark, {}, "spark", "_SPARK_COMPLETE").source())
