"""Sessions that were played to some point, as their documents: files, messages, summaries."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import session_files
from moot.protocols.parliament.documents.final_document import Proceedings
from moot.protocols.parliament.files.file_shapes import FILES
from moot.protocols.parliament.messages.message import LedgerMessage, read_message
from tests.parliament.scene import (
    CALL_VOTE,
    ROUND_END,
    ROUND_START,
    ParliamentScenario,
    amendment,
    bill,
    motion,
    question,
    ruling,
)


def messages_of(scenario: ParliamentScenario) -> tuple[LedgerMessage, ...]:
    return tuple(read_message(document) for document in scenario.messages())


def proceedings(scenario: ParliamentScenario) -> Proceedings:
    return Proceedings(scenario.state, messages_of(scenario), tuple(scenario.summaries()))


def files(scenario: ParliamentScenario) -> dict[str, bytes]:
    made = (
        session_files.encode_ledger(scenario.state, messages_of(scenario)),
        session_files.encode_session(scenario.state),
        session_files.encode_bill(scenario.state),
        session_files.encode_summaries(scenario.summaries()),
    )
    return dict(zip(FILES, made, strict=True))


def played() -> ParliamentScenario:
    """Two rounds with everything in them: amendments, a motion, a quiet seat, a failed vote, a
    passed one; in the hands of the prime minister.
    """
    scenario = ParliamentScenario(3)
    scenario.debating()
    scenario.submit(amendment(3))
    scenario.exchange(3, 1, position=("amend-001", "endorse"))
    scenario.clerk(ask.Incorporate(amendment_id="amend-001"))
    scenario.submit(amendment(2, "amend-002"))
    scenario.exchange(2, 3, 2, position=("amend-002", "oppose"))
    moved = {**question(1, 2), "motion": motion(1)["content"]}
    scenario.submit(moved)
    scenario.submit(ruling("order", "quiet", "rep_3"))
    scenario.submit(ROUND_END)
    scenario.submit(ROUND_START)
    scenario.satisfied()
    scenario.submit(CALL_VOTE)
    scenario.vote("YES", "NO", "NO").clerk(ask.CountVotes())
    scenario.submit(ROUND_START)
    scenario.submit(bill(1, 3, solution="A shared cache, and an audit."))
    scenario.submit(CALL_VOTE)
    scenario.vote("YES", "YES", "NO").clerk(ask.CountVotes())
    return scenario


@cache
def approved() -> ParliamentScenario:
    """The same, approved. Only to be looked at."""
    scenario = played()
    scenario.decide("approve")
    return scenario


@cache
def sound() -> dict[str, bytes]:
    return files(approved())


def documents() -> dict[str, Any]:
    """The four files of an approved session, to be changed at will."""
    return {name: json.loads(data) for name, data in sound().items()}


def encoded(given: dict[str, Any]) -> dict[str, bytes | None]:
    return {name: json.dumps(document).encode() for name, document in given.items()}
