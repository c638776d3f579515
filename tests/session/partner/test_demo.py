"""The demo: every hunk lands exactly, wherever an answer is cut short, and the sample still works."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from session.partner.demo import SAMPLE, make_sample
from session.partner.load_script import DEMO, load
from session.partner.script import Scenario, Script, patches
from tests.session.partner.partner_play import FrontEnd, tree
from tests.thorough import IN_FULL

EDITING = ("reopen", "commands", "lost-task")


@pytest.fixture(scope="module")
def demo() -> Script:
    return load(DEMO)


def scenario(demo: Script, name: str) -> Scenario:
    return next(scenario for scenario in demo.scenarios if scenario.id == name)


def hunks_of(scenario: Scenario) -> int:
    return sum(len(patch.hunks) for patch in patches(scenario.steps))


def front_end(demo: Script, folder: Path, name: str, *, rounds: bool, mid_hunk: bool = False) -> FrontEnd:
    root = folder / name
    shutil.copytree(SAMPLE, root, ignore=shutil.ignore_patterns("__pycache__"))
    return FrontEnd(demo, root, folder / f"{name}-state", rounds, mid_hunk)


def python(root: Path, code: str) -> str:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(root)}
    ran = subprocess.run(
        (sys.executable, "-W", "error", "-c", code), cwd=root, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def check_works(root: Path) -> None:
    """Compiles, its own tests pass, the command line answers; the page parses where there is a node."""
    out = python(
        root,
        "import compileall, sys, unittest\n"
        "from tasks.cli import main\n"
        "assert compileall.compile_dir('tasks', quiet=1)\n"
        "assert unittest.main(module='tests.test_store', argv=['t'], exit=False).result.wasSuccessful()\n"
        "main(['add', 'Tea']); main(['list']); main(['done', '1'])",
    )
    assert out.splitlines() == ["[ ]   1  Tea", "[ ]   1  Tea", "[x]   1  Tea"]
    (root / "tasks.json").unlink()
    node = shutil.which("node")
    for script in (root / "web").glob("*.js") if node else ():
        ran = subprocess.run((str(node), "--check", str(script)), capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("name", EDITING)
def test_every_point_of_interruption_leads_to_the_same_project(
    demo: Script, tmp_path: Path, name: str
) -> None:
    """Between any two hunks as the tool sends them; in the middle of some, and as text, at some places."""
    told = scenario(demo, name)
    assert told.redirect is not None
    own = sum(len(patch.hunks) for patch in patches(told.redirect.steps))
    projects = []
    for rounds, mid_hunk in itertools.product((True, False), (False, True)):
        points = range(hunks_of(told) + (not mid_hunk))
        every = IN_FULL or (rounds and not mid_hunk)
        for landed in points if every else sorted({points[len(points) // 2], points[-1]}):
            place = f"after-{landed}-{rounds}-{mid_hunk}"
            front = front_end(demo, tmp_path, place, rounds=rounds, mid_hunk=mid_hunk)
            front.ask(told.prompt, stop_after=landed)
            assert len(front.landed) == landed
            front.ask(told.redirect.prompt)
            assert len(front.landed) == hunks_of(told) + own  # nothing was sent twice, nothing forgotten
            projects.append(tree(front.root))
    assert all(project == projects[0] for project in projects)
    check_works(front.root)


@pytest.mark.parametrize("redirected", [True, False], ids=["redirected", "straight"])
def test_the_scenarios_can_be_played_in_any_order(demo: Script, tmp_path: Path, redirected: bool) -> None:
    projects = []
    orders = list(itertools.permutations(EDITING))
    # Three of the six: each scenario is first, second and last once.
    for order in orders if IN_FULL else (orders[0], orders[3], orders[4]):
        front = front_end(demo, tmp_path, "-".join(order), rounds=True)
        for name in order:
            told = scenario(demo, name)
            assert told.redirect is not None
            front.ask(told.prompt, stop_after=hunks_of(told) // 2 if redirected else None)
            if redirected:
                front.ask(told.redirect.prompt)
        projects.append(tree(front.root))
    assert all(project == projects[0] for project in projects)
    check_works(tmp_path / "-".join(EDITING))


def test_the_sample_has_the_bug_and_the_fix_removes_it(demo: Script, tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from tasks.store import Store; s = Store(Path('t.json'))\n"
        "for t in 'abc': s.add(t)\n"
        "s.remove(1); s.add('d'); print([t.title for t in Store(Path('t.json')).all()])"
    )
    front = front_end(demo, tmp_path, "p", rounds=True)
    assert python(front.root, code) == "['b', 'd']\n"
    (front.root / "t.json").unlink()
    front.ask(scenario(demo, "lost-task").prompt)
    assert python(front.root, code) == "['b', 'c', 'd']\n"


def test_the_feature_works(demo: Script, tmp_path: Path) -> None:
    front = front_end(demo, tmp_path, "p", rounds=False)
    told = scenario(demo, "reopen")
    front.ask(told.prompt)
    assert {hunk.path for hunk in front.sent} == {"tasks/store.py", "tasks/api.py", "web/client.js"}
    code = """
