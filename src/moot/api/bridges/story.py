"""Read a whole path in order: every step, every record of the sessions it joined, who and when.

A story is read from the record each time; none of it is stored. A session that no flow led to, such
as a single trace, has a story too: its own record.
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

MAX_SUMMARY: Final = 100
_MESSAGE_FIELDS: Final = ("decision", "vote", "action", "title", "topic", "description", "stance")
_SUMMARY_FIELDS: Final = (
    *("question", "answer"),
    *("subject", "summary", "status", "objective", "tool", "title", "text", "statement"),
    *("task", "reason", "why", "problem_statement", "flow"),
)
_ID_FIELDS: Final = (
    *("execution_id", "intent_id", "claim_id", "proposal_id", "run_id"),
    *("id", "session_id", "parliament_id", "seat", "decision", "session"),
)
RESULT: Final = "decision.result_recorded"
# Recorded for the cost of a run; the story leaves them out.
RUN_COSTS: Final = frozenset({"decision.call_noted", "decision.run_ended"})


class StoryMoment(msgspec.Struct, frozen=True):
    """One record of the path. `flow`: the step that wrote it; `cause`: what it comes from.

    `says` is a summary in the author's words.
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
        """Return `entry yielded` for `debate.entry_yielded`."""
        return self.what.partition(".")[2].replace("_", " ") or self.what


def describe_record(record: Record, flows: dict[tuple[str, int], str], path: str) -> StoryMoment:
    body = record.body
    flow = flows.get((record.stream, record.seq))
    if flow is None and path and body.corr == path and body.actor.id == SYSTEM:
        flow = str(body.data.get("flow", "")) or None
    return StoryMoment(
        at=body.at,
        who=body.actor.id,
        what=body.type,
        id=_find_native_id(body.data)
        or (record.stream.partition("/")[2] if record.seq == 0 else ""),
        says=Quoted(_summarize(body.data)),
        stream=record.stream,
        seq=record.seq,
        hash=record.hash.hex(),
        cause=body.cause,
        flow=flow,
    )


def _summarize(data: dict[str, Any]) -> str:
    """Return a message's type and main field, an entry's stance and summary, or the first text."""
    inner = data.get("message")
    if isinstance(inner, dict):
        content = inner.get("content")
        texts = [
            inner.get("type"),
            *_first_value(content if isinstance(content, dict) else {}, _MESSAGE_FIELDS),
        ]
    else:
        texts = [data.get("stance"), *_first_value(data, _SUMMARY_FIELDS)]
    phrases = [text for text in texts if isinstance(text, str) and text.strip()][:2]
    return shorten(": ".join(phrases))


def shorten(text: str) -> str:
    """Return a text of others as one line of limited length."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_SUMMARY else f"{line[: MAX_SUMMARY - 1]}…"


def _first_value(data: dict[str, Any], names: tuple[str, ...]) -> list[Any]:
    return [data[name] for name in names if data.get(name)][:1]


def _find_native_id(data: dict[str, Any]) -> str:
    """Return the id that the event's own protocol gave to what happened."""
    inner = data.get("message")
    if isinstance(inner, dict) and isinstance(inner.get("id"), str):
        return str(inner["id"])
    source = data.get("source")
    if isinstance(source, dict) and isinstance(source.get("id"), str):
        target = data.get("target")
        into = f" -> {target['id']}" if isinstance(target, dict) else ""
        return f"{source['id']}{into}"
    ids = (data[name] for name in _ID_FIELDS if isinstance(data.get(name), str))
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
        """Yield the decision in short, with a line for each answer and vote."""
        yield f"{self.id}: {badge_of(self)[0].lower()}, argued in a {self.chamber}"
        for first in self.answers:
            yield f"first answer of {first['agent']}: {_describe_answer(first)}"
        if self.motion:
            yield f"motion: {shorten(self.motion)}"
        for number, votes in groupby(self.votes, key=lambda vote: vote.round):
            yield f"round {number}"
            yield from (f"  {_describe_vote(vote)}: {shorten(vote.summary)}" for vote in votes)
        yield from (f"{name}: {text}" for name, text in _list_endings(self))


def list_decisions(workspace: Workspace, streams: Iterable[str]) -> list[DecisionInStory]:
    """Describe those of these streams that are decisions; the accounts of a run are not."""
    names = [one for one in streams if one.startswith(f"{DECISION}/")]
    states = [(name, workspace.engine.state(DECISION_MACHINE, name)) for name in names]
    return [
        _describe_decision(workspace, name.partition("/")[2], state)
        for name, state in states
        if state.chamber in ARGUED and state.stage is not Stage.NEW
    ]


