"""The nine statuses (PAR-091): which event leads where (C-22), and what belongs to which status."""

from __future__ import annotations

from typing import Final

from moot.core.machine import Command, Event
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament.messages.contents import (
    Kind,
    PrimeMinisterChoice,
    RulingAction,
    SessionStatus,
)

TRANSITIONS: Final[dict[SessionStatus, dict[type[Event], SessionStatus]]] = {
    SessionStatus.SETUP: {did.StatementsOpened: SessionStatus.OPENING_STATEMENTS},
    SessionStatus.OPENING_STATEMENTS: {did.StatementsClosed: SessionStatus.EVALUATING_STATEMENTS},
    SessionStatus.EVALUATING_STATEMENTS: {
        did.DrafterChosen: SessionStatus.DRAFTING,
        did.PassageFailed: SessionStatus.SYNTHESIS,
    },
    SessionStatus.DRAFTING: {
        did.DebateOpened: SessionStatus.DEBATE,
        did.PassageFailed: SessionStatus.SYNTHESIS,
    },
    SessionStatus.DEBATE: {did.VoteCalled: SessionStatus.VOTING},
    SessionStatus.VOTING: {
        did.BillDefeated: SessionStatus.DEBATE,
        did.BillPassed: SessionStatus.PM_REVIEW,
        did.PassageFailed: SessionStatus.SYNTHESIS,
    },
    SessionStatus.PM_REVIEW: {
        did.BillReturned: SessionStatus.DEBATE,
        did.BillApproved: SessionStatus.SYNTHESIS,
        did.BillAmended: SessionStatus.SYNTHESIS,
        did.BillRejected: SessionStatus.SYNTHESIS,
    },
    SessionStatus.SYNTHESIS: {did.SessionCompleted: SessionStatus.COMPLETE},
    SessionStatus.COMPLETE: {},
}

_DEBATE: Final = (SessionStatus.DEBATE,)
_TALK: Final = (
    SessionStatus.OPENING_STATEMENTS,
    SessionStatus.DRAFTING,
    SessionStatus.DEBATE,
    SessionStatus.VOTING,
)

STATUSES_BY_MESSAGE: Final[dict[Kind, tuple[SessionStatus, ...]]] = {
    Kind.OPENING_STATEMENT: (SessionStatus.OPENING_STATEMENTS,),
    Kind.BILL_DRAFT: (SessionStatus.DRAFTING, SessionStatus.DEBATE),
    Kind.QUESTION: _DEBATE,
    Kind.ANSWER: _DEBATE,
    Kind.AMENDMENT: _DEBATE,
    Kind.MOTION: _DEBATE,
    Kind.VOTE: (SessionStatus.VOTING,),
    Kind.VOTE_TALLY: (SessionStatus.VOTING,),
}
STATUSES_BY_RULING: Final[dict[RulingAction, tuple[SessionStatus, ...]]] = {
    RulingAction.REDIRECT: _TALK,
    RulingAction.QUIET: _DEBATE,
    RulingAction.CALL_VOTE: _DEBATE,
    RulingAction.DEADLOCK_WARNING: _DEBATE,
    RulingAction.PROGRESS_NOTE: _TALK,
    RulingAction.NEXT_SPEAKER: _TALK,
    RulingAction.ROUND_START: _DEBATE,
    RulingAction.ROUND_END: _DEBATE,
}
STATUSES_BY_DECISION: Final[dict[PrimeMinisterChoice, tuple[SessionStatus, ...]]] = {
    PrimeMinisterChoice.APPROVE: (SessionStatus.PM_REVIEW,),
    PrimeMinisterChoice.VETO: (SessionStatus.PM_REVIEW,),
    PrimeMinisterChoice.AMEND_AND_APPROVE: (SessionStatus.PM_REVIEW,),
    PrimeMinisterChoice.OPENING_GUIDANCE: (
        SessionStatus.OPENING_STATEMENTS,
        SessionStatus.EVALUATING_STATEMENTS,
    ),
}
STATUSES_BY_COMMAND: Final[dict[type[Command], tuple[SessionStatus, ...]]] = {
    ask.Begin: (SessionStatus.SETUP,),
    ask.CloseStatements: (SessionStatus.OPENING_STATEMENTS,),
    ask.ChooseDrafter: (
        SessionStatus.EVALUATING_STATEMENTS,
        SessionStatus.DRAFTING,
        SessionStatus.DEBATE,
    ),
    ask.EndUndrafted: (SessionStatus.EVALUATING_STATEMENTS, SessionStatus.DRAFTING),
    ask.Incorporate: _DEBATE,
    ask.Withdraw: _DEBATE,
    ask.ConcludeAmendment: _DEBATE,
    ask.CallAmendmentVote: _DEBATE,
    ask.CloseBallot: (SessionStatus.VOTING,),
    ask.CastDefaultVote: (SessionStatus.VOTING,),
    ask.CountVotes: (SessionStatus.VOTING,),
    ask.Complete: (SessionStatus.SYNTHESIS,),
}
# These messages, and these rulings, need a round that has started and not ended.
MESSAGES_IN_A_ROUND: Final = frozenset({Kind.QUESTION, Kind.ANSWER, Kind.AMENDMENT, Kind.MOTION})
RULINGS_IN_A_ROUND: Final = frozenset({RulingAction.QUIET, RulingAction.ROUND_END})


def join_statuses(statuses: tuple[SessionStatus, ...]) -> str:
    return " or ".join(statuses)
