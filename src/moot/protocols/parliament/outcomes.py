"""What becomes of it: amendments, votes, rulings on them, the prime minister, summaries."""

from __future__ import annotations

from moot.protocols.parliament import amendments, discipline, motives, votes
from moot.protocols.parliament.admission import Breaches
from moot.protocols.parliament.asked import Asked
from moot.protocols.parliament.messages import sentences
from moot.protocols.parliament.messages.message import as_document
from moot.protocols.parliament.messages.words import RulingAction, Status, Word
from moot.protocols.parliament.model import MAX_ROUNDS, Amendment

MAX_EXTENSION = 12


def repeated_amendment(asked: Asked) -> Breaches:
    name = asked.said.amendment_id
    if name in asked.state.amendments:
        free = amendments.next_id(asked.state)
        yield f"{name} was proposed before; {free} is free", "content.amendment_id"


def too_many_amendments(asked: Asked) -> Breaches:
    state, seat, most = asked.state, asked.seat, amendments.MOST_OF_A_SEAT
    if seat is None:
        return
    pending = sum(one.proposed_by == seat.id for one in state.unsettled())
    if pending >= most:
        yield f"{pending} amendments of {seat.id} are pending", "type"
    elif state.round.proposed.get(seat.id, 0) >= most:
        yield f"{seat.id} has proposed {most} amendments in this round", "type"


def unknown_amendment(asked: Asked) -> Breaches:
    if asked.amendment is None:
        yield f"there is no {asked.command.amendment_id}", "amendment_id"


def closed_amendment(asked: Asked) -> Breaches:
    amendment = asked.amendment
    if amendment is not None and not amendment.pending:
        yield f"{amendment.amendment_id} is {amendment.status}", "amendment_id"


def _pending(asked: Asked) -> Amendment | None:
    return asked.amendment if asked.amendment is not None and asked.amendment.pending else None


def not_the_proposer(asked: Asked) -> Breaches:
    amendment = asked.amendment
    if amendment is not None and (asked.seat is None or asked.seat.id != amendment.proposed_by):
        yield f"{amendment.proposed_by} proposed it", "amendment_id"


def neither_speaker_nor_drafter(asked: Asked) -> Breaches:
    drafts = asked.seat is not None and asked.seat.id == asked.state.drafter
    if not asked.is_system and not drafts:
        yield "", "amendment_id"


def drafter_gone(asked: Asked) -> Breaches:
    drafter = asked.state.seats.get(asked.state.drafter or "")
    if drafter is not None and drafter.expelled:
        yield f"{drafter.id} was expelled", "amendment_id"


def opposed(asked: Asked) -> Breaches:
    amendment = _pending(asked)
    if amendment is not None and amendments.opposed(amendment):
        yield f"more are against {amendment.amendment_id} than for it", "amendment_id"


def not_endorsed(asked: Asked) -> Breaches:
    amendment = _pending(asked)
    if amendment is None or amendments.opposed(amendment):
        return
    if not amendments.carried(amendment, asked.state.drafter):
        yield f"{amendment.amendment_id} has not enough support", "amendment_id"


def draft_needed(asked: Asked) -> Breaches:
    """C-26: what cannot be carried out to the letter, the drafter words."""
    amendment, bill = _pending(asked), asked.state.bill
    if amendment is None or bill is None or asked.command.draft is not None:
        return
    if amendments.carried_out(bill, amendment) is None:
        action, section = amendment.action, amendment.target_section
        yield f"this {action} of {section} cannot be carried out to the letter", "draft"


def draft_astray(asked: Asked) -> Breaches:
    amendment, bill = _pending(asked), asked.state.bill
    if amendment is not None and bill is not None and asked.draft is not None:
        yield from amendments.draft_breaches(bill, amendment, asked.draft)


def not_unclear_yet(asked: Asked) -> Breaches:
    amendment = _pending(asked)
    if amendment is not None and amendment.exchanges < amendments.UNCLEAR_AFTER:
        yield f"{amendment.exchanges} exchanges were about it", "amendment_id"


def called_before(asked: Asked) -> Breaches:
    amendment = _pending(asked)
    if amendment is not None and amendment.formal:
        yield f"a vote on {amendment.amendment_id} was called", "amendment_id"


def round_not_running(asked: Asked) -> Breaches:
    if asked.state.status is Status.DEBATE and not asked.state.round.running:
        yield "", None


def already_voted(asked: Asked) -> Breaches:
    poll = asked.state.poll
    if poll is not None and asked.seat is not None and asked.seat.id in poll.votes:
        yield f"{asked.seat.id} has voted", "type"


def ballot_closed(asked: Asked) -> Breaches:
    if asked.state.poll is not None and asked.state.poll.closed:
        yield "", "type"


