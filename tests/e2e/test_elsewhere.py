"""A line drops and nobody at this end notices: the next spark asks what to do about the turn there."""

from __future__ import annotations

import re

import pytest

from tests.bench.pty_spark import START, Pty, stage
from tui.screen.terminal.frame_answers import ANSWER, ASK

SAY = "say = '" + "".join(f"word{number} " for number in range(400)) + "The end.'"
SCRIPT = f"[[scenario]]\nid = 'all'\nmatch = ['*']\n[[scenario.step]]\n{SAY}\n"
SOON = f"import session.record.sharing.standing as elsewhere; elsewhere.SILENT = 2; {START}"
"""A terminal counts as silent after two seconds."""


def read(pane: Pty, shown: str) -> None:
    """Read until a text is shown, and answer every question meanwhile."""
    answered = 0
    while shown not in pane.text:
        pane.read(1.0)
        asked = len(re.findall(re.escape(ASK), pane.raw))
        if asked > answered:
            pane.type(ANSWER * (asked - answered))
            answered = asked
        assert pane.now < 60, pane.text[-2000:]


def silent(pane: Pty, seconds: float) -> None:
    """Read, as the buffers on the way do, and answer nothing."""
    until = pane.now + seconds
    while pane.now < until:
        pane.read(0.1)


@pytest.mark.long
@pytest.mark.parametrize(
    ("key", "told"), [("\r", "Following process"), ("t", "Following process"), ("x", "")]
)
def test_the_next_spark_asks_about_a_turn_whose_terminal_is_silent(key: str, told: str) -> None:
    with stage("12", script=SCRIPT) as at:
        at.environ["SSH_CONNECTION"] = "192.0.2.1 50000 192.0.2.2 22"
        with at.spark() as first:
            read(first, "ready")
            first.type("go on\r")
            read(first, "word3")
            silent(first, 4)
            del at.environ["SSH_CONNECTION"]
            with at.spark(SOON) as second:
                second.until("Another spark works here")
                assert f"process {first.pid}: a turn runs since" in " ".join(second.text.split())
                if key == "\r":
                    second.type(key)  # nobody can have read the question: it does nothing yet
                silent(second, 1.2)
                second.type(key)
                if told:
                    second.until(f"{told} {first.pid}")
                else:
                    second.until(lambda text: "❯ x" in text or "x" in text.split())
                    assert "Following" not in second.text
                if key == "t":
                    first.until("takes this session over")
