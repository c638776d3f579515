from __future__ import annotations

from session.base.text.masking import mask, remember


def test_a_key_that_contains_another_is_masked_whole() -> None:
    keys = [f"sk-masking-test{'-more' * number}" for number in range(6)]
    for key in keys:
        remember(key)
    for key in keys:
        assert mask(f"refused {key}, sorry") == "refused [key], sorry"
