"""The window: what the model is shown for one request, packed exactly and never over its budget.

Pieces stand in the order that keeps the server's prompt cache: what is stable first, what the request is
about last. Every piece is a block (see ``context.tokens``), so the window's tokens are the sum of its
pieces' tokens. Room is given out by need: instructions and request first, then the project's
instructions, the conversation, the files the request names, the changed files, and the map.
"""

from __future__ import annotations

from types import MappingProxyType

from context.blocks import harmless
from context.files_shown import Wanted, view
from context.map import MapPart, build_again, build_delta, build_map, full_cost, list_cost
from context.mentions import Mention, find_mentions
from context.pieces import BudgetTooSmall, Kind, LeftOut, Piece, Window, WindowRequest
from context.rank import Ranking, rank, settings
from context.redact import redact
from context.related import related_view
from context.seen import FrozenMap, Seen, Shown, ShownFile
from context.snapshot import Snapshot
from context.source import Unread
from context.tokens import Counter, as_block

__all__ = ["BudgetTooSmall", "Kind", "LeftOut", "Piece", "Window", "WindowRequest", "build"]

_PROJECT_INSTRUCTIONS = "AGENTS.md"
_INSTRUCTIONS_SHARE = 3
"""The project's instructions get at most one third of the room, …"""
_HISTORY_SHARE = 2
"""… the conversation at most half of what is then left, …"""
_FILES_SHARE = 0.6
"""… and file texts this much of the rest, …"""
_MAP_SHARE = 0.5
"""… or all that a complete map leaves, where that takes at most this much."""
_LONGEST_TOKEN = 12
"""Characters a token; a text that would need longer ones on average is not worth counting."""
_LEAST = 24
"""Tokens below which no file's text is tried: its heading alone would not fit."""

_LEAST_RELATED = 400
"""Tokens below which no file that was not asked for is tried."""
_IN_VAIN = 4
"""Files of which nothing fitted, after which no more are tried."""
_CHARACTERS = 4
"""Characters that a token is taken to have where parts of files are chosen, before they are counted."""


def build(request: WindowRequest, snapshot: Snapshot, counter: Counter, seen: Seen | None = None) -> Window:
    """Pack a window of at most ``request.budget`` tokens.

    With ``seen``, only what is new or changed since is in it. Raises BudgetTooSmall when the
    instructions and the request alone do not fit.
    """
    packing = _Packing(request, snapshot, counter, seen or Seen())
    packing.needed()
    packing.project_instructions()
    packing.history()
    packing.files_and_map()
    return packing.window()


