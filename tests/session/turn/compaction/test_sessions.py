"""Sessions over the real partner whose dialogue outgrows a small window."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from pathlib import Path

import pytest

from session.base.events import DialogueCompacted, LedgerProposed, LineRemembered, Notice, TurnStarted, Usage
from session.commands.compaction_commands import CompactionError
from session.partner.server.requests import Request
from session.turn.compaction.model_summary import ASK
from session.wire.input_items import item_text
from tests.session.talking import Listening, talking
from tests.session.turn.compaction.saying import count, counter

MODEL = """
[models."small"]
provider = "partner"
window = 7500
output_reserve = 1000
edit_format = "v4a"
"""
BUDGET = 6_500
LONG = "Words upon words about the table. "
WORDS = (
    """
models = ["small"]
[[scenario]]
match = ["*"]
[[scenario.step]]
say = \"\"\"I'll use a table for this.

```python
secret_code = 1
```

"""
    + LONG * 80
    + """
\"\"\"
"""
)
LEDGER = {
    "goal": "Answer questions about the table",
    "constraints": ["Never touch part one"],
    "decisions": ["a table is used for this", "the moon is Dutch cheese"],
    "next": [],
}
WITH_LEDGER = (
    WORDS
    + f"""
[[scenario]]
match = ["developer asked"]
[[scenario.step]]
say = '''{json.dumps(LEDGER)}'''
"""
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "app.py").write_text("def app():\n    return 1\n")
    return folder


def configure(root: Path, more: str = "") -> None:
    counter()  # exact from the first turn on: by its upper bound a small window holds nothing
    folder = root.parent / "xdg" / "config" / "spark"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(MODEL + more)


RULES_ALONE = "[context]\ncompact_with_model = false\n"
WHOLE_INPUTS = (
    '[providers.partner]\nbase_url = "http://127.0.0.1:1"\nwebsocket = false\ndialects = ["responses"]\n'
)
"""Over HTTP each request holds its whole input: what the server is sent can be counted."""


def prompt(turn: int) -> str:
    return f"Question {turn}: what of part {turn}?  Never touch part {turn}."


async def ask(talk: Listening, first: int, last: int) -> None:
    for turn in range(first, last + 1):
        talk.session.submit(prompt(turn))
        ended = await talk.ended(f"t{turn}")
        assert ended.status == "completed", ended


def asked(talk: Listening) -> list[Request]:
    """The requests of the conversation itself."""
    return [request for request in talk.partner.requests if request.generate and request.offers_patch_tool]


def tokens(request: Request) -> int:
    standing = count(request.instructions) + count(str(request.tools))
    return standing + sum(count(item_text(item)) for item in request.items)


async def test_many_turns_stay_in_the_budget_and_lose_no_word_of_the_user(root: Path) -> None:
    configure(root, RULES_ALONE + WHOLE_INPUTS)
    async with talking(root, WORDS, model="small") as talk:
        await ask(talk, 1, 13)
        compactions = talk.all(DialogueCompacted)
        requests = asked(talk)
    assert len(requests) == 13 and max(map(tokens, requests)) <= BUDGET
    assert 1 < len(compactions) < 10, "in batches, not each turn"
    for event in compactions:
        assert event.by == "rules" and event.after < event.before
        assert "secret_code" not in event.text
        assert "the words of" in event.dropped[0]
    at = max(at for at, request in enumerate(requests) if made_in(request))
    sent = "".join(item_text(item) for item in requests[at].items)
    left_out = "of yours, for lack of room" in str(compactions[-1].dropped)
    assert prompt(1) in sent and prompt(at) in sent
    assert left_out or all(prompt(turn) in sent for turn in range(1, at + 2)), "a message is lost"


def made_in(request: Request) -> bool:
    """Whether this request begins a window with a compaction."""
    return "## The conversation so far, compacted" in str(request.items)


async def test_the_prefix_stays_between_compactions(root: Path) -> None:
    configure(root, RULES_ALONE + WHOLE_INPUTS)
    async with talking(root, WORDS, model="small") as talk:
        await ask(talk, 1, 8)
        requests = asked(talk)
    texts = ["".join(item_text(item) for item in request.items) for request in requests]
    grown = sum(later.startswith(earlier) for earlier, later in pairwise(texts))
    assert grown >= 4, "most requests only add to the one before"


async def test_a_resumed_session_begins_from_the_compaction(root: Path) -> None:
    configure(root, RULES_ALONE)
    async with talking(root, WORDS, model="small") as talk:
        await ask(talk, 1, 9)
        await talk.session.compaction.compact()
        made = talk.all(DialogueCompacted)[-1]
        talk.session.compaction.remember("colours are British")
        journal = talk.session.folders.sessions / f"{talk.session.name}.jsonl"
    raw = journal.read_text("utf-8")
    assert all(json.dumps(prompt(turn)) in raw for turn in range(1, 10)), "the journal stays whole"
    assert raw.count("secret_code = 1") >= 9
    sent: list[str] = []
    for number in range(2):
        copy = journal.with_name(f"20260101-000000-000{number}.jsonl")
        copy.write_text(raw)
        async with talking(root, WORDS, model="small", resume=copy) as again:
            again.session.submit("go on")
            assert (await again.ended("t10")).status == "completed"
            assert again.all(DialogueCompacted) == [], "it is not compacted anew"
            request = asked(again)[0]
            text = "".join(item_text(item) for item in request.items)
            # The instructions went ahead if the connection was warmed before the prompt came.
            sent.append(request.instructions + text.removeprefix(request.instructions))
    assert made.text in sent[0] and "colours are British" in sent[0]
    assert sent[0].split("## Request")[0] == sent[1].split("## Request")[0], "the same bytes each time"


async def test_the_models_ledger_is_used_and_counted_as_usage(root: Path) -> None:
    configure(root)
    async with talking(root, WITH_LEDGER, model="small") as talk:
        await ask(talk, 1, 3)
        turn = 3
        while not talk.all(LedgerProposed) and not any(
            "made by rules" in each.text for each in talk.all(Notice)
        ):
            turn += 1
            await ask(talk, turn, turn)
            if any(not request.offers_patch_tool for request in talk.partner.requests if request.generate):
                await talk.until(LedgerProposed)
        proposed = talk.all(LedgerProposed)[0]
        assert proposed.decisions == ("a table is used for this",) and proposed.rejected == 1
        usage = await talk.until(Usage, lambda event: event.turn == f"{proposed.through} ledger")
        assert usage.input_tokens == proposed.input_tokens > 0
        while not any(event.by == "model" for event in talk.all(DialogueCompacted)):
            turn += 1
            await ask(talk, turn, turn)
        made = next(event for event in talk.all(DialogueCompacted) if event.by == "model")
    assert "Answer questions about the table" in made.text and "Dutch cheese" not in made.text
    aside = next(
        r for r in talk.partner.requests if "developer asked" in str(r.items) and not r.offers_patch_tool
    )
    assert "secret_code" not in str(aside.items), "the model is asked about words, not code"


async def test_a_window_full_of_files_is_asked_for_its_ledger_once_the_dialogue_is_long(root: Path) -> None:
    configure(root)
    config = root.parent / "xdg" / "config" / "spark" / "config.toml"
    config.write_text(MODEL.replace("7500", "12_000"))
    for number in range(6):
        text = "question" if number < 5 else "other"
        lines = "".join(f"def {text}_{number}_{n}():\n    return {text}_{n} + 1\n\n" for n in range(40))
        (root / f"{text}{number}.py").write_text(lines)
    async with talking(root, WITH_LEDGER.replace(LONG * 80, LONG * 50), model="small") as talk:
        await ask(talk, 1, 1)
        assert talk.all(TurnStarted)[0].input_tokens > ASK * 11_000, "the files alone fill that much"
        await ask(talk, 2, 5)
        await talk.until(LedgerProposed)
        notices = [event.text for event in talk.all(Notice)]
        assert not any("afresh" in text for text in notices) and not talk.all(DialogueCompacted)
        asides = [each for each in talk.partner.requests if each.generate and not each.offers_patch_tool]
        assert len(asides) == 1, "once in each window"


async def test_a_long_ledger_is_read_to_its_end(root: Path) -> None:
    configure(root)
    ledger = {**LEDGER, "next": [f"{n} moons are made of Dutch cheese" for n in range(200)]}
    script = (
        WORDS
        + f"""
