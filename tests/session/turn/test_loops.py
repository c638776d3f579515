"""An answer that repeats itself is noticed, and text that is only alike is not."""

from __future__ import annotations

import pytest

from session.turn.response import Loop

LOOPS = {
    "a line": "Here it is:\n" + "    return value\n" * 40,
    "a block": "ok\n" + "def f(x):\n    return x\n\n" * 20,
    "a long block": "".join(f"item {number}\n" for number in range(30)) * 8,
    "within a line": "x = [" + "0, " * 2_000,
    "SmolLM2": "class Report {\n    alert('h1 rejected', '" + "h1." * 600,
}
FINE = {
    "a table": "0, 0, 0\n" * 20,
    "blank lines": "\n" * 300,
    "a ruler": "-" * 4_000,
    "counted": "".join(f"case {number}:\n    pass\n" for number in range(200)),
    "closing brackets": "}\n" * 60,
}


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_loop_is_noticed(name: str, size: int) -> None:
    loop, text = Loop(), LOOPS[name]
    assert any(loop.take(text[at : at + size]) for at in range(0, len(text), size)) and loop.what


@pytest.mark.parametrize("name", FINE)
def test_text_that_is_alike_is_none(name: str) -> None:
    loop = Loop()
    assert not any(loop.take(character) for character in FINE[name])
