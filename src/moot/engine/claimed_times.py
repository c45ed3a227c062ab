"""When everyone was seen last, as rows say that nobody has proved: whom to look at first.

Proving a sign of life costs a look at a signature, so of thousands only those are proved that are
shown. A row can be forged: what it claims puts nobody on a list before `signs_of_life.py` has
proved it, only in line for that.
"""

from __future__ import annotations

import msgspec

from moot.core.clock import Millis
from moot.core.ledger import View
from moot.engine.signs_of_life import SEEN


class _SeenRow(msgspec.Struct, frozen=True, gc=False):
    at: Millis


def read_claimed_times(view: View) -> dict[str, Millis]:
    """By name; no sign of life that can be proved is later than what is claimed here."""
    times = _read_seen_times(view.values(SEEN))
    for name, at in view.heartbeat_times().items():
        times[name] = max(at, times.get(name, at))
    return times


def _read_seen_times(rows: dict[str, bytes]) -> dict[str, Millis]:
    """Damaged ones are left out: then somebody's heartbeat, or last act, says when."""
    decode = msgspec.json.Decoder(_SeenRow).decode
    try:
        return {name: decode(value).at for name, value in rows.items()}
    except msgspec.DecodeError:
        return {name: row.at for name, value in rows.items() if (row := _read_row(value))}


def _read_row(value: bytes) -> _SeenRow | None:
    try:
        return msgspec.json.decode(value, type=_SeenRow)
    except msgspec.DecodeError:
        return None
