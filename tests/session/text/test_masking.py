from __future__ import annotations

from session.text.masking import mask, remember


def test_of_a_key_that_begins_with_another_nothing_is_left() -> None:
    keys = [f"sk-masking-test{'-more' * number}" for number in range(6)]
    for key in keys:
        remember(key)
    for key in keys:
        assert mask(f"refused {key}, sorry") == "refused [key], sorry"
