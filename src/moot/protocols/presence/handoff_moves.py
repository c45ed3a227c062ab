"""Which reservations an accepted HANDOFF moves (B-26)."""

from __future__ import annotations

from moot.core.clock import Millis
from moot.protocols.presence import sorted_index
from moot.protocols.presence.model import EventType, PresenceMessage, Reservation, State


def find_moved(state: State, message: PresenceMessage, now: Millis) -> tuple[Reservation, ...]:
    """The sender's exact reservation, and with it the sender's narrower ones inside.

    Nothing moves if that very session of the sender no longer holds it. Nothing moves either if it
    holds a wider scope around it as well: the receiver and the sender would both own the files.
    """
    if message.type is not EventType.HANDOFF or message.key is None or message.sender is None:
        return ()
    same = sorted_index.find_reservation(state, message.key)
    if (
        same is None
        or not same.is_held_by(message.sender, message.sender_epoch)
        or same.has_ended(now)
    ):
        return ()
    if any(
        not wider.has_ended(now) for wider in sorted_index.reservations_above(state, message.key)
    ):
        return ()
    narrower = (
        held
        for held in sorted_index.reservations_below(state, message.key)
        if not held.has_ended(now)
    )
    return (same, *narrower)
