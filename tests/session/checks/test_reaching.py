"""Which tests reach a changed file, in real repositories."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from context.project.project import Project
from session.checks.check import Check, Kind
from session.checks.reaching import reaching, runnable_tests

PYTEST = Check("pytest", "python -m pytest -q {tests}", Kind.TESTS)
NODE = Check("node", "node --test {tests}", Kind.TESTS)
FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": "def total_price(items):\n    return sum(items)\n",
    "shop/mail.py": "def send_letter(to):\n    return to\n",
    "shop/stock.py": "LEFT = 3\n",
    "tests/test_cart.py": "def test_nothing():\n    assert True\n",
    "tests/test_orders.py": "from shop import cart\n\n\ndef test_it():\n    assert cart\n",
    "tests/test_letters.py": "from shop.mail import send_letter\n\n\nassert send_letter(1)\n",
    "tests/test_prices.py": "import shop\n\n\ndef test_it(api):\n    assert api.total_price([1]) == 1\n",
    "tests/test_other.py": "def test_other():\n    assert True\n",
    "tests/test_more.py": "def test_more():\n    cart = 1\n    assert cart\n",
    "tests/test_third.py": "def test_third():\n    assert True\n",
    "tests/test_fourth.py": "def test_fourth():\n    assert True\n",
    "web/list.js": "export function render() {}\n",
    "web/list.test.js": "import { render } from './list.js'\n",
    "web/deep.test.js": "const { render } = require('./list')\n",
    "web/other.test.js": "import x from 'x'\n",
    "web/third.test.js": "import x from 'x'\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("check", "changed", "found"),
    [
        (PYTEST, ["shop/cart.py"], ["tests/test_orders.py", "tests/test_cart.py", "tests/test_prices.py"]),
        (PYTEST, ["shop/mail.py"], ["tests/test_letters.py"]),
        (PYTEST, ["tests/test_other.py"], ["tests/test_other.py"]),
        (PYTEST, ["shop/stock.py"], []),
        (PYTEST, ["tests/test_not_there_before.py"], ["tests/test_not_there_before.py"]),
        (PYTEST, [], []),
        (NODE, ["web/list.js"], ["web/list.test.js", "web/deep.test.js"]),
    ],
)
def test_names_imports_and_uses(root: Path, check: Check, changed: list[str], found: list[str]) -> None:
    assert list(reaching(check, changed, Project(root).scan())) == found


def test_a_command_that_cannot_be_told_which_tests_gets_none(root: Path) -> None:
    whole = Check("pytest", "pytest", Kind.TESTS)
    assert reaching(whole, ["shop/cart.py"], Project(root).scan()) == ()


def test_files_that_changed_together_count(root: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
            cwd=root,
            check=True,
            capture_output=True,
        )

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "first")
    for number in range(6):
        (root / "shop/stock.py").write_text(f"LEFT = {number + 10}\n")
        (root / "tests/test_third.py").write_text(f"def test_third():\n    assert {number + 1}\n")
        git("commit", "-qam", f"change {number}")
    assert reaching(PYTEST, ["shop/stock.py"], Project(root).scan()) == ("tests/test_third.py",)


def test_where_most_tests_would_run_first_all_run(root: Path) -> None:
    for path in (root / "tests").iterdir():
        path.write_text("from shop import cart\n")
    assert reaching(PYTEST, ["shop/cart.py"], Project(root).scan()) == ()


def test_a_checks_tests_are_those_of_its_program() -> None:
    paths = ["tests/test_a.py", "a_test.py", "a.py", "web/a.test.ts", "spec/a_spec.rb", "test/a.js"]
    assert list(runnable_tests(PYTEST, paths)) == ["tests/test_a.py", "a_test.py"]
    assert list(runnable_tests(NODE, paths)) == ["web/a.test.ts", "test/a.js"]
    assert list(runnable_tests(Check("mine", "run {tests}", files=("*.rb",)), paths)) == ["spec/a_spec.rb"]
