"""The cases of other tools and of real models: where each lands, and that none lands wrong."""

from __future__ import annotations

import random
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from edits.hunk import Landed, Status
from tests.edits.helpers import Project, corpus, merged, parse, prose

CHOICES: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("corpus_choices.toml").read_text()
)


def outcome(case: dict[str, Any], folder: Path) -> str:
    project = Project(folder)
    project.write(case["files_before"])
    project.apply(case["patch"])
    files = {name: data.decode() for name, data in project.read_bytes().items()}
    if not as_expected(case, files):
        return "refused" if project.refusals else "differs"
    if case["expect"] == "error" and project.results and not project.refusals:
        already = all(landed.status is Status.ALREADY_APPLIED for landed in project.landed)
        return "already_applied" if already else "differs"
    if case["expect"] == "ok" and project.refusals:
        return "refused"
    if case["expect"] == "error" and not project.refusals:
        assert all(landed.status is Status.ALREADY_APPLIED for landed in project.landed), case["id"]
    return "agrees"


def as_expected(case: dict[str, Any], files: dict[str, str]) -> bool:
    """A few cases say only what one of the files must hold afterwards."""
    if case["files_after"] is not None:
        return bool(files == case["files_after"])
    return any(case["after_contains"] in text for text in files.values())


def test_every_case_lands_byte_for_byte_or_is_a_stated_choice(tmp_path: Path) -> None:
    found: dict[str, set[str]] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for number, case in enumerate(corpus()):
        result = outcome(case, tmp_path / str(number))
        counts[case["format"], result] += 1
        found.setdefault(result, set()).add(case["id"])
    for kind in ("refused", "already_applied"):
        assert found.get(kind, set()) - set(CHOICES[kind]) - set(CHOICES["differs"]) == set()
    # A text that lands otherwise than expected and is not a stated choice would be a wrong placement.
    assert found.get("differs", set()) - set(CHOICES["differs"]) == set()
    listed = {case for kind in CHOICES.values() for case in kind}
    assert listed == set().union(*(found.get(kind, set()) for kind in found if kind != "agrees"))
    assert sum(counts.values()) - len(listed) >= 280


def test_refused_cases_leave_the_file_as_it_was_where_nothing_landed(tmp_path: Path) -> None:
    for number, case in enumerate(corpus()):
        if case["id"] in CHOICES["refused"]:
            project = Project(tmp_path / str(number))
            project.write(case["files_before"])
            project.apply(case["patch"])
            assert project.refusals
            if not project.landed:
                assert project.read() == case["files_before"]


def test_one_character_at_a_time_says_the_same_as_the_whole() -> None:
    for number, case in enumerate(corpus()):
        if "aider-chat" in case["id"] and number % 4:
            continue
        text = case["patch"]
        assert merged(parse(list(text))) == merged(parse([text])), case["id"]


def test_any_split_says_the_same_as_the_whole() -> None:
    chance = random.Random(20261121)
    for case in corpus():
        text = case["patch"]
        cuts = sorted(chance.randrange(len(text) + 1) for _ in range(chance.randrange(1, 30)))
        pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        assert merged(parse(pieces)) == merged(parse([text])), case["id"]


def test_a_cut_anywhere_never_completes_what_the_whole_does_not() -> None:
    """Prefix safety: what lands before a cut is what lands of the whole, in order, and nothing else."""
    chance = random.Random(7)
    from edits.formats.events import Completed

    for case in corpus():
        text = case["patch"]
        whole = [event.hunk for event in parse([text], clean=False) if isinstance(event, Completed)]
        for cut in {chance.randrange(len(text) + 1) for _ in range(12)}:
            part = [event.hunk for event in parse([text[:cut]], clean=False) if isinstance(event, Completed)]
            assert part == whole[: len(part)], (case["id"], cut)


def test_at_every_prefix_each_file_holds_a_whole_number_of_hunks(tmp_path: Path) -> None:
    from edits.formats.detect import AutoParser

    chosen = [case for case in corpus() if "multi_hunk" in case["tags"] or "multi_file" in case["tags"]]
    small = sorted(chosen, key=lambda case: len(case["patch"]))[:25]
    assert len(small) == 25
    for number, case in enumerate(small):
        whole = Project(tmp_path / f"whole{number}")
        whole.write(case["files_before"])
        states = [whole.read()]
        for event in parse([case["patch"]]):
            whole.take([event])
            states.append(whole.read())
        typed = Project(tmp_path / f"typed{number}")
        typed.write(case["files_before"])
        parser = AutoParser()
        reached = 0
        for character in case["patch"]:
            events = parser.feed(character)
            typed.take(events)
            if events:
                now = typed.read()
                assert now in states[reached:], case["id"]
                reached = states.index(now, reached)
        typed.take(parser.close(clean=True))
        assert typed.read() == states[-1]


def test_markup_never_shows_as_prose() -> None:
    for case in corpus():
        shown = prose(parse([case["patch"]]))
        if case["expect"] == "ok":
            for mark in ("<<<<<<< SEARCH", ">>>>>>> REPLACE", "*** Begin", "*** End", "*** Update File"):
                assert mark not in shown, case["id"]


def test_paths_and_fences_of_real_replies_never_show_as_prose() -> None:
    for case in corpus():
        if not case["id"].startswith("aider-chat") or case["expect"] != "ok":
            continue
        lines = prose(parse([case["patch"]])).split("\n")
        edited = {line for line in case["files_before"] if line in lines}
        assert not edited, case["id"]
        assert sum(line.startswith("```") for line in lines) % 2 == 0, case["id"]


def test_the_corpus_needs_no_elision_but_every_other_rung(tmp_path: Path) -> None:
    rungs: Counter[int] = Counter()
    for number, case in enumerate(corpus()):
        project = Project(tmp_path / str(number))
        project.write(case["files_before"])
        project.apply(case["patch"])
        rungs.update(result.rung for result in project.results if isinstance(result, Landed))
    assert set(rungs) == {1, 2, 3, 5}
