"""Another effort within a conversation, told where it changes: what the server has cached stays of use.

The effort in a request's field is rendered before the conversation, so that another one there makes a server
read all of it again. Newer models take a change as an item of the conversation instead, which holds until the
next one. The field keeps the first effort for good, and each change its place. Sources: OpenAI's guide
"Reasoning" (``configuration_update``, GPT-6 and newer, no pro models) and Anthropic's "Per-message effort".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from session.wire.protocol.items import EffortUpdate, Item, Sent
from session.wire.protocol.request import RequestProfile

EFFORT_ITEM_DIALECTS = ("responses", "messages")
"""The dialects that have such an item."""


@dataclass(frozen=True, slots=True)
class EffortChange:
    """From the item ``at`` of the input on, the model has this effort."""

    at: int
    effort: str

    def item(self) -> EffortUpdate:
        """The change as an item of the conversation."""
        return {"type": "configuration_update", "reasoning": {"effort": self.effort}}


def with_efforts(items: Sequence[Item], changes: Sequence[EffortChange], first: int = 0) -> list[Sent]:
    """The ``items`` from the one numbered ``first`` on, with the ``changes`` among them in their places."""
    sent: list[Sent] = []
    place = first
    for change in changes:
        if change.at >= first:
            sent += [*items[place : change.at], change.item()]
            place = change.at
    return [*sent, *items[place:]]


def changes_for(
    before: tuple[Sequence[Item], Sequence[EffortChange]], items: Sequence[Item], base: str, effort: str
) -> tuple[EffortChange, ...]:
    """The changes in the conversation ``items``, which is to go on with ``effort``.

    ``before`` is the input of the request before with its changes. They stand as long as the items around
    them do; a new one stands before the last message of the user's that the server has not had.
    """
    known, changes = before
    common = next(
        (at for at, (old, new) in enumerate(zip(known, items, strict=False)) if old != new),
        min(len(known), len(items)),
    )
    kept = tuple(change for change in changes if change.at < common)
    if effort == (kept[-1].effort if kept else base):
        return kept
    new = (at for at in range(len(items) - 1, common - 1, -1) if _is_prompt(items[at]))
    return (*kept, EffortChange(next(new, len(items)), effort))


def _is_prompt(item: Item) -> bool:
    return item["type"] == "message" and item["role"] == "user"


class SteadyEfforts:
    """The effort in the field of the requests to each model, and the changes in the latest conversation."""

    def __init__(self) -> None:
        self._bases: dict[str, str] = {}
        self._latest: tuple[str, tuple[Item, ...], tuple[EffortChange, ...]] = ("", (), ())

    def steady(self, profile: RequestProfile) -> RequestProfile:
        """``profile`` with the effort that its model was first asked with."""
        if not profile.effort_items or profile.effort is None:
            return profile
        return replace(profile, effort=self._bases.setdefault(profile.model, profile.effort))

    def spread(
        self, profile: RequestProfile, items: tuple[Item, ...], *, keep: bool
    ) -> tuple[RequestProfile, tuple[EffortChange, ...]]:
        """The profile with the steady effort, and the changes that make ``items`` go on with that of
        ``profile``. ``keep`` says that the next request goes on from this one; else it is left as it is where
        it shares nothing with the conversation."""
        model, known, changes = self._latest
        before = (known, changes) if model == profile.model else ((), ())
        shares = before[0][:1] == items[:1]
        if not profile.effort_items or profile.effort is None or not (keep or shares):
            return profile, ()
        steady = self.steady(profile)
        if steady.effort is None:
            return profile, ()
        made = changes_for(before, items, steady.effort, profile.effort)
        if keep:
            self._latest = profile.model, items, made
        return steady, made
