"""Record a person's ruling on a parliament in both records: the session's and the decision's.

Both are written in one commit (decision 0009), whichever command brings the ruling. If only one of
them has a ruling, only the same ruling may be given again, and it completes the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from moot.api.parliaments.incoming import (
    IncomingMessage,
    check_incoming,
    describe_bill,
    has_same_words,
)
from moot.api.parliaments.session_files import read_messages
from moot.core.errors import Conflict, Refused
from moot.core.machine import Command
from moot.core.names import SYSTEM
from moot.engine.engine import Engine
from moot.engine.job import Job, JobOutcome
from moot.protocols.decision import PROTOCOL, stream_of
from moot.protocols.decision.commands import Amend, Approve, RecordResult, SendBack, Veto
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.machine import SESSIONS
from moot.protocols.decision.model import DecisionResult, PersonsRuling, Stage, State
from moot.protocols.parliament import commands as parliament
from moot.protocols.parliament.machine import MACHINE as PARLIAMENT
from moot.protocols.parliament.messages.contents import (
    Kind,
    PmDecision,
    PrimeMinisterChoice,
    SessionStatus,
)
from moot.protocols.parliament.model import SessionOutcome
from moot.protocols.parliament.model import State as Parliament
from moot.workspace.workspace import Workspace

# What a decision calls each ruling, and which ruling ended a session.
_STAGES: Final = {
    PrimeMinisterChoice.APPROVE: Stage.APPROVED,
    PrimeMinisterChoice.AMEND_AND_APPROVE: Stage.AMENDED,
    PrimeMinisterChoice.VETO: Stage.VETOED,
}
_RULINGS: Final = {
    SessionOutcome.APPROVED: PrimeMinisterChoice.APPROVE,
    SessionOutcome.APPROVED_WITH_AMENDMENTS: PrimeMinisterChoice.AMEND_AND_APPROVE,
    SessionOutcome.VETOED: PrimeMinisterChoice.VETO,
}


class PrimeMinisterDecision(NamedTuple):
    """What the prime minister decided, with the amended bill if there is one."""

    choice: PrimeMinisterChoice
    reason: str
    draft: Any = None


def decision_in_command(
    command: Command, message: IncomingMessage | None = None
) -> PrimeMinisterDecision | None:
    """Return the ruling in a command of the session; opening guidance is none.

    `message` is the message of a `Submit`, if it was checked already.
    """
    if isinstance(command, parliament.Decide):
        if command.decision not in {str(choice) for choice in _STAGES}:
            return None
        choice = PrimeMinisterChoice(command.decision)
        return PrimeMinisterDecision(choice, command.reason, command.draft)
    if not isinstance(command, parliament.Submit):
        return None
    response = (message or check_incoming(command.document)).response
    content = None if response is None else response.content
    if isinstance(content, PmDecision) and content.decision in _STAGES:
        return PrimeMinisterDecision(content.decision, content.reason)
    return None


def decisions_argued_in(engine: Engine, session: str) -> list[str]:
    """Return the decisions that are argued in a session: usually one."""
    with engine.store.read() as view:
        keys = [row.key for row in view.rows(SESSIONS, f"{session} ")]
    return [key.partition(f" {PROTOCOL}/")[2] for key in keys]


def ruling_at_end(state: Parliament) -> PrimeMinisterChoice | None:
    """Return the ruling that ended a session, no matter who gave it or where."""
    return None if state.outcome is None else _RULINGS.get(state.outcome)


def decision_signed_here(workspace: Workspace, session: str) -> PrimeMinisterChoice | None:
    """Return the ruling that a person signed in this ledger; imported rulings prove nothing."""
    state = workspace.engine.state(PARLIAMENT, session)
    ruling = ruling_at_end(state)
    if ruling is None or not state.imported:
        return ruling
    with workspace.store.read() as view:
        messages = list(read_messages(view, session))
    rulings = [message.id for message in messages if message.type is Kind.PM_DECISION]
    newest = int(rulings[-1].removeprefix("msg-")) if rulings else 0
    # The first `imported` messages came from files: the clerk signed them, no person did.
    return None if newest <= state.imported else ruling


def everyone_has_decided(engine: Engine, session: str) -> bool:
    """Return whether each decision argued in this session already has a person's ruling.

    A parliament cannot end before its vote, so such a session stays open, but nothing is due in it.
    """
    state = engine.load(session).state  # of a parliament or of a debate
    has_ended = isinstance(state, Parliament) and state.outcome is not None
    rulings = [ruling for _, ruling in _rulings_by_decision(engine, session)]
    return not has_ended and bool(rulings) and None not in rulings


def require_undecided(engine: Engine, session: str) -> None:
    """Refuse if a decision argued there has a person's ruling: more arguing would be useless."""
    for decision, ruling in _rulings_by_decision(engine, session):
        if ruling is not None:
            raise _already_decided(decision, f"{ruling.by} has said {ruling.word.value}")


