"""The state after an event. Total: an event of the ledger happened, so nothing is refused here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
from immutables import Map

from moot.core.machine import Event, Recorded, fill_from
from moot.protocols.parliament import discipline, motives, votes
from moot.protocols.parliament import events as did
from moot.protocols.parliament import votes as amendments
from moot.protocols.parliament.messages import contents
from moot.protocols.parliament.messages.contents import (
    Ballot,
    Kind,
    RulingAction,
    SessionStatus,
    Stance,
)
from moot.protocols.parliament.messages.limits import shorten, shorten_concern, shorten_conditions
from moot.protocols.parliament.messages.message import LedgerMessage, read_message
from moot.protocols.parliament.model import (
    Amendment,
    AmendmentEndorsement,
    Bill,
    CastVote,
    OpenBallot,
    OpenMotion,
    OpenQuestion,
    OwedRuling,
    Round,
    Seat,
    SessionOutcome,
    SettledAmendment,
    StanceShift,
    State,
    VotingRecordRow,
)
from moot.protocols.parliament.phases import TRANSITIONS

# A document that is no sound message takes its number and changes nothing else.

replace = msgspec.structs.replace

_SPEAKING_KINDS: Final = frozenset({Kind.QUESTION, Kind.ANSWER, Kind.AMENDMENT, Kind.MOTION})
_MOVING_STANCES: Final = frozenset({Stance.SOFTEN, Stance.CONCEDE})


def apply_message(state: State, document: dict[str, Any]) -> State:
    """Give the message its number; a sound one then has the effect of its type."""
    counted = replace(state, next_message_id=state.next_message_id + 1)
    message = read_if_sound(document)
    if message is None:
        return counted
    return _EFFECTS[message.type](_note_speaker(counted, message), message)


def read_if_sound(document: dict[str, Any]) -> LedgerMessage | None:
    """Return the message of a document, if it is one."""
    try:
        return read_message(document)
    except (msgspec.MsgspecError, KeyError, ValueError, TypeError):
        return None


def with_seat(state: State, seat: Seat) -> State:
    return replace(state, seats=state.seats.set(seat.id, seat))


def with_round(state: State, **changes: Any) -> State:
    return replace(state, round=replace(state.round, **changes))


def _note_speaker(state: State, message: LedgerMessage) -> State:
    """Reset the counter of malformed messages, and note that the seat was heard in this round."""
    seat = state.seats.get(message.sender)
    if seat is None:
        return state
    spoke = state.round.number if message.type in _SPEAKING_KINDS else seat.spoke_in
    return with_seat(state, replace(seat, malformed=0, spoke_in=spoke))


def _open_statement(state: State, message: LedgerMessage) -> State:
    seat = state.seats.get(message.sender)
    return state if seat is None else with_seat(state, replace(seat, opened=True))


def _take_draft(state: State, message: LedgerMessage) -> State:
    assert isinstance(message.content, contents.BillDraft)
    return replace(state, bill=bill_from_draft(message.content))


def bill_from_draft(draft: contents.BillDraft) -> Bill:
    return fill_from(Bill, draft, version=draft.bill_version)


def _take_question(state: State, message: LedgerMessage) -> State:
    assert isinstance(message.content, contents.Question)
    topic, named = message.content.topic, _pending_named_in(state, message.content.question)
    question = OpenQuestion(
        message.id,
        message.sender,
        message.to or "",
        shorten(topic),
        (*_pending_named_in(state, topic), *named),
    )
    after = _with_concern(state, message.sender, topic)
    this = after.round
    return with_round(
        after, asked=this.asked + 1, questions=this.questions.set(message.id, question)
    )


def _pending_named_in(state: State, *texts: str) -> tuple[str, ...]:
    """Return the pending amendments whose ids are in the texts."""
    return tuple(name for name in amendments.find_amendment_ids(*texts) if name in state.pending)


def _with_concern(state: State, sender: str, text: str) -> State:
    seat, most = state.seats.get(sender), len(state.order)
    return (
        state
        if seat is None
        else with_seat(state, replace(seat, concern=shorten_concern(text, most)))
    )


def _take_answer(state: State, message: LedgerMessage) -> State:
    """PAR-104: an exchange is counted when its question is answered."""
    content, this = message.content, state.round
    assert isinstance(content, contents.Answer)
    question = this.questions.get(message.in_reply_to or "")
    if question is None:
        return state
    after = _take_scores(state, message.sender, content.motive_scores)
    named = (*question.amendments, *_pending_named_in(state, content.answer, content.concessions))
    after = _take_position(after, named, message.sender, content.amendment_position)
    return with_round(
        after,
        exchanges=this.exchanges + 1,
        questions=this.questions.delete(question.id),
        answered=this.answered.set(question.id, True),
        topics=_count_without_move(this.topics, question.topic, content.stance),
        shifts=_add_shift(this.shifts, message.sender, content.stance, question.topic),
    )


def normalize_topic(topic: str) -> str:
    """Return a topic as it is compared: neither case nor spacing makes it a new one."""
    return " ".join(topic.casefold().split())


def _count_without_move(topics: Map[str, int], topic: str, stance: Stance) -> Map[str, int]:
    moved = stance in _MOVING_STANCES
    return topics.set(
        normalize_topic(topic), 0 if moved else topics.get(normalize_topic(topic), 0) + 1
    )


def _add_shift(
    shifts: tuple[StanceShift, ...], sender: str, stance: Stance, topic: str
) -> tuple[StanceShift, ...]:
    return (*shifts, StanceShift(sender, stance, topic)) if stance in _MOVING_STANCES else shifts


def _take_scores(state: State, sender: str, scores: dict[str, int]) -> State:
    seat = state.seats.get(sender)
    return state if seat is None else with_seat(state, motives.with_scores(seat, scores))


def _take_position(
    state: State,
    named: tuple[str, ...],
    sender: str,
    position: contents.AmendmentPosition | None,
) -> State:
    """C-43: every amendment that the exchange names is debated; the position is registered
    (PAR-036, PAR-039)."""
    about = dict.fromkeys(named)
    if position is not None:
        about[position.amendment_id] = None
    amendments_now = state.amendments
    for name in about:
        amendment = amendments_now.get(name)
        if amendment is None or not amendment.pending:
            continue
        amendment = amendments.count_exchange(amendment)
        if position is not None and position.amendment_id == name:
            row = AmendmentEndorsement(sender, position.position, state.round.number)
            amendment = amendments.register_position(amendment, row)
        amendments_now = amendments_now.set(name, amendment)
    return replace(state, amendments=amendments_now)


def _take_amendment(state: State, message: LedgerMessage) -> State:
    """PAR-047: add it to the bill as proposed."""
    content = message.content
    assert isinstance(content, contents.AmendmentContent)
    amendment = fill_from(
        Amendment,
        content,
        number=state.next_message_id - 1,
        proposed_by=message.sender,
        round=message.round,
    )
    name = amendment.amendment_id
    others = tuple(other for other in state.pending if other != name)
    count = state.round.proposed.get(message.sender, 0) + 1
    return with_round(
        replace(state, amendments=state.amendments.set(name, amendment), pending=(*others, name)),
        proposed=state.round.proposed.set(message.sender, count),
    )


def _take_motion(state: State, message: LedgerMessage) -> State:
    """PAR-051: it only waits for the speaker; a seat's newer one of the same type replaces it."""
    content = message.content
    assert isinstance(content, contents.Motion)
    mover, kind = message.sender, content.motion_type
    motion = OpenMotion(message.id, mover, kind, shorten(content.reason))
    others = {
        key: motion_before
        for key, motion_before in state.round.motions.items()
        if (motion_before.mover, motion_before.type) != (mover, kind)
    }
    return with_round(state, motions=Map({**others, motion.id: motion}))