def gate_shut(asked: Asked) -> Breaches:
    """PAR-035."""
    state = asked.state
    if asked.said.action is not RulingAction.CALL_VOTE or state.status is not Status.DEBATE:
        return
    if not motives.may_vote(state):
        low = (f"{one.motive} of {one.seat} ({one.score or '-'})" for one in _low(asked))
        yield f"below 3: {', '.join(low)}", "content.action"


def _low(asked: Asked) -> list[motives.Underserved]:
    return motives.underserved(asked.state)[:5]


def voted_before(asked: Asked) -> Breaches:
    state = asked.state
    if asked.said.action is not RulingAction.CALL_VOTE or state.status is not Status.DEBATE:
        return
    if state.round.number == 0:
        yield "no round has started", "content.action"
    elif votes.voted_this_round(state):
        yield f"round {state.round.number} has had its vote", "content.action"


def unknown_target(asked: Asked) -> Breaches:
    target = asked.said.target
    if target is not None and target not in asked.state.seats:
        yield f"{target} is no seat of this session", "content.target"


def silent_target(asked: Asked) -> Breaches:
    seat, action = asked.state.seats.get(asked.said.target or ""), asked.said.action
    if seat is None or action not in (RulingAction.NEXT_SPEAKER, RulingAction.QUIET):
        return
    if seat.expelled:
        yield f"{seat.id} was expelled", "content.target"
    elif seat.is_quiet and action is RulingAction.NEXT_SPEAKER:
        yield f"{seat.id} is quiet until round {seat.quiet_until_round}", "content.target"


def votes_missing(asked: Asked) -> Breaches:
    if asked.state.poll is not None and not votes.ready(asked.state):
        yield f"{', '.join(votes.missing(asked.state))} did not vote yet", None


def wrong_tally(asked: Asked) -> Breaches:
    """PAR-071: the tally follows from the ballots."""
    poll = asked.state.poll
    if poll is None or not votes.ready(asked.state):
        return
    due = as_document(votes.tally(asked.state, poll))
    given = as_document(asked.said)
    for name, value in due.items():
        if given.get(name) != value and name != "key_objections":
            yield f"the ballots say {value}", f"content.{name}"
    for place, objection in enumerate(asked.said.key_objections):
        if objection.sender not in due["no_votes"]:
            where = f"content.key_objections[{place}].from"
            yield f"{objection.sender} did not vote NO", where


def nothing_to_default(asked: Asked) -> Breaches:
    due = {seat.id for seat in discipline.expelled_to_vote(asked.state)}
    if asked.state.poll is not None and asked.command.seat not in due:
        yield f"{asked.command.seat} is no expelled seat without a vote", "seat"


def amended_text_missing(asked: Asked) -> Breaches:
    amends = asked.said.decision is Word.AMEND_AND_APPROVE
    if amends and getattr(asked.command, "draft", None) is None:
        yield "", "draft"


def needless_draft(asked: Asked) -> Breaches:
    amends = asked.said.decision is Word.AMEND_AND_APPROVE
    if not amends and getattr(asked.command, "draft", None) is not None:
        yield "", "draft"


def bad_extension(asked: Asked) -> Breaches:
    more = getattr(asked.command, "extend_rounds", 0)
    if more == 0:
        return
    if asked.said.decision is not Word.VETO:
        yield "only a veto grants further rounds", "extend_rounds"
    elif not 1 <= more <= MAX_EXTENSION or asked.state.max_rounds + more > MAX_ROUNDS:
        yield f"{more} is not 1 to {MAX_EXTENSION}, or over {MAX_ROUNDS} in all", "extend_rounds"


def nothing_owed(asked: Asked) -> Breaches:
    if not asked.state.owed:
        yield "", None


def summary_of_no_round(asked: Asked) -> Breaches:
    summary = asked.command.summary
    number = summary.get("round") if isinstance(summary, dict) else None
    this = asked.state.round
    ended = this.number if not this.running else this.number - 1
    if isinstance(number, int) and not 1 <= number <= ended:
        yield f"round {number} has not ended", "summary.round"


def summary_length(asked: Asked) -> Breaches:
    """PAR-122."""
    summary = asked.command.summary
    text = summary.get("summary") if isinstance(summary, dict) else None
    if isinstance(text, str) and text.strip() and not 2 <= sentences.count(text) <= 3:
        yield "a summary takes 2 or 3 sentences", "summary.summary"


def unknown_unread_seat(asked: Asked) -> Breaches:
    """Only a seat's own holder, or the clerk, says that its reply cannot be read."""
    named = asked.command.seat
    if asked.is_system:
        if named is None or named not in asked.state.seats:
            yield f"{named} is no seat of this session", "seat"
    elif asked.seat is None or named not in (None, asked.seat.id):
        yield "", "seat"
