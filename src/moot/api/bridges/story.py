"""The whole path in order: every step, every record of what it joined, every native id, who, when.

A story is read off the record each time; nothing of it is stored. What stands alone (a trace that
no flow led to) has a story too: its own record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final

import msgspec

from moot import pages as page
from moot.api.bridges import participants
from moot.api.bridges.steps import state_of
from moot.api.decisions.questions import read_text
from moot.api.decisions.receipt_content import describe_outcome, summarize_argument
from moot.api.decisions.receipt_tables import TONES
from moot.api.decisions.results import ArguedVote
from moot.core.clock import to_text
from moot.core.errors import NotFound
from moot.core.ledger import View
from moot.core.names import SYSTEM
from moot.core.record import Record
from moot.core.text import Quoted
from moot.protocols.decision import PROTOCOL as DECISION
from moot.protocols.decision.machine import MACHINE as DECISION_MACHINE
from moot.protocols.decision.model import ChamberKind, Stage
from moot.protocols.decision.model import State as DecisionState
from moot.protocols.decision.views import list_answers
from moot.protocols.mail.index_keys import MESSAGES
from moot.protocols.mail.index_keys import MESSAGES_OF_EVENTS as MAIL_OF_EVENT
from moot.protocols.path import stream_of
from moot.protocols.path.machine import ITEMS, SESSION_PROTOCOLS
from moot.protocols.path.model import PathStep, State
from moot.protocols.path.views import StepView, describe_step
from moot.workspace.workspace import Workspace

MOST_SAID: Final = 100
_WORDS: Final = ("decision", "vote", "action", "title", "topic", "description", "stance")
_SENSE: Final = (
    *("question", "answer"),
    *("subject", "summary", "status", "objective", "tool", "title", "text", "statement"),
    *("task", "reason", "why", "problem_statement", "flow"),
)
_IDS: Final = (
    *("execution_id", "intent_id", "claim_id", "proposal_id", "run_id"),
    *("id", "session_id", "parliament_id", "seat", "decision", "session"),
)
RESULT: Final = "decision.result_recorded"
# Kept for the cost of a run; a person who reads what happened is not told of each call.
RUN_COSTS: Final = frozenset({"decision.call_noted", "decision.run_ended"})


class StoryMoment(msgspec.Struct, frozen=True):
    """One record of the path. `flow`: the step that wrote it; `cause`: what it comes from.

    `says` is the sense of it in a few words, as its author put it.
    """

    at: str
    who: str
    what: str
    id: str
    says: Quoted
    stream: str
    seq: int
    hash: str
    cause: str | None
    flow: str | None

    @property
    def in_words(self) -> str:
        """`entry yielded` of `debate.entry_yielded`."""
        return self.what.partition(".")[2].replace("_", " ") or self.what


def moment_of(record: Record, flows: dict[tuple[str, int], str], path: str) -> StoryMoment:
    body = record.body
    flow = flows.get((record.stream, record.seq))
    if flow is None and path and body.corr == path and body.actor.id == SYSTEM:
        flow = str(body.data.get("flow", "")) or None
    return StoryMoment(
        at=body.at,
        who=body.actor.id,
        what=body.type,
        id=_native(body.data) or (record.stream.partition("/")[2] if record.seq == 0 else ""),
        says=Quoted(_sense(body.data)),
        stream=record.stream,
        seq=record.seq,
        hash=record.hash.hex(),
        cause=body.cause,
        flow=flow,
    )


def _sense(data: dict[str, Any]) -> str:
    """A message's type and word; an entry's stance and summary; else the first text that tells."""
    inner = data.get("message")
    if isinstance(inner, dict):
        content = inner.get("content")
        texts = [inner.get("type"), *_some(content if isinstance(content, dict) else {}, _WORDS)]
    else:
        texts = [data.get("stance"), *_some(data, _SENSE)]
    phrases = [text for text in texts if isinstance(text, str) and text.strip()][:2]
    return shortened(": ".join(phrases))


def shortened(text: str) -> str:
    """Another's words in one line of bearable length."""
    line = " ".join(text.split())
    return line if len(line) <= MOST_SAID else f"{line[: MOST_SAID - 1]}…"


def _some(data: dict[str, Any], names: tuple[str, ...]) -> list[Any]:
    return [data[name] for name in names if data.get(name)][:1]


def _native(data: dict[str, Any]) -> str:
    """The id by which its own protocol knows what happened."""
    inner = data.get("message")
    if isinstance(inner, dict) and isinstance(inner.get("id"), str):
        return str(inner["id"])
    source = data.get("source")
    if isinstance(source, dict) and isinstance(source.get("id"), str):
        target = data.get("target")
        into = f" -> {target['id']}" if isinstance(target, dict) else ""
        return f"{source['id']}{into}"
    ids = (data[name] for name in _IDS if isinstance(data.get(name), str))
    return next(ids, "")


ARGUED: Final = frozenset({ChamberKind.DEBATE, ChamberKind.PARLIAMENT})
BADGES: Final[dict[str, tuple[str, page.Tone]]] = {
    Stage.APPROVED: ("APPROVED", "good"),
    Stage.VETOED: ("VETOED", "bad"),
    Stage.AMENDED: ("AMENDED", "good"),
    Stage.WAITING: ("WAITING FOR A PERSON", "caution"),
}