def _take_vote(state: State, message: LedgerMessage) -> State:
    """PAR-057: onto the ballot, and into the seat's own voting record."""
    content, poll, seat = message.content, state.poll, state.seats.get(message.sender)
    assert isinstance(content, contents.Vote)
    if poll is None or seat is None:
        return state
    against = shorten_concern(concern_in_vote(content), len(state.order))
    cast = VotingRecordRow(poll.round, poll.bill_version, content.vote)
    voter = replace(
        motives.with_scores(seat, content.motive_scores),
        voting_record=(*seat.voting_record, cast),
        concern=against,
        conditions=shorten_conditions("; ".join(content.conditions), len(state.order)),
    )
    cast_votes = poll.votes.set(seat.id, CastVote(content.vote, against))
    return replace(with_seat(state, voter), poll=replace(poll, votes=cast_votes))


def concern_in_vote(vote: contents.Vote) -> str:
    """Return what a voter holds against the bill: a NO its reasoning, a YES its reservations."""
    if vote.vote is Ballot.NO:
        return vote.reasoning
    return vote.reservations


def _take_ruling(state: State, message: LedgerMessage) -> State:
    """Apply a ruling: it settles the seat's motions; some also give or take the floor."""
    content, this = message.content, state.round
    assert isinstance(content, contents.SpeakerRuling)
    target = content.target
    seat = state.seats.get(target or "")
    left = {key: motion for key, motion in this.motions.items() if motion.mover != target}
    floor = target if content.action is RulingAction.NEXT_SPEAKER else this.floor
    after = with_round(
        state, motions=this.motions if len(left) == len(this.motions) else Map(left), floor=floor
    )
    if content.action is RulingAction.QUIET and seat is not None:
        return with_seat(after, discipline.make_quiet(seat, this.number))
    return after


