"""Runs keys in the order in which they were pressed.

Textual passes a bound key to the app first and looks up the binding from there. Characters read together with
it, as over a slow line, are inserted meanwhile: ``a``, Backspace, ``b`` would become ``a``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any

from textual import events
from textual.app import App
from textual.binding import Binding
from textual.widget import Widget

AT_LAST = 2.0
"""Seconds for which Ctrl+C and quitting wait for a pane to take what was typed before."""


def after_typing(app: App[Any], call: Callable[[], object]) -> None:
    """Call after what was typed before the key: keys that work anywhere overtake typing."""
    if app.focused is None or not app.focused.call_later(call):
        app.call_later(call)


def after_typing_at_last(app: App[Any], call: Callable[[], Awaitable[object]]) -> None:
    """Call after what was typed before the key, as :func:`after_typing`, but call within ``AT_LAST`` seconds:
    a pane that hangs must not keep the user from leaving."""
    called = False

    async def once() -> None:
        nonlocal called
        if not called:
            called = True
            await call()

    after_typing(app, once)
    asyncio.get_running_loop().call_later(AT_LAST, lambda: called or app.call_later(once))


async def typed(app: App[Any]) -> None:
    """Wait until what was typed before is handled: by the app, and then by what has the focus."""
    for node in (app, app.focused or app):
        done = asyncio.Event()
        if node.call_later(done.set):
            await done.wait()


def hand_on(to: Widget, event: events.Key | events.Paste) -> None:
    """Pass what was typed or pasted elsewhere to a widget, behind what went there by itself."""
    again = (
        events.Key(event.key, event.character) if isinstance(event, events.Key) else events.Paste(event.text)
    )
    to.post_message(again)


@cache
def own_actions(kind: type[Widget]) -> Mapping[str, str]:
    """The actions of the keys bound in a widget class and its parents."""
    return {
        binding.key: binding.action
        for parent in reversed(kind.__mro__)
        for binding in Binding.make_bindings(parent.__dict__.get("BINDINGS", ()))
    }


async def run_key_in_order(widget: Widget, event: events.Key) -> None:
    """Run the action that the key is bound to in ``widget``; call it from the widget's ``on_key``."""
    action = own_actions(type(widget)).get(event.key)
    if action is not None:
        event.stop()
        event.prevent_default()
        await widget.run_action(action)
