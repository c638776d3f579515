"""What would be run is shown exactly: nothing in it can hide."""

from __future__ import annotations

import pytest

from tui.front.words.check_lines import exact_lines


@pytest.mark.parametrize("code", [0x07, 0xAD, 0x115F, 0x200B, 0x202E, 0x3164, 0xE000, 0xE0041, 0xA0])
def test_what_cannot_be_seen_is_written_out(code: int) -> None:
    (line,) = exact_lines(f"echo {chr(code)}x")
    assert chr(code) not in line and "⟨" in line


def test_text_that_can_be_seen_stays() -> None:
    assert exact_lines("echo 'é 字'\n\tdone") == ["echo 'é 字'", "    done"]
    assert exact_lines(f"a{' ' * 300}b") == ["a⟨300 blanks⟩b"]
