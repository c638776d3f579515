"""A redirect that steers the running answer: what lands, what the model is told, and what it costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from session.base.events import HunkDropped, HunkLanded, HunkOpened, ReasoningDelta, TextDelta, Usage
from session.partner.server.requests import Request
from session.wire.link.steer import UNREAD
from tests.session.talking import COLOURS, RED, WORDS, Listening, talking

MODEL = "gpt-6-sol"
SCRIPT = f"""
models = ["{MODEL}", "spark-practice"]
[[scenario]]
match = ["repaint"]
{RED}
[[scenario.hunk]]
id = "long"
path = "colours.py"
lines = '''
 def green():
-    return 2
{"".join(f"+    # Line {number} of many, so that there is time to stop." + chr(10) for number in range(60))}\
+    return 20
'''
[[scenario.step]]
patch = ["red", "long"]

[[scenario]]
match = ["think"]
[[scenario.step]]
think = "{"hm " * 400}"
[[scenario.step]]
say = "I have thought."
{WORDS}"""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine may be slow."""
    monkeypatch.setattr("session.wire.link.connection.PATIENCE", 20.0)
    monkeypatch.setattr("session.wire.link.steering.PATIENCE", 20.0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "colours.py").write_text(COLOURS)
    return folder


def asked(talk: Listening) -> list[Request]:
    return [request for request in talk.partner.requests if request.generate]


async def test_a_redirect_in_the_middle_of_a_hunk_keeps_what_landed_and_says_what_did_not(root: Path) -> None:
    async with talking(root, SCRIPT, rate=400, model=MODEL) as talk:
        talk.session.submit("repaint all")
        first = await talk.until(HunkLanded)
        opened = await talk.until(HunkOpened, lambda event: event.hunk != first.hunk)
        talk.session.submit("words, please")
        at_once = talk.text("colours.py")
        assert (await talk.ended("t1")).status == "interrupted"
        assert (await talk.ended("t2")).status == "completed"
        # Nothing landed after the redirect, though the server wrote its hunk to the end.
        assert talk.text("colours.py") == at_once == COLOURS.replace("return 1\n", "return 10\n")
        assert [event.hunk for event in talk.all(HunkLanded)] == [first.hunk]
        assert [event.hunk for event in talk.all(HunkDropped)] == [opened.hunk]
        assert "".join(event.text for event in talk.all(TextDelta) if event.turn == "t2") == "Just words.\n"
        steered = asked(talk)[-1]
        output, *told = steered.items
        assert output["type"] == "custom_tool_call_output" and output["output"] == UNREAD
        report = str(told)
        assert f"{first.hunk} applied" in report and f"{opened.hunk} not_received" in report
        assert "redirected you while you were still answering" in report and "words, please" in report
        assert talk.partner.cut == 0 and steered.previous_response_id
        # What the server went on for is counted, as an estimate.
        usage = [event for event in talk.all(Usage) if event.turn == "t2"][-1]
        assert usage.estimated and usage.output_tokens > 10
        # The turn after it continues the chain, with what is new alone.
        talk.session.submit("and more words")
        assert (await talk.ended("t3")).status == "completed"
        assert asked(talk)[-1].previous_response_id and asked(talk)[-1].size < 1_000


async def test_a_redirect_while_the_model_thinks_sends_the_prompt_alone(root: Path) -> None:
    async with talking(root, SCRIPT, rate=400, model=MODEL) as talk:
        talk.session.submit("think, please")
        await talk.until(ReasoningDelta)
        talk.session.submit("words, please")
        assert (await talk.ended("t2")).status == "completed"
        assert talk.text("colours.py") == COLOURS
        assert asked(talk)[-1].size < 1_200 and talk.partner.cut == 0
        assert [item["role"] for item in asked(talk)[-1].items] == ["developer", "user", "user"]


async def test_a_stop_after_a_redirect_ends_the_answer_for_good(root: Path) -> None:
    async with talking(root, SCRIPT, rate=400, model=MODEL) as talk:
        talk.session.submit("repaint all")
        await talk.until(HunkLanded)
        talk.session.submit("words, please")
        talk.session.interrupt()
        assert (await talk.ended("t2")).status == "interrupted"
        talk.session.submit("now words")
        assert (await talk.ended("t3")).status == "completed"
        assert "words, please" in talk.sent() and talk.partner.cut == 1
        assert talk.text("colours.py") == COLOURS.replace("return 1\n", "return 10\n")


async def test_a_model_that_is_not_steered_is_interrupted_and_asked_on_the_spare(root: Path) -> None:
    async with talking(root, SCRIPT, rate=400) as talk:
        talk.session.submit("repaint all")
        await talk.until(HunkLanded)
        talk.session.submit("words, please")
        assert (await talk.ended("t2")).status == "completed"
        assert talk.partner.cut == 1
