"""Real races: a session, a partner whose answers are wrong or right, and checks that run in sandboxes."""

from __future__ import annotations

import sys
from pathlib import Path

from session.checks.check import Check, Kind

ADD = "def add(a, b):\n    return a - b\n"
TESTS = Check(
    "tests", f"{sys.executable} -B -c 'import calc; assert calc.add(2, 3) == 5, calc.add(2, 3)'", Kind.TESTS
)
RIGHT_SUM = Check(
    "tests", "grep -qE 'return (a [+] b|b [+] a)' calc.py || { cat calc.py; exit 1; }", Kind.TESTS
)
"""What these tests say of the answers here, without a Python for each of them."""
SYNTAX = Check("syntax", "if grep '[+]$' calc.py; then exit 1; fi", Kind.SYNTAX)
RIGHT, ALSO_RIGHT = "return a + b", "return b + a"
WRONG, ALSO_WRONG, BROKEN = "return a * b", "return a", "return a +"


def project(folder: Path) -> Path:
    """A project whose test fails: ``add`` subtracts."""
    folder.mkdir()
    (folder / "calc.py").write_text(ADD)
    return folder


def script(*answers: str, stall: float = 0.0) -> str:
    """A partner's script that gives each of ``answers`` once, in this order, to the same prompt."""
    parts = ['models = ["spark-practice", "spark-practice-text"]']
    for number, answer in enumerate(answers, 1):
        parts.append(
            f'[[scenario]]\nid = "a{number}"\nmatch = ["add"]\ntimes = 1\n'
            f'[[scenario.hunk]]\nid = "fix"\npath = "calc.py"\nlines = """\n'
            f' def add(a, b):\n-    return a - b\n+    {answer}\n"""\n'
            f'[[scenario.step]]\nsay = "Answer {number}.\\n"\n'
            + (f"[[scenario.step]]\nstall = {stall}\n" if stall else "")
            + '[[scenario.step]]\npatch = ["fix"]\n[[scenario.step]]\nsay = "Done.\\n"\n'
        )
    return "\n".join(parts)
