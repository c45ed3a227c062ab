"""A message after an answer, after it was sent again, and after it went to the operator."""

from __future__ import annotations

import msgspec

from moot.core.clock import Millis
from moot.protocols.mail.model import CLOSED_BY_COMPLETED, MailMessage, Receiver
from moot.protocols.mail.types import AckStatus


def with_ack(
    message: MailMessage, name: str, epoch: int, status: AckStatus, at: Millis
) -> MailMessage:
    """The message with the latest ACK of this receiver.

    Once completed it stays so: a later, lesser status does not open it again (D-13).
    """
    addressed = any(receiver.is_holder(name, epoch) for receiver in message.to)
    done = addressed and status is AckStatus.COMPLETED and message.type in CLOSED_BY_COMPLETED
    after = msgspec.structs.replace(
        message,
        to=_with_status(message.to, name, epoch, status, at),
        cc=_with_status(message.cc, name, epoch, status, at),
        closed=message.closed or done,
    )
    return after if after.missing_receivers else msgspec.structs.replace(after, ack_by=None)


def _with_status(
    receivers: tuple[Receiver, ...], name: str, epoch: int, status: AckStatus, at: Millis
) -> tuple[Receiver, ...]:
    return tuple(
        msgspec.structs.replace(receiver, status=status, acked_at=at)
        if receiver.is_holder(name, epoch)
        else receiver
        for receiver in receivers
    )


def with_new_limit(message: MailMessage, ack_by: Millis) -> MailMessage:
    """The message with a new time limit, after it was sent again to those who did not answer."""
    return msgspec.structs.replace(message, ack_by=ack_by, resent=True)


def without_limit(message: MailMessage, at: Millis) -> MailMessage:
    """The message without a time limit: from now on it is the operator's to settle."""
    return msgspec.structs.replace(message, ack_by=None, escalated_at=at)


def lapsed(message: MailMessage) -> MailMessage:
    """The message that nobody waits for any more; a late answer does not open it again."""
    return msgspec.structs.replace(message, ack_by=None, ack_required=False, closed=True)
