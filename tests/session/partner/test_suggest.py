"""What the partner suggests: what followed the same text elsewhere, the same each time."""

from __future__ import annotations

from session.assist.suggest.suggestion import place_at
from session.assist.suggest.window import Surroundings, for_insertion, for_rewrite, region_at
from session.partner.side_player import continued, suggestion

BEFORE = "def area(w):\n    return w\n\n\ndef a"


def test_the_end_of_the_text_is_continued_as_it_was_elsewhere() -> None:
    assert continued(BEFORE, "\n") == "rea(w):"
    assert continued(BEFORE + "rea(w):", "\n") == "\n    return w"
    assert continued("def b", "\ndef bath():\n") == "ath():"
    assert continued("", "") == "" and continued("zzz", "\n") == ""


def test_it_reads_the_requests_that_sessions_send() -> None:
    lines = BEFORE.split("\n")
    place = place_at("shapes.py", lines, len(lines) - 1, len("def a"))
    asked = for_insertion(place, Surroundings("def area(w)\n"))
    assert suggestion(asked) == suggestion(asked) == "rea(w):"
    around = Surroundings(recent="shapes.py:\n-def area(w):\n+def space(w):")
    assert suggestion(for_rewrite(place, region_at(place), around)) == "\n\ndef a"
    place = place_at("shapes.py", ["print(area)"], 0, 0)
    assert suggestion(for_rewrite(place, region_at(place), around)) == "print(space)"
    assert suggestion("Make it polite") is None
