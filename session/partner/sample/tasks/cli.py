"""The command line."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tasks.model import Task, TaskError, parse_due
from tasks.store import Store


def build_parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    parser = argparse.ArgumentParser(prog="tasks", description="A small task list.")
    parser.add_argument("--file", type=Path, default=Path("tasks.json"), help="where the tasks are kept")
    commands = parser.add_subparsers(dest="command", required=True)

    add = commands.add_parser("add", help="add a task")
    add.add_argument("title")
    add.add_argument("--due", metavar="DATE", help="as YYYY-MM-DD")

    listing = commands.add_parser("list", help="show the tasks")
    listing.add_argument("--search", metavar="TEXT", default="", help="only those with TEXT in the title")

    done = commands.add_parser("done", help="mark a task as done")
    done.add_argument("id", type=int)

    remove = commands.add_parser("remove", help="take a task off the list")
    remove.add_argument("id", type=int)

    serve = commands.add_parser("serve", help="serve the page and the API")
    serve.add_argument("--port", type=int, default=8765)
    return parser


def line(task: Task) -> str:
    """A task on one line."""
    box = "[x]" if task.done else "[ ]"
    due = f"  (due {task.due.isoformat()})" if task.due else ""
    return f"{box} {task.id:>3}  {task.title}{due}"


def run(arguments: argparse.Namespace) -> None:
    """Do what the command line says."""
    store = Store(arguments.file)
    if arguments.command == "add":
        due = parse_due(arguments.due) if arguments.due else None
        task = store.add(arguments.title, due)
        print(line(task))
    elif arguments.command == "list":
        tasks = store.search(arguments.search) if arguments.search else store.all()
        for task in tasks:
            print(line(task))
        if not tasks:
            print("Nothing to do.")
    elif arguments.command == "done":
        print(line(store.complete(arguments.id)))
    elif arguments.command == "remove":
        task = store.remove(arguments.id)
        print(f"removed {task.title!r}")
    elif arguments.command == "serve":
        from tasks.api import serve

        serve(store, arguments.port)


def main(argv: list[str] | None = None) -> int:
    """Run; 0 if it worked, 1 with a message if it did not."""
    arguments = build_parser().parse_args(argv)
    try:
        run(arguments)
    except TaskError as error:
        print(f"tasks: {error}", file=sys.stderr)
        return 1
    return 0
