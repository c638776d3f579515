"""What the demo understands of a redirect, and what it says of one that it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from session.partner.load_script import DEMO, load
from session.partner.redirects import not_understood, understand
from session.partner.script import Script, patches
from tests.session.partner.test_demo import check_works, front_end, scenario


@pytest.fixture(scope="module")
def demo() -> Script:
    return load(DEMO)


@pytest.mark.parametrize(
    "words", ["make it blue", "what is the weather?", "use a database instead, please", "😀"]
)
@pytest.mark.parametrize("name", ["reopen", "commands", "lost-task", "explain"])
def test_what_is_not_understood_is_answered_with_what_is(
    demo: Script, tmp_path: Path, name: str, words: str
) -> None:
    told = scenario(demo, name)
    assert told.redirect is not None
    front = front_end(demo, tmp_path, "p", rounds=True)
    front.ask(told.prompt, stop_after=min(1, len(told.hunks) - 1) if told.hunks else 0)
    landed = len(front.landed)
    front.ask(words)
    assert len(front.landed) == landed, "nothing is answered with what nobody asked for"
    assert words.split()[0] in front.text and told.redirect.prompt in front.text and "- go on" in front.text
    front.ask("go on")
    assert {hunk.path for hunk in front.sent} == {
        told.hunks[each].path for patch in patches(told.steps) for each in patch.hunks
    }


def test_what_it_says_that_it_understands_is_understood(demo: Script) -> None:
    for told in demo.scenarios:
        (step,) = not_understood(told, "blue").redirect.steps
        known = [line[2:] for line in step.text.splitlines() if line.startswith("- ")]  # type: ignore[union-attr]
        assert len(known) >= 3
        for words in known:
            said = words.split(" (")[0].replace("NAME", "restore")
            assert understand(told, said, (), None) is not None, said


@pytest.mark.parametrize("words", ["stop", "Stop!", "please stop here", "never mind", "ok, that is enough"])
def test_stop_stops_until_it_is_to_go_on(demo: Script, tmp_path: Path, words: str) -> None:
    told = scenario(demo, "commands")
    front = front_end(demo, tmp_path, "p", rounds=True)
    front.ask(told.prompt, stop_after=2)
    front.ask(words)
    assert len(front.landed) == 2 and "I stop here" in front.text
    front.ask("Go on, please.")
    assert len(front.landed) == len([each for patch in patches(told.steps) for each in patch.hunks])
    check_works(front.root)


@pytest.mark.parametrize(
    ("words", "paths"),
    [
        ("only the API", {"tasks/store.py", "tasks/api.py"}),
        ("Just the API, please", {"tasks/store.py", "tasks/api.py"}),
        ("only the api and the page", {"tasks/store.py", "tasks/api.py", "web/client.js"}),
        ("without the page", {"tasks/store.py", "tasks/api.py"}),
        ("leave out the JavaScript", {"tasks/store.py", "tasks/api.py"}),
        ("only client.js", {"tasks/store.py", "web/client.js"}),
    ],
)
def test_a_part_alone_comes(demo: Script, tmp_path: Path, words: str, paths: set[str]) -> None:
    front = front_end(demo, tmp_path, "p", rounds=True)
    front.ask(scenario(demo, "reopen").prompt, stop_after=1)
    front.ask(words)
    assert {hunk.path for hunk in front.sent} == paths
    assert "{done} done)" not in (front.root / "web/format.js").read_text(), "no count that nobody asked for"


@pytest.mark.parametrize("words", ["only the moon", "without the api and the moon", "only", "just do it"])
def test_a_part_that_is_not_there_is_not_guessed(demo: Script, words: str) -> None:
    assert understand(scenario(demo, "reopen"), words, (), None) is None


@pytest.mark.parametrize("landed", range(7))
@pytest.mark.parametrize("words", ["call it restore", "Rename it to restore, please", "use restore instead"])
def test_another_name_is_used_everywhere(demo: Script, tmp_path: Path, landed: int, words: str) -> None:
    told = scenario(demo, "reopen")
    words = words.replace(", please", " please")
    front = front_end(demo, tmp_path, "p", rounds=landed % 2 == 0)
    front.ask(told.prompt, stop_after=landed if landed < 6 else 5)
    front.ask(words)
    texts = {
        path: (front.root / path).read_text() for path in ("tasks/store.py", "tasks/api.py", "web/client.js")
    }
    assert "def restore(" in texts["tasks/store.py"] and "self.store.restore(" in texts["tasks/api.py"]
    assert 'verbButton("Restore", task, "restore")' in texts["web/client.js"]
    assert not any("reopen" in text.lower() for text in texts.values())
    check_works(front.root)


def test_a_redirect_in_other_words_is_the_one_that_is_meant(demo: Script, tmp_path: Path) -> None:
    front = front_end(demo, tmp_path, "p", rounds=True)
    front.ask(scenario(demo, "reopen").prompt, stop_after=3)
    front.ask("and show how many of them are done")
    assert "{done} done)" in (front.root / "web/format.js").read_text()
