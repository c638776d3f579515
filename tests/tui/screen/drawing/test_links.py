"""Links in the chat: what a terminal opens with a click, however the address is wrapped."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.stage import stage
from themes.loader import load_theme
from tui.chat.transcript.markdown import MarkdownStream
from tui.screen.drawing.palette import Palette, link_role


def links(text: str, width: int = 60) -> list[tuple[str, str]]:
    """The linked pieces of the rows of ``text``, with their addresses."""
    stream, palette = MarkdownStream(width), Palette(load_theme("dark"))
    stream.feed(f"{text}\n")
    stream.settle()
    segments = [segment for row in stream.rows for segment in row.strip(palette, width)]
    return [(each.text, each.style.link) for each in segments if each.style and each.style.link]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see [the page](https://example.org/a).", [("the page", "https://example.org/a")]),
        ("see https://example.org/a_b_c, or", [("https://example.org/a_b_c",) * 2]),
        ("(see https://example.org/?a=1&b=2).", [("https://example.org/?a=1&b=2",) * 2]),
        ("**https://example.org/**", [("https://example.org/",) * 2]),
        ("# At http://example.org", [("http://example.org",) * 2]),
        ("https://example.org/ä;x", [("https://example.org/ä;x", "https://example.org/%C3%A4;x")]),
        ("[mail](mailto:a@example.org)", [("mail", "mailto:a@example.org")]),
        ("[run](file:///bin/sh) [this](vscode://x) [js](javascript:x)", []),
        ("`https://example.org`", []),
        ("https:// and http://", []),
    ],
)
def test_what_is_a_link_and_where_it_leads(text: str, found: list[tuple[str, str]]) -> None:
    assert links(text) == found


def test_every_row_of_a_wrapped_address_leads_to_the_whole_of_it() -> None:
    address = f"https://example.org/{'long/' * 20}end"
    pieces = links(f"see {address}", width=30)
    assert len(pieces) > 3 and {to for _, to in pieces} == {address}
    assert "".join(text for text, _ in pieces) == address


def test_what_would_end_the_sequence_is_no_part_of_an_address() -> None:
    assert link_role("https://example.org/\x1b\\\x07\x9c") == "link https://example.org/%1B%5C%07%C2%9C"


async def test_the_terminal_is_told_of_a_link_in_the_chat(tmp_path: Path) -> None:
    script = """
[[scenario]]
id = "link"
match = ["where"]

[[scenario.step]]
say = "It is told at https://example.org/told here."
"""
    async with stage(tmp_path, script=script) as it:
        await it.ask("where is it?")
        await it.until(lambda: "told here" in it.chat, "the answer")
        await it.until(lambda: not it.session.running, "the end of the turn")
        strips = it.app.chat.render_lines(it.app.chat.size.region)
        styles = [segment.style for strip in strips for segment in strip if "example.org" in segment.text]
        assert [style.link for style in styles if style is not None] == ["https://example.org/told"]
