"""Characters that cannot be seen are found in what must be read exactly."""

from __future__ import annotations

import pytest

from session.base.text.sanitize import invisible_character, is_invisible

CODES = [0x07, 0x85, 0xAD, 0x115F, 0x200B, 0x202E, 0x2028, 0x3164, 0xE000, 0xE0041, 0xFE0F]


@pytest.mark.parametrize("code", CODES)
def test_an_invisible_character_is_told(code: int) -> None:
    assert is_invisible(chr(code))
    assert invisible_character(f"echo {chr(code)}x") == f"U+{code:04X}"


@pytest.mark.parametrize("text", ["echo 'é 字' | grep -c \"x\"", "a\tb\nc", "😀"])
def test_what_can_be_seen_is_left(text: str) -> None:
    assert invisible_character(text) == ""
