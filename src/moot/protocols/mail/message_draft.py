"""A message as the rules look at it: subject and body read once, and the names known here."""

from __future__ import annotations

from collections.abc import Container
from functools import cached_property

from moot.core.markdown import BYTE_ORDER_MARK
from moot.protocols.mail.body import MessageBody
from moot.protocols.mail.deltas import DeltaBlock, read_delta_blocks
from moot.protocols.mail.subject import Subject, parse_received_subject, parse_subject
from moot.protocols.mail.types import TYPES, MessageType, TypeSpec, is_ack_owed


class MessageDraft:
    """One message under check. It only reads; what is right or wrong is up to the rules."""

    def __init__(
        self,
        subject: str,
        body: str | bytes,
        ack_required: bool | None = None,
        *,
        received: bool = False,
        sender: str = "",
        agents: Container[str] | None = None,
        items: Container[str] | None = None,
    ) -> None:
        self.subject_line = subject
        self.received = received
        self.sender = sender
        self.agents = agents
        self.items = items
        self.had_reply_prefix = False
        self.subject = self._read_subject()
        self.undecodable_line, text = _decode(body)
        self.has_byte_order_mark = text.startswith(BYTE_ORDER_MARK)
        self.body = MessageBody(text)
        self.ack_required = self._resolve_ack_flag(ack_required)

    def _read_subject(self) -> Subject | None:
        if not self.received:
            return parse_subject(self.subject_line)
        read = parse_received_subject(self.subject_line)
        self.had_reply_prefix = read.had_reply_prefix
        return read.subject

    def _resolve_ack_flag(self, flag: bool | None) -> bool:
        """What the sender says; else, for a message of ours, what its type asks for (BRN-074).

        A received message without a flag asks for nothing.
        """
        if flag is not None:
            return flag
        return not self.received and self.subject is not None and is_ack_owed(self.subject.type)

    @property
    def type(self) -> MessageType | None:
        return self.subject.type if self.subject else None

    @property
    def spec(self) -> TypeSpec | None:
        return TYPES[self.subject.type] if self.subject else None

    @cached_property
    def deltas(self) -> list[DeltaBlock]:
        return read_delta_blocks(self.body)


def _decode(body: str | bytes) -> tuple[int | None, str]:
    """The text, and the line of the first byte that is not UTF-8."""
    if isinstance(body, str):
        return None, body
    try:
        return None, body.decode()
    except UnicodeDecodeError as error:
        return body.count(b"\n", 0, error.start) + 1, body.decode(errors="replace")
