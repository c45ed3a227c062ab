"""The nine statuses (PAR-091): which event leads where (C-22), and what belongs to which status."""

from __future__ import annotations

from typing import Final

from moot.core.machine import Command, Event
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament.messages.words import Kind, RulingAction, Status, Word

TRANSITIONS: Final[dict[Status, dict[type[Event], Status]]] = {
    Status.SETUP: {did.StatementsOpened: Status.OPENING_STATEMENTS},
    Status.OPENING_STATEMENTS: {did.StatementsClosed: Status.EVALUATING_STATEMENTS},
    Status.EVALUATING_STATEMENTS: {
        did.DrafterChosen: Status.DRAFTING,
        did.PassageFailed: Status.SYNTHESIS,
    },
    Status.DRAFTING: {did.DebateOpened: Status.DEBATE, did.PassageFailed: Status.SYNTHESIS},
    Status.DEBATE: {did.VoteCalled: Status.VOTING},
    Status.VOTING: {
        did.BillDefeated: Status.DEBATE,
        did.BillPassed: Status.PM_REVIEW,
        did.PassageFailed: Status.SYNTHESIS,
    },
    Status.PM_REVIEW: {
        did.BillReturned: Status.DEBATE,
        did.BillApproved: Status.SYNTHESIS,
        did.BillAmended: Status.SYNTHESIS,
        did.BillRejected: Status.SYNTHESIS,
    },
    Status.SYNTHESIS: {did.SessionCompleted: Status.COMPLETE},
    Status.COMPLETE: {},
}

_DEBATE: Final = (Status.DEBATE,)
_TALK: Final = (Status.OPENING_STATEMENTS, Status.DRAFTING, Status.DEBATE, Status.VOTING)

MESSAGES: Final[dict[Kind, tuple[Status, ...]]] = {
    Kind.OPENING_STATEMENT: (Status.OPENING_STATEMENTS,),
    Kind.BILL_DRAFT: (Status.DRAFTING, Status.DEBATE),
    Kind.QUESTION: _DEBATE,
    Kind.ANSWER: _DEBATE,
    Kind.AMENDMENT: _DEBATE,
    Kind.MOTION: _DEBATE,
    Kind.VOTE: (Status.VOTING,),
    Kind.VOTE_TALLY: (Status.VOTING,),
}
RULINGS: Final[dict[RulingAction, tuple[Status, ...]]] = {
    RulingAction.REDIRECT: _TALK,
    RulingAction.QUIET: _DEBATE,
    RulingAction.CALL_VOTE: _DEBATE,
    RulingAction.DEADLOCK_WARNING: _DEBATE,
    RulingAction.PROGRESS_NOTE: _TALK,
    RulingAction.NEXT_SPEAKER: _TALK,
    RulingAction.ROUND_START: _DEBATE,
    RulingAction.ROUND_END: _DEBATE,
}
DECISIONS: Final[dict[Word, tuple[Status, ...]]] = {
    Word.APPROVE: (Status.PM_REVIEW,),
    Word.VETO: (Status.PM_REVIEW,),
    Word.AMEND_AND_APPROVE: (Status.PM_REVIEW,),
    Word.OPENING_GUIDANCE: (Status.OPENING_STATEMENTS, Status.EVALUATING_STATEMENTS),
}
COMMANDS: Final[dict[type[Command], tuple[Status, ...]]] = {
    ask.Begin: (Status.SETUP,),
    ask.CloseStatements: (Status.OPENING_STATEMENTS,),
    ask.ChooseDrafter: (Status.EVALUATING_STATEMENTS, Status.DRAFTING, Status.DEBATE),
    ask.EndUndrafted: (Status.EVALUATING_STATEMENTS, Status.DRAFTING),
    ask.Incorporate: _DEBATE,
    ask.Withdraw: _DEBATE,
    ask.ConcludeAmendment: _DEBATE,
    ask.CallAmendmentVote: _DEBATE,
    ask.CloseBallot: (Status.VOTING,),
    ask.CastDefaultVote: (Status.VOTING,),
    ask.CountVotes: (Status.VOTING,),
    ask.Complete: (Status.SYNTHESIS,),
}
# These messages, and these rulings, need a round that has started and not ended.
IN_A_ROUND: Final = frozenset({Kind.QUESTION, Kind.ANSWER, Kind.AMENDMENT, Kind.MOTION})
RULED_IN_A_ROUND: Final = frozenset({RulingAction.QUIET, RulingAction.ROUND_END})


def listed(statuses: tuple[Status, ...]) -> str:
    return " or ".join(statuses)
