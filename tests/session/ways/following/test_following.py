"""Two sessions on one journal, in one loop and over a real socket: one has it, the other follows."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from session.base.events import (
    Event,
    HunkHeld,
    HunkLanded,
    HunkOpened,
    HunkTyped,
    Notice,
    OwnerGone,
    PromptQueued,
    PromptSubmitted,
    PromptsUnqueued,
    TakeoverAsked,
    TextDelta,
    TurnEnded,
)
from session.record.journal.reading import read_event, read_records
from session.record.sharing import host as hosting
from session.record.sharing.claim import SessionTakenError
from session.record.sharing.host import Presence
from session.record.sharing.messages import VERSION, Hello, Refused, decode, encode
from session.record.sharing.sockets import connect
from session.record.sharing.unattended import leave_word, take_words
from session.session import Session
from session.ways.followed_session import FollowedSession, open_session
from tests.session.talking import COLOURS, PATIENCE, REPAINT, Listening, opening, talking

E = TypeVar("E")
SLOW = 40.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "colours.py").write_text(COLOURS)
    return folder


class Following:
    """A followed session with everything it has told."""

    def __init__(self, session: FollowedSession) -> None:
        self.session = session
        self.events: list[Event] = []

    async def follow(self) -> None:
        async for event in self.session.listen():
            self.events.append(event)

    async def until(self, kind: type[E], fits: Callable[[E], bool] = lambda event: True) -> E:
        async with asyncio.timeout(PATIENCE):
            while True:
                for event in self.events:
                    if isinstance(event, kind) and fits(event):
                        return event
                await asyncio.sleep(0.01)


@asynccontextmanager
async def following(it: Listening) -> AsyncIterator[Following]:
    made = await asyncio.to_thread(
        open_session, opening(it.root, it.partner.url), it.session.standing.journal, join=True
    )
    assert isinstance(made, FollowedSession)
    follower = Following(made)
    task = asyncio.create_task(follower.follow())
    await asyncio.sleep(0)
    await made.open()
    try:
        yield follower
    finally:
        await made.close()
        await task


def texts(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def test_a_turn_is_followed_from_its_middle(root: Path) -> None:
    async with talking(root, REPAINT, rate=SLOW) as it:
        it.session.submit("repaint")
        await it.until(HunkLanded)
        async with following(it) as other:
            ran = other.session.running
            assert ran and other.session.owner.startswith("process ")
            ended = await other.until(TurnEnded)
            assert ended.status == "completed" and other.session.running != ran
            told = [event for event in other.events if isinstance(event, HunkLanded | HunkOpened)]
            assert told == [event for event in it.events if isinstance(event, HunkLanded | HunkOpened)]
            assert texts(other.events) == texts(it.events)


async def test_a_follower_sends_answers_and_stops(root: Path) -> None:
    async with talking(root, REPAINT, review=True) as it, following(it) as other:
        other.session.submit("repaint")
        held = await other.until(HunkHeld)
        typed = [event.text for event in other.events if isinstance(event, HunkTyped)]
        assert "return 10" in "".join(typed)
        assert other.session.answer(held.hunk, land=True)
        assert (await other.until(HunkLanded)).hunk == held.hunk
        await other.until(HunkHeld, lambda event: event.hunk != held.hunk)
        other.session.queue("and again")
        await other.until(Notice, lambda notice: "following" in notice.text)
        other.session.interrupt()
        assert (await other.until(TurnEnded)).status == "interrupted"
        await other.until(PromptSubmitted, lambda event: event.text == "and again")


async def test_a_held_hunk_is_asked_by_whoever_joins_later(root: Path) -> None:
    async with talking(root, REPAINT, review=True) as it:
        it.session.submit("repaint")
        held = await it.until(HunkHeld)
        async with following(it) as other:
            again = await other.until(HunkHeld)
            assert again.hunk == held.hunk
            opened = next(at for at, each in enumerate(other.events) if isinstance(each, HunkOpened))
            asked = next(at for at, each in enumerate(other.events) if isinstance(each, HunkHeld))
            typed = [at for at, each in enumerate(other.events) if isinstance(each, HunkTyped)]
            assert any(opened < at < asked for at in typed), "the question comes with the hunk's text"
            other.session.answer(again.hunk, land=False)
            await it.until(HunkHeld, lambda event: event.hunk != held.hunk)
            assert it.text("colours.py") == COLOURS


async def test_only_one_writes_and_the_other_takes_over_when_it_is_free(root: Path) -> None:
    async with talking(root, REPAINT) as it:
        it.session.submit("repaint")
        await it.until(TurnEnded)
        with pytest.raises(SessionTakenError, match="is open in process"):
            Session(opening(root, it.partner.url), resume=it.session.standing.journal)
        async with following(it) as other:
            await it.session.close()
            await other.until(OwnerGone)
            taken = Session(opening(root, it.partner.url), resume=it.session.standing.journal)
            assert texts(taken.past()) == texts(it.events)
            await taken.close()
    assert not list((root.parent / "xdg").rglob("*.sock"))


@pytest.mark.parametrize("presence", list(Presence))
async def test_asking_for_the_session(root: Path, presence: Presence) -> None:
    async with talking(root, REPAINT, rate=SLOW) as it:
        assert it.session.standing.host is not None
        it.session.standing.host.presence = presence
        it.session.submit("repaint")
        await it.until(HunkOpened)
        async with following(it) as other:
            await other.until(Notice)
            other.session.take_over()
            if presence is Presence.SCREEN:
                assert (await it.until(TakeoverAsked)).pid
                assert it.session.running
                await other.until(TurnEnded)
                assert not [event for event in other.events if isinstance(event, TakeoverAsked)]
            elif presence is Presence.NOBODY:
                assert (await it.until(TurnEnded)).status == "interrupted"
            else:
                refused = await other.until(Notice, lambda notice: notice.level == "warning")
                assert "spark exec" in refused.text and it.session.running


async def test_what_a_follower_is_told_is_not_journalled_twice(root: Path) -> None:
    async with talking(root, REPAINT) as it:
        async with following(it) as other:
            it.session.submit("repaint")
            await other.until(TurnEnded)
            await other.session.hunks.undo(None)
        written = [read_event(record) for record in read_records(it.session.standing.journal)]
    assert len([event for event in written if isinstance(event, TurnEnded)]) == 1
    assert not any(isinstance(event, OwnerGone | TakeoverAsked) for event in written)


HOSTILE = [
    b"\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"\x00" * 1000 + b"\n",
    b'{"kind":"submit","text":"before the hello"}\n',
    b'{"kind":"hello","version":99,"pid":1}\n',
    encode(Hello(VERSION, 1)) + b'{"kind":"answer","held":1}\n',
    encode(Hello(VERSION, 1)) + b'{"kind":"refused","why":"x"}\n',
    encode(Hello(VERSION, 1)) + b"x" * 5_000_000,
]


@pytest.mark.parametrize("sent", HOSTILE, ids=lambda sent: repr(sent[:24]))
async def test_what_is_no_message_is_refused_and_the_session_goes_on(root: Path, sent: bytes) -> None:
    async with talking(root, REPAINT) as it:
        assert it.session.standing.host is not None

        def knock() -> bytes:
            path = it.session.folders.live / f"{it.session.name}.sock"
            with connect(path, 20) as knocking:
                try:
                    knocking.sendall(sent)
                    got = b""
                    while data := knocking.recv(65536):
                        got += data
                except OSError:
                    got = b""  # cut off while it was still sending
                return got

        got = await asyncio.to_thread(knock)
        last = decode(got.splitlines()[-1]) if got else None
        assert last is None or isinstance(last, Refused)
        it.session.submit("repaint")
        assert (await it.until(TurnEnded)).status == "completed"
        assert not [each for each in it.all(PromptSubmitted) if each.text != "repaint"]
        assert it.session.standing.host.followers == 0


async def test_silent_and_slow_followers_are_cut_off(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "HELLO_SECONDS", 0.1)
    monkeypatch.setattr(hosting, "MOST_BUFFERED", 10_000)
    async with talking(root, REPAINT) as it:
        host = it.session.standing.host
        assert host is not None
        path = it.session.folders.live / f"{it.session.name}.sock"
        silent = await asyncio.to_thread(connect, path, 20)
        assert await asyncio.to_thread(silent.recv, 10) == b""
        deaf = await asyncio.to_thread(connect, path, 20)
        deaf.sendall(encode(Hello(VERSION, 1)))
        async with asyncio.timeout(PATIENCE):
            while not host.followers:
                await asyncio.sleep(0.01)
            while host.followers:
                it.session.publish(Notice("info", "x" * 100_000))
                await asyncio.sleep(0)
        it.session.submit("repaint")
        assert (await it.until(TurnEnded)).status == "completed"
        silent.close()
        deaf.close()


async def test_there_is_a_limit_to_followers(root: Path) -> None:
    async with talking(root, REPAINT) as it:
        path = it.session.folders.live / f"{it.session.name}.sock"
        many = [await asyncio.to_thread(connect, path, 20) for _ in range(hosting.MOST_FOLLOWERS + 1)]
        for each in many:
            with contextlib.suppress(OSError):
                each.sendall(encode(Hello(VERSION, 1)))
        answers = [await asyncio.to_thread(_first_bytes, each) for each in many]
        assert sum(bool(answer) for answer in answers) == hosting.MOST_FOLLOWERS
        for each in many:
            each.close()


def _first_bytes(connected: object) -> bytes:
    try:
        return connected.recv(10)  # type: ignore[attr-defined, no-any-return]
    except OSError:
        return b""


async def test_a_process_that_is_killed_frees_the_session(root: Path) -> None:
    """The link is cut without a word: the follower is told that the session is free."""
    async with talking(root, REPAINT) as it, following(it) as other:
        assert it.session.standing.host is not None
        for writer in list(it.session.standing.host._followers):
            writer.transport.abort()
        await other.until(OwnerGone)
        other.session.submit("too late")
        told = await other.until(Notice, lambda notice: notice.level == "warning")
        assert "has ended" in told.text
        assert other.session.unanswered == ("too late",)


async def test_a_prompt_that_became_a_turn_is_not_unanswered(root: Path) -> None:
    async with talking(root, REPAINT, rate=SLOW) as it, following(it) as other:
        other.session.submit("repaint")
        other.session.queue("and again")
        assert list(other.session.unanswered) == ["repaint", "and again"]
        await other.until(PromptQueued)
        assert list(other.session.unanswered) == ["and again"]
        other.session.unqueue()
        assert list(other.session.unanswered) == []


async def test_of_prompts_with_the_same_text_the_one_with_the_number_is_taken_back(root: Path) -> None:
    """Here and in the process that has the session, and one that waits for a hunk too."""
    async with talking(root, REPAINT, rate=SLOW) as it, following(it) as other:
        it.session.submit("repaint")
        await other.until(HunkOpened)
        for text in ("a", "b", "a"):
            it.session.queue(text)
        it.session.after_hunk("a")
        await other.until(PromptQueued, lambda event: event.when == "hunk")
        assert other.session.unqueue(3) == ["a"]
        assert other.session.unqueue(0) == ["a"] and other.session.unqueue(0) == []
        assert list(other.session.unanswered) == ["a", "b"]
        await it.until(PromptsUnqueued, lambda event: event.number == 0)
        assert it.session.unqueue(1) == ["a"]
        await other.until(PromptsUnqueued, lambda event: event.number == 1)
        assert list(other.session.unanswered) == ["b"]
        assert it.session.unqueue() == ["b"]


async def test_a_session_that_is_resumed_is_not_told_of_any_more(root: Path) -> None:
    async with talking(root, REPAINT) as it:
        it.session.submit("repaint")
        await it.until(TurnEnded)
        journal, live = it.session.standing.journal, it.session.folders.live
        made = opening(root, it.partner.url)
    leave_word(live, journal.stem, "completed")
    leave_word(live, "another", "completed")
    resumed = await asyncio.to_thread(open_session, made, journal, join=False)
    await resumed.close()
    (word,) = take_words(live)
    assert word.startswith("session another ")