def _rulings_by_decision(engine: Engine, session: str) -> list[tuple[str, PersonsRuling | None]]:
    decisions = decisions_argued_in(engine, session)
    return [(decision, _decision_state(engine, decision).word) for decision in decisions]


def only_repeats_ruling(
    workspace: Workspace, session: str, decision: PrimeMinisterDecision
) -> bool:
    """Return whether the session has this ruling and a decision lacks it.

    Refused if another ruling was given, or if every decision has this one.
    """
    engine = workspace.engine
    rulings = _rulings_by_decision(engine, session)
    for name, ruling in rulings:
        if ruling is not None and ruling.word is not _STAGES[decision.choice]:
            raise _already_decided(name, f"{ruling.by} has said {ruling.word.value}")
    signed = decision_signed_here(workspace, session)
    if signed is None or not rulings:
        return False
    bill = engine.state(PARLIAMENT, session).bill
    same_text = decision.draft is None or has_same_words(bill, decision.draft)
    is_lacking = any(ruling is None for _, ruling in rulings)
    if signed is not decision.choice or not same_text or not is_lacking:
        raise _already_decided(rulings[0][0], f"the prime minister has said {signed}")
    return True


def record_ruling(
    workspace: Workspace, job: Job, decision: PrimeMinisterDecision, vote: int | None = None
) -> JobOutcome:
    """Record the ruling in the session and its decisions, or where it is missing; all or none.

    `vote` is the number of the vote that the person has seen: the ruling holds for no other one.
    """
    engine = workspace.engine
    argued_decisions = decisions_argued_in(engine, job.stream)
    lacking = [name for name in argued_decisions if _decision_state(engine, name).word is None]
    state = engine.state(PARLIAMENT, job.stream)
    if only_repeats_ruling(workspace, job.stream, decision):
        command = _decision_command(workspace, decision, state)
        jobs = [Job(stream_of(name), command, job.actor) for name in lacking]
        rulings: list[Callable[[JobOutcome], Job]] = []
    else:
        jobs = [*_result_jobs(engine, state, lacking), job]
        rulings = _ruling_jobs(workspace, job.actor, decision, lacking)

    def require_unchanged(_done: list[JobOutcome]) -> None:
        if decisions_argued_in(engine, job.stream) != argued_decisions:
            raise Conflict("busy", "a run began at this moment", hint="rule again")
        votes = len(engine.state(PARLIAMENT, job.stream).vote_history)
        if vote not in (None, votes):  # the person was shown an earlier vote
            raise Conflict(
                "busy", "there was another vote meanwhile", hint="read it again, then rule"
            )

    then = [*((lambda _, job=after: job) for after in jobs[1:]), *rulings]
    proved = [job.stream, *map(stream_of, lacking)]
    try:
        done = engine.execute_chain(jobs[0], *then, proved=proved, before_commit=require_unchanged)
    except Refused:
        only_repeats_ruling(workspace, job.stream, decision)  # another process ruled first: say so
        raise
    return done[len(jobs) - 1]


