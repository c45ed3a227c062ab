"""A person's word on what a parliament argued: one act, in the session's record and the decision's.

Both are written in one commit (decision 0009), whichever command it comes by. Where one of them
holds a word that the other lacks, only the same word may be said, and completes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from moot.core.errors import Conflict, Refused
from moot.core.findings import errors
from moot.core.machine import Command
from moot.engine.engine import Engine
from moot.engine.job import Job, Outcome
from moot.engine.keys import hand_of_system
from moot.flows.parliament.bills import in_words, is_as
from moot.flows.parliament.cabinet import messages
from moot.flows.parliament.results import result_of
from moot.protocols.decision import PROTOCOL, stream_of
from moot.protocols.decision import commands as ask
from moot.protocols.decision.machine import SESSIONS
from moot.protocols.decision.model import PersonsRuling, Stage, State
from moot.protocols.parliament import commands as parliament
from moot.protocols.parliament.messages.contents import PmDecision
from moot.protocols.parliament.messages.message import read_response, response_findings
from moot.protocols.parliament.messages.words import Kind, PrimeMinisterChoice
from moot.protocols.parliament.model import SessionOutcome as Ended
from moot.protocols.parliament.model import State as Parliament
from moot.workspace.workspace import Workspace

# What a decision, and a session that has ended, call each word.
_STAGES: Final = {
    PrimeMinisterChoice.APPROVE: Stage.APPROVED,
    PrimeMinisterChoice.AMEND_AND_APPROVE: Stage.AMENDED,
    PrimeMinisterChoice.VETO: Stage.VETOED,
}
_HEARD: Final = {
    Ended.APPROVED: PrimeMinisterChoice.APPROVE,
    Ended.APPROVED_WITH_AMENDMENTS: PrimeMinisterChoice.AMEND_AND_APPROVE,
    Ended.VETOED: PrimeMinisterChoice.VETO,
}


class Said(NamedTuple):
    """The prime minister's word, and the amended bill if it brings one."""

    word: PrimeMinisterChoice
    reason: str
    draft: Any = None


def word_in(command: Command) -> Said | None:
    """The word that a command of the session brings; opening guidance decides nothing."""
    if isinstance(command, parliament.Decide):
        known = command.decision in {str(word) for word in _STAGES}
        return (
            Said(PrimeMinisterChoice(command.decision), command.reason, command.draft)
            if known
            else None
        )
    if not isinstance(command, parliament.Submit) or errors(response_findings(command.document)):
        return None
    content = read_response(command.document).content
    if isinstance(content, PmDecision) and content.decision in _STAGES:
        return Said(content.decision, content.reason)
    return None


def decisions_of(space: Workspace, session: str) -> list[str]:
    """The decisions that are argued in a session: one, unless somebody began another."""
    return _argued_in(space.engine, session)


def _argued_in(engine: Engine, session: str) -> list[str]:
    with engine.store.read() as view:
        keys = [row.key for row in view.rows(SESSIONS, f"{session} ")]
    return [key.partition(f" {PROTOCOL}/")[2] for key in keys]


def ended_with(state: Parliament) -> PrimeMinisterChoice | None:
    """The last word in a session that has ended with one, whoever's it was."""
    return None if state.outcome is None else _HEARD.get(state.outcome)


def heard_in(space: Workspace, session: str) -> PrimeMinisterChoice | None:
    """The same, where a person said it here: what files tell is nobody's word."""
    state: Parliament = space.engine.state(session)
    word = ended_with(state)
    return None if word is None or _came_with_files(space, session, state) else word


def _came_with_files(space: Workspace, session: str, state: Parliament) -> bool:
    """Was the last decision read from files? The clerk signed it then, and no person here."""
    if not state.imported:
        return False
    with space.store.read() as view:
        said = [one.id for one in messages(view, session) if one.type is Kind.PM_DECISION]
    return not said or int(said[-1].removeprefix("msg-")) <= state.imported


def is_over(engine: Engine, session: str) -> bool:
    """A person has ended all that is argued there, and it was not told: nobody is waited for.

    No rule of a parliament ends it before its vote; what it has come to stays as it is.
    """
    state = engine.state(session)
    told = isinstance(state, Parliament) and state.outcome is not None
    words = [word for _, word in _words_on(engine, session)]
    return not told and bool(words) and None not in words


def require_open_for(engine: Engine, session: str) -> None:
    """Refused if a decision that is argued there has its last word: more words are for nothing."""
    for decision, word in _words_on(engine, session):
        if word is not None:
            raise _decided(decision, f"{word.by} has said {word.word.value}")


