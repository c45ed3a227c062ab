"""Run a debate to its end: seat the participants, start the runner, record the result."""

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
from moot.api.runs.seats import describe_seats, require_participants, seat_participants
from moot.api.runs.turns import (
    DEFAULT_LIMITS,
    FinishedRun,
    Limits,
    NoRunRecord,
    RecordedRun,
    RunRecord,
    begin_decision,
    make_run_record,
    read_reply,
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
from moot.protocols.decision import stream_of
from moot.protocols.decision.commands import AskQuestion, OpenSession, RecordResult
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.model import MAX_QUESTION, ChamberKind, Stage
from moot.workspace.workspace import Workspace

WHAT: Final = "entry"
# At most this many characters and entries are quoted in a brief, the newest first.
MAX_QUOTED: Final = 60_000
MAX_ENTRIES: Final = 100
# DEC-035: the longest argument; every other participant gets it quoted.
MAX_BODY: Final = 50_000
_OUT_OF_TIME: Final = (CallEnding.TIMED_OUT, CallEnding.SLOW)
_DEEPENED: Final = "its headings were set deeper: levels 1 and 2 are the session's own"
# So close to a turn's end Moot waits until the turn has timed out.
NEARLY_UP: Final = 2 * SECOND


class EntryReply(msgspec.Struct, forbid_unknown_fields=True):
    """A participant's reply: one entry."""

    stance: Literal["approve", "reject", "neutral", "defer"]
    confidence: Annotated[float, msgspec.Meta(ge=0, le=1)]
    summary: Annotated[
        str, msgspec.Meta(min_length=1, max_length=1_000, description="One or two lines.")
    ]
    body: Annotated[
        str, msgspec.Meta(max_length=MAX_BODY, description="Your argument, in markdown.")
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
    "convinces you, and name the agent whose argument it was. In the body, headings begin at level "
    "3, HTML comments are not allowed, and every code block must be closed."
)


class EarlierRounds(NamedTuple):
    """What earlier sessions on the same motion contain: rounds, and entries and stance of each.

    `of_rounds` is the number of rounds in all, `quorum` how many must take part in the last vote.
    """

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

    def advance(self) -> None:
        """Write the entries of agents that voted before the session (DEC-036).

        If such an entry does not fit into the file, its agent is asked like any other.
        """
        while (due := next(iter(self.dues()), None)) and due.who in self._cast_votes:
            with suppress(Refused, Malformed):
                self.submit(due, self._cast_votes.pop(due.who))

    def dues(self) -> Sequence[Due]:
        course, here = self._read_standing()
        if here.phase.has_ended:
            return ()
        if here.open_entry is not None:
            return [self._make_operator_due(f"{here.open_entry.author} has not yielded its entry")]
        if not here.may_speak:
            return [self._make_operator_due(f"{', '.join(here.due)} did not speak in time")]
        return [self._make_due(course, here, agent) for agent in here.may_speak]  # AGT-020

    def _make_due(self, course: Course, here: DebateStanding, agent: str) -> Due:
        before = course.running_round.count_entries_of(agent) if course.running_round else 0
        place = f"round {self._earlier.rounds + here.round}, entry {before + 1}"
        return Due(who=agent, what=WHAT, subject=place, since=course.turn_began, by=here.deadline)

    def may_be_asked_together(self, due: Due) -> bool:
        del due
        return require_course(self._checked()).rules.turn_order is TurnOrder.FREE_FORM  # AGT-017

    def brief(self, due: Due) -> Brief:
        checked = self._checked()
        course, here = self._read_standing()
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
        self, checked: CheckedSession, entries: list[DebateEntry]
    ) -> tuple[tuple[QuotedText, ...], int]:
        """Quote title and context, then the newest entries up to a limit (AGT-060)."""
        document, kept, surroundings = checked.document, list[QuotedText](), MAX_QUOTED
        record = (
            find_record(self._workspace, self._file, checked)
            if self._workspace is not None
            else None
        )
        trust = build_author_trust(self._cached.peek(), record)
        for entry in reversed(entries[-MAX_ENTRIES:]):
            quote = _quote_entry(entry, trust(entry))
            surroundings -= len(quote.text)
            if surroundings < 0:
                break
            kept.append(quote)
        context = document.section_text("Context").strip()
        head = QuotedText(
            author="the session's title", trust=AuthorTrust.MATERIAL, text=document.name
        )
        about = QuotedText(author="the session's context", trust=AuthorTrust.MATERIAL, text=context)
        return (head, about, *reversed(kept)), len(entries) - len(kept)

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
        if body != reply.body:  # G-26: a change of an answer is recorded
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
        """Return the same id for the same turn, so that a turn is taken only once (AGT-019)."""
        session_id = self._checked().document.session_id
        turn = "\n".join((session_id, due.who, due.subject))
        return str(uuid.UUID(bytes=hashlib.sha256(turn.encode()).digest()[:16], version=4))

    def pass_over(self, due: Due, failure: CallFailure) -> PassOverResult:
        """Apply the session's policy: at once if the agent certainly failed, else at the timeout.

        Only the policy may write an entry for another agent (AGT-061, G-01).
        """
        if require_course(self._checked()).rules.escalation is Escalation.HUMAN:
            return PassOverResult.NEVER
        # A call ends shortly before its turn's timeout; then the turn counts as timed out.
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
        """Return the last few entries of each agent: repetition shows there."""
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

    def standing(self) -> dict[str, Any]:
        """Return round, state and score now, and what they mean for a decision."""
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

    def _read_standing(self) -> tuple[Course, DebateStanding]:
        course = require_course(self._checked())
        return course, find_standing(course, self._clock())

    def _checked(self) -> CheckedSession:
        return self._cached.peek().checked

    def _make_operator_due(self, why: str) -> Due:
        hint = f"moot debate status {quote(str(self._file))}"
        return Due(who=OPERATOR, what="resume", subject=why, hint=hint)


