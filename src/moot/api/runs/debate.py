"""Run a debate to its end: seat the participants, let the runner go, record what came out."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec

from moot.agents.brief import AuthorTrust, Brief, QuotedText, schema_of
from moot.agents.outcome import CallEnding, CallFailure, CallOutcome
from moot.agents.participant import Participant, Spec
from moot.agents.participant_kinds import RunSurroundings
from moot.agents.runnable import TIMES, PassOverResult, RunWatcher, Utterance
from moot.api.debates import session
from moot.api.debates.check import build_author_trust
from moot.api.debates.locked_session import restore_file
from moot.api.debates.outcome import judge_debate
from moot.api.debates.record import find_record, path_in_record
from moot.api.debates.session_file import CachedFile
from moot.api.runs.seats import recorded_seats, require_somebody, seat_participants
from moot.api.runs.turns import (
    USUAL,
    FinishedRun,
    Limits,
    NoRunRecord,
    RecordedRun,
    RunRecord,
    begin_decision,
    read_reply,
    record_of,
    run_seats,
)
from moot.core.clock import SECOND, Clock
from moot.core.errors import Malformed, Refused
from moot.core.machine import Due
from moot.core.names import OPERATOR, SYSTEM
from moot.core.numbers import shortest_decimal
from moot.protocols.debate.checker import CheckedSession
from moot.protocols.debate.course import Course, is_placeholder, list_entries
from moot.protocols.debate.drafts import EntryDraft, deepen_headings
from moot.protocols.debate.model import STANCES, DebateEntry, Escalation, TurnOrder
from moot.protocols.debate.turns import DebateStanding, find_standing
from moot.protocols.debate.views import require_course, view_consensus
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.model import MAX_QUESTION, ChamberKind, Stage
from moot.workspace.workspace import Workspace

WHAT: Final = "entry"
# How much of what was said a brief holds; the newest counts most.
MOST_SAID: Final = 60_000
MOST_ENTRIES: Final = 100
# DEC-035: how long one argument may be; it is quoted to everybody else.
MOST_BODY: Final = 50_000
_OUT_OF_TIME: Final = (CallEnding.TIMED_OUT, CallEnding.SLOW)
_DEEPENED: Final = "its headings were set deeper: levels 1 and 2 are the session's own"
# So close to a turn's end the rest of it is waited for.
NEARLY_UP: Final = 2 * SECOND


class EntryReply(msgspec.Struct, forbid_unknown_fields=True):
    """An entry as a participant gives it."""

    stance: Literal["approve", "reject", "neutral", "defer"]
    confidence: Annotated[float, msgspec.Meta(ge=0, le=1)]
    summary: Annotated[
        str, msgspec.Meta(min_length=1, max_length=1_000, description="One or two lines.")
    ]
    body: Annotated[
        str, msgspec.Meta(max_length=MOST_BODY, description="Your argument, in markdown.")
    ] = ""
    action_requested: Annotated[
        str, msgspec.Meta(max_length=1_000, description="One line; may name an agent.")
    ] = "n/a"
    evidence: Annotated[
        str, msgspec.Meta(max_length=4_000, description="Files or addresses, with commas.")
    ] = "n/a"


_SCHEMA: Final = schema_of(EntryReply)
_TASK: Final = (
    "It is your turn in a debate. The session's title and context are quoted below, then what was "
    "said so far. If the context names a motion, your stance is about that motion: approve, "
    "reject, neutral, or defer if you cannot judge. State how sure you are, from 0 to 1, the "
    "point in one or two lines, and your argument in the body. Change your mind where an argument "
    "convinces you, and name the agent whose argument it was. Headings in the body begin at level "
    "3; it holds no HTML comments, and every code block in it is closed."
)


class EarlierRounds(NamedTuple):
    """Rounds on the same motion in sessions before this one, of how many in all; how often each
    spoke there, and where it stood last; and how many must take part in the last vote."""

    rounds: int = 0
    of_rounds: int = 0
    entries: Mapping[str, int] = {}
    positions: Mapping[str, str] = {}
    quorum: int = 0


NO_ROUNDS_BEFORE: Final = EarlierRounds()


class RunnableDebate(RecordedRun):
    def __init__(
        self,
        file: Path,
        clock: Clock,
        workspace: Workspace | None,
        record: RunRecord,
        earlier: EarlierRounds = NO_ROUNDS_BEFORE,
        cast_votes: Mapping[str, dict[str, Any]] = {},
    ) -> None:
        super().__init__(record)
        self._earlier = earlier
        self._cast_votes = dict(cast_votes)
        self._file = file
        self._clock = clock
        self._workspace = workspace
        self._cached = CachedFile(file)

    # What is due ----------------------------------------------------------------------------------

    def advance(self) -> None:
        """Write the entries of those whose vote was cast before the session (DEC-036); one that
        does not fit into the file is asked for like any other."""
        while (due := next(iter(self.dues()), None)) and due.who in self._cast_votes:
            with suppress(Refused, Malformed):
                self.submit(due, self._cast_votes.pop(due.who))

    def dues(self) -> Sequence[Due]:
        course, here = self._standing()
        if here.phase.has_ended:
            return ()
        if here.open_entry is not None:
            return [self._operator(f"{here.open_entry.author} has not yielded its entry")]
        if not here.may_speak:
            return [self._operator(f"{', '.join(here.due)} let its time pass")]
        return [self._due(course, here, agent) for agent in here.may_speak]  # AGT-020

    def _due(self, course: Course, here: DebateStanding, agent: str) -> Due:
        before = course.running_round.count_entries_of(agent) if course.running_round else 0
        place = f"round {self._earlier.rounds + here.round}, entry {before + 1}"
        return Due(who=agent, what=WHAT, subject=place, since=course.turn_began, by=here.deadline)

    def may_be_asked_together(self, due: Due) -> bool:
        del due
        return require_course(self._checked()).rules.turn_order is TurnOrder.FREE_FORM  # AGT-017

    # What a speaker is told -----------------------------------------------------------------------

    def brief(self, due: Due) -> Brief:
        checked = self._checked()
        course, here = self._standing()
        entries = list_entries(course.rounds)
        own = [entry for entry in entries if entry.author == due.who]
        quotes, left_out = self._quotes(checked, entries)
        rules = course.rules
        view = {
            "round": self._earlier.rounds + here.round,
            "of_rounds": self._earlier.of_rounds or rules.max_rounds,
            "turn": here.turn,
            "agents": list(rules.agents),
            "settled_by": rules.consensus_mode.value,
            "threshold": float(rules.consensus_threshold),
            "positions": {**self._earlier.positions, **_positions(entries, rules.agents)},
            "older_entries_left_out": left_out,
        }
        return Brief(
            agent=due.who,
            role="a participant of a debate that is recorded",
            what=WHAT,
            task=_TASK,
            schema=_SCHEMA,
            view=view,
            quotes=quotes,
            number=self._earlier.entries.get(due.who, 0)
            + sum(not is_placeholder(entry) for entry in own),
            by=due.by,
        )

    def _quotes(
        self, checked: CheckedSession, said: list[DebateEntry]
    ) -> tuple[tuple[QuotedText, ...], int]:
        """Title and context first, then what was said, from the newest back to a bound
        (AGT-060)."""
        document, kept, room = checked.document, list[QuotedText](), MOST_SAID
        record = (
            find_record(self._workspace, self._file, checked)
            if self._workspace is not None
            else None
        )
        trust = build_author_trust(self._cached.peek(), record)
        for entry in reversed(said[-MOST_ENTRIES:]):
            quote = _quoted(entry, trust(entry))
            room -= len(quote.text)
            if room < 0:
                break
            kept.append(quote)
        context = document.section_text("Context").strip()
        head = QuotedText(
            author="the session's title", trust=AuthorTrust.MATERIAL, text=document.name
        )
        about = QuotedText(author="the session's context", trust=AuthorTrust.MATERIAL, text=context)
        return (head, about, *reversed(kept)), len(said) - len(kept)

    # What comes of it -----------------------------------------------------------------------------

    def submit(self, due: Due, reply_fields: dict[str, Any]) -> None:
        reply = read_reply(reply_fields, EntryReply)  # AGT-061
        body = deepen_headings(reply.body)
        draft = EntryDraft(
            author=due.who,
            stance=reply.stance,
            confidence=shortest_decimal(reply.confidence),
            summary=reply.summary,
            body=body,
            action_requested=reply.action_requested.strip() or "n/a",
            evidence=reply.evidence.strip() or "n/a",
        )
        # AGT-062: in a workspace this signs the entry with its author's key.
        session.add(
            self._file, draft, self._clock, self._workspace,
            entry_id=self._entry_id(due), cached=self._cached,
        )  # fmt: skip
        if body != reply.body:  # G-26: what was changed in an answer is on record, too
            self.record_outcome(
                CallOutcome(
                    agent=due.who,
                    what=due.what,
                    subject=due.subject,
                    ending=CallEnding.FITTED,
                    detail=_DEEPENED,
                )
            )

    def _entry_id(self, due: Due) -> str:
        """The same for the same turn: a turn that was taken twice at once is taken once
        (AGT-019)."""
        session_id = self._checked().document.session_id
        turn = "\n".join((session_id, due.who, due.subject))
        return str(uuid.UUID(bytes=hashlib.sha256(turn.encode()).digest()[:16], version=4))

    def pass_over(self, due: Due, failure: CallFailure) -> PassOverResult:
        """Only the session's own policy writes in someone's place: at once for one who has
        certainly failed, else when time is up (AGT-061, G-01)."""
        if require_course(self._checked()).rules.escalation is Escalation.HUMAN:
            return PassOverResult.NEVER
        # A call is ended shortly before the turn's own time: then the turn has timed out.
        is_nearly_up = due.by is not None and due.by - self._clock() <= NEARLY_UP
        if failure.ending not in _OUT_OF_TIME or not is_nearly_up:
            skipped = session.skip_failed(
                self._file,
                due.who,
                failure.as_failed_answer,
                self._clock,
                self._workspace,
                self._cached,
            )
            if skipped.entries:
                return PassOverResult.DONE
        done = session.tick(self._file, self._clock, self._workspace, self._cached)
        return PassOverResult.DONE if done.entries else PassOverResult.LATER

    def history(self) -> Sequence[Utterance]:
        """The end of it is enough: a circle shows in the last few entries of everybody."""
        course = require_course(self._checked())
        entries = list_entries(course.rounds)[-2 * TIMES * len(course.rules.agents) :]
        return [
            Utterance(
                entry.author,
                f"{entry.field_value('stance')} {entry.field_value('summary')} {entry.body}",
            )
            for entry in entries
            if not is_placeholder(entry)
        ]

    # For a person who watches ---------------------------------------------------------------------

    def standing(self) -> dict[str, Any]:
        """Round, state and score of this moment, and what that means for a decision."""
        checked = self._checked()
        here = find_standing(require_course(checked), self._clock())
        consensus, verdict = view_consensus(checked), judge_debate(checked, self._earlier.quorum)
        kept = ("score", "reached", "approvers", "rejecters", "neutral", "deferred", "outcome")
        return {
            "round": self._earlier.rounds + here.round,
            "state": here.phase.value,
            **{name: getattr(consensus, name) for name in kept},
            "result": verdict.result,
            "absent": verdict.absent,
        }

    # The file -------------------------------------------------------------------------------------

    def _standing(self) -> tuple[Course, DebateStanding]:
        course = require_course(self._checked())
        return course, find_standing(course, self._clock())

    def _checked(self) -> CheckedSession:
        return self._cached.peek().checked

    def _operator(self, why: str) -> Due:
        hint = f"moot debate status {quote(str(self._file))}"
        return Due(who=OPERATOR, what="resume", subject=why, hint=hint)


def _positions(said: list[DebateEntry], agents: tuple[str, ...]) -> dict[str, str]:
    """The latest stance of each, if it is one; a placeholder is nobody's position."""
    latest: dict[str, str] = {}
    for entry in reversed(said):
        stance = entry.field_value("stance")
        if entry.author not in latest and stance in STANCES and not is_placeholder(entry):
            latest[entry.author] = stance
        if len(latest) == len(agents):
            break
    return {agent: latest[agent] for agent in agents if agent in latest}


