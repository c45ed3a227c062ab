"""The events that each accepted command records, and those that a malformed reply leaves behind.

The rules have already accepted the command: nothing here refuses. Rounds and votes are in
`ruling_events.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec

from moot.core.findings import Finding, select_errors
from moot.core.machine import C, Command, Draft, Event
from moot.core.record import ArtifactRef
from moot.protocols.parliament import amendments, clock, concessions, discipline, ruling_events
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import drafter as choice
from moot.protocols.parliament import events as did
from moot.protocols.parliament.case import (
    AnyMessageCase,
    DecisionCase,
    MessageCase,
    ParliamentCase,
)
from moot.protocols.parliament.message_effects import normalize_topic
from moot.protocols.parliament.messages import contents, sentences
from moot.protocols.parliament.messages.message import Response
from moot.protocols.parliament.messages.words import (
    AmendmentStatus,
    Kind,
    PrimeMinisterChoice,
    RulingAction,
    RulingType,
    SessionStatus,
)
from moot.protocols.parliament.minutes import Minutes
from moot.protocols.parliament.model import STREAM_NAME, Amendment, Seat
from moot.protocols.parliament.speech_checks import count_budget_sentences
from moot.protocols.parliament.temperatures import draw_temperatures

# So many exchanges on one topic without anyone moving: the debate goes in circles.
CIRCLE_AFTER_EXCHANGES: Final = 4
# A path into a reply can be as long as the reply; the event keeps so many characters of it.
_MAX_WHERE: Final = 200
_ORDER: Final = RulingType.ORDER

Exchange = TypeVar("Exchange", bound=contents.Question | contents.Answer)

replace = msgspec.structs.replace


def record_command(case: ParliamentCase[Any]) -> tuple[Draft, ...]:
    """What this command records."""
    minutes = Minutes(case.state, case.context.now)
    if isinstance(case, MessageCase):
        _MESSAGES.get(case.response.type, _log)(case, minutes)
    else:
        _COMMANDS[type(case.command)](case, minutes)
    return tuple(minutes.drafts)


def record_malformed_reply(
    case: ParliamentCase[Command],
    seat: Seat,
    findings: tuple[Finding, ...],
    raw: ArtifactRef | None,
) -> tuple[Draft, ...]:
    """A reply that cannot be used is counted; after the second in a row its seat is expelled."""
    minutes, first = Minutes(case.state, case.context.now), select_errors(findings)[0]
    count = seat.malformed + 1
    event = did.ReplyMalformed(
        seat=seat.id, code=first.code, where=(first.where or "")[:_MAX_WHERE], count=count
    )
    minutes.add_event(event, *((raw,) if raw is not None else ()))
    if count >= discipline.MALFORMED_LIMIT:
        minutes.add_event(did.SeatExpelled(seat=seat.id))
        text = f"{seat.name} sent {count} malformed replies in a row and is expelled."
        minutes.owe_ruling(_ORDER, RulingAction.REDIRECT, seat.id, text)
    return tuple(minutes.drafts)


# Setup, statements, drafting.


def _convene(case: ParliamentCase[ask.Convene], minutes: Minutes) -> None:
    command = case.command
    name = STREAM_NAME.match(case.context.stream)
    parliament_id = name[1] if name is not None else ""
    temperatures = draw_temperatures(f"{parliament_id}\n{command.seed}", 0, len(command.seats))
    seats = tuple(
        did.Seated(
            f"rep_{number}",
            plan.name,
            plan.motives,
            plan.agent,
            plan.bound,
            temperature,
            plan.epoch,
        )
        for number, (plan, temperature) in enumerate(
            zip(command.seats, temperatures, strict=True), 1
        )
    )
    minutes.add_event(
        did.ParliamentConvened(
            parliament_id=parliament_id,
            problem_statement=command.problem_statement,
            issues=command.issues,
            seats=seats,
            max_rounds=command.max_rounds,
        )
    )


def _import(case: ParliamentCase[ask.Import], minutes: Minutes) -> None:
    """The first event cites the files, so that they can be compared with what was made of them."""
    from moot.protocols.parliament.importing import FilesAsEvents  # heavy, and rare

    retelling = FilesAsEvents(case.command)
    minutes.drafts = [Draft(event) for event in retelling.events]
    minutes.drafts[0] = Draft(retelling.events[0], case.command.files)
    minutes.state = retelling.state


def _bind_seat(case: ParliamentCase[ask.BindSeat], minutes: Minutes) -> None:
    """Binding a seat to the agent that has it already records nothing."""
    command = case.command
    seat = case.state.seats[command.seat]
    if (seat.agent, seat.epoch) != (command.agent, command.epoch):
        event = did.SeatBound(seat=command.seat, agent=command.agent, epoch=command.epoch)
        minutes.add_event(event)


def _choose_drafter(case: ParliamentCase[ask.ChooseDrafter], minutes: Minutes) -> None:
    best = choice.choose_drafter(case.state)
    seat, why = best if best is not None else ("", "")
    if case.command.seat is not None:
        seat, why = case.command.seat, "named by the clerk"
    first = case.state.status is SessionStatus.EVALUATING_STATEMENTS
    event = did.DrafterChosen if first else did.DrafterReplaced
    minutes.add_event(event(seat=seat, why=why))


def _log(case: AnyMessageCase, minutes: Minutes) -> None:
    """PAR-051: most messages, a motion too, are only logged; their effects are in
    `message_effects.py`."""
    minutes.log_message(case.response)


def _log_draft(case: MessageCase[ask.Submit, contents.BillDraft], minutes: Minutes) -> None:
    minutes.log_message(case.response)
    if case.state.status is SessionStatus.DRAFTING:
        minutes.add_event(did.DebateOpened())


# Questions and answers.


def _log_exchange(case: MessageCase[ask.Submit, Exchange], minutes: Minutes) -> None:
    """A question or an answer: cut if it must be, its motion a message of its own (C-29)."""
    response, raw, budget = case.response, case.command.raw, clock.sentence_budget(case.state)
    motion, bare = response.motion, replace(response, motion=None)
    cut = raw is not None and count_budget_sentences(case.content) > budget
    if cut:
        bare = replace(bare, content=_cut(case.content, budget))
    message = minutes.log_message(
        bare, budget if cut else None, (raw,) if cut and raw is not None else ()
    )
    if motion is not None:  # PAR-026 and PAR-040
        minutes.log_message(
            Response(type=Kind.MOTION, sender=response.sender, content=motion, in_reply_to=message)
        )
    if cut:
        text = f"{message} was cut to {budget} sentences; what was sent is kept beside the record."
        minutes.owe_ruling(_ORDER, RulingAction.REDIRECT, response.sender, text)


def _cut(
    content: contents.Question | contents.Answer, budget: int
) -> contents.Question | contents.Answer:
    """PAR-107 and C-08: the first sentences; of an answer its concessions come last."""
    if isinstance(content, contents.Question):
        return replace(content, question=sentences.cut(content.question, budget))
    answer = sentences.cut(content.answer, budget)
    left = max(0, budget - sentences.count(answer))
    return replace(content, answer=answer, concessions=sentences.cut(content.concessions, left))


def _log_answer(case: MessageCase[ask.Submit, contents.Answer], minutes: Minutes) -> None:
    """Log it; the speaker owes a word about an early concession and about a debate in circles."""
    this, stance = case.state.round, case.content.stance
    question = this.questions[case.response.in_reply_to or ""]
    _log_exchange(case, minutes)
    if concessions.is_too_early(stance, this.number):
        seat = case.state.seats[case.response.sender]
        text = concessions.redirect_text(seat.name, stance, this.number)
        minutes.owe_ruling(_ORDER, RulingAction.REDIRECT, seat.id, text)
    if minutes.state.round.topics.get(normalize_topic(question.topic)) == CIRCLE_AFTER_EXCHANGES:
        exchanges = f"{CIRCLE_AFTER_EXCHANGES} exchanges on {question.topic!r}"
        text = f"{exchanges} and nobody moved: we go in circles."
        warning = RulingAction.DEADLOCK_WARNING
        minutes.owe_ruling(RulingType.OBSERVATION, warning, None, text)


def _give_owed_ruling(_case: ParliamentCase[ask.GiveOwedRuling], minutes: Minutes) -> None:
    owed = minutes.state.owed[0]
    minutes.give_ruling(owed.ruling_type, owed.action, owed.target, owed.ruling)
    minutes.add_event(did.RulingGiven())


# Amendments.


def _named_amendment(case: ParliamentCase[C]) -> Amendment:
    """The rules have seen that there is one."""
    assert case.amendment is not None
    return case.amendment


def _incorporate(case: ParliamentCase[ask.Incorporate], minutes: Minutes) -> None:
    amendment, bill = _named_amendment(case), case.state.bill
    assert bill is not None
    content = case.draft or amendments.apply_amendment(bill, amendment)
    assert content is not None
    sender = case.state.drafter or ""
    minutes.log_message(Response(type=Kind.BILL_DRAFT, sender=sender, content=content))
    ruling_events.settle_amendment(minutes, amendment, AmendmentStatus.INCORPORATED)


def _withdraw(case: ParliamentCase[ask.Withdraw], minutes: Minutes) -> None:
    ruling_events.settle_amendment(minutes, _named_amendment(case), AmendmentStatus.WITHDRAWN)


def _conclude_amendment(case: ParliamentCase[ask.ConcludeAmendment], minutes: Minutes) -> None:
    """PAR-118: a tie leaves it as it is."""
    amendment = _named_amendment(case)
    if amendments.is_opposed(amendment):
        ruling_events.settle_amendment(minutes, amendment, AmendmentStatus.REJECTED)


def _call_amendment_vote(case: ParliamentCase[ask.CallAmendmentVote], minutes: Minutes) -> None:
    """C-25: the speaker announces it; positions come with the answers."""
    amendment = _named_amendment(case)
    decided = {row.agent_id for row in amendment.endorsements}
    able = [seat for seat in case.state.seats_in_order() if not seat.is_quiet and not seat.expelled]
    first = next((seat.id for seat in able if seat.id not in decided), amendment.proposed_by)
    text = f"Formal vote on {amendment.amendment_id}: every seat takes a position, {first} first."
    minutes.give_ruling(_ORDER, RulingAction.REDIRECT, first, text)
    minutes.add_event(did.AmendmentVoteCalled(amendment_id=amendment.amendment_id))


# The prime minister, and the end.


def _log_decision(case: DecisionCase, minutes: Minutes) -> None:
    """PAR-077 and PAR-078: a veto sends the bill back, an approval leads to the final document."""
    minutes.log_message(case.response)
    match case.content.decision:
        case PrimeMinisterChoice.APPROVE:
            minutes.add_event(did.BillApproved())
        case PrimeMinisterChoice.AMEND_AND_APPROVE:
            assert case.draft is not None
            minutes.add_event(did.BillAmended(draft=case.draft))
        case PrimeMinisterChoice.VETO:
            minutes.add_event(_veto_event(case))


def _veto_event(case: DecisionCase) -> Event:
    """C-18: back to the debate while a round is left, or was granted."""
    granted = case.command.extend_rounds if isinstance(case.command, ask.Decide) else 0
    rounds = case.state.max_rounds + granted
    if case.state.round.number < rounds:
        return did.BillReturned(max_rounds=rounds)
    return did.BillRejected()


def _summarize(case: ParliamentCase[ask.Summarize], minutes: Minutes) -> None:
    minutes.add_event(did.RoundSummarized(summary=case.command.summary, told=True))


def _complete(case: ParliamentCase[ask.Complete], minutes: Minutes) -> None:
    document = case.command.document
    minutes.add_event(did.SessionCompleted(), *((document,) if document is not None else ()))


def _only(event: Callable[[], Event]) -> Callable[[ParliamentCase[Any], Minutes], None]:
    """For a command that records this one event, which has no fields."""
    return lambda _case, minutes: minutes.add_event(event())


_MESSAGES: Final[dict[Kind, Callable[[MessageCase[Any, Any], Minutes], None]]] = {
    Kind.BILL_DRAFT: _log_draft,
    Kind.QUESTION: _log_exchange,
    Kind.ANSWER: _log_answer,
    Kind.SPEAKER_RULING: ruling_events.record_ruling,
    Kind.VOTE_TALLY: ruling_events.record_tally,
    Kind.PM_DECISION: _log_decision,
}
_COMMANDS: Final[dict[type[Command], Callable[[ParliamentCase[Any], Minutes], None]]] = {
    ask.Convene: _convene,
    ask.Import: _import,
    ask.BindSeat: _bind_seat,
    ask.Begin: _only(did.StatementsOpened),
    ask.CloseStatements: _only(did.StatementsClosed),
    ask.ChooseDrafter: _choose_drafter,
    ask.EndUndrafted: _only(did.PassageFailed),
    ask.GiveOwedRuling: _give_owed_ruling,
    ask.Incorporate: _incorporate,
    ask.Withdraw: _withdraw,
    ask.ConcludeAmendment: _conclude_amendment,
    ask.CallAmendmentVote: _call_amendment_vote,
    ask.CloseBallot: ruling_events.record_closed_ballot,
    ask.CastDefaultVote: ruling_events.record_default_vote,
    ask.CountVotes: ruling_events.record_count,
    ask.Summarize: _summarize,
    ask.Complete: _complete,
}
