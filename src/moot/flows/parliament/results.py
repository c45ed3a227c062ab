"""What the last vote of a parliament came to, as its decision records it."""

from __future__ import annotations

from typing import Final

from moot.core.names import SYSTEM
from moot.protocols.decision import commands as ask
from moot.protocols.decision.model import DecisionResult
from moot.protocols.parliament.messages.words import SessionStatus
from moot.protocols.parliament.model import State, VoteRow

# Once the chamber has voted for the last time, what it came to is known.
SETTLED: Final = frozenset(
    {SessionStatus.PM_REVIEW, SessionStatus.SYNTHESIS, SessionStatus.COMPLETE}
)


def result_of(state: State) -> tuple[ask.RecordResult, str, str]:
    """The command, whose it is, and the key under which each vote is recorded once."""
    return _result(state), SYSTEM, f"result-{len(state.vote_history)}"


def _result(state: State) -> ask.RecordResult:
    if not state.vote_history:
        return ask.RecordResult(result=DecisionResult.NOT_CARRIED, summary="no bill was drafted")
    last = state.vote_history[-1]
    votes = {
        seat.agent: seat.voting_record[-1].vote.value
        for seat in state.seats_in_order()
        if seat.voting_record
    }
    expelled = [seat.agent for seat in state.seats_in_order() if seat.expelled]
    return ask.RecordResult(
        result=DecisionResult.CARRIED if last.passed else DecisionResult.NOT_CARRIED,
        summary=_counted(last, expelled),
        approvers=tuple(name for name, vote in votes.items() if vote == "YES"),
        dissent=tuple(n for n, vote in votes.items() if vote == "NO" and n not in expelled),
    )


def _counted(last: VoteRow, expelled: list[str]) -> str:
    """An expelled seat counts as NO by the rules; that is nobody's opinion, and so it is said."""
    said = f"{last.yes} YES, {last.no} NO of {last.total} on version {last.bill_version}"
    return f"{said} ({', '.join(expelled)} expelled, counted as NO)" if expelled else said
