"""What a participant is given to read: the near rounds in full, the far ones as summaries.

The bill, the session, the guidance and the opening statements are always there. A document for
the synthesis holds every message.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from moot.protocols.parliament import discipline, motives, round_clock
from moot.protocols.parliament.files.file_shapes import BillFile, SessionFile
from moot.protocols.parliament.messages.contents import STANCE_MEANINGS, Kind, SessionStatus, Stance
from moot.protocols.parliament.messages.message import LedgerMessage
from moot.protocols.parliament.model import Seat, State
from moot.protocols.parliament.session_files import make_bill_file, make_session_file
from moot.protocols.parliament.summaries import Summary

# This round and the one before it are given in full.
ROUNDS_IN_FULL: Final = 2
READS_EVERYTHING: Final = frozenset({SessionStatus.SYNTHESIS, SessionStatus.COMPLETE})


class WaitingQuestion(msgspec.Struct, frozen=True, rename={"asker": "from"}):
    """A question that the seat has to answer."""

    id: str
    asker: str
    topic: str


class SuggestedQuestion(msgspec.Struct, frozen=True):
    """A question that the seat should ask."""

    to: str
    motive: str


class OwnSeat(msgspec.Struct, frozen=True, kw_only=True):
    """What a seat must know about itself; `stances` are those allowed now, with their meanings."""

    agent_id: str
    name: str
    motives: tuple[str, ...]
    motive_satisfaction: dict[str, int | None]
    temperature: int
    archetype: str
    response_budget: int
    stances: dict[str, str]
    is_quiet: bool
    questions: tuple[WaitingQuestion, ...]
    suggested: tuple[SuggestedQuestion, ...]


class TurnContext(msgspec.Struct, frozen=True, kw_only=True):
    """The context of a turn; without a seat, `you` is left out."""

    session: SessionFile
    bill: BillFile
    guidance: str
    opening_statements: tuple[LedgerMessage, ...]
    round_summaries: tuple[Summary, ...]
    messages: tuple[LedgerMessage, ...]
    you: OwnSeat | UnsetType = UNSET


def make_turn_context(
    state: State,
    messages: Iterable[LedgerMessage],
    summaries: Iterable[Summary],
    seat: str | None = None,
) -> TurnContext:
    """PAR-128: what is read before a turn; with `seat`, also what that seat must know of itself."""
    first, own = first_full_round(state), state.seats.get(seat or "")
    opening, recent = [], []
    for message in messages:
        if message.type is Kind.OPENING_STATEMENT and first > 0:
            opening.append(message)
        elif message.round >= first:
            recent.append(message)
    return TurnContext(
        session=make_session_file(state),
        bill=make_bill_file(state),
        guidance=state.guidance,
        opening_statements=tuple(opening),
        round_summaries=tuple(row for row in summaries if 0 < row["round"] < first),
        messages=tuple(recent),
        you=describe_own_seat(state, own) if own is not None else UNSET,
    )


def first_full_round(state: State) -> int:
    """Return the earliest round whose messages are given one by one."""
    if state.status in READS_EVERYTHING:
        return 0
    return max(0, state.round.number - ROUNDS_IN_FULL + 1)


def describe_own_seat(state: State, seat: Seat) -> OwnSeat:
    """PAR-105: the budget, and everything else the seat's next reply depends on."""
    allowed = discipline.allowed_stances(state.round.number)
    return OwnSeat(
        agent_id=seat.id,
        name=seat.name,
        motives=seat.motives,
        motive_satisfaction=dict(seat.scores_by_motive()),
        temperature=seat.temperature,
        archetype=round_clock.archetype_of(seat.temperature),
        response_budget=round_clock.sentence_budget(state),
        # PAR-030: each stance is shown with its meaning.
        stances={str(stance): STANCE_MEANINGS[stance] for stance in Stance if stance in allowed},
        is_quiet=seat.is_quiet,
        questions=tuple(
            WaitingQuestion(question.id, question.asker, question.topic)
            for question in state.round.questions.values()
            if question.asked == seat.id
        ),
        suggested=tuple(
            SuggestedQuestion(exchange.asked, exchange.motive)
            for exchange in motives.suggest_exchanges(state)
            if exchange.asker == seat.id
        ),
    )
