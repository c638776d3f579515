"""The state of a window while it is built: its pieces, what is left out, and the room left."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

from context.disk.source import INSTRUCTION_FILES, RULES_FOLDER, instructions_of, is_instructions
from context.find.mentions import Mention, find_mentions, resolve_target, unresolved_mentions
from context.map.blocks import FrozenMap, MapPart
from context.project.project_paths import project_paths
from context.project.snapshot import NOT_APPROVED, REMOVED, Snapshot
from context.text.tokens import Counter
from context.window.pieces import Kind, LeftOut, Piece, Window, WindowRequest
from context.window.seen import Seen, Shown, ShownFile

REMOVED_THOUGH_NAMED = f"{REMOVED}, though the request names it"


class Packing:
    """The state that the steps of building a window share; each adds pieces and uses up room."""

    def __init__(self, request: WindowRequest, snapshot: Snapshot, counter: Counter, seen: Seen) -> None:
        self.request = request
        self.pinned = _by_path(
            mention for target in request.pinned for mention in resolve_target(target, snapshot)
        )
        self.removed = removed_by(request.removed, snapshot) - set(self.pinned)
        self.given = snapshot
        """All of the project, also what is not to be shown."""
        self.snapshot = snapshot.without(self.removed) if self.removed else snapshot
        self.counter = counter
        self.seen = seen
        self.before = seen.shown
        self.frozen: FrozenMap | None = None
        self.room = request.budget - request.used
        self.earned = 0
        """The tokens of the room that only parts fill that are surely about the request."""
        self.pieces: list[Piece] = []
        self.texts: dict[tuple[str, str], str] = {}
        self.files: dict[str, ShownFile] = {}
        self.without_room: dict[str, str] = {}
        self.map = MapPart()
        self.unmet = 0
        self.unapproved: list[str] = []
        self.mentioned = _by_path(find_mentions(request.text, self.snapshot))
        self.withheld = _unapproved(request, self.snapshot) - set(self.mentioned) - set(self.pinned)
        if self.withheld:
            self.snapshot = self.snapshot.without(self.withheld, NOT_APPROVED)
        self.left_out = [
            LeftOut(word, 0, why, named=True)
            for word, why in unresolved_mentions(request.text, self.snapshot).items()
        ]
        self.left_out += [
            LeftOut(path, 0, self._unread(path), named=path in self.mentioned)
            for path in sorted(self.snapshot.unread)
        ]

    def _unread(self, path: str) -> str:
        why = self.snapshot.unread[path]
        return REMOVED_THOUGH_NAMED if why == REMOVED and path in self.mentioned else why

    def wants_parts(self, path: str) -> bool:
        """Whether the request and the pins mean only parts of a file."""
        named = (*self.mentioned.get(path, ()), *self.pinned.get(path, ()))
        return bool(named) and all(mention.lines is not None or mention.symbol for mention in named)

    def add(self, kind: Kind, path: str | None, text: str, tokens: int, why: str) -> None:
        """Add a piece, and take its tokens from the room."""
        self.pieces.append(Piece(kind, path, text, tokens, why))
        self.room -= tokens

    def window(self) -> Window:
        """The packed window, with its pieces in the order in which they are sent."""
        kinds = list(Kind)
        by_path = (Kind.CHANGED, Kind.MENTIONED)
        # Pieces were added in the order in which they matter.
        last = {id(piece): -at for at, piece in enumerate(self.pieces)} if self.request.likeliest_last else {}

        def place(piece: Piece) -> tuple[int, int, str]:
            inner = piece.kind in by_path
            order = last.get(id(piece), 0) if inner else 0
            return kinds.index(piece.kind), order, (piece.path or "") if inner else ""

        pieces = sorted(self.pieces, key=place)
        shown = Shown(
            MappingProxyType(self.texts),
            self.map.outlines,
            MappingProxyType(self.files),
            MappingProxyType(self.without_room),
            self.map.gone,
            self.frozen,
        )
        tokens = self.request.used + sum(piece.tokens for piece in pieces)
        return Window(
            self.request.budget,
            tokens,
            tuple(pieces),
            tuple(self.left_out),
            shown,
            unmet=self.unmet,
            unapproved=tuple(self.unapproved),
        )


def removed_by(targets: Iterable[str], snapshot: Snapshot) -> set[str]:
    """The files that targets (paths, folders, globs) name as a whole."""
    named = (mention for target in targets for mention in resolve_target(target, snapshot))
    return {mention.path for mention in named if mention.lines is None and mention.symbol is None}


def _unapproved(request: WindowRequest, snapshot: Snapshot) -> set[str]:
    """The project's instructions to which the user has not agreed as they are."""
    if request.approved.all:
        return set()
    paths = project_paths(snapshot.paths)
    named = (paths.named(name.rpartition("/")[2], most=len(paths.all)) for name in INSTRUCTION_FILES)
    folders = {path.rpartition("/")[0] for found in named for path in found} | {""}
    found = {instructions_of(folder, paths.__contains__) for folder in folders} - {""}
    if instructions_of("", paths.__contains__) == "":
        found |= {path for path in paths.below(RULES_FOLDER) if is_instructions(path)}
    return {path for path in found if not request.approved.holds(path, snapshot.entries.digest(path))}


def _by_path(mentions: Iterable[Mention]) -> dict[str, list[Mention]]:
    found: dict[str, list[Mention]] = {}
    for mention in mentions:
        found.setdefault(mention.path, []).append(mention)
    return found
