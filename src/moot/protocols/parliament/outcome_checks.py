"""Checks on amendments, votes, rulings, the prime minister's decisions and summaries."""

from __future__ import annotations

from typing import Any

from moot.core.machine import Command
from moot.protocols.parliament import amendments, discipline, motives, votes
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament.case import (
    AmendmentCommand,
    Breaches,
    DecisionCase,
    MessageCase,
    ParliamentCase,
    RulingCase,
)
from moot.protocols.parliament.messages import contents, sentences
from moot.protocols.parliament.messages.message import to_document
from moot.protocols.parliament.messages.words import (
    PrimeMinisterChoice,
    RulingAction,
    SessionStatus,
)
from moot.protocols.parliament.model import MAX_ROUNDS

MAX_EXTENSION = 12
# A refused vote names so many of the motives that hold it up.
_LOWEST_NAMED = 5


def repeated_amendment(case: MessageCase[ask.Submit, contents.AmendmentContent]) -> Breaches:
    name = case.content.amendment_id
    if name in case.state.amendments:
        free = amendments.next_amendment_id(case.state)
        yield f"{name} was proposed before; {free} is free", "content.amendment_id"


def too_many_amendments(case: MessageCase[ask.Submit, contents.AmendmentContent]) -> Breaches:
    state, seat, most = case.state, case.seat, amendments.MAX_PER_SEAT
    if seat is None:
        return
    pending = sum(amendment.proposed_by == seat.id for amendment in state.pending_amendments())
    if pending >= most:
        yield f"{pending} amendments of {seat.id} are pending", "type"
    elif state.round.proposed.get(seat.id, 0) >= most:
        yield f"{seat.id} has proposed {most} amendments in this round", "type"


def unknown_amendment(case: ParliamentCase[AmendmentCommand]) -> Breaches:
    if case.amendment is None:
        yield f"there is no {case.command.amendment_id}", "amendment_id"


def closed_amendment(case: ParliamentCase[AmendmentCommand]) -> Breaches:
    amendment = case.amendment
    if amendment is not None and not amendment.pending:
        yield f"{amendment.amendment_id} is {amendment.status}", "amendment_id"


def not_the_proposer(case: ParliamentCase[ask.Withdraw]) -> Breaches:
    amendment = case.amendment
    if amendment is not None and (case.seat is None or case.seat.id != amendment.proposed_by):
        yield f"{amendment.proposed_by} proposed it", "amendment_id"


def neither_speaker_nor_drafter(case: ParliamentCase[ask.Incorporate]) -> Breaches:
    drafts = case.seat is not None and case.seat.id == case.state.drafter
    if not case.is_system and not drafts:
        yield "", "amendment_id"


def drafter_gone(case: ParliamentCase[ask.Incorporate]) -> Breaches:
    drafter = case.state.seats.get(case.state.drafter or "")
    if drafter is not None and drafter.expelled:
        yield f"{drafter.id} was expelled", "amendment_id"


def opposed(case: ParliamentCase[ask.Incorporate]) -> Breaches:
    amendment = case.pending_amendment
    if amendment is not None and amendments.is_opposed(amendment):
        yield f"more are against {amendment.amendment_id} than for it", "amendment_id"


def not_endorsed(case: ParliamentCase[ask.Incorporate]) -> Breaches:
    amendment = case.pending_amendment
    if amendment is None or amendments.is_opposed(amendment):
        return
    if not amendments.is_carried(amendment, case.state.drafter):
        yield f"{amendment.amendment_id} has not enough support", "amendment_id"


def draft_needed(case: ParliamentCase[ask.Incorporate]) -> Breaches:
    """C-26: what cannot be carried out to the letter, the drafter words."""
    amendment, bill = case.pending_amendment, case.state.bill
    if amendment is None or bill is None or case.command.draft is not None:
        return
    if amendments.apply_amendment(bill, amendment) is None:
        action, section = amendment.action, amendment.target_section
        yield f"this {action} of {section} cannot be carried out to the letter", "draft"


def draft_astray(case: ParliamentCase[ask.Incorporate]) -> Breaches:
    amendment, bill = case.pending_amendment, case.state.bill
    if amendment is not None and bill is not None and case.draft is not None:
        yield from amendments.check_draft(bill, amendment, case.draft)


def not_unclear_yet(case: ParliamentCase[ask.CallAmendmentVote]) -> Breaches:
    amendment = case.pending_amendment
    if amendment is not None and amendment.exchanges < amendments.UNCLEAR_AFTER:
        yield f"{amendment.exchanges} exchanges were about it", "amendment_id"


def called_before(case: ParliamentCase[ask.CallAmendmentVote]) -> Breaches:
    amendment = case.pending_amendment
    if amendment is not None and amendment.formal:
        yield f"a vote on {amendment.amendment_id} was called", "amendment_id"


def round_not_running(case: ParliamentCase[ask.CallAmendmentVote]) -> Breaches:
    if case.state.status is SessionStatus.DEBATE and not case.state.round.running:
        yield "", None


def already_voted(case: MessageCase[ask.Submit, contents.Vote]) -> Breaches:
    poll = case.state.poll
    if poll is not None and case.seat is not None and case.seat.id in poll.votes:
        yield f"{case.seat.id} has voted", "type"


def ballot_closed(case: MessageCase[ask.Submit, contents.Vote]) -> Breaches:
    if case.state.poll is not None and case.state.poll.closed:
        yield "", "type"


