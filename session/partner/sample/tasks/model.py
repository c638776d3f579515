"""What a task is."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, timezone


class TaskError(Exception):
    """Something the person asked for cannot be done; the message says what."""


def now() -> str:
    """The time of day in UTC, to the second, as it is kept in the file."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def parse_due(text: str) -> date:
    """The date written as YYYY-MM-DD."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise TaskError(f"not a date: {text!r} (write it as YYYY-MM-DD)") from None


@dataclass
class Task:
    """One thing to do."""

    id: int
    title: str
    done: bool = False
    due: date | None = None
    created: str = field(default_factory=now)

    def to_json(self) -> dict[str, object]:
        """The form in which a task is kept and served."""
        return {
            "id": self.id,
            "title": self.title,
            "done": self.done,
            "due": self.due.isoformat() if self.due else None,
            "created": self.created,
        }

    @classmethod
    def from_json(cls, record: dict[str, object]) -> Task:
        """The task that ``to_json`` made ``record`` from."""
        try:
            due = record.get("due")
            return cls(
                id=int(str(record["id"])),
                title=str(record["title"]),
                done=bool(record.get("done", False)),
                due=parse_due(str(due)) if due else None,
                created=str(record.get("created") or now()),
            )
        except (KeyError, ValueError) as error:
            raise TaskError(f"not a task: {record!r}") from error


def sort_key(task: Task) -> tuple[bool, date, int]:
    """Open tasks first, then by due date (none comes last), then oldest first."""
    return (task.done, task.due or date.max, task.id)
