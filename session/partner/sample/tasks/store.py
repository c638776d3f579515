"""The list of tasks, kept in a JSON file."""

from __future__ import annotations

import json
import os
from datetime import date
from pathlib import Path

from tasks.model import Task, TaskError, sort_key


class Store:
    """Reads the file once, and writes it after every change."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._tasks: dict[int, Task] = {}
        if path.exists():
            try:
                records = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise TaskError(f"cannot read {path}: {error}") from error
            for record in records:
                task = Task.from_json(record)
                self._tasks[task.id] = task

    def all(self) -> list[Task]:
        """Every task, in the order in which they should be read."""
        return sorted(self._tasks.values(), key=sort_key)

    def get(self, task_id: int) -> Task:
        """The task with this id."""
        try:
            return self._tasks[task_id]
        except KeyError:
            raise TaskError(f"there is no task {task_id}") from None

    def add(self, title: str, due: date | None = None) -> Task:
        """A new task at the end of the list."""
        title = title.strip()
        if not title:
            raise TaskError("a task needs a title")
        task_id = len(self._tasks) + 1
        task = Task(id=task_id, title=title, due=due)
        self._tasks[task_id] = task
        self._save()
        return task

    def complete(self, task_id: int) -> Task:
        """Mark a task as done."""
        task = self.get(task_id)
        task.done = True
        self._save()
        return task

    def remove(self, task_id: int) -> Task:
        """Take a task off the list for good."""
        task = self.get(task_id)
        del self._tasks[task_id]
        self._save()
        return task

    def search(self, text: str) -> list[Task]:
        """The tasks with ``text`` in their title, whatever its case."""
        wanted = text.casefold()
        return [task for task in self.all() if wanted in task.title.casefold()]

    def _save(self) -> None:
        records = [task.to_json() for task in self._tasks.values()]
        temporary = self.path.with_suffix(".tmp")
        try:
            temporary.write_text(json.dumps(records, indent=2) + "\n", encoding="utf-8")
            os.replace(temporary, self.path)
        except OSError as error:
            raise TaskError(f"cannot write {self.path}: {error}") from error
