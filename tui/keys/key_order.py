"""Keys in the order in which they were pressed.

Textual passes a key that a widget has bound up to the app first, and looks for the binding from there:
characters that were read together with it, as over a slow line, are put in meanwhile. ``a``, Backspace, ``b``
would become nothing but ``a``.
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
    """Call after what was typed before the key that asks for it: keys that work anywhere overtake typing."""
    (app.focused or app).call_later(call)


@cache
def own_actions(kind: type[Widget]) -> Mapping[str, str]:
    """What each key that is bound in widgets of a class does, its parents' bindings among them."""
    return {
        binding.key: binding.action
        for parent in reversed(kind.__mro__)
        for binding in Binding.make_bindings(parent.__dict__.get("BINDINGS", ()))
    }


async def act_in_turn(widget: Widget, event: events.Key) -> None:
    """Do at once what the key is bound to in ``widget``; for its ``on_key``."""
    action = own_actions(type(widget)).get(event.key)
    if action is not None:
        event.stop()
        event.prevent_default()
        await widget.run_action(action)
