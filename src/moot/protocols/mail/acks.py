"""How answers change a message. Nothing here knows the ledger."""

from __future__ import annotations

import msgspec

from moot.core.clock import Millis
from moot.protocols.mail.model import CLOSED_BY_COMPLETED, Message, Receiver
from moot.protocols.mail.types import AckStatus


def acknowledged(message: Message, name: str, epoch: int, status: AckStatus, at: Millis) -> Message:
    """With the latest ACK of this receiver; what was completed stays so (D-13)."""
    mine = any(one.is_(name, epoch) for one in message.to)
    done = mine and status is AckStatus.COMPLETED and message.type in CLOSED_BY_COMPLETED
    after = msgspec.structs.replace(
        message,
        to=_given(message.to, name, epoch, status, at),
        cc=_given(message.cc, name, epoch, status, at),
        closed=message.closed or done,
    )
    return after if after.missing else msgspec.structs.replace(after, ack_by=None)


def _given(
    receivers: tuple[Receiver, ...], name: str, epoch: int, status: AckStatus, at: Millis
) -> tuple[Receiver, ...]:
    return tuple(
        msgspec.structs.replace(one, status=status, acked_at=at) if one.is_(name, epoch) else one
        for one in receivers
    )


def resent(message: Message, ack_by: Millis) -> Message:
    """Once more before those who are missing."""
    return msgspec.structs.replace(message, ack_by=ack_by, resent=True)


def escalated(message: Message, at: Millis) -> Message:
    """No further time limit: now it is the operator's."""
    return msgspec.structs.replace(message, ack_by=None, escalated_at=at)
