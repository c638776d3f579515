"""What the store promises."""

import tempfile
import unittest
from pathlib import Path

from tasks.model import TaskError, parse_due
from tasks.store import Store


class StoreTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "tasks.json"
        self.store = Store(self.path)

    def test_a_task_outlives_the_store(self) -> None:
        self.store.add("Water the plants", parse_due("2026-05-01"))
        again = Store(self.path)
        self.assertEqual([task.title for task in again.all()], ["Water the plants"])

    def test_done_tasks_come_last(self) -> None:
        self.store.add("First")
        self.store.add("Second")
        self.store.complete(1)
        self.assertEqual([task.title for task in self.store.all()], ["Second", "First"])

    def test_a_title_is_needed(self) -> None:
        with self.assertRaises(TaskError):
            self.store.add("   ")


if __name__ == "__main__":
    unittest.main()
