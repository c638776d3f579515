"""How much of a budget the parts of a session's windows may take, and when a window is started afresh."""

from __future__ import annotations

_SMALL, _LARGE = 32_000, 112_000
"""Budgets in tokens up to which, and from which, these shares hold; between them they change evenly."""
COMFORTABLE = _SMALL
"""The budget by whose shares the window of a model with a larger one is filled with what nobody named. It
shows nearly as much of what a request is about (docs/benchmarks.md), and a million tokens cost dollars. Up to
a budget of :data:`_LARGE`, parts whose words alone show that a request is about them fill more. What the user
names is shown whole all the same."""
MAP_SHARE = 0.24
"""Share of a comfortable budget that the project's map may take. A first window fills the rest with
texts: a larger map shows a few more definitions, and far fewer of the lines that a request is about
(docs/benchmarks.md)."""
AFRESH_SHARES = (0.12, 0.3)
"""Shares that parts of files that nobody named may take in a window that continues a conversation, so that it
lasts longer until the next one: with less, such a window shows far fewer of the lines that its request is
about, and with more the input costs more (docs/benchmarks.md)."""
LATER_SHARE = 0.06
"""Share of the budget that they may take in a following turn."""
FULL_SHARE = 0.85
"""Share of a budget, without instructions and tools, at which the window is started afresh, with the past as
history; the rest is room for the request's rounds."""
FRESH_SHARES = (0.8, 0.74)
"""Shares that a fresh window may fill with files and the map: of a comfortable budget, and of a larger one,
where that is more. They are below :data:`FULL_SHARE`, or each turn of a project with many changes would start
a window afresh."""


def comfortable(budget: int) -> int:
    """The part of ``budget`` that is filled with what nobody named, whether or not it surely matters."""
    return min(budget, COMFORTABLE)


def map_limit(budget: int) -> int:
    """The tokens that the map may take of a window of ``budget`` tokens."""
    return int(MAP_SHARE * comfortable(budget))


def afresh_limit(budget: int) -> int:
    """The tokens that parts of files that nobody named may take of a window of ``budget`` tokens that starts
    afresh in a conversation."""
    return _tokens(AFRESH_SHARES, budget if budget <= _LARGE else COMFORTABLE)


def later_limit(budget: int) -> int:
    """The same in a following turn of a conversation."""
    return int(LATER_SHARE * comfortable(budget))


def _tokens(shares: tuple[float, float], budget: int) -> int:
    """The share of a budget in tokens, which never shrinks as the budget grows if the large share is of more
    tokens than the small one."""
    small, large = shares
    if not _SMALL < budget < _LARGE:
        return int((small if budget <= _SMALL else large) * budget)
    least, most = small * _SMALL, large * _LARGE
    return int(least + (most - least) * (budget - _SMALL) / (_LARGE - _SMALL))


def fill_limit(budget: int, instructions: int, tools: int) -> int:
    """The tokens that a fresh window may fill, its instructions included, of a budget that has the tools
    too. Beyond :func:`fill_comfort`, it fills only with what surely matters."""
    small, large = FRESH_SHARES
    standing = instructions + tools
    filled = int(small * (comfortable(budget) - standing))
    if budget <= _LARGE:
        filled = max(filled, int(large * (budget - standing)))
    return instructions + filled


def fill_comfort(budget: int, instructions: int, tools: int) -> int:
    """The tokens that a fresh window may fill with what may matter, as :func:`fill_limit`."""
    return fill_limit(comfortable(budget), instructions, tools)


def restart_limit(budget: int, standing: int) -> int:
    """The tokens of a conversation above which its window is started afresh; ``standing`` are those of the
    instructions and tools."""
    return int(FULL_SHARE * (budget - standing))
