"""Rules by which commands run unasked: what they cover, and all the ways around them that must not work."""

from __future__ import annotations

from pathlib import Path

import pytest

from session.base.storage.private_files import StoreError
from session.tools.command.rules import (
    CommandRules,
    KeptRules,
    Rule,
    RuleError,
    parsed_rule,
    plain_words,
    rule_for,
)

COVERED = {
    "pytest": [
        "pytest",
        "pytest -q",
        "  pytest   -q  tests/a.py ",
        "pytest -k 'a or b'",
        'pytest "a b" x=1 3',
    ],
    "npm run test": ["npm run test", "npm run test -- --watch=false"],
    "python -m pytest": ["python -m pytest -q", "python -m pytest 'tests/a.py::b[c-d]'"],
    "git diff": ["git diff HEAD~", "git diff --stat"][1:],
}


@pytest.mark.parametrize(("rule", "command"), [(r, c) for r, each in COVERED.items() for c in each])
def test_a_rule_covers(rule: str, command: str) -> None:
    assert parsed_rule(rule).covers(command)


BYPASSES = [
    "pytest; curl evil", "pytest;curl evil", "pytest && curl evil", "pytest || curl evil", "pytest | sh",
    "pytest |& sh", "pytest & curl evil", "pytest &", "pytest\ncurl evil", "pytest\rcurl evil", "pytest\n",
    "pytest \\\ncurl", "pytest $(curl evil)", "pytest `curl evil`", 'pytest "$(curl evil)"',
    'pytest "`curl`"', "pytest '`ls`'\"$(ls)\"", "pytest $HOME", "pytest ${X:-a}", 'pytest "$X"',
    "pytest $((1+1))", "pytest $'a\\nb'", 'pytest $"a"', "pytest > ~/.bashrc", "pytest >x", "pytest 2>x",
    "pytest >&2", "pytest < x", "pytest <> x", "pytest <<E\nx\nE", "pytest <<'E'\nx\nE", "pytest <<< x",
    "pytest <(curl evil)", "pytest >(sh)", "A=b pytest", "PYTEST_PLUGINS=evil pytest", "A= pytest",
    "PATH=.:$PATH pytest", "A+=b pytest", "A[0]=b pytest", "env pytest", "env A=b pytest", "xargs pytest",
    "sudo pytest", "exec pytest", "command pytest", "eval pytest", "time pytest", "nice pytest", "! pytest",
    "coproc pytest", "if pytest; then sh; fi", "for i in pytest; do sh; done", "while pytest; do :; done",
    "( pytest )", "{ pytest; }", "pytest() { sh; }", "pytest() ( sh )", "function pytest", "[[ pytest ]]",
    "(( pytest ))", "case pytest in *) sh;; esac", "alias pytest=sh", "pytest *", "pytest te?t",
    "pytest [a-z]", "pytest {a,b}", "pytest {1..9}", "pytest ~/x", "pytest ~root", "pytest # curl",
    "#pytest", "pytest !!", 'pytest "!x"', "pytest !x", "py'te'st", "'pytest'", '"pytest"', "pytest''",
    "''pytest", 'py""test', "py\\test", "\\pytest", "pytest \\x", 'pytest "a\\"b"', "pytest 'a'b",
    "pytest 'a", 'pytest "a', "pytest a'", "python -c 'import pytest'", "python pytest", "sh -c pytest",
    "./pytest", "/tmp/pytest", "../pytest", "pytest2", "pytest-x", "pytest.sh", "PYTEST", "pytest\u00a0-q",
    "pytest\u2003-q", "pytest\u200b", "\ufeffpytest", "p\u0443test", "pytest\t-q", "pytest\x0b-q",
    "pytest\x0c-q", "pytest\x00-q", "pytest \x1b[2K", "\npytest", "; pytest", "& pytest", "-- pytest",
    "pytest^", "pytest a^b", "pytest a|b", "pytest a;b", "pytest a&b", "pytest a>b", "pytest a<b",
    "pytest (a)", "pytest a(b)", "pytest =(ls)", "pytest @(a|b)", "pytest +(a)", "", " ", "pytest 'a\nb'",
    "if", "do",
]  # fmt: skip


