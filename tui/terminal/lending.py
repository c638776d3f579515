"""Lending the terminal: to another program, and to escape sequences that draw nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from textual.app import App

from tui.terminal.driver import SparkDriver


@contextmanager
def given_back(app: App[Any]) -> Iterator[None]:
    """While this lasts another program has the terminal; spark goes on behind it."""
    driver = app._driver
    if isinstance(driver, SparkDriver):
        with driver.away():
            yield
    else:
        yield


def write_sequence(app: App[Any], sequence: str) -> None:
    """Send the terminal an escape sequence that draws nothing."""
    if app._driver is not None:
        app._driver.write(sequence)


def hold_copied(app: App[Any], text: str) -> None:
    """Have Ctrl+V in spark paste ``text``."""
    app._clipboard = text