def _take_tally(state: State, message: LedgerMessage) -> State:
    """PAR-073: the ballot is over and becomes a row of the vote history."""
    assert isinstance(message.content, contents.VoteTally)
    if state.poll is None:
        return state
    row = votes.make_history_row(message.content, state.poll)
    return replace(state, vote_history=(*state.vote_history, row), poll=None)


def _take_guidance(state: State, message: LedgerMessage) -> State:
    """PAR-077: a decision's guidance stays for all seats until another replaces it."""
    assert isinstance(message.content, contents.PmDecision)
    guidance = message.content.guidance.strip()
    return replace(state, guidance=guidance) if guidance else state


_EFFECTS: Final[dict[Kind, Callable[[State, LedgerMessage], State]]] = {
    Kind.OPENING_STATEMENT: _open_statement,
    Kind.BILL_DRAFT: _take_draft,
    Kind.QUESTION: _take_question,
    Kind.ANSWER: _take_answer,
    Kind.AMENDMENT: _take_amendment,
    Kind.MOTION: _take_motion,
    Kind.VOTE: _take_vote,
    Kind.SPEAKER_RULING: _take_ruling,
    Kind.VOTE_TALLY: _take_tally,
    Kind.PM_DECISION: _take_guidance,
}


def evolve(state: State, recorded: Recorded[Any]) -> State:
    return apply_event(state, recorded.event)


def apply_event(state: State, event: Event) -> State:
    """Like `evolve`, for an event that is not recorded yet: the minutes look ahead with it."""
    after = _EVOLVE.get(type(event), _keep_state)(state, event)
    if after.status is None:
        return after
    status = TRANSITIONS[after.status].get(type(event))
    return after if status is None else replace(after, status=status)


def _keep_state(state: State, _event: Event) -> State:
    return state


def _on_convened(state: State, event: did.ParliamentConvened) -> State:
    """PAR-094, PAR-096 and PAR-097: histories begin with round 0; no seat is quiet or has voted."""
    seats = [
        fill_from(Seat, seated, scores=(None,) * len(seated.motives), heat=(0, seated.temperature))
        for seated in event.seats
    ]
    return State(
        parliament_id=event.parliament_id,
        problem_statement=event.problem_statement,
        constituent_issues=event.issues,
        max_rounds=event.max_rounds,
        status=SessionStatus.SETUP,
        order=tuple(seat.id for seat in seats),
        seats=Map({seat.id: seat for seat in seats}),
        holders=Map({seat.agent: seat.id for seat in seats}),
        imported=state.imported,
    )


def _on_bound(state: State, event: did.SeatBound) -> State:
    seat = state.seats.get(event.seat)
    if seat is None:
        return state
    holders = state.holders.delete(seat.agent) if seat.agent in state.holders else state.holders
    bound = replace(seat, agent=event.agent, bound=True, epoch=event.epoch)
    return replace(with_seat(state, bound), holders=holders.set(event.agent, seat.id))


def _on_drafter(state: State, event: did.DrafterChosen | did.DrafterReplaced) -> State:
    return replace(state, drafter=event.seat)


def _on_owed(state: State, event: did.RulingOwed) -> State:
    owed = OwedRuling(event.ruling_type, event.action, event.target, event.ruling)
    return replace(state, owed=(*state.owed, owed))


