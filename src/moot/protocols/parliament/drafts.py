"""What each accepted command records, and what a malformed reply leaves behind.

Every draft follows the rules' yes; nothing is decided here but numbers and words. Rounds and
votes are in `rulings.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from moot.core.findings import Finding, errors
from moot.core.machine import Command, Draft, Event
from moot.protocols.parliament import amendments, clock, concessions, discipline, rulings
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import drafter as choice
from moot.protocols.parliament import events as did
from moot.protocols.parliament.asked import Asked
from moot.protocols.parliament.effects import point
from moot.protocols.parliament.messages import contents as said
from moot.protocols.parliament.messages import sentences
from moot.protocols.parliament.messages.message import Response
from moot.protocols.parliament.messages.words import (
    AmendmentStatus,
    Kind,
    RulingAction,
    RulingType,
    Status,
    Word,
)
from moot.protocols.parliament.minutes import Minutes
from moot.protocols.parliament.model import STREAM, Seat
from moot.protocols.parliament.speech import spoken
from moot.protocols.parliament.temperatures import draw

# So many exchanges on one point without a move are a circle.
CIRCLE: Final = 4
_WHERE: Final = 200

replace = msgspec.structs.replace


def accepted(asked: Asked) -> tuple[Draft, ...]:
    minutes = Minutes(asked)
    if asked.response is not None:
        _MESSAGES.get(asked.response.type, _logged)(asked, minutes)
    else:
        _COMMANDS[type(asked.command)](asked, minutes)
    return tuple(minutes.drafts)


def malformed(asked: Asked, seat: Seat, findings: tuple[Finding, ...]) -> tuple[Draft, ...]:
    """A reply that cannot be used is counted; after the second in a row its seat is expelled."""
    minutes, first = Minutes(asked), errors(findings)[0]
    count = seat.malformed + 1
    raw = getattr(asked.command, "raw", None)
    event = did.ReplyMalformed(
        seat=seat.id, code=first.code, where=(first.where or "")[:_WHERE], count=count
    )
    minutes.add(event, *((raw,) if raw is not None else ()))
    if count >= discipline.MALFORMED_LIMIT:
        minutes.add(did.SeatExpelled(seat=seat.id))
        text = f"{seat.name} sent {count} malformed replies in a row and is expelled."
        minutes.owe(RulingType.ORDER, RulingAction.REDIRECT, seat.id, text)
    return tuple(minutes.drafts)


# Setup, statements, drafting.


def _convened(asked: Asked, minutes: Minutes) -> None:
    command: ask.Convene = asked.command
    name = STREAM.match(asked.context.stream)
    parliament_id = name[1] if name is not None else ""
    heat = draw(f"{parliament_id}\n{command.seed}", 0, len(command.seats))
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
        for number, (plan, temperature) in enumerate(zip(command.seats, heat, strict=True), 1)
    )
    minutes.add(
        did.ParliamentConvened(
            parliament_id=parliament_id,
            problem_statement=command.problem_statement,
            issues=command.issues,
            seats=seats,
            max_rounds=command.max_rounds,
        )
    )


def _imported(asked: Asked, minutes: Minutes) -> None:
    from moot.protocols.parliament.importing import Retelling  # heavy, and rare

    told = Retelling(asked.command)
    minutes.drafts = [Draft(event) for event in told.events]
    minutes.drafts[0] = Draft(told.events[0], asked.command.files)
    minutes.state = told.state


def _bound(asked: Asked, minutes: Minutes) -> None:
    command: ask.BindSeat = asked.command
    seat = asked.state.seats[command.seat]
    if (seat.agent, seat.epoch) != (command.agent, command.epoch):
        event = did.SeatBound(seat=command.seat, agent=command.agent, epoch=command.epoch)
        minutes.add(event)


def _chosen(asked: Asked, minutes: Minutes) -> None:
    found = choice.choose(asked.state)
    seat, why = found if found is not None else ("", "")
    if asked.command.seat is not None:
        seat, why = asked.command.seat, "named by the clerk"
    first = asked.state.status is Status.EVALUATING_STATEMENTS
    event = did.DrafterChosen if first else did.DrafterReplaced
    minutes.add(event(seat=seat, why=why))


def _logged(asked: Asked, minutes: Minutes) -> None:
    assert asked.response is not None
    minutes.log(asked.response)


def _drafted(asked: Asked, minutes: Minutes) -> None:
    _logged(asked, minutes)
    if asked.state.status is Status.DRAFTING:
        minutes.add(did.DebateOpened())


# Questions and answers.


def _exchanged(asked: Asked, minutes: Minutes) -> None:
    """A question or an answer: cut if it must be, its motion a message of its own (C-29)."""
    assert asked.response is not None
    response, raw, most = asked.response, asked.command.raw, clock.budget(asked.state)
    motion, bare = response.motion, replace(response, motion=None)
    cut = raw is not None and spoken(response.content) > most
    if cut:
        bare = replace(bare, content=_cut(response.content, most))
    message = minutes.log(bare, most if cut else None, (raw,) if cut and raw is not None else ())
    if motion is not None:
        minutes.log(
            Response(type=Kind.MOTION, sender=response.sender, content=motion, in_reply_to=message)
        )
    if cut:
        text = f"{message} was cut to {most} sentences; what was sent is kept beside the record."
        minutes.owe(_ORDER, RulingAction.REDIRECT, response.sender, text)


_ORDER: Final = RulingType.ORDER


def _cut(content: Any, most: int) -> Any:
    """C-08: the first sentences; of an answer its concessions come last."""
    if isinstance(content, said.Question):
        return replace(content, question=sentences.cut(content.question, most))
    answer = sentences.cut(content.answer, most)
    left = max(0, most - sentences.count(answer))
    return replace(content, answer=answer, concessions=sentences.cut(content.concessions, left))


def _answered(asked: Asked, minutes: Minutes) -> None:
    assert asked.response is not None
    this, answer = asked.state.round, asked.said
    question = this.questions[asked.response.in_reply_to or ""]
    _exchanged(asked, minutes)
    if concessions.too_early(answer.stance, this.number):
        seat = asked.state.seats[asked.response.sender]
        text = concessions.redirect(seat.name, answer.stance, this.number)
        minutes.owe(_ORDER, RulingAction.REDIRECT, seat.id, text)
    if minutes.state.round.topics.get(point(question.topic)) == CIRCLE:
        text = f"{CIRCLE} exchanges on {question.topic!r} and nobody moved: we go in circles."
        warning = RulingAction.DEADLOCK_WARNING
        minutes.owe(RulingType.OBSERVATION, warning, None, text)


def _given(_asked: Asked, minutes: Minutes) -> None:
    owed = minutes.state.owed[0]
    minutes.rule(owed.ruling_type, owed.action, owed.target, owed.ruling)
    minutes.add(did.RulingGiven())


# Amendments.


def _incorporated(asked: Asked, minutes: Minutes) -> None:
    amendment, bill = asked.amendment, asked.state.bill
    assert amendment is not None
    assert bill is not None
    content = asked.draft or amendments.carried_out(bill, amendment)
    assert content is not None
    sender = asked.state.drafter or ""
    minutes.log(Response(type=Kind.BILL_DRAFT, sender=sender, content=content))
    rulings.settle(minutes, amendment, AmendmentStatus.INCORPORATED)


def _withdrawn(asked: Asked, minutes: Minutes) -> None:
    assert asked.amendment is not None
    rulings.settle(minutes, asked.amendment, AmendmentStatus.WITHDRAWN)


def _concluded(asked: Asked, minutes: Minutes) -> None:
    """PAR-118: a tie leaves it as it is."""
    assert asked.amendment is not None
    if amendments.opposed(asked.amendment):
        rulings.settle(minutes, asked.amendment, AmendmentStatus.REJECTED)


def _amendment_vote(asked: Asked, minutes: Minutes) -> None:
    """C-25: the speaker announces it; positions come with the answers."""
    amendment = asked.amendment
    assert amendment is not None
    took = {row.agent_id for row in amendment.endorsements}
    able = [seat for seat in asked.state.in_order() if not seat.is_quiet and not seat.expelled]
    first = next((seat.id for seat in able if seat.id not in took), amendment.proposed_by)
    text = f"Formal vote on {amendment.amendment_id}: every seat takes a position, {first} first."
    minutes.rule(_ORDER, RulingAction.REDIRECT, first, text)
    minutes.add(did.AmendmentVoteCalled(amendment_id=amendment.amendment_id))


# The prime minister, and the end.


def _decided(asked: Asked, minutes: Minutes) -> None:
    _logged(asked, minutes)
    match asked.said.decision:
        case Word.APPROVE:
            minutes.add(did.BillApproved())
        case Word.AMEND_AND_APPROVE:
            assert asked.draft is not None
            minutes.add(did.BillAmended(draft=asked.draft))
        case Word.VETO:
            minutes.add(_vetoed(asked))


def _vetoed(asked: Asked) -> Event:
    """C-18: back to the debate while a round is left, or was granted."""
    rounds = asked.state.max_rounds + getattr(asked.command, "extend_rounds", 0)
    if asked.state.round.number < rounds:
        return did.BillReturned(max_rounds=rounds)
    return did.BillRejected()


def _summarized(asked: Asked, minutes: Minutes) -> None:
    minutes.add(did.RoundSummarized(summary=asked.command.summary, told=True))


def _completed(asked: Asked, minutes: Minutes) -> None:
    document = asked.command.document
    minutes.add(did.SessionCompleted(), *((document,) if document is not None else ()))


def _event(event: Callable[[], Event]) -> Callable[[Asked, Minutes], None]:
    return lambda _asked, minutes: minutes.add(event())


_MESSAGES: Final[dict[Kind, Callable[[Asked, Minutes], None]]] = {
    Kind.BILL_DRAFT: _drafted,
    Kind.QUESTION: _exchanged,
    Kind.ANSWER: _answered,
    Kind.SPEAKER_RULING: rulings.ruled,
    Kind.VOTE_TALLY: rulings.tallied,
    Kind.PM_DECISION: _decided,
}
_COMMANDS: Final[dict[type[Command], Callable[[Asked, Minutes], None]]] = {
    ask.Convene: _convened,
    ask.Import: _imported,
    ask.BindSeat: _bound,
    ask.Begin: _event(did.StatementsOpened),
    ask.CloseStatements: _event(did.StatementsClosed),
    ask.ChooseDrafter: _chosen,
    ask.EndUndrafted: _event(did.PassageFailed),
    ask.GiveOwedRuling: _given,
    ask.Incorporate: _incorporated,
    ask.Withdraw: _withdrawn,
    ask.ConcludeAmendment: _concluded,
    ask.CallAmendmentVote: _amendment_vote,
    ask.CloseBallot: rulings.ballot_closed,
    ask.CastDefaultVote: rulings.default_cast,
    ask.CountVotes: rulings.counted,
    ask.Summarize: _summarized,
    ask.Complete: _completed,
}
