"""The share of problems that k attempts solve, estimated from n attempts at each.

Source: Chen et al., "Evaluating Large Language Models Trained on Code" (arXiv 2107.03374), section 2.1, and
Wilson, "Probable inference, the law of succession, and statistical inference" (JASA 22, 1927).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_Z = 1.959964
"""Standard deviations within which 95 % of a normal distribution lie."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The share of problems that at least one of ``k`` attempts solves, and its interval of 95 %."""

    k: int
    share: float
    low: float
    high: float


def solved_by(k: int, attempts: int, right: int) -> float:
    """The chance that at least one of ``k`` attempts is right, of which ``right`` of ``attempts`` were.

    It has no bias. Raises ValueError for more attempts than were made.
    """
    if not 0 <= right <= attempts or not 1 <= k <= attempts:
        raise ValueError(f"{k} of {attempts} attempts, {right} of them right, cannot be")
    return 1.0 - math.comb(attempts - right, k) / math.comb(attempts, k)


def coverage(k: int, results: Sequence[tuple[int, int]]) -> Coverage:
    """The coverage of ``k`` attempts over problems, each of which is its attempts and how many were right.

    The interval is Wilson's for the number of problems: what other problems of the same kind would give.
    """
    count = len(results)
    if not count:
        return Coverage(k, 0.0, 0.0, 1.0)
    share = sum(solved_by(k, attempts, right) for attempts, right in results) / count
    middle = (share + _Z**2 / (2 * count)) / (1 + _Z**2 / count)
    reach = _Z / (1 + _Z**2 / count) * math.sqrt(share * (1 - share) / count + (_Z / (2 * count)) ** 2)
    return Coverage(k, share, max(0.0, middle - reach), min(1.0, middle + reach))


def shown(attempts: int) -> list[int]:
    """The numbers of attempts to print the coverage of: all up to 5, then about doubling, and the last."""
    steps = [*range(1, 6), 8, 12, 16, 24, 32, 48, 64]
    return sorted({k for k in steps if k < attempts} | {attempts})
