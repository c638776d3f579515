"""The corpus is parsed, not landed: the hunks are those that upstream's parsers find."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from edits.formats.events import Broken, Completed, ParserEvent
from edits.hunk import Action, Format, Hunk, LineKind, RefusalCode
from tests.edits.helpers import Project, corpus, merged, parse, suite_of

FORMATS = {
    "v4a": Format.V4A,
    "v4a_body": Format.V4A,
    "search_replace": Format.SEARCH_REPLACE,
    "search_replace_cline": Format.SEARCH_REPLACE,
    "search_replace_roo": Format.SEARCH_REPLACE,
    "udiff_aider": Format.UNIFIED,
    "str_replace": Format.JSON,
}


def completed(events: list[ParserEvent]) -> list[Hunk]:
    return [event.hunk for event in events if isinstance(event, Completed)]


def as_upstream(hunks: list[Hunk]) -> list[dict[str, Any]]:
    """Our hunks in the shape of the V4A suites, which gather the chunks of a file."""
    files: list[dict[str, Any]] = []
    for hunk in hunks:
        if hunk.action is Action.ADD:
            contents = "".join(line + "\n" for line in hunk.new)
            files.append({"type": "AddFile", "path": hunk.path, "contents": contents})
        elif hunk.action is Action.DELETE:
            files.append({"type": "DeleteFile", "path": hunk.path})
        else:
            chunk = {
                "changeContext": hunk.anchors[-1] if hunk.anchors else None,
                "oldLines": list(hunk.old),
                "newLines": list(hunk.new),
                "isEndOfFile": hunk.at_end_of_file,
            }
            last = files[-1] if files else {}
            if last.get("type") == "UpdateFile" and hunk.path in (last["path"], last["movePath"]):
                last["chunks"].append(chunk)
            else:
                files.append(
                    {"type": "UpdateFile", "path": hunk.path, "movePath": hunk.move_to, "chunks": [chunk]}
                )
    return files


def test_v4a_texts_are_parsed_as_upstream_does() -> None:
    cases = suite_of("roo_apply_patch_parse")
    for case in cases:
        events = parse([case["patch"]])
        assert merged(parse(list(case["patch"]))) == merged(events), case["id"]
        if case["expect"] == "error":
            assert not completed(events), case["id"]
        else:
            assert as_upstream(completed(events)) == case["parsed"]["hunks"], case["id"]
            assert not any(isinstance(event, Broken) for event in events), case["id"]
    assert len(cases) == 19


def test_detection_gives_the_same_hunks_as_a_given_format() -> None:
    for case in corpus():
        format = FORMATS[case["format"]]
        detected, named = parse([case["patch"]]), parse([case["patch"]], format=format)
        assert {hunk.format for hunk in completed(detected)} <= {format}, case["id"]
        told = [event for event in detected if isinstance(event, Completed | Broken)]
        assert told == [event for event in named if isinstance(event, Completed | Broken)], case["id"]


def test_texts_that_must_fail_are_refused_with_a_fitting_code(tmp_path: Path) -> None:
    fitting = {
        "ambiguous": {RefusalCode.AMBIGUOUS},
        "missing": {RefusalCode.MISSING_FILE},
        "same": {RefusalCode.MALFORMED},
        "create": {RefusalCode.EXISTS},
    }
    seen: set[str] = set()
    for number, case in enumerate(suite_of("str_replace_misc")):
        if case["expect"] != "error":
            continue
        project = Project(tmp_path / str(number))
        project.write(case["files_before"])
        project.apply(case["patch"])
        kind = (
            "ambiguous" if "ambiguous" in case["tags"] or case["id"] == "vibe-multi"
            else "missing" if not case["files_before"]
            else "same" if case["old_str"] == case["new_str"]
            else "create" if not case["old_str"]
            else "other"
        )  # fmt: skip
        seen.add(kind)
        codes = {refused.code for refused in project.refusals}
        assert codes == fitting.get(kind, {RefusalCode.NO_MATCH}), case["id"]
    assert seen == {*fitting, "other"}


@pytest.mark.parametrize("format", [None, Format.UNIFIED])
def test_diffs_without_line_numbers_are_parsed_as_upstream_does(format: Format | None) -> None:
    cases = [case for case in suite_of("aider_tests") if case["format"] == "udiff_aider"]
    for case in cases:
        hunks = completed(parse([case["patch"]], format=format))
        said = []
        for hunk in hunks:
            lines = [line.kind + line.text for line in hunk.lines]
            while lines[-1] == LineKind.CONTEXT:
                lines.pop()
            said.append([hunk.path, [line + "\n" for line in lines]])
        assert said == case["parsed"], case["id"]
    assert len(cases) == 4


@pytest.mark.parametrize("format", [None, Format.JSON])
def test_replacements_are_parsed_exactly(format: Format | None) -> None:
    cases = suite_of("str_replace_misc")
    for case in cases:
        hunks = completed(parse(list(case["patch"]), format=format))
        if case["old_str"] == case["new_str"]:
            assert not hunks, case["id"]
            continue
        (hunk,) = hunks
        assert hunk.replacement is not None
        assert (hunk.replacement.old, hunk.replacement.new) == (case["old_str"], case["new_str"]), case["id"]
        assert hunk.replace_all is case["replace_all"]
    assert len(cases) == 55
