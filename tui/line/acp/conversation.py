"""One session of a client: prompts in, updates out, and the questions in between."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from acp import RequestError
from acp.helpers import SessionUpdate, text_block, tool_content
from acp.interfaces import Client
from acp.schema import (
    AllowedOutcome,
    AvailableCommand,
    AvailableCommandInput,
    AvailableCommandsUpdate,
    ConfigOptionUpdate,
    Cost,
    CurrentModeUpdate,
    PermissionOption,
    PromptResponse,
    RequestPermissionResponse,
    SessionInfoUpdate,
    StopReason,
    ToolCallUpdate,
    UnstructuredCommandInput,
    UsageUpdate,
)

from session.base.events import (
    Event,
    HunkDropped,
    HunkHeld,
    HunkLanded,
    HunkRefused,
    ModelChosen,
    PromptSubmitted,
    ToolEnded,
    ToolHeld,
    TurnEnded,
    TurnStarted,
    Usage,
)
from session.base.text.sanitize import clean, clean_line
from session.commands.hunk_commands import HunkChange
from session.session import Session
from tui.front.slash.running import SlashError, run_command
from tui.front.slash.table import slashes, split_slash
from tui.front.words.figures import Meter
from tui.line.acp.options import modes, options
from tui.line.acp.updates import Updates

_HERE_ONLY = frozenset({"queue", "quit", "help", "keys", "theme"})
"""Commands of the app that mean nothing to a client, which has its own."""
_ALLOW, _ALLOW_REST, _REJECT = "allow", "allow-rest", "reject"
_LONGEST_TITLE = 60


class Conversation:
    """Follows one session for a client. All methods are called on the event loop."""

    def __init__(self, session: Session, client: Client) -> None:
        self.session = session
        self._client = client
        self._updates = Updates(session.root)
        self._events = session.listen()
        self._following: asyncio.Task[None] | None = None
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._submitted: deque[asyncio.Future[TurnEnded]] = deque()
        """For each prompt of the client whose turn has no name yet, what waits for its end."""
        self._turns: dict[str, asyncio.Future[TurnEnded]] = {}
        self._named = False
        """Whether the client has a title for the session."""
        self._meter = Meter()

    @property
    def id(self) -> str:
        """The session's name."""
        return self.session.name

    async def begin(self, *, replay: bool = False) -> None:
        """Open the session and follow it; with ``replay`` after all that was said in it before."""
        if replay:
            for event in self.session.past():
                await self._send(self._updates.of_past(event, await self._changes(event)))
        self._named = bool(self.session.past())
        await self.session.open()

    def follow(self) -> None:
        """Tell the client what happens from now on: after the answer that names the session."""
        self._following = asyncio.create_task(self._follow(), name="following the session")

    async def _tell_commands(self) -> None:
        commands = [
            AvailableCommand(
                name=slash.name,
                description=slash.help,
                input=AvailableCommandInput(root=UnstructuredCommandInput(hint=slash.argument))
                if slash.argument
                else None,
            )
            for slash in slashes()
            if slash.name not in _HERE_ONLY
        ]
        await self._send(
            [AvailableCommandsUpdate(session_update="available_commands_update", available_commands=commands)]
        )

    async def prompt(self, text: str) -> PromptResponse:
        """Run one turn, or one command, and return how it ended. A prompt while a turn runs is a redirect.

        Raises RequestError for a turn that failed.
        """
        command = split_slash(text)
        if command is not None:
            return await self._run_command(*command)
        ended = self._expect()
        self.session.submit(text)
        return await self._response(ended)

    def cancel(self) -> None:
        """Stop the running turn; its prompt is answered as cancelled."""
        self.session.unqueue()
        self.session.interrupt()

    async def close(self) -> None:
        """Stop everything, with all writes finished."""
        await self.session.close()
        for task in self._asking.values():
            task.cancel()
        if self._following is not None:
            await self._following

    async def tell_options(self) -> None:
        """Tell the client the mode and the options as they are now."""
        await self._send(
            [
                CurrentModeUpdate(
                    session_update="current_mode_update",
                    current_mode_id=modes(self.session).current_mode_id,
                ),
                ConfigOptionUpdate(
                    session_update="config_option_update", config_options=list(options(self.session))
                ),
            ]
        )

    async def tell(self, text: str) -> None:
        """Tell the user lines of spark's own, if there are any."""
        if text:
            await self._send(self._updates.note(text))

    def _expect(self) -> asyncio.Future[TurnEnded]:
        ended: asyncio.Future[TurnEnded] = asyncio.get_running_loop().create_future()
        self._submitted.append(ended)
        return ended

    async def _response(self, ended: asyncio.Future[TurnEnded]) -> PromptResponse:
        """The answer to a prompt once its turn is over. Raises RequestError."""
        end = await ended
        if end.status == "failed":
            message = clean_line(end.message or "the turn failed")
            raise RequestError(-32603, message, {"code": end.code} if end.code else None)
        reason: StopReason = "end_turn" if end.status == "completed" else "cancelled"
        return PromptResponse(stop_reason=reason)

    async def _run_command(self, name: str, argument: str) -> PromptResponse:
        ended = self._expect()
        try:
            if name in _HERE_ONLY:
                raise SlashError(f"/{name} belongs to spark's own screen")
            told = await run_command(self.session, name, argument)
        except SlashError as problem:
            told = str(problem)
        await self.tell(told)
        if self.session.running and (ended in self._turns.values() or ended in self._submitted):
            return await self._response(ended)
        if ended in self._submitted:
            self._submitted.remove(ended)
        return PromptResponse(stop_reason="end_turn")

    async def _follow(self) -> None:
        try:
            await self._tell_commands()
            async for event in self._events:
                await self._take(event)
        except OSError:  # the client is gone, and the process about to end
            pass
        finally:
            for waiting in (*self._submitted, *self._turns.values()):
                waiting.cancel()

    async def _take(self, event: Event) -> None:
        match event:
            case PromptSubmitted(turn=turn, text=text):
                if self._submitted:
                    self._turns[turn] = self._submitted.popleft()
                await self._name(text)
            case HunkHeld(hunk=hunk):
                self._ask(hunk, event.message, event.path, rest="Apply all of this turn")
            case ToolHeld(call=call):
                why = "\n".join(part for part in (event.why, *event.sources, event.text) if part)
                self._ask(call, why, None, rest="Allow all of this turn")
            case HunkLanded(hunk=held) | HunkRefused(hunk=held) | HunkDropped(hunk=held):
                self._answered(held)
            case ToolEnded(call=held):
                self._answered(held)
            case ModelChosen():
                await self.tell_options()
            case TurnStarted(input_tokens=tokens):
                self._meter.begin(tokens)
            case Usage():
                self._meter.counted(event)
                await self._send([self._usage()])
            case _:
                pass
        await self._send(self._updates.of(event, await self._changes(event), await self._result(event)))
        waiting = self._turns.pop(event.turn, None) if isinstance(event, TurnEnded) else None
        if isinstance(event, TurnEnded) and waiting is not None and not waiting.done():
            waiting.set_result(event)

    async def _changes(self, event: Event) -> Sequence[HunkChange]:
        return await self.session.hunks.changes(event.hunk) if isinstance(event, HunkLanded) else ()

    async def _result(self, event: Event) -> str | None:
        """What a tool gave, as the model got it, without keys."""
        if not isinstance(event, ToolEnded):
            return None
        return await asyncio.to_thread(self.session.outputs.text, event.call)

    async def _send(self, updates: Sequence[SessionUpdate | ConfigOptionUpdate | UsageUpdate]) -> None:
        for update in updates:
            await self._client.session_update(session_id=self.id, update=update)

    async def _name(self, prompt: str) -> None:
        """Give a new session its first prompt as a title."""
        if self._named:
            return
        self._named = True
        title = clean_line(prompt)[:_LONGEST_TITLE]
        await self._send([SessionInfoUpdate(session_update="session_info_update", title=title)])

    def _usage(self) -> UsageUpdate:
        cost = self.session.usage.total.known_cost
        return UsageUpdate(
            session_update="usage_update",
            used=self._meter.used,
            size=max(0, self.session.models.window_tokens),
            cost=Cost(amount=cost, currency="USD") if cost is not None else None,
        )

    def _ask(self, held: str, why: str, path: str | None, *, rest: str) -> None:
        """Ask the user about a hunk or call; a second question about it replaces the first."""
        self._answered(held)
        call = ToolCallUpdate(
            tool_call_id=held,
            status="pending",
            title=clean_line(f"Edit {path}: {why}" if path else why),
            kind="edit" if path else "execute",
            content=[
                tool_content(text_block(clean(why))),
                *(self._updates.proposed(held, path) if path else ()),
            ],
            locations=[self._updates.location(path)] if path else None,
        )
        choices = [
            PermissionOption(option_id=_ALLOW, name="Apply" if path else "Allow", kind="allow_once"),
            PermissionOption(option_id=_ALLOW_REST, name=rest, kind="allow_always"),
            PermissionOption(option_id=_REJECT, name="Reject", kind="reject_once"),
        ]
        self._asking[held] = asyncio.create_task(self._settle(held, call, choices), name=f"asking {held}")

    async def _settle(self, held: str, call: ToolCallUpdate, choices: list[PermissionOption]) -> None:
        """Hand the client's answer to the session. A question that cannot be asked is answered with no."""
        chosen = _REJECT
        try:
            answer = await self._client.request_permission(
                session_id=self.id, tool_call=call, options=choices
            )
            chosen = _chosen(answer)
        except (RequestError, ConnectionError, ValueError):
            pass
        self.session.answer(held, land=chosen in (_ALLOW, _ALLOW_REST), rest=chosen == _ALLOW_REST)

    def _answered(self, held: str) -> None:
        asking = self._asking.pop(held, None)
        if asking is not None and asking is not asyncio.current_task():
            asking.cancel()


def _chosen(answer: RequestPermissionResponse) -> str:
    outcome = answer.outcome
    return outcome.option_id if isinstance(outcome, AllowedOutcome) else _REJECT