def _positions(entries: list[DebateEntry], agents: tuple[str, ...]) -> dict[str, str]:
    """Return the latest valid stance of each agent, without entries that the policy wrote."""
    latest: dict[str, str] = {}
    for entry in reversed(entries):
        stance = entry.field_value("stance")
        if entry.author not in latest and stance in STANCES and not is_placeholder(entry):
            latest[entry.author] = stance
        if len(latest) == len(agents):
            break
    return {agent: latest[agent] for agent in agents if agent in latest}


def _quote_entry(entry: DebateEntry, trust: AuthorTrust) -> QuotedText:
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
    """A debate to run: its file and its participants.

    In a workspace `decision` records the run's costs and result. `earlier` is what earlier sessions
    argued about the same motion; `cast_votes` are votes given before this session began.
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
    surroundings: RunSurroundings,
    clock: Clock,
    workspace: Workspace | None = None,
    limits: Limits = DEFAULT_LIMITS,
    watch: RunWatcher | None = None,
) -> FinishedRun:
    """Run the debate in this file until it ends or no participant can continue (AGT-060)."""
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
    require_participants(specs)
    participants = seat_participants(specs, surroundings, workspace)
    debate = SeatedDebate(file, participants, clock, workspace)
    if workspace is not None:
        debate = debate._replace(decision=_open_decision(workspace, debate, checked, specs))
    finished = run_seated(debate, limits, watch)._replace(lost=lost)
    if workspace is not None and debate.decision is not None:
        record_result(workspace, debate.decision, session.read(file))
    return finished


def run_seated(debate: SeatedDebate, limits: Limits, watch: RunWatcher | None) -> FinishedRun:
    """Run the debate and record what its calls cost."""
    file, participants, clock, workspace, decision, earlier, cast_votes = debate
    record = NoRunRecord() if workspace is None else make_run_record(workspace.engine, decision)
    runnable = RunnableDebate(file, clock, workspace, record, earlier, cast_votes)
    return run_seats(runnable, participants, clock, decision, limits, watch)


def _open_decision(
    workspace: Workspace, debate: SeatedDebate, checked: CheckedSession, specs: Mapping[str, Spec]
) -> str:
    """Begin the decision that records this session's runs, once, under the session's id."""
    rules = require_course(checked).rules
    question = AskQuestion(
        question=checked.document.name[:MAX_QUESTION],
        seats=describe_seats(workspace, rules.agents, specs, debate.participants),
        chamber=ChamberKind.DEBATE,
        rule=rules.consensus_mode.value,
        rounds=rules.max_rounds,
    )
    decision = checked.document.session_id
    place = path_in_record(workspace.root, debate.file)
    opening = OpenSession(session=f"debate/{decision}", file=place)
    return begin_decision(workspace.engine, decision, question, opening)


def record_result(workspace: Workspace, decision: str, checked: CheckedSession) -> None:
    """Record the result, once; a session that has not ended has none yet."""
    state = workspace.engine.state(DECISION, stream_of(decision))
    verdict = judge_debate(checked, state.quorum)
    if state.stage is not Stage.ARGUING or verdict.result is None:
        return

    def in_seat_order(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(seat.agent for seat in state.seats if seat.agent in names)

    command = RecordResult(
        result=verdict.result,
        summary=verdict.summary,
        score=verdict.score,
        approvers=in_seat_order(verdict.approvers),
        dissent=in_seat_order(verdict.objectors),
        absent=in_seat_order(verdict.absent),
    )
    workspace.engine.execute(stream_of(decision), command, SYSTEM, key="result")
