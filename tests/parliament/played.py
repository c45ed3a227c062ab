"""Sessions that were played to some point, as their documents: files, messages, summaries."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import session_files
from moot.protocols.parliament.documents.proceedings import Proceedings
from moot.protocols.parliament.files.file_shapes import FILES
from moot.protocols.parliament.messages.message import LedgerMessage, read_message
from tests.parliament.scene import (
    CALL_VOTE,
    ROUND_END,
    ROUND_START,
    Chamber,
    amendment,
    bill,
    motion,
    question,
    ruling,
)


def messages_of(chamber: Chamber) -> tuple[LedgerMessage, ...]:
    return tuple(read_message(document) for document in chamber.messages())


def proceedings(chamber: Chamber) -> Proceedings:
    return Proceedings(chamber.state, messages_of(chamber), tuple(chamber.summaries()))


def files(chamber: Chamber) -> dict[str, bytes]:
    made = (
        session_files.encode_ledger(chamber.state, messages_of(chamber)),
        session_files.encode_session(chamber.state),
        session_files.encode_bill(chamber.state),
        session_files.encode_summaries(chamber.summaries()),
    )
    return dict(zip(FILES, made, strict=True))


def played() -> Chamber:
    """Two rounds with everything in them: amendments, a motion, a quiet seat, a failed vote, a
    passed one; in the hands of the prime minister.
    """
    chamber = Chamber(3)
    chamber.debating()
    chamber.submit(amendment(3))
    chamber.exchange(3, 1, position=("amend-001", "endorse"))
    chamber.clerk(ask.Incorporate(amendment_id="amend-001"))
    chamber.submit(amendment(2, "amend-002"))
    chamber.exchange(2, 3, 2, position=("amend-002", "oppose"))
    moved = {**question(1, 2), "motion": motion(1)["content"]}
    chamber.submit(moved)
    chamber.submit(ruling("order", "quiet", "rep_3"))
    chamber.submit(ROUND_END)
    chamber.submit(ROUND_START)
    chamber.satisfied()
    chamber.submit(CALL_VOTE)
    chamber.vote("YES", "NO", "NO").clerk(ask.CountVotes())
    chamber.submit(ROUND_START)
    chamber.submit(bill(1, 3, solution="A shared cache, and an audit."))
    chamber.submit(CALL_VOTE)
    chamber.vote("YES", "YES", "NO").clerk(ask.CountVotes())
    return chamber


@cache
def approved() -> Chamber:
    """The same, approved. Only to be looked at."""
    chamber = played()
    chamber.decide("approve")
    return chamber


@cache
def sound() -> dict[str, bytes]:
    return files(approved())


def documents() -> dict[str, Any]:
    """The four files of an approved session, to be changed at will."""
    return {name: json.loads(data) for name, data in sound().items()}


def encoded(given: dict[str, Any]) -> dict[str, bytes | None]:
    return {name: json.dumps(document).encode() for name, document in given.items()}