def _words_on(engine: Engine, session: str) -> list[tuple[str, PersonsRuling | None]]:
    return [(one, engine.state(stream_of(one)).word) for one in _argued_in(engine, session)]


def only_repeats(space: Workspace, session: str, said: Said) -> bool:
    """The session has heard this very word, and a decision has not; Refused if another stands."""
    decisions = decisions_of(space, session)
    for one in decisions:
        spoken = _state(space, one).word
        if spoken is not None and spoken.word is not _STAGES[said.word]:
            raise _decided(one, f"{spoken.by} has said {spoken.word.value}")
    state: Parliament = space.engine.state(session)
    heard = heard_in(space, session)
    if heard is None or not decisions:
        return False
    another = heard is not said.word or not (said.draft is None or is_as(state.bill, said.draft))
    if another or not _lacking(space, decisions):
        raise _decided(decisions[0], f"the prime minister has said {heard}")
    return True


def say(space: Workspace, job: Job, said: Said, vote: int | None = None) -> Outcome:
    """The word in both records, or in the one that lacks it; in neither if one refuses.

    `vote`: the vote that the person has seen, by its number; of another one nothing was said.
    """
    decisions = decisions_of(space, job.stream)
    lacking = _lacking(space, decisions)
    state: Parliament = space.engine.state(job.stream)
    if only_repeats(space, job.stream, said):
        word = _command(space, said, state)
        jobs = [Job(stream_of(one), word, job.actor) for one in lacking]
        words: list[Callable[[Outcome], Job]] = []
    else:
        jobs = [*_results(space, state, lacking), job]
        words = _words(space, job.actor, said, lacking)

    def unchanged(_done: list[Outcome]) -> None:
        if decisions_of(space, job.stream) != decisions:
            raise Conflict("busy", "a run was begun at this moment", hint="say it again")
        require_vote(space.engine.state(job.stream), vote)

    then = [*((lambda _, job=one: job) for one in jobs[1:]), *words]
    proved = [job.stream, *map(stream_of, lacking)]
    try:
        done = space.engine.execute_chain(jobs[0], *then, proved=proved, before_commit=unchanged)
    except Refused:
        only_repeats(space, job.stream, said)  # somebody was heard first: that is why
        raise
    return done[len(jobs) - 1]


def require_vote(state: Parliament, vote: int | None) -> None:
    """Conflict if what was put to the person is no longer what stands there."""
    if vote is not None and len(state.vote_history) != vote:
        raise Conflict("busy", "it was argued further, and voted on anew", hint="look at it again")


def _results(space: Workspace, state: Parliament, decisions: list[str]) -> Iterator[Job]:
    """What the vote came to, where nobody has recorded it: it was not counted in a run."""
    if not state.vote_history or hand_of_system(space.engine.trust, space.engine.keys) is None:
        return
    for one in decisions:
        if _state(space, one).stage is Stage.ARGUING:
            yield Job(stream_of(one), *result_of(state))


def _words(
    space: Workspace, person: str, said: Said, decisions: list[str]
) -> list[Callable[[Outcome], Job]]:
    """The same word for each decision, made from what the session came to by it."""
    made: list[Command] = []

    def job_of(one: str) -> Callable[[Outcome], Job]:
        def job(done: Outcome) -> Job:
            if not made:  # the session comes first, then the decisions
                made.append(_command(space, said, done.state))
            return Job(stream_of(one), made[0], person)

        return job

    return [job_of(one) for one in decisions]


def _command(space: Workspace, said: Said, after: Parliament) -> Command:
    """What the decision records: by the word, and by whether the session goes on after it."""
    if after.outcome is None:
        return ask.SendBack(reason=said.reason)
    if said.word is PrimeMinisterChoice.APPROVE:
        return ask.Approve(reason=said.reason)
    if said.word is PrimeMinisterChoice.VETO:
        return ask.Veto(reason=said.reason)
    text = space.artifacts.put(in_words(after.bill).encode(), "text/markdown")
    return ask.Amend(reason=said.reason, text=text)


def _lacking(space: Workspace, decisions: list[str]) -> list[str]:
    return [one for one in decisions if _state(space, one).word is None]


def _state(space: Workspace, decision: str) -> State:
    state: State = space.engine.state(stream_of(decision))
    return state


def _decided(decision: str, why: str) -> Refused:
    return Refused(
        "decided",
        f"{decision}: {why}",
        hint=f"`moot report {decision}` shows it; ask anew: `moot ask`",
    )
