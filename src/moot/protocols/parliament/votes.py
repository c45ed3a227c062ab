"""The ballot: who is missing, what the result is, and what follows from it.

A bill passes with more than half of all seats; a tie fails, and whoever is absent is not a yes
(C-11, C-12). The tally is a function of the ballots: anyone who has them finds the same.
"""

from __future__ import annotations

from moot.protocols.parliament import clock
from moot.protocols.parliament.messages.contents import Objection, Tally, VoteTally
from moot.protocols.parliament.messages.limits import is_majority
from moot.protocols.parliament.messages.words import Ballot, NextAction
from moot.protocols.parliament.model import CastVote, OpenBallot, State, VoteRow


def seats_without_vote(state: State) -> tuple[str, ...]:
    """Seats that have not voted on the open ballot."""
    poll = state.poll
    return () if poll is None else tuple(seat for seat in state.order if seat not in poll.votes)


def is_ready_to_count(state: State) -> bool:
    """True if everyone voted, or the ballot was closed without the missing votes."""
    return state.poll is not None and (state.poll.closed or not seats_without_vote(state))


def count_votes(state: State, poll: OpenBallot) -> VoteTally:
    """PAR-071: the announcement, from the ballots alone."""
    yes = tuple(seat for seat in state.order if _has_voted(poll, seat, Ballot.YES))
    no = tuple(seat for seat in state.order if _has_voted(poll, seat, Ballot.NO))
    passed = is_majority(len(yes), len(state.order))
    return VoteTally(
        bill_version=poll.bill_version,
        yes_votes=yes,
        no_votes=no,
        tally=Tally(yes=len(yes), no=len(no), total=len(state.order)),
        passed=passed,
        key_objections=tuple(Objection(seat, poll.votes[seat].concern) for seat in no),
        next_action=choose_next_action(state, passed),
    )


def _has_voted(poll: OpenBallot, seat: str, vote: Ballot) -> bool:
    cast: CastVote | None = poll.votes.get(seat)
    return cast is not None and cast.vote is vote


def choose_next_action(state: State, passed: bool) -> NextAction:
    """PAR-072: what passed goes to the prime minister; a last defeat ends the session (C-17)."""
    if passed:
        return NextAction.ADVANCE_TO_PM
    return (
        NextAction.END_WITHOUT_PASSAGE if clock.is_last_round(state) else NextAction.CONTINUE_DEBATE
    )


def make_history_row(content: VoteTally, poll: OpenBallot) -> VoteRow:
    """C-32: what `vote_history` keeps of a tally."""
    count = content.tally
    return VoteRow(
        poll.round,
        content.bill_version,
        count.yes,
        count.no,
        count.total,
        content.passed,
        poll.forced,
    )


def has_voted_this_round(state: State) -> bool:
    """One ballot a round: after a defeat or a veto the next round comes first."""
    return bool(state.vote_history) and state.vote_history[-1].round == state.round.number