def _result_jobs(engine: Engine, state: Parliament, decisions: list[str]) -> Iterator[Job]:
    """Yield jobs that record the vote's result in decisions without one: no run counted it."""
    if not state.vote_history or not engine.signs_as_ledger:
        return
    for decision in decisions:
        if _decision_state(engine, decision).stage is Stage.ARGUING:
            yield Job(stream_of(decision), *vote_result_command(state))


def _ruling_jobs(
    workspace: Workspace, person: str, ruling: PrimeMinisterDecision, decisions: list[str]
) -> list[Callable[[JobOutcome], Job]]:
    """Return jobs that record the ruling in each decision, made from the session's new state."""
    made_commands: list[Command] = []

    def job_for(decision: str) -> Callable[[JobOutcome], Job]:
        def make_job(before: JobOutcome) -> Job:
            if not made_commands:  # the session comes first, then the decisions
                after = PARLIAMENT.require_state(before.state)
                made_commands.append(_decision_command(workspace, ruling, after))
            return Job(stream_of(decision), made_commands[0], person)

        return make_job

    return [job_for(decision) for decision in decisions]


def _decision_command(
    workspace: Workspace, ruling: PrimeMinisterDecision, after: Parliament
) -> Command:
    """Return the decision's command for this ruling; a session that continues is sent back."""
    if after.outcome is None:
        return SendBack(reason=ruling.reason)
    if ruling.choice is PrimeMinisterChoice.APPROVE:
        return Approve(reason=ruling.reason)
    if ruling.choice is PrimeMinisterChoice.VETO:
        return Veto(reason=ruling.reason)
    text = workspace.artifacts.put(describe_bill(after.bill).encode(), "text/markdown")
    return Amend(reason=ruling.reason, text=text)


def _decision_state(engine: Engine, decision: str) -> State:
    return engine.state(DECISION, stream_of(decision))


def _already_decided(decision: str, why: str) -> Refused:
    return Refused(
        "decided",
        f"{decision}: {why}",
        hint=f"`moot report {decision}` shows it; `moot ask` asks again",
    )


# In these states the last vote is over, so its result is known.
SETTLED: Final = frozenset(
    {SessionStatus.PM_REVIEW, SessionStatus.SYNTHESIS, SessionStatus.COMPLETE}
)


# DEC-032: the NO of an expelled seat comes from the rules; it is no opinion.
NO_BY_RULE: Final = "NO by rule: it failed"


def vote_result_command(state: Parliament) -> tuple[RecordResult, str, str]:
    """Return the command that records the last vote's result, its actor, and its key."""
    key = f"result-{len(state.vote_history)}"
    if not state.vote_history:
        summary = "no bill was drafted"
        return RecordResult(result=DecisionResult.NOT_CARRIED, summary=summary), SYSTEM, key
    last = state.vote_history[-1]
    votes = {
        seat.agent: seat.voting_record[-1].vote.value
        for seat in state.seats_in_order()
        if seat.voting_record
    }
    expelled = [seat.agent for seat in state.seats_in_order() if seat.expelled]
    summary = f"{last.yes} YES, {last.no} NO of {last.total} on version {last.bill_version}"
    if expelled:  # the rules count an expelled seat as NO; it is no opinion
        summary += f" ({', '.join(expelled)}: {NO_BY_RULE})"
    result = RecordResult(
        result=DecisionResult.CARRIED if last.passed else DecisionResult.NOT_CARRIED,
        summary=summary,
        approvers=tuple(name for name, vote in votes.items() if vote == "YES"),
        dissent=tuple(
            name for name, vote in votes.items() if vote == "NO" and name not in expelled
        ),
        absent=tuple(expelled),
    )
    return result, SYSTEM, key