def _quoted(entry: DebateEntry, trust: AuthorTrust) -> QuotedText:
    place = f"round {entry.round}, turn {entry.turn}: {entry.field_value('stance')}"
    sure = entry.field_value("confidence")
    text = "\n\n".join(part for part in (entry.field_value("summary"), entry.body.strip()) if part)
    return QuotedText(
        author=entry.author,
        trust=trust,
        text=text,
        place=f"{place}, confidence {sure}" if sure else place,
    )


class SeatedDebate(NamedTuple):
    """A debate about to be run: its file and who sits there.

    In a workspace `decision` keeps what the run costs and what comes out; without one nothing does.
    `earlier` is what was argued about the same motion before, in other sessions; `cast_votes` are
    votes that were given before this one began.
    """

    file: Path
    participants: Mapping[str, Participant]
    clock: Clock
    workspace: Workspace | None = None
    decision: str | None = None
    earlier: EarlierRounds = NO_ROUNDS_BEFORE
    cast_votes: Mapping[str, dict[str, Any]] = {}


def run_debate(
    file: Path,
    specs: Mapping[str, Spec],
    room: RunSurroundings,
    clock: Clock,
    workspace: Workspace | None = None,
    limits: Limits = USUAL,
    watch: RunWatcher | None = None,
) -> FinishedRun:
    """Run the debate in this file with these participants until it is over or they are stuck
    (AGT-060)."""
    lost = restore_file(workspace, file) if workspace is not None and file.exists() else None
    checked = session.read(file)
    agents = require_course(checked).rules.agents
    for name in specs:  # AGT-063
        if name not in agents:
            raise Refused(
                "unknown_agent",
                f"{name} is not one of the agents of this session",
                hint=f"the agents are {', '.join(agents)}",
            )
    require_somebody(specs)
    participants = seat_participants(specs, room, workspace)
    debate = SeatedDebate(file, participants, clock, workspace)
    if workspace is not None:
        debate = debate._replace(decision=_open_decision(workspace, debate, checked, specs))
    finished = run_seated(debate, limits, watch)._replace(lost=lost)
    if workspace is not None and debate.decision is not None:
        record_result(workspace, debate.decision, session.read(file))
    return finished


