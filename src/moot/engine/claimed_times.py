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


class _SeenRow(msgspec.Struct, frozen=True):
    at: Millis


def read_claimed_times(view: View) -> dict[str, Millis]:
    """By name; no sign of life that can be proved is later than what is claimed here."""
    times, decode = view.heartbeat_times(), msgspec.json.Decoder(_SeenRow).decode
    for name, value in view.values(SEEN).items():
        try:
            at = decode(value).at
        except msgspec.DecodeError:  # damaged: then its heartbeat, or its last act, says when
            continue
        times[name] = max(at, times.get(name, at))
    return times