class DecisionInStory(msgspec.Struct, frozen=True):
    """One decision. `session` is the stream in which it was argued last, empty before that, and
    `sessions` are all of them; `result` and `outcome` are empty before the vote; `word` is what a
    person ruled, if one did."""

    id: str
    question: Quoted
    stage: str
    chamber: str
    session: str
    motion: str
    answers: tuple[dict[str, Any], ...]
    votes: tuple[ArguedVote, ...]
    result: str
    outcome: str
    dissent: tuple[str, ...]
    word: dict[str, Any] | None
    supersedes: str | None
    superseded_by: str | None
    sessions: tuple[str, ...] = ()

    def in_lines(self) -> Iterator[str]:
        """The decision in short, a line for each who spoke."""
        yield f"{self.id}: {badge(self)[0].lower()}, argued in a {self.chamber}"
        for first in self.answers:
            yield f"first answer of {first['agent']}: {_describe_answer(first)}"
        if self.motion:
            yield f"motion: {shortened(self.motion)}"
        for number, votes in groupby(self.votes, key=lambda vote: vote.round):
            yield f"round {number}"
            yield from (f"  {_stance(vote)}: {shortened(vote.summary)}" for vote in votes)
        yield from (f"{name}: {text}" for name, text in _ending(self))


def list_decisions(workspace: Workspace, streams: Iterable[str]) -> list[DecisionInStory]:
    """Those of these streams that are decisions; the books of a run are none."""
    names = [one for one in streams if one.startswith(f"{DECISION}/")]
    states = [(name, workspace.engine.state(DECISION_MACHINE, name)) for name in names]
    return [
        _describe(workspace, name.partition("/")[2], state)
        for name, state in states
        if state.chamber in ARGUED and state.stage is not Stage.NEW
    ]


def _describe(workspace: Workspace, name: str, state: DecisionState) -> DecisionInStory:
    argument, verdict = summarize_argument(workspace, name, state), state.verdict
    return DecisionInStory(
        id=name,
        question=Quoted(state.question),
        stage=state.stage.value,
        chamber=state.chamber.value,
        session=state.session.id if state.session else "",
        sessions=tuple(session.id for session in state.sessions),
        motion=state.motion.text if state.motion else "",
        answers=tuple(msgspec.to_builtins(one) for one in list_answers(state)),
        votes=argument.votes,
        result=verdict.result.value if verdict else "",
        outcome=describe_outcome(state, argument),
        dissent=verdict.dissent if verdict else (),
        word=_ruling(workspace, state),
        supersedes=state.supersedes,
        superseded_by=state.superseded_by,
    )


def _ruling(workspace: Workspace, state: DecisionState) -> dict[str, Any] | None:
    """`text` is what stands instead of the motion; empty if that is the motion, or was erased."""
    ruling = state.word
    if ruling is None:
        return None
    stored = ruling.text is not None and workspace.artifacts.has(ruling.text)
    return {
        "word": ruling.word.value,
        "by": ruling.by,
        "reason": ruling.reason,
        "at": to_text(ruling.at),
        "text": read_text(workspace, ruling.text) if stored else "",
    }


def badge(decision: DecisionInStory) -> tuple[str, page.Tone]:
    return BADGES.get(decision.stage, ("NOT DECIDED", "neutral"))


def _describe_answer(first: dict[str, Any]) -> str:
    return shortened(first["answer"] if first["answer"] is not None else f"none ({first['why']})")


def _stance(vote: ArguedVote) -> str:
    return " ".join(filter(None, (vote.agent, vote.stance, vote.sure)))


def _ending(decision: DecisionInStory) -> Iterator[tuple[str, str]]:
    """The vote, who was against it, the person's ruling, and what came of that."""
    if decision.result:
        yield "the vote", f"{decision.result}: {decision.outcome}"
    if decision.dissent:
        yield "dissent", ", ".join(decision.dissent)
    ruling = decision.word
    if ruling is not None:
        yield f"{ruling['by']} said", f"{ruling['word']}: {shortened(ruling['reason'])}"
        if ruling["text"]:
            yield "decided instead", shortened(ruling["text"])
    if decision.supersedes:
        yield "supersedes", decision.supersedes
    if decision.superseded_by:
        yield "superseded by", decision.superseded_by


def list_facts(decision: DecisionInStory) -> tuple[page.Fact, ...]:
    return tuple(page.Fact(name, text) for name, text in _ending(decision))


def build_blocks(decision: DecisionInStory) -> Iterator[page.Block]:
    """What each answered alone, then where each stood in every round."""
    yield page.Table(
        ("Who", "First answer"),
        tuple((first["agent"], _describe_answer(first)) for first in decision.answers),
        title=f"{decision.id}: first answers, before anyone heard the others",
    )
    yield page.Table(
        ("Round", "Who", "Stance", "In short"),
        tuple(
            (
                str(vote.round),
                vote.agent,
                page.Cell(vote.stance, TONES.get(vote.stance, "plain"), vote.sure),
                shortened(vote.summary),
            )
            for vote in decision.votes
        ),
        title=f"{decision.id}: what was said in the {decision.chamber}",
    )


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
    people: list[participants.Person]
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
        alone = tuple(_streams_of(view, named))
    if alone:
        for stream in alone:
            found = _path_in(workspace, stream)
            if found is not None:
                return found, ()
        return None, alone
    agent = participants.agent_of(workspace, named, workspace.engine.open_streams())
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
        person = participants.person(workspace, agent, [stream])
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
    people = participants.people(workspace, (state.origin, *names), whole)
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