def gate_shut(case: RulingCase) -> Breaches:
    """PAR-035: a vote waits while a motive scores below 3."""
    state = case.state
    if (
        case.content.action is not RulingAction.CALL_VOTE
        or state.status is not SessionStatus.DEBATE
    ):
        return
    if not motives.may_vote(state):
        lowest = motives.list_underserved(state)[:_LOWEST_NAMED]
        low = (f"{score.motive} of {score.seat} ({score.score or '-'})" for score in lowest)
        yield f"below 3: {', '.join(low)}", "content.action"


def voted_before(case: RulingCase) -> Breaches:
    state = case.state
    if (
        case.content.action is not RulingAction.CALL_VOTE
        or state.status is not SessionStatus.DEBATE
    ):
        return
    if state.round.number == 0:
        yield "no round has started", "content.action"
    elif votes.has_voted_this_round(state):
        yield f"round {state.round.number} has had its vote", "content.action"


def unknown_target(case: RulingCase) -> Breaches:
    target = case.content.target
    if target is not None and target not in case.state.seats:
        yield f"{target} is no seat of this session", "content.target"


def silent_target(case: RulingCase) -> Breaches:
    seat, action = case.state.seats.get(case.content.target or ""), case.content.action
    if seat is None or action not in (RulingAction.NEXT_SPEAKER, RulingAction.QUIET):
        return
    if seat.expelled:
        yield f"{seat.id} was expelled", "content.target"
    elif seat.is_quiet and action is RulingAction.NEXT_SPEAKER:
        yield f"{seat.id} is quiet until round {seat.quiet_until_round}", "content.target"


def votes_missing(case: ParliamentCase[Command]) -> Breaches:
    if case.state.poll is not None and not votes.is_ready_to_count(case.state):
        yield f"{', '.join(votes.seats_without_vote(case.state))} did not vote yet", None


def wrong_tally(case: MessageCase[ask.Submit, contents.VoteTally]) -> Breaches:
    """PAR-071: the tally follows from the ballots."""
    poll = case.state.poll
    if poll is None or not votes.is_ready_to_count(case.state):
        return
    due = to_document(votes.count_votes(case.state, poll))
    announced = to_document(case.content)
    for name, value in due.items():
        if announced.get(name) != value and name != "key_objections":
            yield f"the ballots say {value}", f"content.{name}"
    for place, objection in enumerate(case.content.key_objections):
        if objection.sender not in due["no_votes"]:
            where = f"content.key_objections[{place}].from"
            yield f"{objection.sender} did not vote NO", where


def nothing_to_default(case: ParliamentCase[ask.CastDefaultVote]) -> Breaches:
    due = {seat.id for seat in discipline.list_expelled_without_vote(case.state)}
    if case.state.poll is not None and case.command.seat not in due:
        yield f"{case.command.seat} is no expelled seat without a vote", "seat"


def amended_text_missing(case: DecisionCase) -> Breaches:
    amends = case.content.decision is PrimeMinisterChoice.AMEND_AND_APPROVE
    if amends and _brought_draft(case.command) is None:
        yield "", "draft"


def needless_draft(case: DecisionCase) -> Breaches:
    amends = case.content.decision is PrimeMinisterChoice.AMEND_AND_APPROVE
    if not amends and _brought_draft(case.command) is not None:
        yield "", "draft"


def _brought_draft(command: ask.Submit | ask.Decide) -> Any:
    """The amended bill as it was handed in; a message alone brings none."""
    return command.draft if isinstance(command, ask.Decide) else None


def bad_extension(case: DecisionCase) -> Breaches:
    more = case.command.extend_rounds if isinstance(case.command, ask.Decide) else 0
    if more == 0:
        return
    if case.content.decision is not PrimeMinisterChoice.VETO:
        yield "only a veto grants further rounds", "extend_rounds"
    elif not 1 <= more <= MAX_EXTENSION or case.state.max_rounds + more > MAX_ROUNDS:
        yield f"{more} is not 1 to {MAX_EXTENSION}, or over {MAX_ROUNDS} in all", "extend_rounds"


def nothing_owed(case: ParliamentCase[ask.GiveOwedRuling]) -> Breaches:
    if not case.state.owed:
        yield "", None


def summary_of_no_round(case: ParliamentCase[ask.Summarize]) -> Breaches:
    summary = case.command.summary
    number = summary.get("round") if isinstance(summary, dict) else None
    this = case.state.round
    ended = this.number if not this.running else this.number - 1
    if isinstance(number, int) and not 1 <= number <= ended:
        yield f"round {number} has not ended", "summary.round"


def summary_length(case: ParliamentCase[ask.Summarize]) -> Breaches:
    """PAR-122: a summary takes 2 or 3 sentences."""
    summary = case.command.summary
    text = summary.get("summary") if isinstance(summary, dict) else None
    if isinstance(text, str) and text.strip() and not 2 <= sentences.count(text) <= 3:
        yield "a summary takes 2 or 3 sentences", "summary.summary"


def unknown_unread_seat(case: ParliamentCase[ask.ReportUnreadable]) -> Breaches:
    """Only a seat's own holder, or the clerk, may report that its reply cannot be read."""
    named = case.command.seat
    if case.is_system:
        if named is None or named not in case.state.seats:
            yield f"{named} is no seat of this session", "seat"
    elif case.seat is None or named not in (None, case.seat.id):
        yield "", "seat"
