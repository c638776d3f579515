"""Runs keys in the order in which they were pressed.

Textual passes a bound key to the app first and looks up the binding from there. Characters read together with
it, as over a slow line, are inserted meanwhile: ``a``, Backspace, ``b`` would become ``a``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from textual import events
from textual.app import App
from textual.binding import Binding
from textual.widget import Widget


def after_typing(app: App[Any], call: Callable[[], object]) -> None:
    """Call after what was typed before the key: keys that work anywhere overtake typing."""
    (app.focused or app).call_later(call)


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
