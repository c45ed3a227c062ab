"""How far the author of an entry is proved: by the record, and only as far as that goes.

A file says who wrote an entry, and anyone can write to a file. What counts as signed is what the
record holds, in a file that still is what was recorded; everything else is only claimed.
"""

from __future__ import annotations

from collections.abc import Callable

from moot.agents.quoting import AuthorTrust
from moot.core.machine import KeyClass
from moot.core.markdown import BYTE_ORDER_MARK
from moot.flows.debate.reading import SessionReading
from moot.flows.debate.record import SessionRecord
from moot.protocols.debate.course import is_placeholder
from moot.protocols.debate.escalation import is_written_by_policy
from moot.protocols.debate.model import DebateEntry
from moot.protocols.debate.state import MOST_UNSIGNED, State
from moot.protocols.debate.views import require_course


def trust_in(
    reading: SessionReading, record: SessionRecord | None
) -> Callable[[DebateEntry], AuthorTrust]:
    """What is known of the author of each entry in this file."""
    rules = require_course(reading.checked).rules
    signed = _signed_by(reading, record)

    def of(entry: DebateEntry) -> AuthorTrust:
        if is_placeholder(entry) and is_written_by_policy(entry, rules):
            return AuthorTrust.SYSTEM
        return signed(entry)

    return of


def _signed_by(
    reading: SessionReading, record: SessionRecord | None
) -> Callable[[DebateEntry], AuthorTrust]:
    if record is None or not record.is_known or not record.fits(reading):
        return lambda _entry: AuthorTrust.UNSIGNED
    agents, state = record.engine.registry().agents, record.state
    first, end = _remembered_from(reading, state), _place(reading, state.size)
    unsigned = {one.id for one in state.unsigned}

    def of(entry: DebateEntry) -> AuthorTrust:
        known = agents.get(entry.author)
        recorded = first <= entry.start and entry.end <= end
        if known is None or not recorded or entry.id in unsigned:
            return AuthorTrust.UNSIGNED
        return AuthorTrust.PERSON if known.kind is KeyClass.HUMAN else AuthorTrust.AGENT

    return of


def _remembered_from(reading: SessionReading, state: State) -> int:
    """The state forgets observed entries beyond a number: what stands above those is in doubt."""
    full = len(state.unsigned) >= MOST_UNSIGNED
    return _place(reading, state.unsigned[0].start) if full else 0


def _place(reading: SessionReading, size: int) -> int:
    """So many bytes of the file, as a place in its text."""
    text = reading.checked.document.text
    if size >= reading.size:
        return len(text)
    return len(reading.data[:size].decode(errors="ignore").removeprefix(BYTE_ORDER_MARK))
