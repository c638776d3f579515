"""What the context panel shows, as plain data: the budget bar, entries in groups, rows for a width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from session.turn.window_report import WindowReport
from tui.front.keys.keymap import shown
from tui.front.matching import best
from tui.front.words.figures import thousands
from tui.screen.drawing.plain import cell_len, clipped, clipped_left, untabbed, visible
from tui.screen.drawing.rows import Breaks, Row, Span, wrap

FILL = "panel"
MOST_IN_A_GROUP = 200
"""Entries of one group of what was left out that are shown; typing finds the others."""
MOST_LINES = 3_000
"""Lines of a piece's text that are shown."""
TALK = "talk"
LEFT_OUT = "left out"

KINDS: dict[str, tuple[str, str, str]] = {
    "instructions": ("instructions", "█", "info"),
    "project_instructions": ("project's instructions", "▓", ".type"),
    "map": ("project map", "▒", "accent"),
    "history": ("earlier conversation", "░", "muted"),
    "changed": ("changed files", "▞", "warning"),
    "mentioned": ("files", "▚", "success"),
    "request": ("requests", "▐", "strong"),
    TALK: ("answers, reports, tools", "▌", ".keyword"),
}
"""Each kind's name, its sign in the bar (told apart without colours) and its role."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line that can be chosen. ``group`` and ``path`` tell it from others over a refresh; ``pinned``
    and ``removed`` are the targets that do it; ``sent``: the model holds it already."""

    group: str
    name: str
    path: str
    tokens: int
    why: str
    text: str = ""
    pinned: str = ""
    removed: str = ""
    sent: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Entries under one heading. ``more`` are there but not among ``entries``."""

    title: str
    tokens: int
    entries: tuple[Entry, ...]
    more: int = 0


def groups(window: WindowReport, pinned: Iterable[str] = (), query: str = "") -> list[Group]:
    """The window's pieces by kind, pins that show nothing, and what was left out by reason. With a
    ``query`` those alone whose name holds its letters in order."""
    found: list[Group] = []
    for kind, (title, _, _) in KINDS.items():
        entries = [
            Entry(
                title,
                part.path or title,
                part.path,
                part.tokens,
                part.why,
                part.text,
                window.pins.get(part.path, ""),
                window.removals.get(part.path, ""),
                part.earlier,
            )
            for part in window.parts
            if part.kind == kind
        ]
        if kind == TALK and window.talk:
            entries = [Entry(title, title, "", window.talk, "of this conversation, in no piece above")]
        found.append(_group(title, entries, query))
    used = set(window.pins.values())
    lost = [
        Entry("pinned, not there", target, target, 0, "names nothing in the project now", pinned=target)
        for target in pinned
        if target not in used
    ]
    found.append(_group("pinned, not there", lost, query))
    by_reason: dict[str, list[Entry]] = {}
    for left in window.left_out:
        entry = Entry(
            f"{LEFT_OUT}: {left.reason}",
            left.path,
            left.path,
            left.tokens,
            left.why,
            pinned=window.pins.get(left.path, ""),
            removed=window.removals.get(left.path, ""),
        )
        by_reason.setdefault(entry.group, []).append(entry)
    # Rare reasons say more than the one that all files of a large project share.
    for title, entries in sorted(by_reason.items(), key=lambda item: (len(item[1]), item[0])):
        found.append(_group(title, entries, query))
    return [group for group in found if group.entries]


def _group(title: str, entries: Sequence[Entry], query: str) -> Group:
    matching = entries
    if query.strip():
        wanted = {name for name, _ in best(query, [entry.name for entry in entries], len(entries))}
        matching = [entry for entry in entries if entry.name in wanted]
    shown = tuple(matching[:MOST_IN_A_GROUP])
    tokens = sum(entry.tokens for entry in matching)
    return Group(title, tokens, shown, len(matching) - len(shown))


def spent(window: WindowReport) -> dict[str, int]:
    """Tokens of each kind that has any."""
    tokens = dict.fromkeys(KINDS, 0)
    for part in window.parts:
        tokens[part.kind] = tokens.get(part.kind, 0) + part.tokens
    tokens[TALK] = window.talk
    return {kind: count for kind, count in tokens.items() if count}


def bar(window: WindowReport, width: int) -> list[Span]:
    """The budget in ``width`` cells: each kind by its share, at least a cell each; the rest is free."""
    shares = spent(window)
    cells = {kind: max(1, round(count * width / max(1, window.budget))) for kind, count in shares.items()}
    while sum(cells.values()) > width and max(cells.values()) > 1:
        largest = max(cells, key=lambda kind: cells[kind])
        cells[largest] -= 1
    spans: list[Span] = [(KINDS[kind][1] * count, KINDS[kind][2]) for kind, count in cells.items()]
    return [*spans, ("·" * (width - sum(cells.values())), "faint")]


def head(window: WindowReport | None, title: str, width: int, height: int) -> list[Row]:
    """The rows above the list, fewer where the screen is low."""
    if window is None:
        return [Row([(f" {title}: being built …", "muted")], FILL)]
    if window.problem:
        return wrap(
            [(window.problem, "warning")], width, first=[(" ", "text")], rest=[(" ", "text")], fill=FILL
        )
    share = 100 * window.tokens / max(1, window.budget)
    used = f"{window.tokens:,} of {window.budget:,} tokens"
    if width < 60:
        used = f"{thousands(window.tokens)}/{thousands(window.budget)}"
    rows = [Row([(f" {used} ({share:.0f}%)", "strong"), (f" · {title}", "accent")], FILL)]
    if not window.complete:
        known = f" built from what is known so far: {window.known:,} of {window.total:,} files"
        rows.append(Row([(clipped(known, width), "warning")], FILL))
    rows.append(Row([(" ", "text"), *bar(window, max(1, width - 2))], FILL))
    if height >= 16:
        legend = [
            (f"{KINDS[kind][1]} {KINDS[kind][0]} {thousands(count)}", KINDS[kind][2])
            for kind, count in spent(window).items()
        ]
        rows += _flow(legend, width)
    return rows


def _flow(spans: Sequence[Span], width: int) -> list[Row]:
    """Spans beside each other, in as many rows as they need."""
    lines: list[list[Span]] = [[]]
    used = 0
    for text, role in spans:
        if used and used + cell_len(text) + 3 > width:
            lines.append([])
            used = 0
        lines[-1].append((f" {text}  ", role))
        used += cell_len(text) + 3
    return [Row(line, FILL) for line in lines]


def list_rows(
    found: Sequence[Group], chosen: int, width: int, budget: int, *, ansi: bool
) -> tuple[list[Row], list[int]]:
    """All rows of the list, and the row that each entry stands in."""
    rows: list[Row] = []
    places: list[int] = []
    longest = max((cell_len(visible(each.name)) for group in found for each in group.entries), default=0)
    for group in found:
        count = len(group.entries) + group.more
        figures = [f"{count:,}"] if group.title.startswith(LEFT_OUT) else []
        figures += [f"{group.tokens:,} tokens"] if group.tokens else []
        if [entry.name for entry in group.entries] != [group.title]:
            title = " · ".join((group.title, *figures))
            rows.append(Row([(clipped(f" {title}", width), "heading")], FILL))
        for entry in group.entries:
            places.append(len(rows))
            here = len(places) - 1 == chosen
            rows.append(_entry_row(entry, width, budget, longest, here=here, ansi=ansi))
        if group.more:
            rows.append(Row([(f"    … {group.more:,} more: / finds them by name", "faint")], FILL))
    return rows, places


def _entry_row(entry: Entry, width: int, budget: int, longest: int, *, here: bool, ansi: bool) -> Row:
    sign, role = ("◆", "accent") if entry.pinned else ("✗", "error") if entry.removed else (" ", "text")
    if sign == " " and entry.text and not entry.sent:
        sign, role = "+", "added"
    tokens = f"{entry.tokens:,}" if entry.tokens else "–"
    share = f"{100 * entry.tokens / max(1, budget):.1f}%" if entry.text else ""
    room = width - 4 - 8
    # Of what was left out the heading has said why.
    told = width >= 60 and not entry.group.startswith(LEFT_OUT)
    if told:
        room = min(room - 7, longest, max(24, width * 2 // 5))
    name = clipped_left(visible(entry.name), room)
    tone = "muted" if entry.sent else "text"
    spans: list[Span] = [(" ❯" if here else "  ", "accent"), (f"{sign} ", role)]
    spans += [
        (name, "strong" if here else tone),
        (" " * (room - cell_len(name)), tone),
        (f"{tokens:>8}", tone),
    ]
    if told:
        spans.append((f"{share:>7}", "muted"))
        rest = width - 4 - room - 8 - 7 - 2
        spans.append((f"  {clipped(visible(_why(entry)), rest)}", "muted"))
    return Row(spans, "selection" if here and not ansi else FILL)


def _why(entry: Entry) -> str:
    """Why it is there; that a file likely matters is said of most of them, and its reason tells."""
    why = entry.why.removeprefix("likely to matter: ")
    return f"{why}; sent before" if entry.sent else why


def detail(entry: Entry, width: int, budget: int) -> list[Row]:
    """One entry with all that is known of it, and its text as the model is shown it."""
    inner: list[Span] = [(" ", "text")]
    rows = wrap(
        [(visible(entry.name), "heading")], width, first=inner, rest=inner, fill=FILL, by=Breaks.ANYWHERE
    )
    figures = f"{entry.tokens:,} tokens" if entry.tokens else "tokens not known"
    if entry.text:
        figures += f" · {100 * entry.tokens / max(1, budget):.1f}% of the budget"
    facts = [f"{entry.group}: {figures}" if not entry.group.startswith(LEFT_OUT) else figures, _why(entry)]
    facts += [f"pinned by {entry.pinned}"] if entry.pinned else []
    facts += [f"taken out by {entry.removed}"] if entry.removed else []
    for fact in facts:
        rows += wrap([(visible(fact), "muted")], width, first=inner, rest=inner, fill=FILL)
    rows.append(Row([], FILL))
    lines = entry.text.split("\n")
    for line in lines[:MOST_LINES]:
        rows += wrap([(visible(untabbed(line)), "text")], width - 1, first=inner, rest=inner, fill=FILL)
    if len(lines) > MOST_LINES:
        rows.append(Row([(f" … {len(lines) - MOST_LINES:,} more lines", "faint")], FILL))
    if not entry.text:
        rows.append(Row([(" nothing of it is sent but its name", "faint")], FILL))
    return rows


def hints(*, reading: bool, now: bool, running: bool) -> str:
    """The panel's keys in one line: while a piece's text is read, while the window is the one to be sent
    now, while a turn runs, which Esc would stop as well."""
    uses = {
        "pin": "pin",
        "remove": "out",
        "add": "add",
        "read": "list" if reading else "text",
        "open": "edit",
        "view": "last" if now else "now",
        "filter": "find",
    }
    keys = [f"{shown(action, 'context')} {use}" for action, use in uses.items()]
    if running:
        return "  ".join([f"{shown('close', 'context')} closes", "Esc stops", *keys])
    return "  ".join([*keys, "Esc closes"])