[[scenario]]
match = ["developer asked"]
[[scenario.step]]
say = '''{json.dumps(ledger)}'''
"""
    )
    async with talking(root, script, model="small") as talk:
        await ask(talk, 1, 6)
        proposed = await talk.until(LedgerProposed)
        assert proposed.decisions == ("a table is used for this",)
        assert not any("made by rules" in event.text for event in talk.all(Notice))


async def test_a_model_that_stalls_never_delays_a_turn(root: Path) -> None:
    configure(root)
    stalls = WORDS + '\n[[scenario]]\nmatch = ["developer asked"]\n[[scenario.step]]\nstall = 600.0\n'
    async with talking(root, stalls, model="small") as talk:
        await ask(talk, 1, 7)
        assert {event.by for event in talk.all(DialogueCompacted)} == {"rules"}


async def test_a_reply_that_is_not_a_ledger_is_reported(root: Path) -> None:
    configure(root)
    async with talking(root, WORDS, model="small") as talk:
        await ask(talk, 1, 6)
        told = await talk.until(Notice, lambda event: "made by rules" in event.text)
    assert "no JSON object" in told.text


async def test_compacting_by_hand(root: Path) -> None:
    configure(root, RULES_ALONE)
    async with talking(root, WORDS, model="small") as talk:
        with pytest.raises(CompactionError, match="nothing to compact"):
            await talk.session.compaction.compact()
        await ask(talk, 1, 3)
        assert await talk.session.compaction.compact() == ""
        made = talk.all(DialogueCompacted)[-1]
        assert made.after < made.before and all(
            prompt(turn) in made.text for turn in range(1, made.turns + 1)
        )
        await ask(talk, 4, 4)
        assert made.text in "".join(item_text(item) for item in asked(talk)[-1].items)
        assert f"compaction up to {made.through}" in await talk.session.compaction.summary()


async def test_a_turn_submitted_while_it_compacts_follows_it(root: Path) -> None:
    configure(root, RULES_ALONE)
    async with talking(root, WORDS, model="small") as talk:
        await ask(talk, 1, 3)
        compacting = asyncio.create_task(talk.session.compaction.compact())
        await asyncio.sleep(0)
        talk.session.submit(prompt(4))
        assert await compacting == ""
        assert (await talk.ended("t4")).status == "completed"
        assert "## The conversation so far, compacted" in str(asked(talk)[-1].items)


async def test_an_interrupt_while_it_compacts_leaves_no_trace(root: Path) -> None:
    configure(root, RULES_ALONE)
    async with talking(root, WORDS, model="small") as talk:
        await ask(talk, 1, 2)
        turn = 2
        while True:  # each prompt is stopped while its window is built, then given again
            turn += 1
            told = len(talk.all(DialogueCompacted))
            talk.session.submit(prompt(turn))
            await asyncio.sleep(0)
            talk.session.interrupt()
            assert (await talk.ended(f"t{turn}")).status == "interrupted"
            assert len(talk.all(DialogueCompacted)) == told
            await ask(talk, turn + 1, turn + 3)
            turn += 3
            if talk.all(DialogueCompacted):
                break
        fresh = [request for request in asked(talk) if made_in(request)]
        sent = "".join(item_text(item) for request in fresh[:1] for item in request.items)
        made = talk.all(DialogueCompacted)[0]
    missing = [each for each in range(1, made.turns + 1) if prompt(each) not in sent]
    assert not missing or "of yours, for lack of room" in str(made.dropped)


async def test_lines_are_remembered_at_once_and_through_compactions(root: Path) -> None:
    configure(root, RULES_ALONE)
    async with talking(root, WORDS, model="small") as talk:
        dialogue = talk.session.compaction
        await ask(talk, 1, 1)
        dialogue.remember("answer in British English")
        dialogue.remember("last")
        dialogue.remember("a line to be forgotten")
        assert dialogue.remembered().split("\n")[0] == "1: answer in British English"
        with pytest.raises(CompactionError, match="line 1 already"):
            dialogue.remember("answer in British English")
        await ask(talk, 2, 2)
        assert "answer in British English" in talk.sent(-1), "the next request tells it"
        dialogue.forget("3")
        await ask(talk, 3, 7)
        await dialogue.compact()
        await ask(talk, 8, 8)
        last = next(
            str(r.items) for r in reversed(asked(talk)) if "## The conversation so far" in str(r.items)
        )
    assert len(talk.all(DialogueCompacted)) > 1
    assert "- 1: answer in British English" in last and f"- 2: {prompt(1)}" in last
    assert "a line to be forgotten" not in last
    assert [event.line for event in talk.all(LineRemembered)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "why"),
    [("x" * 4_001, "a line may have 4,000"), ("t9", "no message is called t9")],
)
async def test_a_line_that_cannot_be_remembered_is_refused_with_the_reason(
    root: Path, text: str, why: str
) -> None:
    configure(root, RULES_ALONE)
    async with talking(root, WORDS, model="small") as talk:
        with pytest.raises(CompactionError, match=why):
            talk.session.compaction.remember(text)
        with pytest.raises(CompactionError, match="nothing is remembered"):
            talk.session.compaction.forget("1")
        for n in range(2):
            talk.session.compaction.remember(f"{n}" * 4_000)
        with pytest.raises(CompactionError, match="forget one first"):
            talk.session.compaction.remember("one more")