def _describe_decision(workspace: Workspace, name: str, state: DecisionState) -> DecisionInStory:
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
        word=_describe_ruling(workspace, state),
        supersedes=state.supersedes,
        superseded_by=state.superseded_by,
    )


def _describe_ruling(workspace: Workspace, state: DecisionState) -> dict[str, Any] | None:
    """Return the person's ruling; `text` is the amended text, empty if none or erased."""
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


def badge_of(decision: DecisionInStory) -> tuple[str, page.Tone]:
    return BADGES.get(decision.stage, ("NOT DECIDED", "neutral"))


def _describe_answer(first: dict[str, Any]) -> str:
    return shorten(first["answer"] if first["answer"] is not None else f"none ({first['why']})")


def _describe_vote(vote: ArguedVote) -> str:
    return " ".join(filter(None, (vote.agent, vote.stance, vote.sure)))


def _list_endings(decision: DecisionInStory) -> Iterator[tuple[str, str]]:
    """Yield the vote, the dissent, the person's ruling, and what superseded the decision."""
    if decision.result:
        yield "the vote", f"{decision.result}: {decision.outcome}"
    if decision.dissent:
        yield "dissent", ", ".join(decision.dissent)
    ruling = decision.word
    if ruling is not None:
        yield f"{ruling['by']} ruled", f"{ruling['word']}: {shorten(ruling['reason'])}"
        if ruling["text"]:
            yield "decided instead", shorten(ruling["text"])
    if decision.supersedes:
        yield "supersedes", decision.supersedes
    if decision.superseded_by:
        yield "superseded by", decision.superseded_by


def list_facts(decision: DecisionInStory) -> tuple[page.Fact, ...]:
    return tuple(page.Fact(name, text) for name, text in _list_endings(decision))


def build_blocks(decision: DecisionInStory) -> Iterator[page.Block]:
    """Yield a table of the first answers, then one of each agent's stance in every round."""
    yield page.Table(
        ("Who", "First answer"),
        tuple((first["agent"], _describe_answer(first)) for first in decision.answers),
        title=f"{decision.id}: first answers, each given without seeing the others",
    )
    yield page.Table(
        ("Round", "Who", "Stance", "In short"),
        tuple(
            (
                str(vote.round),
                vote.agent,
                page.Cell(vote.stance, TONES.get(vote.stance, "plain"), vote.sure),
                shorten(vote.summary),
            )
            for vote in decision.votes
        ),
        title=f"{decision.id}: what was said in the {decision.chamber}",
    )


MAX_MOMENTS: Final = 20_000
MAX_ID_LENGTH: Final = 300
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9._:@+~-]{1,200}\Z")
# Streams of these protocols are shared: a path concerns only single records of them.
_SHARED_PROTOCOLS: Final = frozenset({"presence", "registry"})


class Story(msgspec.Struct, frozen=True):
    """A path with its steps and records; `path` is empty if no flow led here or started here."""

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
        """Return the moments without the costs of runs, and votes as other pages show them."""
        outcomes = {f"{DECISION}/{one.id}": one.outcome for one in self.decisions}
        return [
            msgspec.structs.replace(moment, says=outcomes.get(moment.stream) or moment.says)
            if moment.what == RESULT
            else moment
            for moment in self.moments
            if moment.what not in RUN_COSTS
        ]


def read_story(workspace: Workspace, name: str) -> Story:
    """Read the story of a path, or of the path that an id of any protocol belongs to."""
    path, streams = _find_path_or_streams(workspace, name)
    if path is None:
        return _build_story(workspace, "", State(title=name), streams)
    state = state_of(workspace, path)
    return _build_story(workspace, path, state, (*streams, stream_of(path)))


def _find_path_or_streams(workspace: Workspace, name: str) -> tuple[str | None, tuple[str, ...]]:
    if not name.isprintable() or len(name) > MAX_ID_LENGTH:
        raise _not_found(name)
    with workspace.store.read() as view:
        path = _find_path(view, name)
        if path is not None:
            return path, ()
        alone = tuple(_list_streams(view, name))
    if alone:
        for stream in alone:
            found = _path_of_stream(workspace, stream)
            if found is not None:
                return found, ()
        return None, alone
    agent = participants.find_agent_name(workspace, name, workspace.engine.open_streams())
    if agent is not None:
        return None, tuple(_list_agent_streams(workspace, agent))
    raise _not_found(name)


def _not_found(name: str) -> NotFound:
    return NotFound(
        "story_not_found",
        f"nothing here has the name {name[:80]!r}",
        hint="use the id of a message, event, session, trace or path: `moot flow list --paths`",
    )


