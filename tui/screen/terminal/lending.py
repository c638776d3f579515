"""Lending the terminal: to another program, to another app, and to escape sequences that draw nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from textual.app import App

from tui.screen.terminal.driver import SparkDriver


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


def keep_keys(app: App[Any]) -> None:
    """From now on leave keys with the terminal, for the app that takes it over next."""
    driver = app._driver
    if isinstance(driver, SparkDriver):
        driver.keep_keys()


def set_mouse(app: App[Any]) -> bool:
    """Turn mouse reporting the other way; whether it is on now. Without a terminal it stays off."""
    driver = app._driver
    if not isinstance(driver, SparkDriver):
        return False
    driver.report_mouse(not driver.reports_mouse)
    return driver.reports_mouse
