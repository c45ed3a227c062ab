"""A person's ruling on what a parliament argued: one act, in the session's record and in that of
the decision.

Both are written in one commit (decision 0009), whichever command brings it. Where only one of them
holds a ruling, only the same ruling may be given again, and it completes the other.
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
from moot.protocols.decision import commands as ask
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
    """The ruling that a command of the session brings; opening guidance decides nothing.

    `message` is what a `Submit` brings, where it was checked already.
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
    """The decisions that are argued in a session: one, unless somebody began another."""
    with engine.store.read() as view:
        keys = [row.key for row in view.rows(SESSIONS, f"{session} ")]
    return [key.partition(f" {PROTOCOL}/")[2] for key in keys]


def ruling_at_end(state: Parliament) -> PrimeMinisterChoice | None:
    """Return the ruling that ended a session, no matter who gave it or where."""
    return None if state.outcome is None else _RULINGS.get(state.outcome)


def decision_signed_here(workspace: Workspace, session: str) -> PrimeMinisterChoice | None:
    """The ruling that a person signed in this ledger. Rulings read from imported files prove
    nothing."""
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
    """True if each decision argued in this session already has a person's ruling.

    A parliament cannot end before its vote, so such a session stays open; nobody has to wait for
    it.
    """
    state = engine.load(session).state  # of a parliament or of a debate
    has_ended = isinstance(state, Parliament) and state.outcome is not None
    rulings = [ruling for _, ruling in _rulings_by_decision(engine, session)]
    return not has_ended and bool(rulings) and None not in rulings


def require_undecided(engine: Engine, session: str) -> None:
    """Refused if a decision that is argued there has a person's ruling: arguing on is in vain."""
    for decision, ruling in _rulings_by_decision(engine, session):
        if ruling is not None:
            raise _decided(decision, f"{ruling.by} has said {ruling.word.value}")


def _rulings_by_decision(engine: Engine, session: str) -> list[tuple[str, PersonsRuling | None]]:
    decisions = decisions_argued_in(engine, session)
    return [(decision, _state(engine, decision).word) for decision in decisions]


def only_repeats_ruling(
    workspace: Workspace, session: str, decision: PrimeMinisterDecision
) -> bool:
    """True if the session holds this very ruling and a decision lacks it; Refused if another one
    was given, or nothing is lacking."""
    engine = workspace.engine
    rulings = _rulings_by_decision(engine, session)
    for name, ruling in rulings:
        if ruling is not None and ruling.word is not _STAGES[decision.choice]:
            raise _decided(name, f"{ruling.by} has said {ruling.word.value}")
    signed = decision_signed_here(workspace, session)
    if signed is None or not rulings:
        return False
    bill = engine.state(PARLIAMENT, session).bill
    same_text = decision.draft is None or has_same_words(bill, decision.draft)
    is_lacking = any(ruling is None for _, ruling in rulings)
    if signed is not decision.choice or not same_text or not is_lacking:
        raise _decided(rulings[0][0], f"the prime minister has said {signed}")
    return True


def record_ruling(
    workspace: Workspace, job: Job, decision: PrimeMinisterDecision, vote: int | None = None
) -> JobOutcome:
    """Record the ruling in the session and in its decisions, or where it is lacking; in none of
    them if one refuses.

    `vote` is the number of the vote that the person has seen: about another one nothing was said.
    """
    engine = workspace.engine
    argued = decisions_argued_in(engine, job.stream)
    lacking = [name for name in argued if _state(engine, name).word is None]
    state = engine.state(PARLIAMENT, job.stream)
    if only_repeats_ruling(workspace, job.stream, decision):
        command = _decision_command(workspace, decision, state)
        jobs = [Job(stream_of(name), command, job.actor) for name in lacking]
        rulings: list[Callable[[JobOutcome], Job]] = []
    else:
        jobs = [*_result_jobs(engine, state, lacking), job]
        rulings = _ruling_jobs(workspace, job.actor, decision, lacking)

    def require_unchanged(_done: list[JobOutcome]) -> None:
        if decisions_argued_in(engine, job.stream) != argued:
            raise Conflict("busy", "a run was begun at this moment", hint="say it again")
        votes = len(engine.state(PARLIAMENT, job.stream).vote_history)
        if vote not in (None, votes):  # what the person was shown is no longer what is there
            raise Conflict(
                "busy", "it was argued further, and voted on again", hint="look at it again"
            )

    then = [*((lambda _, job=after: job) for after in jobs[1:]), *rulings]
    proved = [job.stream, *map(stream_of, lacking)]
    try:
        done = engine.execute_chain(jobs[0], *then, proved=proved, before_commit=require_unchanged)
    except Refused:
        only_repeats_ruling(workspace, job.stream, decision)  # somebody was first: that is why
        raise
    return done[len(jobs) - 1]


