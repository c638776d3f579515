"""The user's choice of model, effort and tier, from which the next request is made.

The choice is the user's (``/model``, ``/effort``, ``/fast``) and holds from the next turn on. With effort
``auto`` each turn gets one of the model's efforts (``effort.py``).
"""

from __future__ import annotations

from typing import Any, ClassVar

from session.base.events import Event, HunkRefused, ModelChosen, TurnEnded, TurnStarted
from session.base.text.wording import spelled_like
from session.models.catalogue import FAST, ULTRAFAST, Model, Price
from session.models.chosen import ChosenModel
from session.models.effort import Before, Picked, first, nearest, pick
from session.setup.opening import Opening
from session.tools.toolbox import Toolbox
from session.wire.instructions import Instructions, load_instructions, patch_tool
from session.wire.protocol.items import ToolDefinition
from session.wire.protocol.request import RequestProfile

_UNHELPFUL = frozenset({"rounds", "incomplete", "max_output_tokens"})
"""Codes of turns that failed because of the answer, not because of the connection."""

_MUCH = 2
"""Times the usual price up to which a tier is used without a question."""


class ChoiceError(Exception):
    """A model, effort or tier cannot be chosen; the message says why."""


class ModelChoice:
    """The choice for the next turns: model, effort, and which of the provider's tiers is used."""

    KINDS: ClassVar[tuple[type[Event], ...]] = (
        TurnStarted,
        HunkRefused,
        TurnEnded,
    )
    """The events that :meth:`take` looks at."""

    def __init__(self, opening: Opening, session: str, toolbox: Toolbox) -> None:
        self._opening = opening
        self._toolbox = toolbox
        self._session = session
        self._provider = opening.catalogue.provider(opening.settings.provider)
        self.model: Model = opening.model
        self.effort = opening.settings.effort
        self.tier = FAST if opening.settings.fast and self._provider.has_fast(self.model.name) else ""
        """One of the model's ``tiers``; empty for the usual one."""
        self._priced: set[str] = set()
        """The tiers whose price the user was told before they are used."""
        self._last = ""
        self._trouble = ""
        self.picked = self._fixed()

    @property
    def price(self) -> Price | None:
        """The price of the coming turns, if known."""
        return self.model.price_of(self.tier)

    @property
    def budget(self) -> int:
        """The most tokens of a window: what the model takes, within the user's own limit."""
        return self._opening.settings.budget.window(self.model.budget)

    @property
    def fast(self) -> bool:
        """Whether a faster tier is used."""
        return bool(self.tier)

    @property
    def tiers(self) -> tuple[str, ...]:
        """The tiers of the model, the usual one (empty) first."""
        return self._provider.tiers(self.model)

    def choose(
        self, *, model: Model | None = None, effort: str | None = None, tier: str | None = None
    ) -> str:
        """Use another model of this provider, another effort, or another tier (empty for the usual one).

        Returns a line for the user, perhaps empty. Raises ChoiceError for a choice that is not available, and
        the first time for a tier that costs more than twice as much: then nothing is changed.
        """
        chosen = model or self.model
        wanted = self._known(effort or self.effort, chosen, asked=effort is not None)
        offered = self._provider.tiers(chosen)
        if tier and tier not in offered:
            raise ChoiceError(self._no_tier(tier, chosen))
        if tier and tier != self.tier:
            self._ask_for(tier, chosen)
        told = ""
        if wanted not in (*chosen.efforts, "auto"):
            told = f"it is not known whether {chosen.name} has effort {wanted}: the server may refuse it"
        kept = self.tier if tier is None else tier
        if kept not in offered:
            told, kept = f"{self._no_tier(kept, chosen)}: it is off", ""
        if model is not None and kept == ULTRAFAST and model.name != self.model.name:
            told, kept = f"{kept} is off for {model.name}: its price is another", ""
        self.model, self.effort, self.tier = chosen, wanted, kept
        self.picked = self._fixed()
        return told if tier is None else self._tier()

    def next_tier(self) -> str:
        """The tier after the one in use; after the last one, the usual one. Raises ChoiceError where the
        model has no other."""
        tiers = self.tiers
        if len(tiers) == 1:
            raise ChoiceError(self._no_tier(FAST, self.model))
        return tiers[(tiers.index(self.tier) + 1) % len(tiers)]

    def _no_tier(self, tier: str, model: Model) -> str:
        what = "faster tier" if tier == FAST else f"tier {tier}"
        return f"{self._provider.name} has no {what} for {model.name}"

    def _ask_for(self, tier: str, model: Model) -> None:
        """Raise ChoiceError with the price of a tier that costs much more, the first time it is chosen."""
        usual, price = model.price, model.price_of(tier)
        if tier in self._priced or usual is None or price is None or price.output <= _MUCH * usual.output:
            return
        self._priced.add(tier)
        times = price.output / usual.output
        raise ChoiceError(
            f"{tier} costs {times:g} times as much: {price}, instead of {usual}. "
            f"To use it, say /fast {tier} once more"
        )

    def begin(self, request: str, *, redirect: bool, tokens: int) -> None:
        """Choose the effort of a turn that begins with ``request`` in a conversation of ``tokens`` tokens."""
        if self.effort == "auto":
            # Where the change is an item of the conversation, another effort sends nothing again.
            dear = 0 if self.model.effort_items else tokens
            before = Before(self._last, self._trouble, redirect, dear)
            self.picked = pick(request, self.model.efforts, before)
        else:
            self.picked = self._fixed()
        self._trouble = ""

    def take(self, event: Event) -> None:
        """Remember how a turn went, for the next choice of effort."""
        match event:
            case TurnStarted(effort=effort):
                self._last = effort
            case HunkRefused(turn=turn) if turn:
                self._trouble = "after refused hunks"
            case TurnEnded(status="failed", code=code) if code in _UNHELPFUL:
                self._trouble = "after a failed turn"
            case _:
                pass

    def chosen(self) -> ChosenModel:
        """The choice for the turn that begins now."""
        why = self.picked.why if self.effort == "auto" else None
        return ChosenModel(self.model, self.picked.effort, why, self.fast, self.price, self.plan_title)

    def event(self) -> ModelChosen:
        """The choice as an event."""
        model = self.model
        window, budget = (0, 0) if model.window_assumed else (model.window, model.budget)
        return ModelChosen(model.name, self.effort, window, self.fast, self.plan, self.tier, budget)

    @property
    def plan(self) -> str:
        """The words for a plan that pays; empty where a key does."""
        return self._provider.plan.using if self._provider.plan is not None else ""

    @property
    def plan_title(self) -> str:
        """The name of the plan that pays; empty where a key does."""
        return self._provider.plan.title if self._provider.plan is not None else ""

    @property
    def instructions(self) -> Instructions:
        """The instructions that every request begins with."""
        tools = self._toolbox.names if self.model.tools else ()
        return load_instructions(self.model.edit_format, tools, brief=self.model.brief)

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """The definitions of the tools that the model is offered."""
        patch = (patch_tool(),) if self.model.edits_are_calls else ()
        return (*patch, *(self._toolbox.definitions() if self.model.tools else ()))

    def profile(self) -> RequestProfile:
        """All of the next request except its input."""
        model, effort = self.model, self.picked.effort or None
        extra: dict[str, Any] = dict(self._provider.tier_fields(self.tier))
        if model.temperature is not None:
            extra["temperature"] = model.temperature
        # An engine at home writes until its window is full where nothing limits it.
        limit = model.output_reserve if self._provider.brief else None
        own_field = model.thinking != "budget" and self._opening.service.routes[0].dialect == "messages"
        if own_field:  # these models refuse a thinking budget
            # Without a summary nothing is shown while the model thinks between its tool calls.
            adaptive = {"type": "adaptive", "display": "summarized"}
            thinking = {"type": "disabled"} if effort == "none" else adaptive
            extra |= {"thinking": thinking} if model.thinking == "adaptive" else {}
            effort, limit = None if effort == "none" else effort, model.output_reserve
        return RequestProfile(
            model=model.name,
            instructions=self.instructions.text,
            tools=self.tools,
            effort=effort,
            effort_field=own_field,
            effort_items=model.effort_items,
            prompt_cache_key=self._session,
            max_output_tokens=limit,
            include=("reasoning.encrypted_content",),
            reasoning_field=model.reasoning_field,
            tools_as_item=model.tools_as_item,
            tool_field=self._provider.tool_field,
            steer=model.steer,
            instructions_as_item=self._opening.service.instructions_as_item,
            responses_extra=self._provider.responses_body,
            chat_extra=self._provider.chat_body,
            extra=extra,
        )

    def headers(self) -> dict[str, str]:
        """The additional headers of the next connection."""
        return self._provider.headers_for(self.model, self._session, fast=self.fast)

    def prices(self) -> str:
        """The price of the coming turns, and its date, as a line for the user."""
        if (plan := self._provider.plan) is not None:
            return f"{plan.using}: no price for each turn. To see and limit its use: {plan.usage}"
        name = self.model.name + (f" ({self.tier})" if self.tier else "")
        if self.price is None:
            return f"the price of {name} is unknown; config.toml can set it"
        as_of = f" as of {self.model.checked}" if self.model.checked else ""
        return f"list price of {name}{as_of}: {self.price}"

    @property
    def efforts(self) -> tuple[str, ...]:
        """The efforts that can be chosen."""
        return (*self.model.efforts, "auto") if self.model.efforts else ()

    def _known(self, effort: str, model: Model, *, asked: bool) -> str:
        if effort == "auto" or self._takes(effort, model):
            return effort
        if not asked:
            return "auto"
        if not model.efforts:
            raise ChoiceError(f"{model.name} has no efforts to choose from")
        choices = (*model.efforts, "auto")
        near = spelled_like(effort, choices, 1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        known = ", ".join(choices)
        raise ChoiceError(f"{model.name} does not know effort {effort!r}{meant}; it has {known}")

    def _takes(self, effort: str, model: Model) -> bool:
        """Whether ``model`` has the effort. For a model without a row: whether any model has it."""
        models = self._opening.catalogue.models
        if model.name in models or not model.efforts:
            return effort in model.efforts
        return any(effort in each.efforts for each in (model, *models.values()))

    def _fixed(self) -> Picked:
        """The effort that the user chose; for ``auto``, the one that a first request is likely to get."""
        if self.effort != "auto":
            return Picked(self.effort if self._takes(self.effort, self.model) else "", "chosen")
        return Picked(
            nearest(self._last, self.model.efforts) if self._last else first(self.model.efforts),
            "nothing asked yet",
        )

    def _tier(self) -> str:
        """The tier in use and its price, as lines for the user."""
        model, price = self.model, self.price
        if not self.tier:
            return "fast is off: the usual tier" + (f", {model.price}" if model.price else "")
        fields = ", ".join(f"{key} {value}" for key, value in self._provider.tier_fields(self.tier).items())
        told = f"{self.tier} is on" + (f" ({fields})" if fields else "")
        if price is None:
            return f"{told}\nit costs more; the price is unknown"
        instead = f" instead of {model.price}" if model.price else ""
        rest = (tier for tier in self.tiers if tier not in ("", self.tier))
        others = [f"/fast {'on' if tier == FAST else tier}: {model.price_of(tier)}" for tier in rest]
        return "\n".join((told, f"{price}{instead}", *others))
