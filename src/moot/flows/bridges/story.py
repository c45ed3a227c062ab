"""The whole path in order: every step, every record of what it joined, every native id, who, when.

A story is read off the record each time; nothing of it is stored. What stands alone (a trace that
no flow led to) has a story too: its own record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from moot.core.errors import NotFound
from moot.core.ledger import View
from moot.core.quoted import Quoted
from moot.core.record import Record
from moot.flows.bridges import identities
from moot.flows.bridges.decision_story import DecisionInStory, list_decisions
from moot.flows.bridges.moments import RESULT, RUN_COSTS, StoryMoment, moment_of
from moot.flows.bridges.steps import state_of
from moot.protocols.decision import PROTOCOL as DECISION
from moot.protocols.mail.keys import MESSAGES
from moot.protocols.mail.keys import MESSAGES_OF_EVENTS as MAIL_OF_EVENT
from moot.protocols.path import stream_of
from moot.protocols.path.machine import ITEMS, SESSION_PROTOCOLS
from moot.protocols.path.model import PathStep, State
from moot.protocols.path.views import StepView, describe_step
from moot.workspace.workspace import Workspace

MOST_MOMENTS: Final = 20_000
MOST_ID: Final = 300
_PLAIN: Final = re.compile(r"[A-Za-z0-9._:@+~-]{1,200}\Z")
# Of these streams a path concerns single records; of the others all.
_SHARED: Final = frozenset({"presence", "registry"})


class Story(msgspec.Struct, frozen=True):
    """`path` is empty for what no flow has joined to anything; `decisions` are those on the way."""

    path: str
    title: Quoted
    origin: str
    steps: list[StepView]
    moments: list[StoryMoment]
    people: list[identities.Person]
    cut: bool = False
    decisions: list[DecisionInStory] = []

    @property
    def shown(self) -> list[StoryMoment]:
        """What a person reads: no costs of runs, and a vote in the words of every other page."""
        outcomes = {f"{DECISION}/{one.id}": one.outcome for one in self.decisions}
        return [
            msgspec.structs.replace(moment, says=outcomes.get(moment.stream) or moment.says)
            if moment.what == RESULT
            else moment
            for moment in self.moments
            if moment.what not in RUN_COSTS
        ]


def story_of(workspace: Workspace, named: str) -> Story:
    """The story of a path, or of the path that a native id belongs to."""
    path, streams = _find(workspace, named)
    if path is None:
        return _told(workspace, "", State(title=named), streams)
    state = state_of(workspace, path)
    return _told(workspace, path, state, (*streams, stream_of(path)))


def _find(workspace: Workspace, named: str) -> tuple[str | None, tuple[str, ...]]:
    if not named.isprintable() or len(named) > MOST_ID:
        raise _unknown(named)
    with workspace.store.read() as view:
        path = _path_of(view, named)
        if path is not None:
            return path, ()
        alone = tuple(stream for stream in _streams_of(view, named))
    if alone:
        for stream in alone:
            found = _path_in(workspace, stream)
            if found is not None:
                return found, ()
        return None, alone
    agent = identities.agent_of(workspace, named, workspace.engine.open_streams())
    if agent is not None:
        return None, tuple(_where(workspace, agent))
    raise _unknown(named)


def _unknown(named: str) -> NotFound:
    return NotFound(
        "story_not_found",
        f"nothing here is called {named[:80]!r}",
        hint="an id of a message, event, session, trace or path; `moot flow list --paths`",
    )


def _path_of(view: View, named: str) -> str | None:
    if not _PLAIN.match(named.replace("/", "")):
        return None
    short = named.removeprefix("path/")
    if _PLAIN.match(short) and view.head(stream_of(short)) is not None:
        return short
    pair = view.row(MAIL_OF_EVENT, named)
    keys = [named, *(f"{affair}/{named}" for affair in sorted(SESSION_PROTOCOLS))]
    if pair is not None:
        keys.append(str(msgspec.json.decode(pair.value)["id"]))
    rows = (view.row(ITEMS, key) for key in keys)
    row = next(filter(None, rows), None)
    return str(msgspec.json.decode(row.value)["path"]) if row is not None else None


def _streams_of(view: View, named: str) -> Iterator[str]:
    """Streams that are called so, or hold the message that is."""
    if _PLAIN.match(named):
        names = [f"{affair}/{named}" for affair in (*sorted(SESSION_PROTOCOLS), "mail")]
        yield from (name for name in names if view.head(name) is not None)
    elif _PLAIN.match(named.replace("/", "", 1)) and view.head(named) is not None:
        yield named
    row = view.row(MESSAGES, named)
    if row is not None:
        yield row.stream


def _path_in(workspace: Workspace, stream: str) -> str | None:
    """The path of what stands there: as a step has made it, or by the mark of its first record."""
    with workspace.store.read() as view:
        row = view.row(ITEMS, stream)
        if row is not None:
            return str(msgspec.json.decode(row.value)["path"])
        first = next(view.records(stream), None)
        mark = first.body.corr if first is not None else None
        known = mark is not None and view.head(stream_of(mark)) is not None
    return mark if known else None


def _where(workspace: Workspace, agent: str) -> Iterator[str]:
    """Open affairs in which this agent has a seat or a part."""
    for stream in workspace.engine.open_streams():
        person = identities.person(workspace, agent, [stream])
        if person.seats or person.parts:
            yield stream


def _told(workspace: Workspace, path: str, state: State, streams: Iterable[str]) -> Story:
    steps = state.steps_in_order()
    whole, single = _places(steps)
    decisions = list_decisions(workspace, dict.fromkeys((*streams, *whole)))
    argued = [session for one in decisions for session in one.sessions]
    whole = list(dict.fromkeys((*streams, *whole, *argued)))
    with workspace.store.read() as view:
        records = list(_records(view, whole, single))
    cut = len(records) > MOST_MOMENTS
    flows = {(made.stream, made.seq): step.flow for step in steps for made in step.made}
    rank = {stream: place for place, stream in enumerate(dict.fromkeys(_order(steps, whole)))}
    records.sort(key=lambda one: (one.body.at, rank.get(one.stream, -1), one.stream, one.seq))
    moments = [moment_of(record, flows, path) for record in records[:MOST_MOMENTS]]
    names = [moment.who for moment in moments]
    people = identities.people(workspace, (state.origin, *names), whole)
    alone = decisions[0].question if decisions and not path else ""
    return Story(
        path,
        Quoted(alone or state.title),
        state.origin,
        [describe_step(one) for one in steps],
        moments,
        people,
        cut,
        decisions,
    )


def _places(steps: list[PathStep]) -> tuple[list[str], set[tuple[str, int]]]:
    """Streams that belong to the path as a whole, and single records of shared ones."""
    whole: list[str] = []
    single: set[tuple[str, int]] = set()
    for step in steps:
        for stream, seq in (
            (step.source.stream, step.source.seq),
            *((made.stream, made.seq) for made in step.made),
        ):
            if stream.partition("/")[0] in _SHARED:
                single.add((stream, seq))
            else:
                whole.append(stream)
    return whole, single


def _order(steps: list[PathStep], whole: list[str]) -> Iterator[str]:
    for step in steps:
        yield step.source.stream
        yield from (made.stream for made in step.made)
    yield from whole


def _records(view: View, whole: list[str], single: set[tuple[str, int]]) -> Iterator[Record]:
    for stream in whole:
        for record in view.records(stream):
            yield record
            cause = record.body.data.get("event")
            if stream.startswith("mail/") and isinstance(cause, str):
                single |= _event_at(view, cause)
    for stream, seq in sorted(single):
        found = next(view.records(stream, after=seq - 1), None)
        if found is not None:
            yield found


def _event_at(view: View, event: str) -> set[tuple[str, int]]:
    """A message that tells of an event of presence brings that event into the story, and that it
    was withdrawn."""
    rows = (view.row(space, event) for space in ("presence.events", "presence.withdrawn"))
    return {(row.stream, row.seq) for row in rows if row is not None}
