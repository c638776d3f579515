"""The README's picture: terminal screens as one SVG that CSS moves."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from tests.checkout import ROOT
from tests.e2e.moving_svg import CELL_WIDTH, Frame, MovingSvg, Run, Style
from tests.e2e.picture import CHAT, COLUMNS

SVG = "{http://www.w3.org/2000/svg}"
PICTURE = ROOT / "docs" / "spark.svg"
LARGEST_PICTURE = 400_000
"""Bytes; a README has to load quickly."""

GREEN, BOLD = Style(ground="#003300"), Style(bold=True)
FRAMES = [
    Frame(0, ((Run(0, "same", BOLD),), (Run(0, "one", Style()), Run(6, "<&>", Style()))), "first"),
    Frame(1, ((Run(0, "same", BOLD),), (Run(0, "two", GREEN), Run(6, "<&>", Style()))), "second"),
    Frame(3, ((Run(0, "same", BOLD),), (Run(0, "one", Style()), Run(6, "<&>", Style()))), "second"),
]


def written() -> str:
    return MovingSvg(FRAMES, columns=10, cut=5, length=4, still=1).document("a <title>")


def steps(svg: str, name: str) -> list[tuple[float, float]]:
    """The keyframes called ``name``: per cent of the time, and how far the strip is shifted."""
    found = re.search(rf"@keyframes {name}\{{(.*?)\}}\}}", svg)
    assert found is not None
    pairs = re.findall(r"([\d.]+)%\{transform:translateX\(-([\d.]+)px\)", found[0])
    return [(float(share), float(shift)) for share, shift in pairs]


def test_only_what_changes_is_moved() -> None:
    svg = written()
    width = 10 * CELL_WIDTH
    assert steps(svg, "r2") == [(0, 0), (25, width), (75, 0)]
    assert steps(svg, "c") == [(0, 0), (25, width)]
    assert set(re.findall(r"@keyframes (\w+)", svg)) == {"r2", "c"}


def test_the_still_frame_is_shown_without_animation() -> None:
    root = ElementTree.fromstring(written())
    moved = [group for group in root.iter(f"{SVG}g") if group.get("class") == "m"]
    assert [group.get("transform") for group in moved] == ["translate(-84)", "translate(-84)"]
    assert "prefers-reduced-motion" in written()


def test_all_text_is_in_the_picture_as_it_was() -> None:
    root = ElementTree.fromstring(written())
    texts = ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]
    assert sorted(texts) == sorted(["same", "one", "two", "<&>", "first", "second"])
    assert root.findtext(f"{SVG}title") == "a <title>"


def test_the_picture_of_the_readme_is_small_and_moves() -> None:
    svg = PICTURE.read_text("utf-8")
    assert len(svg.encode()) < LARGEST_PICTURE
    root = ElementTree.fromstring(svg)
    assert root.get("viewBox", "").split()[2] == str(round(COLUMNS * CELL_WIDTH) + 24)
    assert 0 < CHAT < COLUMNS
    assert "Esc" in svg and "undo" in svg and len(re.findall("@keyframes", svg)) > 10
