"""Which reservations an accepted HANDOFF moves (B-26)."""

from __future__ import annotations

from moot.core.clock import Millis
from moot.protocols.presence import shelf
from moot.protocols.presence.model import EventType, Message, Reservation, State


def moved_by(state: State, message: Message, now: Millis) -> tuple[Reservation, ...]:
    """The sender's exact reservation, and with it the sender's narrower ones inside.

    Nothing moves if that very session of the sender no longer holds it. Nothing moves either if it
    holds a wider scope around it as well: the receiver and the sender would both own the files.
    """
    if message.type is not EventType.HANDOFF or message.key is None or message.sender is None:
        return ()
    same = shelf.held(state, message.key)
    if same is None or not same.held_by(message.sender, message.sender_epoch) or same.over(now):
        return ()
    if any(not wider.over(now) for wider in shelf.above(state, message.key)):
        return ()
    narrower = (held for held in shelf.below(state, message.key) if not held.over(now))
    return (same, *narrower)
