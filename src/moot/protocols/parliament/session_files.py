"""The four session files as bytes: `ledger.json`, `session.json`, `bill.json` and
`round-summaries.json`.

They are exports of the signed record; the same record gives the same bytes. In the ledger file
each message has a line of its own, so that new ones can be added without encoding the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from moot.core.errors import Malformed
from moot.protocols.parliament import clock
from moot.protocols.parliament.files.contents import (
    AmendmentRow,
    BillFile,
    BillScope,
    BillSections,
    CastVoteRow,
    DebateClock,
    EndorsementRow,
    Representative,
    SessionFile,
    TemperatureRow,
)
from moot.protocols.parliament.messages.contents import Sections
from moot.protocols.parliament.messages.message import LedgerMessage, encode_message
from moot.protocols.parliament.model import BILL_NUMBER, Amendment, Seat, State
from moot.protocols.parliament.summaries import make_vote_result

Document = dict[str, Any]

_END: Final = b"\n  ]\n}\n"
_EMPTY_END: Final = b"]\n}\n"
_LINE: Final = b"\n    "


def encode_ledger(state: State, messages: Iterable[LedgerMessage]) -> bytes:
    """PAR-003: the whole ledger file."""
    head = b'{\n  "parliament_id": %s,\n  "problem_statement": %s,\n  "messages": [' % (
        msgspec.json.encode(state.parliament_id),
        msgspec.json.encode(state.problem_statement),
    )
    return _append_lines(head, [_LINE + encode_message(message) for message in messages])


def append_to_ledger(file: bytes, messages: Iterable[LedgerMessage]) -> bytes:
    """A ledger file of ours with more messages at its end (PAR-012)."""
    lines = [_LINE + encode_message(message) for message in messages]
    if not lines:
        return file
    if file.endswith(_END):
        return _append_lines(file[: -len(_END)] + b",", lines)
    if file.endswith(b"[" + _EMPTY_END):
        return _append_lines(file[: -len(_EMPTY_END)], lines)
    raise Malformed("this is not a ledger file as we write it", code="foreign_file")


def _append_lines(start: bytes, lines: list[bytes]) -> bytes:
    return start + (b",".join(lines) + _END if lines else _EMPTY_END)


def encode_session(state: State) -> bytes:
    return _indented_json(make_session_file(state))


def encode_bill(state: State) -> bytes:
    return _indented_json(make_bill_file(state))


def encode_summaries(rows: Iterable[Document]) -> bytes:
    """PAR-120 and PAR-121: one row a round, keys in the order of the protocol."""
    return _indented_json(
        [{name: row[name] for name in _SUMMARY_KEYS if name in row} for row in rows]
    )


_SUMMARY_KEYS: Final = (
    *("round", "summary", "positions", "key_shifts", "amendments_actioned", "vote_result"),
    "open_issues",
)


def _indented_json(document: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def make_session_file(state: State) -> SessionFile:
    """PAR-086: where the session stands."""
    return SessionFile(
        parliament_id=state.parliament_id,
        problem_statement=state.problem_statement,
        constituent_issues=state.constituent_issues,
        current_round=state.round.number,
        max_rounds=state.max_rounds,
        bill_version=state.bill.version if state.bill else 0,
        drafter=state.drafter,
        status=str(state.status or ""),
        next_message_id=state.next_message_id,
        representatives=tuple(_representative(seat) for seat in state.seats_in_order()),
        debate_clock=DebateClock(
            max_exchanges_per_round=clock.exchange_cap(state),
            response_budget=clock.sentence_budget(state),
            exchanges_this_round=state.round.exchanges,
        ),
        vote_history=tuple(map(make_vote_result, state.vote_history)),
    )


def _representative(seat: Seat) -> Representative:
    return Representative(
        agent_id=seat.id,
        name=seat.name,
        temperature=seat.temperature,
        temperature_history=tuple(
            TemperatureRow(row.round, row.temperature) for row in seat.temperature_history
        ),
        motives=seat.motives,
        motive_satisfaction=dict(seat.scores_by_motive()),
        is_quiet=seat.is_quiet,
        quiet_until_round=seat.quiet_until_round,
        voting_record=tuple(
            CastVoteRow(row.round, row.bill_version, row.vote) for row in seat.voting_record
        ),
    )


def make_bill_file(state: State) -> BillFile:
    """PAR-109: the bill as it stands; before the first draft a file without a bill."""
    bill = state.bill
    return BillFile(
        bill_id=BILL_NUMBER if bill else None,
        title=bill.title if bill else None,
        version=bill.version if bill else 0,
        drafter=state.drafter,
        sections=_bill_sections(bill.sections) if bill else BillSections(),
        amendments=tuple(_amendment_row(amendment) for amendment in state.amendments_in_order()),
    )


def _bill_sections(sections: Sections) -> BillSections:
    scope = sections.scope
    return BillSections(
        problem=sections.problem,
        scope=BillScope(
            in_scope=scope.in_scope,
            out_of_scope=scope.out_of_scope,
            assumptions=scope.assumptions,
            definitions=scope.definitions,
        ),
        solution=sections.solution,
        implementation=sections.implementation,
    )


def _amendment_row(amendment: Amendment) -> AmendmentRow:
    return AmendmentRow(
        amendment_id=amendment.amendment_id,
        proposed_by=amendment.proposed_by,
        round=amendment.round,
        target_section=amendment.target_section,
        action=amendment.action,
        description=amendment.description,
        status=amendment.status,
        endorsements=tuple(
            EndorsementRow(row.agent_id, row.position, row.round) for row in amendment.endorsements
        ),
    )