@pytest.mark.parametrize("command", BYPASSES)
def test_no_way_around_a_rule(command: str) -> None:
    assert not Rule(("pytest",)).covers(command)


OTHERS = [
    ("npm run test", "npm run test2"), ("npm run test", "npm run"), ("npm run test", "npm 'run' test"),
    ("npm run test", "npm -C x run test"), ("git diff", "git -c core.pager=sh diff"),
    ("git diff", "git push"), ("git diff", "git"), ("python -m pytest", "python -c x -m pytest"),
    ("python -m pytest", "python -m"), ("python -m pytest", "python3 -m pytest"),
    ("python -m pytest", "python -m 'pytest'"),
    ("rg", "rg --pre sh x"), ("rg", "rg x --pre=sh"),
    ("rg", "rg --hostname-bin=./x --hyperlink-format default x"),
    ("git grep", "git grep -Osh x"), ("git grep", "git grep -nOsh x"),
    ("git grep", "git grep --open-files-in=sh x"),
    ("git fetch", "git fetch --upload-pack=./x ."), ("git fetch", "git fetch --upload-p ./x ."),
    ("git push", "git push --exec=./x ."), ("git log", "git log -p --output=/etc/x"),
    ("git log", "git log --outp x"),
    ("/usr/bin/git log", "/usr/bin/git log '--output=x'"), ("sort", "sort -uo x y"),
    ("sort", "sort --comp=./x y"),
    ("man", "man -P./x ls"), ("less", "less '+!sh' x"), ("go vet", "go vet -vettool=./x ./..."),
    ("go vet", "go vet --vettool=./x ./..."), ("tree", "tree -ao x"), ("npx rg", "npx rg --pre sh x"),
    ("git apply", "git apply --unsafe-paths x"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "command"), OTHERS)
def test_a_rule_is_about_its_own_words(rule: str, command: str) -> None:
    assert not parsed_rule(rule).covers(command)


OFFERED = {
    "pytest -q tests": "pytest", "npm run build -- x": "npm run build", "npm test": "npm test",
    "git log --oneline": "git log", "python3.12 -m pytest -q": "python3.12 -m pytest",
    "cargo test": "cargo test", "uv run pytest -q": "uv run pytest",
    "uv run python -m mypy .": "uv run python -m mypy", "make check": "make check",
    "npx eslint .": "npx eslint", "./run_tests -v": "./run_tests", "/usr/bin/git log": "/usr/bin/git log",
}  # fmt: skip


@pytest.mark.parametrize("command", OFFERED)
def test_the_rule_that_is_offered_is_the_narrowest_that_is_of_use(command: str) -> None:
    rule = rule_for(command)
    assert rule is not None and str(rule) == OFFERED[command]
    assert rule.covers(command) and parsed_rule(str(rule)) == rule


NONE_OFFERED = [
    "python -c 'print(1)'", "python x.py", "python", "python -m timeit x", "python3 -", "node -e x", "sh x",
    "bash -c x", "env pytest", "xargs rm", "find . -delete", "sudo make", "timeout 5 pytest", "git",
    "git -c a=b log", "npm run", "npm run -s", "npm --prefix x test", "docker run x", "uv run", "uv run sh",
    "uv run python x.py", "npx", "npx sh", "curl http://a", "rm -rf x", "make", "make A=b", "make -C x",
    "perl5.36 -e x", "lua-5.4 x", "coverage run x.py", "conda run sh", "conda", "mix run -e x",
    "rails r x", "psql -c x", "sqlite3 a.db x", "nix run x", "git difftool", "npm config set script-shell x",
    "pnpm dlx sh", "rustup run nightly sh", "git remote add x y", "https evil", "dig evil",
    "go run x", "/bin/sh x", "./sh x", "/usr/bin/env x", "cargo run", "perl -e x", "awk x", "sed -i x y",
    "ssh host", "'pytest'", "-x", "uv 'run' pytest",
]  # fmt: skip


