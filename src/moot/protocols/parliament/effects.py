"""What a message does to the session, type by type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
from immutables import Map

from moot.protocols.parliament import amendments, discipline, motives, votes
from moot.protocols.parliament.messages import contents as said
from moot.protocols.parliament.messages.excerpts import concern, short
from moot.protocols.parliament.messages.message import Message, message_of
from moot.protocols.parliament.messages.words import Ballot, Kind, RulingAction, Stance
from moot.protocols.parliament.model import (
    Amendment,
    Bill,
    Cast,
    CastVote,
    Endorsement,
    OpenMotion,
    OpenQuestion,
    Seat,
    Shift,
    State,
)

replace = msgspec.structs.replace

_SPOKEN: Final = frozenset({Kind.QUESTION, Kind.ANSWER, Kind.AMENDMENT, Kind.MOTION})
_MOVED: Final = frozenset({Stance.SOFTEN, Stance.CONCEDE})


def logged(state: State, document: dict[str, Any]) -> State:
    """Each message takes a number; a sound one has the effect of its type."""
    counted = replace(state, next_message_id=state.next_message_id + 1)
    message = sound(document)
    if message is None:
        return counted
    return _EFFECTS[message.type](_heard(counted, message), message)


def sound(document: dict[str, Any]) -> Message | None:
    """The message of a document, if it is one."""
    try:
        return message_of(document)
    except (msgspec.MsgspecError, KeyError, ValueError, TypeError):
        return None


def with_seat(state: State, seat: Seat) -> State:
    return replace(state, seats=state.seats.set(seat.id, seat))


def in_round(state: State, **changes: Any) -> State:
    return replace(state, round=replace(state.round, **changes))


def _heard(state: State, message: Message) -> State:
    """A message that stands ends a row of malformed ones."""
    seat = state.seats.get(message.sender)
    if seat is None:
        return state
    spoke = state.round.number if message.type in _SPOKEN else seat.spoke_in
    return with_seat(state, replace(seat, malformed=0, spoke_in=spoke))


def _stated(state: State, message: Message) -> State:
    seat = state.seats.get(message.sender)
    return state if seat is None else with_seat(state, replace(seat, opened=True))


def _drafted(state: State, message: Message) -> State:
    assert isinstance(message.content, said.BillDraft)
    return replace(state, bill=bill_of(message.content))


def bill_of(draft: said.BillDraft) -> Bill:
    return Bill(
        version=draft.bill_version,
        title=draft.title,
        summary=draft.summary,
        sections=draft.sections,
    )


def _asked(state: State, message: Message) -> State:
    assert isinstance(message.content, said.Question)
    topic, named = message.content.topic, _named(state, message.content.question)
    question = OpenQuestion(
        message.id,
        message.sender,
        message.to or "",
        short(topic),
        (*_named(state, topic), *named),
    )
    after = _with_concern(state, message.sender, topic)
    this = after.round
    return in_round(after, asked=this.asked + 1, questions=this.questions.set(message.id, question))


def _named(state: State, *texts: str) -> tuple[str, ...]:
    """The pending amendments that texts name."""
    return tuple(name for name in amendments.named_in(*texts) if name in state.pending)


def _with_concern(state: State, sender: str, text: str) -> State:
    seat, most = state.seats.get(sender), len(state.order)
    return state if seat is None else with_seat(state, replace(seat, concern=concern(text, most)))


def _answered(state: State, message: Message) -> State:
    content, this = message.content, state.round
    assert isinstance(content, said.Answer)
    question = this.questions.get(message.in_reply_to or "")
    if question is None:
        return state
    after = _scored(state, message.sender, content.motive_scores)
    named = (*question.amendments, *_named(state, content.answer, content.concessions))
    after = _positioned(after, named, message.sender, content.amendment_position)
    return in_round(
        after,
        exchanges=this.exchanges + 1,
        questions=this.questions.delete(question.id),
        answered=this.answered.set(question.id, True),
        topics=_circled(this.topics, question.topic, content.stance),
        shifts=_shifted(this.shifts, message.sender, content.stance, question.topic),
    )


def point(topic: str) -> str:
    """A topic as it is compared."""
    return " ".join(topic.casefold().split())


def _circled(topics: Map[str, int], topic: str, stance: Stance) -> Map[str, int]:
    moved = stance in _MOVED
    return topics.set(point(topic), 0 if moved else topics.get(point(topic), 0) + 1)


def _shifted(
    shifts: tuple[Shift, ...], sender: str, stance: Stance, topic: str
) -> tuple[Shift, ...]:
    return (*shifts, Shift(sender, stance, topic)) if stance in _MOVED else shifts


def _scored(state: State, sender: str, scores: dict[str, int]) -> State:
    seat = state.seats.get(sender)
    return state if seat is None else with_seat(state, motives.scored(seat, scores))


def _positioned(
    state: State,
    named: tuple[str, ...],
    sender: str,
    position: said.AmendmentPosition | None,
) -> State:
    """C-43: what the exchange names is debated; the position is registered (PAR-039)."""
    about = dict.fromkeys(named)
    if position is not None:
        about[position.amendment_id] = None
    kept = state.amendments
    for name in about:
        amendment = kept.get(name)
        if amendment is None or not amendment.pending:
            continue
        amendment = amendments.discussed(amendment)
        if position is not None and position.amendment_id == name:
            row = Endorsement(sender, position.position, state.round.number)
            amendment = amendments.registered(amendment, row)
        kept = kept.set(name, amendment)
    return replace(state, amendments=kept)


def _proposed(state: State, message: Message) -> State:
    content = message.content
    assert isinstance(content, said.Amendment)
    amendment = Amendment(
        amendment_id=content.amendment_id,
        number=state.next_message_id - 1,
        proposed_by=message.sender,
        round=message.round,
        target_section=content.target_section,
        action=content.action,
        description=content.description,
        proposed_text=content.proposed_text,
    )
    name = amendment.amendment_id
    others = tuple(one for one in state.pending if one != name)
    count = state.round.proposed.get(message.sender, 0) + 1
    return in_round(
        replace(state, amendments=state.amendments.set(name, amendment), pending=(*others, name)),
        proposed=state.round.proposed.set(message.sender, count),
    )


def _moved(state: State, message: Message) -> State:
    content = message.content
    assert isinstance(content, said.Motion)
    mover, kind = message.sender, content.motion_type
    motion = OpenMotion(message.id, mover, kind, short(content.reason))
    others = {
        key: one
        for key, one in state.round.motions.items()
        if (one.mover, one.type) != (mover, kind)
    }
    return in_round(state, motions=Map({**others, motion.id: motion}))


def _voted(state: State, message: Message) -> State:
    content, poll, seat = message.content, state.poll, state.seats.get(message.sender)
    assert isinstance(content, said.Vote)
    if poll is None or seat is None:
        return state
    against = concern(concern_of(content), len(state.order))
    cast = Cast(poll.round, poll.bill_version, content.vote)
    voter = replace(
        motives.scored(seat, content.motive_scores),
        voting_record=(*seat.voting_record, cast),
        concern=against,
    )
    kept = poll.votes.set(seat.id, CastVote(content.vote, against))
    return replace(with_seat(state, voter), poll=replace(poll, votes=kept))


def concern_of(vote: said.Vote) -> str:
    """What a voter holds against the bill: of a NO its reasons, of a YES its reservations."""
    if vote.vote is Ballot.NO:
        return vote.reasoning
    return vote.reservations


def _ruled(state: State, message: Message) -> State:
    content, this = message.content, state.round
    assert isinstance(content, said.SpeakerRuling)
    target = content.target
    seat = state.seats.get(target or "")
    left = {key: one for key, one in this.motions.items() if one.mover != target}
    floor = target if content.action is RulingAction.NEXT_SPEAKER else this.floor
    after = in_round(
        state, motions=this.motions if len(left) == len(this.motions) else Map(left), floor=floor
    )
    if content.action is RulingAction.QUIET and seat is not None:
        return with_seat(after, discipline.quieted(seat, this.number))
    return after


def _tallied(state: State, message: Message) -> State:
    assert isinstance(message.content, said.VoteTally)
    if state.poll is None:
        return state
    row = votes.row(message.content, state.poll)
    return replace(state, vote_history=(*state.vote_history, row), poll=None)


def _guided(state: State, message: Message) -> State:
    assert isinstance(message.content, said.PmDecision)
    guidance = message.content.guidance.strip()
    return replace(state, guidance=guidance) if guidance else state


_EFFECTS: Final[dict[Kind, Callable[[State, Message], State]]] = {
    Kind.OPENING_STATEMENT: _stated,
    Kind.BILL_DRAFT: _drafted,
    Kind.QUESTION: _asked,
    Kind.ANSWER: _answered,
    Kind.AMENDMENT: _proposed,
    Kind.MOTION: _moved,
    Kind.VOTE: _voted,
    Kind.SPEAKER_RULING: _ruled,
    Kind.VOTE_TALLY: _tallied,
    Kind.PM_DECISION: _guided,
}
