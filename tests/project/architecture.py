"""Writes what docs/architecture.md and docs/rooms.md show of the wings, from the imports and the docstrings.

    python3 -m tests.project.architecture

``docs/wings.svg`` is the picture: a wing stands above all that it imports, and a line leads down to each wing
of its package that nothing between them leads to. A band stands above the bands that it imports. The table of
wings is a part of docs/architecture.md, and ``docs/rooms.md`` is the table of rooms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from tests.checkout import ROOT
from tests.project.source import (
    PACKAGES,
    WINGS,
    file_of,
    imported_modules,
    room_of,
    rooms,
    summary,
    wing_of,
)

PICTURE = ROOT / "docs" / "wings.svg"
TABLE = ROOT / "docs" / "rooms.md"
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- wings: python3 -m tests.project.architecture -->\n", "<!-- end of wings -->\n"
BANDS = (("themes", "tui"), ("session",), ("context", "edits"))
"""The packages of the picture from top to bottom; those of one band stand side by side."""
WIDTH, MARGIN, HEIGHT, GAP = 1180, 20, 34, 26
"""Pixels: of the picture, around it, of a box, and between two floors."""
HEAD = """# Rooms

A folder is a room, and so is a file in a package's root. This table is made from the docstrings by
`python3 -m tests.project.architecture`, in the order of the wings; `tests/project/test_rooms.py`
holds that it is current.

| room | what it is |
| --- | --- |
"""


def wing_graph() -> dict[str, set[str]]:
    """For each wing, the wings of its package that it imports."""
    graph: dict[str, set[str]] = {wing: set() for wing in WINGS}
    for module, below in imported_modules().items():
        if module in PACKAGES:
            continue
        wing = wing_of(room_of(module))
        wings = {wing_of(room_of(each)) for each in below if each not in PACKAGES} - {wing}
        graph[wing] |= {each for each in wings if _package(each) == _package(wing)}
    return graph


def floors(graph: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """How many wings stand below each wing, one upon the other."""
    found: dict[str, int] = {}
    for wing in WINGS:
        found[wing] = max((found[each] + 1 for each in graph[wing]), default=0)
    return found


def direct(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The graph without each arrow that a longer way replaces."""
    reached: dict[str, set[str]] = {}
    for wing in WINGS:
        reached[wing] = graph[wing].union(*(reached[each] for each in graph[wing]))
    return {
        wing: {each for each in below if not any(each in reached[other] for other in below)}
        for wing, below in graph.items()
    }


def picture() -> str:
    """The picture as SVG."""
    graph = wing_graph()
    floor = floors(graph)
    places: dict[str, tuple[float, float, float]] = {}
    lines: list[str] = []
    top = float(MARGIN)
    for band in BANDS:
        wide = (WIDTH - 2 * MARGIN) / len(band)
        most = max(floor[wing] for wing in WINGS if _package(wing) in band)
        tall = (most + 1) * (HEIGHT + GAP) + GAP
        lines.append(
            f'<rect x="{MARGIN / 2}" y="{top:.0f}" width="{WIDTH - MARGIN}" height="{tall:.0f}" rx="8" '
            'fill="#f2f4f8"/>'
        )
        for column, package in enumerate(band):
            left = MARGIN + column * wide
            lines.append(
                f'<text x="{left:.0f}" y="{top + 18:.0f}" font-size="14" fill="#6a7385">{package}</text>'
            )
            for level in range(most + 1):
                row = [wing for wing in WINGS if _package(wing) == package and floor[wing] == level]
                cell = wide / max(len(row), 1)
                for place, wing in enumerate(row):
                    box = min(cell - 16, 150.0)
                    x = left + place * cell + (cell - box) / 2
                    places[wing] = (x, top + GAP + (most - level) * (HEIGHT + GAP), box)
        top += tall + MARGIN
    lines += [
        _arrow(places[wing], places[each]) for wing, below in direct(graph).items() for each in sorted(below)
    ]
    lines += [_box(wing, *place) for wing, place in places.items()]
    start = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top:.0f}" font-family="sans-serif">'
    )
    ground = f'<rect width="{WIDTH}" height="{top:.0f}" fill="#ffffff"/>'
    return "\n".join([start, ground, *lines, "</svg>", ""])


def _arrow(upper: tuple[float, float, float], lower: tuple[float, float, float]) -> str:
    (x, y, box), (to_x, to_y, to_box) = upper, lower
    return (
        f'<line x1="{x + box / 2:.0f}" y1="{y + HEIGHT:.0f}" x2="{to_x + to_box / 2:.0f}" y2="{to_y:.0f}" '
        'stroke="#9aa7bd" stroke-width="1.2"/>'
    )


def _box(wing: str, x: float, y: float, box: float) -> str:
    name = wing.partition("/")[2].removesuffix(".py")
    return (
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{box:.0f}" height="{HEIGHT}" rx="5" '
        'fill="#ffffff" stroke="#4a6fa5"/>'
        f'<text x="{x + box / 2:.0f}" y="{y + 22:.0f}" font-size="14" text-anchor="middle" fill="#1c2733">'
        f"{escape(name)}<title>{escape(summary(file_of(wing)))}</title></text>"
    )


def wings() -> str:
    """The table of wings, from the one at the top down."""
    rows = "".join(f"| `{wing}` | {summary(file_of(wing))} |\n" for wing in reversed(WINGS))
    return f"| wing | what it is |\n| --- | --- |\n{rows}"


def table() -> str:
    """The table of rooms as a document."""
    return HEAD + "".join(f"| `{room}` | {summary(file_of(room))} |\n" for room in rooms())


def _package(wing: str) -> str:
    return wing.partition("/")[0]


def with_wings(document: str) -> str:
    """docs/architecture.md with the table of wings as it is now."""
    before, _, rest = document.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{wings()}{END}{after}"


def main() -> None:
    """Write the picture and both tables."""
    PICTURE.write_text(picture(), "utf-8")
    TABLE.write_text(table(), "utf-8")
    PAGE.write_text(with_wings(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