def _on_started(state: State, event: did.RoundStarted) -> State:
    """PAR-066: reset the clock (PAR-104), end quiet, set the new temperatures."""
    seats = state.seats
    for name, temperature in zip(state.order, event.temperatures, strict=False):
        heard = discipline.end_quiet(seats[name], event.round)
        seats = seats.set(name, _with_temperature(heard, event.round, temperature))
    scores = Map({seat.id: seat.scores for seat in state.seats_in_order()})
    this = Round(number=event.round, running=True, scores=scores)
    return replace(state, seats=seats, round=this)


def _with_temperature(seat: Seat, number: int, temperature: int) -> Seat:
    """C-09: the history gets a row only where the temperature changes."""
    if temperature == seat.temperature:
        return seat
    return replace(seat, temperature=temperature, heat=(*seat.heat, number, temperature))


def _on_ended(state: State, event: did.RoundEnded) -> State:
    return with_round(
        state, running=False, questions=Map(), motions=Map(), open_issues=event.open_issues
    )


def _on_summarized(state: State, event: did.RoundSummarized) -> State:
    replaces_summary = event.told and event.summary.get("round") == state.round.number
    return with_round(state, told=event.summary) if replaces_summary else state


def _on_malformed(state: State, event: did.ReplyMalformed) -> State:
    seat = state.seats.get(event.seat)
    return state if seat is None else with_seat(state, replace(seat, malformed=event.count))


def _on_expelled(state: State, event: did.SeatExpelled) -> State:
    seat = state.seats.get(event.seat)
    return state if seat is None else with_seat(state, replace(seat, expelled=True))


def _on_settled(state: State, event: did.AmendmentSettled) -> State:
    amendment = state.amendments.get(event.amendment_id)
    if amendment is None:
        return state
    closed = replace(amendment, status=event.status, proposed_text="")
    amendments_now = state.amendments.set(amendment.amendment_id, closed)
    left = tuple(name for name in state.pending if name != event.amendment_id)
    row = SettledAmendment(event.amendment_id, event.status)
    return with_round(
        replace(state, amendments=amendments_now, pending=left), settled=(*state.round.settled, row)
    )


def _on_amendment_vote(state: State, event: did.AmendmentVoteCalled) -> State:
    amendment = state.amendments.get(event.amendment_id)
    if amendment is None:
        return state
    amendments_now = state.amendments.set(amendment.amendment_id, replace(amendment, formal=True))
    return replace(state, amendments=amendments_now)


def _on_called(state: State, event: did.VoteCalled) -> State:
    poll = OpenBallot(
        round=state.round.number, bill_version=event.bill_version, forced=event.forced
    )
    return replace(state, poll=poll)


def _on_closed(state: State, _event: did.BallotClosed) -> State:
    return state if state.poll is None else replace(state, poll=replace(state.poll, closed=True))


def _on_amended(state: State, event: did.BillAmended) -> State:
    return replace(
        state, bill=bill_from_draft(event.draft), outcome=SessionOutcome.APPROVED_WITH_AMENDMENTS
    )


def _end_with(outcome: SessionOutcome) -> Callable[[State, Event], State]:
    return lambda state, _event: replace(state, outcome=outcome)


_EVOLVE: Final[dict[type[Event], Callable[[State, Any], State]]] = {
    did.SessionImported: lambda state, event: replace(state, imported=event.messages),
    did.ParliamentConvened: _on_convened,
    did.SeatBound: _on_bound,
    did.DrafterChosen: _on_drafter,
    did.DrafterReplaced: _on_drafter,
    did.MessageLogged: lambda state, event: apply_message(state, event.message),
    did.RulingOwed: _on_owed,
    did.RulingGiven: lambda state, _event: replace(state, owed=state.owed[1:]),
    did.RoundStarted: _on_started,
    did.RoundEnded: _on_ended,
    did.RoundSummarized: _on_summarized,
    did.ReplyMalformed: _on_malformed,
    did.SeatExpelled: _on_expelled,
    did.AmendmentSettled: _on_settled,
    did.AmendmentVoteCalled: _on_amendment_vote,
    did.VoteCalled: _on_called,
    did.BallotClosed: _on_closed,
    did.BillApproved: _end_with(SessionOutcome.APPROVED),
    did.BillAmended: _on_amended,
    did.BillReturned: lambda state, event: replace(state, max_rounds=event.max_rounds),
    did.BillRejected: _end_with(SessionOutcome.VETOED),
    did.PassageFailed: _end_with(SessionOutcome.NO_PASSAGE),
}
