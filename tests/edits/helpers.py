"""What the tests of the edits share: a project on disk, and feeding an answer to it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from edits.formats.detect import AutoParser
from edits.formats.events import Broken, Completed, ParserEvent, Prose, Typed, Unread
from edits.hunk import Format, Landed, RefusalCode, Refused
from edits.landing import Landing
from edits.ledger.ledger import Ledger

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
SUITES = (
    "aider_tests",
    "codex_unit",
    "openai_agents_apply_diff",
    "opencode_cline_apply_patch",
    "roo_apply_patch",
    "cline_diff",
    "roo_multi_search_replace",
    "real_replies",
    "str_replace_misc",
)


@dataclass
class Project:
    """A folder with files, its ledger, and what happened in it."""

    folder: Path
    results: list[Landed | Refused | Broken] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.root = self.folder / "project"
        self.root.mkdir(parents=True)
        self.ledger = Ledger(self.folder / "ledger")
        self.landing = Landing(self.root, self.ledger, files=self.read_bytes)

    def write(self, files: dict[str, str] | dict[str, bytes]) -> None:
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def read(self) -> dict[str, str]:
        return {name: data.decode() for name, data in self.read_bytes().items()}

    def read_bytes(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes()
            for path in sorted(self.root.rglob("*"))
            if path.is_file()
        }

    def take(self, events: Iterable[ParserEvent]) -> None:
        for event in events:
            if isinstance(event, Completed):
                self.results.append(self.landing.land(event.hunk, hunk_id=self.ledger.next_id()))
            elif isinstance(event, Broken):
                self.results.append(event)
            elif isinstance(event, Unread):
                self.results.append(Broken(event.number, "", RefusalCode.MALFORMED, event.message))

    def apply(self, text: str, *, clean: bool = True, format: Format | None = None) -> None:
        parser = AutoParser(format)
        self.take(parser.feed(text))
        self.take(parser.close(clean=clean))

    @property
    def refusals(self) -> list[Refused | Broken]:
        return [result for result in self.results if not isinstance(result, Landed)]

    @property
    def landed(self) -> list[Landed]:
        return [result for result in self.results if isinstance(result, Landed)]


def parse(pieces: Sequence[str], *, clean: bool = True, format: Format | None = None) -> list[ParserEvent]:
    """Every event of an answer fed in ``pieces``."""
    parser = AutoParser(format)
    events = [event for piece in pieces for event in parser.feed(piece)]
    return events + parser.close(clean=clean)


def merged(events: Iterable[ParserEvent]) -> list[ParserEvent]:
    """The events with neighbouring pieces of prose, and of typed text, joined: the same at any chunking."""
    joined: list[ParserEvent] = []
    for event in events:
        last = joined[-1] if joined else None
        if isinstance(event, Prose) and isinstance(last, Prose):
            joined[-1] = Prose(last.text + event.text)
        elif (
            isinstance(event, Typed)
            and isinstance(last, Typed)
            and (event.number, event.kind) == (last.number, last.kind)
        ):
            joined[-1] = Typed(last.number, last.kind, last.text + event.text)
        else:
            joined.append(event)
    return joined


def prose(events: Iterable[ParserEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, Prose))


def corpus() -> list[dict[str, Any]]:
    """The corpus cases, their text and files made ours."""
    return [{**case, "patch": _with_path(case)} for suite in SUITES for case in suite_of(suite)]


def suite_of(name: str) -> list[dict[str, Any]]:
    """The cases of one file of the corpus."""
    if not CORPUS.is_dir():
        pytest.skip("the corpus of other tools' cases is not beside this checkout")
    cases: list[dict[str, Any]] = json.loads((CORPUS / f"{name}.json").read_text())
    return cases


def _with_path(case: dict[str, Any]) -> str:
    """Some suites give the path beside the text; we read it from the text."""
    text: str = case["patch"]
    if case["format"] == "v4a_body":
        newline = "\r\n" if "\r\n" in text else "\n"
        verb = "Add" if case["mode"] == "create" else "Update"
        return f"*** {verb} File: f.txt{newline}{text}"
    if case["format"] == "search_replace_cline":
        return f"file.txt\n{text}"
    if case["format"] == "search_replace_roo":
        return f"file.txt\n{text.removeprefix('test.ts').lstrip()}"
    return text
