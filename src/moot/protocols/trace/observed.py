"""Work that was only watched: no plan, no consent, no claim; just what a hook saw, and its gaps.

A record of its own kind (`observed/...`), never part of a governed trace: nothing here approves or
proves anything. What happened while nobody watched is told as a gap, not left out. What a tool
was given stands here as a hash; what it left, redacted, as an artifact. The nouns, commands and
events are in `watched.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from moot.core.clock import Millis
from moot.core.findings import Rule, check_all, errors
from moot.core.machine import (
    Command,
    Context,
    Decision,
    Draft,
    Event,
    KeyClass,
    Machine,
    Put,
    Recorded,
    RowChange,
    accept,
    refusal,
    refuse,
)
from moot.protocols.trace.watched import (
    BeginObserving,
    EndObserving,
    Gap,
    GapNoted,
    NoteGap,
    Observed,
    ObserveTool,
    ObservingBegun,
    ObservingEnded,
    StopWatching,
    ToolObserved,
    WatchingStopped,
)

HASH: Final = re.compile(r"[0-9a-f]{64}\Z")
MAX_FILES, MAX_PATH, MAX_TEXT, MAX_TOOLS, GAPS_KEPT = 200, 1_000, 1_000, 200, 64
OTHERS: Final = "(others)"

Breaches = Iterator[tuple[str, str | None]]


class Asked(NamedTuple):
    state: Observed
    command: Any
    context: Context


def is_over(asked: Asked) -> Breaches:
    if asked.state.ended:
        yield "", None


def not_theirs(asked: Asked) -> Breaches:
    """One agent, one record; the workspace itself may tell of gaps."""
    state, actor = asked.state, asked.context.actor
    if not state.agent:
        if actor.kind is KeyClass.SYSTEM:
            yield "a session is begun by its agent", "actor"
    elif (actor.id, actor.epoch) != (state.agent, state.epoch) and not (
        actor.kind is KeyClass.SYSTEM and not isinstance(asked.command, ObserveTool)
    ):
        yield f"this is the record of {state.agent}", "actor"


def not_begun(asked: Asked) -> Breaches:
    if not asked.state.agent and not isinstance(asked.command, BeginObserving | ObserveTool):
        yield "", None


def begun_already(asked: Asked) -> Breaches:
    if asked.state.agent and isinstance(asked.command, BeginObserving):
        yield "", None


def bad_text(asked: Asked) -> Breaches:
    for name in asked.command.__struct_fields__:
        value = getattr(asked.command, name)
        texts = value if isinstance(value, tuple) else (value,)
        for text in texts:
            if isinstance(text, str) and (len(text) > MAX_TEXT or _broken(text)):
                yield f"{name}: at most {MAX_TEXT} whole characters", name
                break


def _broken(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def no_tool(asked: Asked) -> Breaches:
    if isinstance(asked.command, ObserveTool) and not asked.command.tool.strip():
        yield "", "tool"


def no_hash(asked: Asked) -> Breaches:
    if isinstance(asked.command, ObserveTool) and not HASH.match(asked.command.input_hash):
        yield "", "input_hash"


def too_many_files(asked: Asked) -> Breaches:
    if isinstance(asked.command, ObserveTool) and len(asked.command.files) > MAX_FILES:
        yield f"{len(asked.command.files)} files", "files"


def bad_span(asked: Asked) -> Breaches:
    command, now = asked.command, asked.context.now
    if isinstance(command, NoteGap) and not 0 <= command.since < command.until <= now:
        yield "", "since"
    if isinstance(command, StopWatching) and not 0 <= (command.since or 0) <= now:
        yield "", "since"


RULES: Final[tuple[Rule[Asked], ...]] = (
    Rule("T-10", "trace_ended", "this session is over", is_over, "begin a new record"),
    Rule("T-10", "not_yours", "another agent is watched here", not_theirs,
         "each session has a record of its own"),
    Rule("T-10", "not_begun", "nothing is watched here yet", not_begun, "begin with its agent"),
    Rule("T-10", "already_begun", "it is watched already", begun_already, "go on with it"),
    Rule("T-10", "bad_text", "a text is too long or broken", bad_text, "shorten it"),
    Rule("T-10", "tool_missing", "say which tool was used", no_tool, "give the tool's name"),
    Rule("T-10", "input_hash_missing", "the input stands here as its hash", no_hash,
         "64 hex digits of SHA-256; never the input itself"),
    Rule("T-10", "too_many_items", "too many files", too_many_files, "name their folders"),
    Rule("T-11", "bad_span", "a gap ends after it began, and not in the future", bad_span,
         "give when watching stopped and when it went on"),
)  # fmt: skip


def decide(state: Observed, command: Command, context: Context) -> Decision:
    drafts = _DRAFTS.get(type(command))
    if drafts is None:
        return refusal(
            "T-10", "unknown_command", "this record knows no such command", "update moot"
        )
    findings = check_all(RULES, Asked(state, command, context))
    if errors(findings):
        return refuse(findings)
    return accept(*drafts(state, command, context.now))


def _begin(_state: Observed, command: BeginObserving, _now: Millis) -> Iterator[Event]:
    yield ObservingBegun(session=command.session)


def _observe(state: Observed, command: ObserveTool, now: Millis) -> Iterator[Event | Draft]:
    """The first use begins the record; a use after a stop ends the gap."""
    if not state.agent:
        yield ObservingBegun(session=command.session)
    if state.blind_since is not None:
        until = max(now, state.blind_since)  # a clock may go backwards
        yield GapNoted(since=state.blind_since, until=until, why=state.blind_why)
    ref = command.artifact
    event = ToolObserved(
        number=state.count + 1,
        tool=command.tool,
        input_hash=command.input_hash,
        artifact=ref.sha256 if ref is not None else None,
        files=command.files,
        redacted=command.redacted,
        ok=command.ok,
    )
    yield Draft(event, (ref,) if ref is not None else ())


def _stop(state: Observed, command: StopWatching, now: Millis) -> Iterator[Event]:
    """Whoever stops twice has stopped once."""
    if state.blind_since is None:
        since = now if command.since is None else command.since
        yield WatchingStopped(since=since, why=command.why)


def _gap(_state: Observed, command: NoteGap, _now: Millis) -> Iterator[Event]:
    yield GapNoted(since=command.since, until=command.until, why=command.why)


def _end(state: Observed, command: EndObserving, now: Millis) -> Iterator[Event]:
    if state.blind_since is not None:
        until = max(now, state.blind_since)  # a clock may go backwards
        yield GapNoted(since=state.blind_since, until=until, why=state.blind_why)
    yield ObservingEnded(reason=command.reason)


_DRAFTS: Final[dict[type[Command], Callable[[Observed, Any, Millis], Iterable[Event | Draft]]]] = {
    BeginObserving: _begin,
    ObserveTool: _observe,
    StopWatching: _stop,
    NoteGap: _gap,
    EndObserving: _end,
}


def evolve(state: Observed, recorded: Recorded[Any]) -> Observed:
    after = _EVOLVE[type(recorded.event)](state, recorded)
    return replace(after, last_at=recorded.at)


def _on_begun(state: Observed, recorded: Recorded[ObservingBegun]) -> Observed:
    actor = recorded.actor
    return replace(
        state,
        agent=actor.id,
        epoch=actor.epoch,
        session=recorded.event.session,
        since=recorded.at,
    )


def _on_tool(state: Observed, recorded: Recorded[ToolObserved]) -> Observed:
    tool = recorded.event.tool
    if tool not in state.tools and len(state.tools) >= MAX_TOOLS:
        tool = OTHERS
    return replace(
        state,
        tools=state.tools.set(tool, state.tools.get(tool, 0) + 1),
        count=state.count + 1,
        files=state.files + len(recorded.event.files),
    )


def _on_stopped(state: Observed, recorded: Recorded[WatchingStopped]) -> Observed:
    return replace(state, blind_since=recorded.event.since, blind_why=recorded.event.why)


def _on_gap(state: Observed, recorded: Recorded[GapNoted]) -> Observed:
    event = recorded.event
    gap = Gap(event.since, event.until, event.why)
    closes = state.blind_since == event.since
    return replace(
        state,
        gaps=(*state.gaps, gap)[-GAPS_KEPT:],
        gap_count=state.gap_count + 1,
        blind_since=None if closes else state.blind_since,
        blind_why="" if closes else state.blind_why,
    )


def _on_ended(state: Observed, _recorded: Recorded[ObservingEnded]) -> Observed:
    return replace(state, ended=True)


_EVOLVE: Final[dict[type[Event], Callable[[Observed, Any], Observed]]] = {
    ObservingBegun: _on_begun,
    ToolObserved: _on_tool,
    WatchingStopped: _on_stopped,
    GapNoted: _on_gap,
    ObservingEnded: _on_ended,
}


def index(recorded: Recorded[Any]) -> Iterable[RowChange]:
    event, place = recorded.event, recorded.stream
    if isinstance(event, ObservingBegun):
        row = {"agent": recorded.actor.id, "at": recorded.at, "session": event.session}
        yield Put("observed.sessions", place, row)
    elif isinstance(event, ToolObserved) and event.artifact is not None:
        yield Put("observed.artifacts", f"{place} {event.artifact}", {"number": event.number})


MACHINE: Machine[Observed] = Machine(
    name="observed",
    version=1,
    initial=Observed(),
    events=(ObservingBegun, ToolObserved, WatchingStopped, GapNoted, ObservingEnded),
    commands=(BeginObserving, ObserveTool, StopWatching, NoteGap, EndObserving),
    decide=decide,
    evolve=evolve,
    index=index,
    timeouts=lambda _state, _now: (),
)
