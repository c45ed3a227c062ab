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


# DEC-032: the NO of a seat that was expelled is the protocol's, not an opinion.
NO_BY_RULE: Final = "NO by rule: it failed"


def vote_result_command(state: State) -> tuple[ask.RecordResult, str, str]:
    """The command, who gives it, and the key under which each vote is recorded once."""
    return _make_result(state), SYSTEM, f"result-{len(state.vote_history)}"


def _make_result(state: State) -> ask.RecordResult:
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
        summary=_describe_count(last, expelled),
        approvers=tuple(name for name, vote in votes.items() if vote == "YES"),
        dissent=tuple(
            name for name, vote in votes.items() if vote == "NO" and name not in expelled
        ),
        absent=tuple(expelled),
    )


def _describe_count(last: VoteRow, expelled: list[str]) -> str:
    """The rules count an expelled seat as NO. That is nobody's opinion, so the summary says it."""
    count = f"{last.yes} YES, {last.no} NO of {last.total} on version {last.bill_version}"
    return f"{count} ({', '.join(expelled)}: {NO_BY_RULE})" if expelled else count