import json, threading, urllib.error, urllib.request
from pathlib import Path
from tasks.api import make_server
from tasks.store import Store
store = Store(Path("t.json")); store.add("Tea")
server = make_server(store, 0)
threading.Thread(target=server.serve_forever, daemon=True).start()
def post(what):
    url = f"http://127.0.0.1:{server.server_address[1]}/api/tasks/1/{what}"
    try:
        return json.load(urllib.request.urlopen(urllib.request.Request(url, method="POST")))["done"]
    except urllib.error.HTTPError as error:
        return json.load(error)["error"]
print(post("done"), post("reopen"), post("reopen"))
server.shutdown(); server.server_close()
"""
    assert python(front.root, code) == "True False task 1 is open already\n"


def test_the_explanation_edits_nothing_and_its_redirect_neither(demo: Script, tmp_path: Path) -> None:
    front = front_end(demo, tmp_path, "p", rounds=True)
    told = scenario(demo, "explain")
    assert told.redirect is not None
    front.ask(told.prompt)
    assert "os.replace" in front.text
    front.items = []
    front.ask(told.prompt, stop_after=0)
    front.ask(told.redirect.prompt)
    assert front.text.startswith("The Python side in four lines")
    assert front.sent == []


def test_a_second_redirect_goes_on_from_what_landed(demo: Script, tmp_path: Path) -> None:
    told = scenario(demo, "commands")
    assert told.redirect is not None
    front = front_end(demo, tmp_path, "p", rounds=True)
    front.ask(told.prompt, stop_after=2)
    front.ask(told.redirect.prompt, stop_after=5)
    front.ask("Go on, please")
    assert len(front.landed) == len(told.hunks)
    check_works(front.root)


def test_asked_again_it_says_that_all_has_landed(demo: Script, tmp_path: Path) -> None:
    told = scenario(demo, "lost-task")
    front = front_end(demo, tmp_path, "p", rounds=True)
    front.ask(told.prompt)
    front.ask(told.prompt)
    assert len(front.landed) == 1
    assert "landed already" in front.text


def test_each_prompt_and_redirect_finds_its_own_scenario(demo: Script) -> None:
    for told in demo.scenarios:
        assert demo.choose(told.prompt) is told
        assert told.redirect is not None
        assert demo.choose(told.redirect.prompt) in (None, told)
    assert demo.choose("write me a poem about the sea") is None


def test_the_sample_is_a_repository_with_one_change(tmp_path: Path) -> None:
    assert make_sample(tmp_path / "demo") is None
    git = ("git", "-C", str(tmp_path / "demo"))
    status = subprocess.run((*git, "status", "--porcelain"), capture_output=True, text=True, check=True)
    assert status.stdout == " M tasks/model.py\n"
    log = subprocess.run((*git, "log", "--format=%an %s"), capture_output=True, text=True, check=True)
    assert log.stdout == "spark demo A small task list\n"
    check_works(tmp_path / "demo")


def test_the_sample_needs_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    problem = make_sample(tmp_path / "demo")
    assert problem is not None and "git is not installed" in problem
    assert "is_late" in (tmp_path / "demo" / "tasks" / "model.py").read_text()


def test_a_demo_with_its_pending_change_takes_every_hunk(demo: Script, tmp_path: Path) -> None:
    make_sample(tmp_path / "demo")
    front = FrontEnd(demo, tmp_path / "demo", tmp_path / "state", rounds=True)
    for name in EDITING:
        front.ask(scenario(demo, name).prompt)
    assert len(front.landed) == sum(hunks_of(scenario(demo, name)) for name in EDITING)