def run_seated(debate: SeatedDebate, limits: Limits, watch: RunWatcher | None) -> FinishedRun:
    """Let the runner go; what its calls cost goes on record."""
    file, participants, clock, workspace, decision, earlier, cast_votes = debate
    record = NoRunRecord() if workspace is None else record_of(workspace.engine, decision)
    runnable = RunnableDebate(file, clock, workspace, record, earlier, cast_votes)
    return run_seats(runnable, participants, clock, decision, limits, watch)


def _open_decision(
    workspace: Workspace, debate: SeatedDebate, checked: CheckedSession, specs: Mapping[str, Spec]
) -> str:
    """The record of decisions for this session: begun once, under the session's own id."""
    rules = require_course(checked).rules
    question = ask.AskQuestion(
        question=checked.document.name[:MAX_QUESTION],
        seats=recorded_seats(workspace, rules.agents, specs, debate.participants),
        chamber=ChamberKind.DEBATE,
        rule=rules.consensus_mode.value,
        rounds=rules.max_rounds,
    )
    decision = checked.document.session_id
    place = path_in_record(workspace.root, debate.file)
    opening = ask.OpenSession(session=f"debate/{decision}", file=place)
    return begin_decision(workspace.engine, decision, question, opening)


def record_result(workspace: Workspace, decision: str, checked: CheckedSession) -> None:
    """What came out, once; a session that goes on has no result yet."""
    state = workspace.engine.state(DECISION, stream_of(decision))
    verdict = judge_debate(checked, state.quorum)
    if state.stage is not Stage.ARGUING or verdict.result is None:
        return

    def in_order_of_seats(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(seat.agent for seat in state.seats if seat.agent in names)

    command = ask.RecordResult(
        result=verdict.result,
        summary=verdict.summary,
        score=verdict.score,
        approvers=in_order_of_seats(verdict.approvers),
        dissent=in_order_of_seats(verdict.objectors),
        absent=in_order_of_seats(verdict.absent),
    )
    workspace.engine.execute(stream_of(decision), command, SYSTEM, key="result")
