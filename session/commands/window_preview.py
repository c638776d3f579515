"""The window that a request would be sent with, without sending it: the engine of ``spark context``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from context.window.pieces import BudgetTooSmall, Window
from session.project.indexing import TELL_SECONDS
from session.project.pins import PinError, Pins, pinning, removing
from session.setup.model_choice import ModelChoice
from session.setup.opening import Opening
from session.setup.session_tools import project_toolbox

if TYPE_CHECKING:
    from context.project.project import Project
    from context.project.snapshot import Snapshot


class PreviewError(Exception):
    """No window can be built; the message says why."""


@dataclass(frozen=True, slots=True)
class Preview:
    """A window, and the model it is for. ``notes`` are lines about problems in reading the project."""

    model: str
    window: Window
    notes: tuple[str, ...]
    window_assumed: bool = False
    """Whether nobody told the model's window, so that the budget is spark's guess."""

    def record(self) -> dict[str, Any]:
        """The one object that ``spark context --json`` prints (see the command line's contract)."""
        return {
            "budget": self.window.budget,
            "tokens": self.window.tokens,
            "model": self.model,
            "pieces": [
                {
                    "kind": str(piece.kind),
                    **({"path": piece.path} if piece.path is not None else {}),
                    "tokens": piece.tokens,
                    "text": piece.text,
                    "why": piece.why,
                }
                for piece in self.window.pieces
            ],
            "left_out": [
                {"path": left.path, "tokens": left.tokens, "why": left.why} for left in self.window.left_out
            ],
        }


def _scanned(project: Project, told: Callable[[int, int], None] | None) -> Snapshot:
    with ThreadPoolExecutor(1, thread_name_prefix="spark-scan") as pool:
        scan = pool.submit(project.scan)
        try:
            while told is not None and not wait({scan}, TELL_SECONDS).done:
                told(*project.progress)
            return scan.result()
        except KeyboardInterrupt:
            # Leaving the pool waits for the scan, which this ends; what was read is kept.
            project.close()
            raise


def preview_window(
    opening: Opening,
    request: str,
    budget: int | None,
    pinned: Sequence[str] = (),
    removed: Sequence[str] = (),
    told: Callable[[int, int], None] | None = None,
) -> Preview:
    """Read the project and build the first window for ``request``, with pins and removals as in a session.

    ``budget`` is in tokens; without one it is the model's own. While the project is read, ``told`` is called
    now and then with the number of files that are known and of all files. Raises PreviewError if not even the
    request fits, or a target names nothing.
    """
    from context.project.project import Project
    from context.text.tokens import Counter
    from session.turn.past_turns import PastTurns
    from session.turn.preparation import preparation_for
    from session.turn.turn_memory import TurnMemory

    counter = Counter()
    counter.load()
    project = Project(opening.workspace.root, opening.workspace.folders.cache)
    snapshot = _scanned(project, told)
    choice = ModelChoice(opening, "", project_toolbox(opening, project, attended=True))
    pins = Pins()
    try:
        for change, targets in ((removing, removed), (pinning, pinned)):
            for target in targets:
                for event in change(target, pins, snapshot):
                    pins.take(event)
    except PinError as problem:
        raise PreviewError(str(problem)) from problem
    preparation = replace(
        preparation_for(choice, project, counter, opening.workspace.root, pins),
        approved=opening.trust.approved,
        budget=choice.budget if budget is None else budget,
    )
    try:
        window = preparation.prepare_now(request, TurnMemory(), PastTurns()).window
    except BudgetTooSmall as problem:
        raise PreviewError(str(problem)) from problem
    window = replace(window, budget=preparation.budget)
    assumed = opening.model.window_assumed and budget is None
    return Preview(opening.model.name, window, snapshot.notes, assumed)