def _find_path(view: View, name: str) -> str | None:
    if not _PLAIN_NAME.match(name.replace("/", "")):
        return None
    short = name.removeprefix("path/")
    if _PLAIN_NAME.match(short) and view.head(stream_of(short)) is not None:
        return short
    pair = view.row(MAIL_OF_EVENT, name)
    keys = [name, *(f"{protocol}/{name}" for protocol in sorted(SESSION_PROTOCOLS))]
    if pair is not None:
        keys.append(str(msgspec.json.decode(pair.value)["id"]))
    rows = (view.row(ITEMS, key) for key in keys)
    row = next(filter(None, rows), None)
    return str(msgspec.json.decode(row.value)["path"]) if row is not None else None


def _list_streams(view: View, name: str) -> Iterator[str]:
    """Yield the streams of this name, and the stream of the message of this id."""
    if _PLAIN_NAME.match(name):
        streams = [f"{protocol}/{name}" for protocol in (*sorted(SESSION_PROTOCOLS), "mail")]
        yield from (stream for stream in streams if view.head(stream) is not None)
    elif _PLAIN_NAME.match(name.replace("/", "", 1)) and view.head(name) is not None:
        yield name
    row = view.row(MESSAGES, name)
    if row is not None:
        yield row.stream


def _path_of_stream(workspace: Workspace, stream: str) -> str | None:
    """Return the path of a stream: of the step that made it, or by `corr` of its first record."""
    with workspace.store.read() as view:
        row = view.row(ITEMS, stream)
        if row is not None:
            return str(msgspec.json.decode(row.value)["path"])
        first = next(view.records(stream), None)
        mark = first.body.corr if first is not None else None
        known = mark is not None and view.head(stream_of(mark)) is not None
    return mark if known else None


def _list_agent_streams(workspace: Workspace, agent: str) -> Iterator[str]:
    """Yield the open sessions in which this agent has a seat or a part."""
    for stream in workspace.engine.open_streams():
        person = participants.describe_person(workspace, agent, [stream])
        if person.seats or person.parts:
            yield stream


def _build_story(workspace: Workspace, path: str, state: State, streams: Iterable[str]) -> Story:
    steps = state.steps_in_order()
    whole, single = _split_streams(steps)
    decisions = list_decisions(workspace, dict.fromkeys((*streams, *whole)))
    argued = [session for one in decisions for session in one.sessions]
    whole = list(dict.fromkeys((*streams, *whole, *argued)))
    with workspace.store.read() as view:
        records = list(_read_records(view, whole, single))
    cut = len(records) > MAX_MOMENTS
    flows = {(made.stream, made.seq): step.flow for step in steps for made in step.made}
    rank = {
        stream: place for place, stream in enumerate(dict.fromkeys(_streams_in_order(steps, whole)))
    }
    records.sort(key=lambda one: (one.body.at, rank.get(one.stream, -1), one.stream, one.seq))
    moments = [describe_record(record, flows, path) for record in records[:MAX_MOMENTS]]
    names = [moment.who for moment in moments]
    people = participants.describe_people(workspace, (state.origin, *names), whole)
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


def _split_streams(steps: list[PathStep]) -> tuple[list[str], set[tuple[str, int]]]:
    """Return the streams that belong to the path, and its single records in shared streams."""
    whole: list[str] = []
    single: set[tuple[str, int]] = set()
    for step in steps:
        for stream, seq in (
            (step.source.stream, step.source.seq),
            *((made.stream, made.seq) for made in step.made),
        ):
            if stream.partition("/")[0] in _SHARED_PROTOCOLS:
                single.add((stream, seq))
            else:
                whole.append(stream)
    return whole, single


def _streams_in_order(steps: list[PathStep], whole: list[str]) -> Iterator[str]:
    for step in steps:
        yield step.source.stream
        yield from (made.stream for made in step.made)
    yield from whole


def _read_records(view: View, whole: list[str], single: set[tuple[str, int]]) -> Iterator[Record]:
    for stream in whole:
        for record in view.records(stream):
            yield record
            cause = record.body.data.get("event")
            if stream.startswith("mail/") and isinstance(cause, str):
                single |= _list_event_places(view, cause)
    for stream, seq in sorted(single):
        found = next(view.records(stream, after=seq - 1), None)
        if found is not None:
            yield found


def _list_event_places(view: View, event: str) -> set[tuple[str, int]]:
    """Return the places of the presence event that a message reports, and of its withdrawal."""
    rows = (view.row(space, event) for space in ("presence.events", "presence.withdrawn"))
    return {(row.stream, row.seq) for row in rows if row is not None}