def _result_jobs(engine: Engine, state: Parliament, decisions: list[str]) -> Iterator[Job]:
    """Record what the vote came to where nobody has: it was not counted in a run."""
    if not state.vote_history or not engine.signs_as_ledger:
        return
    for decision in decisions:
        if _state(engine, decision).stage is Stage.ARGUING:
            yield Job(stream_of(decision), *vote_result_command(state))


def _ruling_jobs(
    workspace: Workspace, person: str, ruling: PrimeMinisterDecision, decisions: list[str]
) -> list[Callable[[JobOutcome], Job]]:
    """The same ruling for each decision, made from what the session came to by it."""
    made: list[Command] = []

    def job_for(decision: str) -> Callable[[JobOutcome], Job]:
        def make_job(before: JobOutcome) -> Job:
            if not made:  # the session comes first, then the decisions
                after = PARLIAMENT.require_state(before.state)
                made.append(_decision_command(workspace, ruling, after))
            return Job(stream_of(decision), made[0], person)

        return make_job

    return [job_for(decision) for decision in decisions]


def _decision_command(
    workspace: Workspace, ruling: PrimeMinisterDecision, after: Parliament
) -> Command:
    """What the decision records: by the ruling, and by whether the session goes on after it."""
    if after.outcome is None:
        return ask.SendBack(reason=ruling.reason)
    if ruling.choice is PrimeMinisterChoice.APPROVE:
        return ask.Approve(reason=ruling.reason)
    if ruling.choice is PrimeMinisterChoice.VETO:
        return ask.Veto(reason=ruling.reason)
    text = workspace.artifacts.put(describe_bill(after.bill).encode(), "text/markdown")
    return ask.Amend(reason=ruling.reason, text=text)


def _state(engine: Engine, decision: str) -> State:
    return engine.state(DECISION, stream_of(decision))


def _decided(decision: str, why: str) -> Refused:
    return Refused(
        "decided",
        f"{decision}: {why}",
        hint=f"`moot report {decision}` shows it; ask again: `moot ask`",
    )


# Once the chamber has voted for the last time, what it came to is known.
SETTLED: Final = frozenset(
    {SessionStatus.PM_REVIEW, SessionStatus.SYNTHESIS, SessionStatus.COMPLETE}
)


# DEC-032: the NO of a seat that was expelled is the protocol's, not an opinion.
NO_BY_RULE: Final = "NO by rule: it failed"


def vote_result_command(state: Parliament) -> tuple[ask.RecordResult, str, str]:
    """What the last vote came to: the command, who gives it, and the key under which each vote is
    recorded once."""
    key = f"result-{len(state.vote_history)}"
    if not state.vote_history:
        summary = "no bill was drafted"
        return ask.RecordResult(result=DecisionResult.NOT_CARRIED, summary=summary), SYSTEM, key
    last = state.vote_history[-1]
    votes = {
        seat.agent: seat.voting_record[-1].vote.value
        for seat in state.seats_in_order()
        if seat.voting_record
    }
    expelled = [seat.agent for seat in state.seats_in_order() if seat.expelled]
    summary = f"{last.yes} YES, {last.no} NO of {last.total} on version {last.bill_version}"
    if expelled:  # the rules count an expelled seat as NO, which is nobody's opinion
        summary += f" ({', '.join(expelled)}: {NO_BY_RULE})"
    result = ask.RecordResult(
        result=DecisionResult.CARRIED if last.passed else DecisionResult.NOT_CARRIED,
        summary=summary,
        approvers=tuple(name for name, vote in votes.items() if vote == "YES"),
        dissent=tuple(
            name for name, vote in votes.items() if vote == "NO" and name not in expelled
        ),
        absent=tuple(expelled),
    )
    return result, SYSTEM, key