class _Packing:
    """A window in the making: what is in, what is not, and how much room is left."""

    def __init__(self, request: WindowRequest, snapshot: Snapshot, counter: Counter, seen: Seen) -> None:
        self.request = request
        self.snapshot = snapshot
        self.counter = counter
        self.seen = seen
        self.before = seen.shown
        self.frozen: FrozenMap | None = None
        self.room = request.budget - request.used
        self.pieces: list[Piece] = []
        self.left_out = [LeftOut(path, 0, why) for path, why in sorted(snapshot.unread.items())]
        self.texts: dict[tuple[str, str], str] = {}
        self.files: dict[str, ShownFile] = {}
        self.passed: dict[str, str] = {}
        self.map = MapPart()
        self.mentioned: dict[str, list[Mention]] = {}
        for mention in find_mentions(request.text, snapshot):
            self.mentioned.setdefault(mention.path, []).append(mention)

    def add(self, kind: Kind, path: str | None, text: str, tokens: int, why: str) -> None:
        self.pieces.append(Piece(kind, path, text, tokens, why))
        self.room -= tokens

    def needed(self) -> None:
        """What must be there: the instructions, unless they were sent before, and the request."""
        instructions = (
            as_block(self.request.instructions, "# Instructions") if self.request.instructions else ""
        )
        if self.before.texts.get((Kind.INSTRUCTIONS, "")) == instructions:
            instructions = ""
        text = as_block(f"## Request\n\n{self.request.text}", "")
        tokens = self.counter.count_kept(instructions), self.counter.count(text)
        if sum(tokens) > self.room:
            raise BudgetTooSmall(self.request.used + sum(tokens), self.request.budget)
        if instructions:
            self.texts[Kind.INSTRUCTIONS, ""] = instructions
            self.add(Kind.INSTRUCTIONS, None, instructions, tokens[0], "how to answer and how to write edits")
        self.add(Kind.REQUEST, None, text, tokens[1], "what the user asked")

    def project_instructions(self) -> None:
        """AGENTS.md of the root, and of the folders around the changed, named and open files."""
        near = {*self.snapshot.changes, *self.mentioned, *self.request.open_files}
        folders = {""}
        for path in near:
            folder = path.rpartition("/")[0]
            while folder:
                folders.add(folder)
                folder = folder.rpartition("/")[0]
        listed = {f"{folder}/{_PROJECT_INSTRUCTIONS}".lstrip("/") for folder in folders}
        limit = self.room // _INSTRUCTIONS_SHARE
        for path in sorted(listed & set(self.snapshot.paths), key=lambda path: (path.count("/"), path)):
            limit -= self._instructions_file(path, limit)

    def _instructions_file(self, path: str, limit: int) -> int:
        source = self.snapshot.read(self.snapshot.target(path))
        if isinstance(source, Unread):
            return 0
        safe = redact(source.text)
        folder = path.rpartition("/")[0]
        scope = f" (for files in {folder}/)" if folder else ""
        heading = f"## Project instructions: {path}{scope}\n\n"
        text = as_block(heading + harmless(safe.text), "")
        why = f"the project's instructions{scope}"
        if safe.kinds:
            why += f"; masked: {', '.join(safe.kinds)}"
        key = (Kind.PROJECT_INSTRUCTIONS, path)
        if self.before.texts.get(key) == text:
            return 0
        tokens = self.counter.count_kept(text)
        sent = text
        if tokens > limit:
            sent, kept, total = self._cut(heading, harmless(safe.text).split("\n"), limit)
            if not kept:
                self.left_out.append(LeftOut(path, tokens, "no room for the project's instructions"))
                return 0
            why += f"; cut to the first {kept} of {total} lines"
            tokens = self.counter.count(sent)
        self.texts[key] = text
        self.add(Kind.PROJECT_INSTRUCTIONS, path, sent, tokens, why)
        return tokens

    def _cut(self, heading: str, lines: list[str], limit: int) -> tuple[str, int, int]:
        """As many first lines as fit, how many they are, and of how many."""

        def cut(count: int) -> str:
            return as_block(heading + "\n".join([*lines[:count], "… (cut: the rest did not fit)"]), "")

        low, high = 0, len(lines)
        while low < high:
            middle = (low + high + 1) // 2
            if self.counter.count(cut(middle)) <= limit:
                low = middle
            else:
                high = middle - 1
        return cut(low), low, len(lines)

    def history(self) -> None:
        """The earlier messages, newest first into the room, in their order into the window."""
        limit = self.room // _HISTORY_SHARE
        kept: list[Piece] = []
        count = len(self.request.history)
        for at in range(count - 1, -1, -1):
            text = as_block(self.request.history[at], "## Earlier in the conversation")
            tokens = self.counter.count_kept(text)
            if tokens > limit:
                self.left_out += [
                    LeftOut(f"message {earlier + 1}", 0, "no room for the oldest messages")
                    for earlier in range(at + 1)
                ]
                break
            limit -= tokens
            self.room -= tokens
            kept.append(
                Piece(Kind.HISTORY, None, text, tokens, f"message {at + 1} of {count} of the conversation")
            )
        self.pieces += reversed(kept)

    def files_and_map(self) -> None:
        """File texts by need, then the map in what is left."""
        count = self.counter.count_kept
        ranking = self._ranked()
        known_map = bool(self.before.outlines)
        full = 0 if known_map else full_cost(self.snapshot, count)
        limit = self.room if self.request.map_limit is None else self.request.map_limit
        if known_map:
            file_room = self.room
        else:
            at_least = min(list_cost(self.snapshot, count), self.room // 4)
            map_cost = min(full, limit)
            file_room = int(self.room * _FILES_SHARE)
            if map_cost <= self.room * _MAP_SHARE:
                file_room = self.room - map_cost
            file_room = min(file_room, self.room - at_least)
        whole = self._files(ranking, file_room, first=not known_map)
        self._map(ranking, min(self.room, limit), whole, full, first=not known_map)
        part = self.map
        self.left_out += [
            LeftOut(path, tokens, "no room for its definitions") for path, tokens in part.unoutlined
        ]
        self.left_out += [
            LeftOut(path, tokens, "no room to list its files") for path, tokens in part.unlisted
        ]

    def _map(self, ranking: Ranking, limit: int, whole: frozenset[str], full: int, *, first: bool) -> None:
        """The map: what changed in it; at a fresh start the frozen one and what changed; or a new one."""
        count = self.counter.count_kept
        if not first:
            self.map = build_delta(self.snapshot, self.before.outlines, self.room, count)
            self._add_map(self.map, "definitions that changed since the map was shown")
            return
        frozen = self.seen.frozen
        again = frozen and build_again(self.snapshot, frozen, limit, min(full, limit), count)
        if frozen and again:
            base, delta = again
            self._add_map(base, f"the project: {len(base.outlines)} files, as first shown")
            self._add_map(delta, "definitions that changed since the map was first shown")
            kept = {path: block for path, block in base.outlines.items() if path not in delta.gone}
            self.map = MapPart(base.text, base.tokens, {**kept, **delta.outlines}, gone=delta.gone)
            self.frozen = frozen
            return
        self.map = build_map(self.snapshot, ranking.order, limit, count, whole, full)
        total = len(self.snapshot.paths)
        self._add_map(
            self.map, f"the project: {total} files, {self.map.outlined} of them with their definitions"
        )
        if self.map.text:
            self.frozen = FrozenMap(self.map.text, self.map.tokens, MappingProxyType(dict(self.map.outlines)))

    def _add_map(self, part: MapPart, why: str) -> None:
        if part.text:
            indexing = "" if self.snapshot.complete else "; the project is still being indexed"
            self.add(Kind.MAP, None, part.text, part.tokens, f"{why}{indexing}")

    def _ranked(self) -> Ranking:
        in_hand = [*self.mentioned, *self.snapshot.changes, *self.request.open_files]
        return rank(self.snapshot, self.request.text, in_hand)

    def _files(self, ranking: Ranking, room: int, *, first: bool) -> frozenset[str]:
        """Show the files that matter in at most ``room`` tokens; which of them are shown whole."""
        place = {path: at for at, path in enumerate(ranking.order)}
        changed = sorted(self.snapshot.changes, key=lambda path: place.get(path, -1))
        since = [path for path in self.before.files if path not in self.snapshot.changes]
        wanted: dict[str, Wanted] = dict.fromkeys(self.mentioned, Wanted.NAMED)
        for paths, reason in ((changed, Wanted.CHANGED), (since, Wanted.SHOWN_BEFORE)):
            for path in paths:
                wanted.setdefault(path, reason)
        known = set(self.snapshot.paths)
        for path in self.request.open_files:
            if path in known:
                wanted.setdefault(path, Wanted.OPEN)
        named: list[str] = []
        for path, reason in wanted.items():
            room -= self._show(path, reason, room, named)
        room -= self._names_only(named, room)
        if first:
            self._related(ranking, room)
        return frozenset(path for path, shown in self.files.items() if shown.whole)

    def _show(self, path: str, reason: Wanted, room: int, named: list[str]) -> int:
        """Show one file in the fullest way that fits; the tokens it took."""
        entry = self.snapshot.entries.get(path)
        digest = entry.digest if entry is not None else ""
        if reason is not Wanted.NAMED and digest and self.before.passed.get(path) == digest:
            return 0
        tokens = 0
        # A file's shortest form is its definitions: where these do not fit, it is not even read.
        least = self.counter.count_kept(entry.block) if entry is not None else 0
        if room >= max(_LEAST, 0 if path in self.before.files else least):
            parts = tuple(self.mentioned.get(path, ()))
            found = view(path, reason, self.snapshot, self.before.files.get(path), parts)
            if found is None:
                return 0
            if found.problem is not None:
                if path not in self.snapshot.unread:
                    self.left_out.append(LeftOut(path, 0, found.problem))
                return 0
            digest = found.digest
            for form in found.forms:
                if len(form.text) > room * _LONGEST_TOKEN:
                    continue
                tokens = self.counter.count(form.text)
                if tokens <= room:
                    self.add(found.kind, path, form.text, tokens, form.why)
                    self.files[path] = ShownFile(found.digest, found.lines, form.whole)
                    return tokens
        elif path in self.snapshot.unread:
            return 0
        if path in self.snapshot.changes:
            named.append(path)
        self.passed[path] = digest
        self.left_out.append(LeftOut(path, tokens, "no room for its text"))
        return 0

    def _related(self, ranking: Ranking, room: int) -> None:
        """Show files that nobody named but that score well, the best first."""
        limit = self.request.related_limit
        if limit is None and self.request.map_limit is not None:
            limit = self.request.map_limit // 4
        room = room if limit is None else min(room, limit)
        rules = settings()["related"]
        likely = [path for path in ranking.order if self._may_be_related(path, ranking, rules["least"])]
        likely = likely[: rules["most"]]
        in_vain = 0
        for at, path in enumerate(likely):
            if room < _LEAST_RELATED or in_vain == _IN_VAIN:
                break
            # A file that stands out gets most of the room; where many are alike they share it.
            rivals = sum(ranking.scores[other] for other in likely[at : at + rules["rivals"]])
            limit = int(room * max(rules["share"], ranking.scores[path] / rivals))
            found = related_view(
                path, ranking.reasons[path], ranking.wanted, limit * _CHARACTERS, self.snapshot
            )
            for form in found.forms if found is not None else ():
                tokens = self.counter.count_kept(form.text)
                if found is not None and tokens <= room:
                    self.add(found.kind, path, form.text, tokens, form.why)
                    self.files[path] = ShownFile(found.digest, found.lines, form.whole)
                    room -= tokens
                    break
            else:
                in_vain += 1

    def _may_be_related(self, path: str, ranking: Ranking, least: float) -> bool:
        return (
            ranking.scores.get(path, 0.0) >= least
            and path in self.snapshot.entries
            and path not in self.files
            and path not in self.passed
            and (Kind.PROJECT_INSTRUCTIONS, path) not in self.texts
        )

    def _names_only(self, named: list[str], room: int) -> int:
        """Name the changed files whose text did not fit; the tokens it took."""
        heading = "## Changed files that are not shown\n\n"
        text = heading
        spent = self.counter.count_kept(heading)
        for path in sorted(named):
            line = f"- {path} ({self.snapshot.changes[path].status})\n"
            tokens = self.counter.count_kept(line)
            if spent + tokens > room:
                break
            text += line
            spent += tokens
        if text != heading and self.before.texts.get((Kind.CHANGED, "")) != text:
            self.texts[Kind.CHANGED, ""] = text
            self.add(Kind.CHANGED, None, text, spent, "changed files without room for their text")
            return spent
        return 0

    def window(self) -> Window:
        """The packed window, its pieces in the order they are sent."""
        kinds = list(Kind)
        by_path = (Kind.CHANGED, Kind.MENTIONED)
        pieces = sorted(
            self.pieces,
            key=lambda piece: (kinds.index(piece.kind), (piece.path or "") if piece.kind in by_path else ""),
        )
        shown = Shown(
            MappingProxyType(self.texts),
            MappingProxyType(dict(self.map.outlines)),
            MappingProxyType(self.files),
            MappingProxyType(self.passed),
            self.map.gone,
            self.frozen,
        )
        tokens = self.request.used + sum(piece.tokens for piece in pieces)
        return Window(self.request.budget, tokens, tuple(pieces), tuple(self.left_out), shown)