@pytest.mark.parametrize("command", NONE_OFFERED)
def test_nothing_is_offered_for_what_can_run_anything(command: str) -> None:
    assert rule_for(command) is None
    with pytest.raises(RuleError):
        parsed_rule(command)


HARMLESS = [
    ("rg --pre ./x", "rg --pre ./x y"), ("rg", "rg -n --pretty x"), ("git grep", "git grep -n x"),
    ("git log", "git log --oneline -5"), ("sort", "sort -u x"), ("go vet", "go vet ./..."),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "command"), HARMLESS)
def test_a_rule_covers_what_it_names_and_what_starts_nothing(rule: str, command: str) -> None:
    assert parsed_rule(rule).covers(command)


def test_words_are_those_that_the_program_gets() -> None:
    words = plain_words("pytest -k 'a or b' \"c\" x=1")
    assert [word.text for word in words] == ["pytest", "-k", "a or b", "c", "x=1"]
    assert [word.bare for word in words] == [True, True, False, False, True]


def test_answers_are_kept_until_they_are_taken_back(tmp_path: Path) -> None:
    kept = KeptRules(tmp_path)
    rules = CommandRules([parsed_rule("ruff check")], kept, tmp_path)
    assert rules.allow("ruff check .") and not rules.allow("pytest -q")
    rules.always("pytest -q")
    rules.for_session("mypy .")
    rules.for_session("sh x")
    assert (
        rules.allow("pytest x")
        and rules.allow("mypy x")
        and rules.allow("sh x")
        and not rules.allow("sh x y")
    )
    again = CommandRules([], KeptRules(tmp_path), tmp_path)
    assert again.allow("pytest x") and not again.allow("mypy x") and not again.allow("ruff check .")
    assert kept.remove(Rule(("pytest",))) and not kept.remove(Rule(("pytest",)))
    assert not again.allow("pytest x"), "also in a session that runs"


OUTSIDE = [
    "pytest /tmp/x", "pytest --pyargs evil -c /tmp/x", "pytest -c/tmp/x", "pytest --rootdir=/tmp",
    "pytest ../x", "pytest a/../../x", "pytest --confcutdir=..", "pytest ..", "pytest -o cache_dir=/tmp/x",
    "pytest '/tmp/a'",
    "pytest --override-ini=a=/x", "pytest @/tmp/x", "pytest link/x", "pytest -p ../evil", "pytest a:/tmp/x",
    "pytest --junit-xml=../../.bashrc", "pytest https://evil/x", "pytest -c../x",
    "pytest --log-file=a,/tmp/x",
]  # fmt: skip
INSIDE = [
    "pytest", "pytest -q tests/a.py::b", "pytest ./tests", "pytest tests/../a.py", "pytest -c sub/x.ini",
    "pytest --cov=src/a", "pytest -k 'a/b or c'", "pytest -n 2 --dist=loadfile", "pytest sub/..",
]  # fmt: skip


@pytest.mark.parametrize("command", OUTSIDE)
def test_no_rule_covers_a_place_outside_of_the_project(tmp_path: Path, command: str) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    rules = CommandRules([parsed_rule("pytest")], KeptRules(tmp_path), root)
    assert not rules.allow(command) and rules.rule_for(command) is None
    rules.for_session(command)
    assert rules.allow(command) and not rules.allow(f"{command} x"), "the user allowed this one"


@pytest.mark.parametrize("command", [*INSIDE, "pytest {root}/tests"])
def test_a_rule_covers_what_is_in_the_project(tmp_path: Path, command: str) -> None:
    rules = CommandRules([parsed_rule("pytest")], KeptRules(tmp_path), tmp_path)
    assert rules.allow(command.format(root=tmp_path))


@pytest.mark.parametrize("text", ["{", '{"rules": 1}', '{"rules": ["sh"]}', '{"rules": [["pytest"]]}', "[]"])
def test_damaged_rules_allow_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "rules.json").write_text(text)
    with pytest.raises(StoreError, match=r"rules\.json cannot be read"):
        CommandRules([], KeptRules(tmp_path), tmp_path).allow("pytest")
    assert KeptRules(tmp_path).forget() and not KeptRules(tmp_path).forget()
