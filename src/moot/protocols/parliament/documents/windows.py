"""What a participant is given to read: the near rounds in full, the far ones as summaries.

The bill, the session, the guidance and the opening statements are always there. A document for
the synthesis holds every message.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from moot.protocols.parliament import clock, concessions, motives, temperatures
from moot.protocols.parliament.messages.message import Message, as_document
from moot.protocols.parliament.messages.words import MEANINGS, Kind, Stance, Status
from moot.protocols.parliament.model import Seat, State
from moot.protocols.parliament.papers import bill_document, session_document

# This round and the one before it are given in full.
NEAR: Final = 2
WHOLE: Final = frozenset({Status.SYNTHESIS, Status.COMPLETE})

Document = dict[str, Any]


def window(
    state: State,
    messages: Iterable[Message],
    summaries: Iterable[Document],
    seat: str | None = None,
) -> Document:
    """The context of a turn; with `seat`, also what that seat must know about itself."""
    first = first_full_round(state)
    opening, recent = [], []
    for message in messages:
        if message.type is Kind.OPENING_STATEMENT and first > 0:
            opening.append(as_document(message))
        elif message.round >= first:
            recent.append(as_document(message))
    given: Document = {
        "session": session_document(state),
        "bill": bill_document(state),
        "guidance": state.guidance,
        "opening_statements": opening,
        "round_summaries": [row for row in summaries if 0 < row["round"] < first],
        "messages": recent,
    }
    if seat is not None and seat in state.seats:
        given["you"] = about(state, state.seats[seat])
    return given


def first_full_round(state: State) -> int:
    """The earliest round whose messages are given one by one."""
    if state.status in WHOLE:
        return 0
    return max(0, state.round.number - NEAR + 1)


def about(state: State, seat: Seat) -> Document:
    """PAR-105: the budget, and everything else the seat's next reply depends on."""
    return {
        "agent_id": seat.id,
        "name": seat.name,
        "motives": list(seat.motives),
        "motive_satisfaction": dict(seat.satisfaction()),
        "temperature": seat.temperature,
        "archetype": temperatures.archetype(seat.temperature),
        "response_budget": clock.budget(state),
        "stances": {
            str(stance): MEANINGS[stance]
            for stance in Stance
            if stance in concessions.allowed(state.round.number)
        },
        "is_quiet": seat.is_quiet,
        "questions": [
            {"id": one.id, "from": one.asker, "topic": one.topic}
            for one in state.round.questions.values()
            if one.asked == seat.id
        ],
        "suggested": [
            {"to": one.asked, "motive": one.motive}
            for one in motives.suggestions(state)
            if one.asker == seat.id
        ],
    }
