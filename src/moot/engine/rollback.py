"""What the ledger held before, it must still hold: asked before anything is written or signed.

Whoever may write the file can remove its newest events without any key, and the next checkpoint
would sign for what is left. So whoever remembers the ledger from before is asked first. The engine
says when; what is remembered, and where, is not its business:
`workspace/rollback_guard.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from moot.core.errors import Tampered
from moot.core.ledger import View

RESTORE_OR_ACCEPT_HINT = (
    "restore the newest copy of .moot/ledger.db; if it is lost for good, "
    "`moot ledger accept-loss --reason TEXT` goes on from here and says so for ever"
)


class RollbackGuard(Protocol):
    """Each raises Tampered, `rollback_error`, if something that was there is gone."""

    @property
    def seen(self) -> Mapping[str, tuple[int, bytes]]:
        """stream -> the newest event that was seen there. Whoever finds that very event need not
        tell so: this is on every command's way."""
        ...

    def before_writing(self, view: View) -> None:
        """Called under each write lock, before anything is read."""
        ...

    def before_loading(self, view: View, stream: str) -> None:
        """Called under the write lock for every stream that a command depends on and that was not
        seen before."""
        ...

    def note_loaded(self, stream: str, seq: int, record_hash: bytes) -> None:
        """Told the newest event of `stream` as it was found there."""
        ...

    def note_written(self, stream: str, seq: int, record_hash: bytes) -> None:
        """Told the newest event of `stream` once this process has committed it."""
        ...

    def before_signing(self, view: View) -> None:
        """Called under the write lock before a checkpoint signs for all heads that moved."""
        ...


def holds_event(view: View, stream: str, seq: int, record_hash: bytes) -> bool:
    """Does `stream` reach this position, and is it this very event?"""
    head = view.head(stream)
    if head is None or head.seq < seq:
        return False
    record = next(view.records(stream, after=seq - 1), None)
    return record is not None and (record.seq, record.hash) == (seq, record_hash)


def rollback_error(message: str, stream: str = "", seq: int = -1) -> Tampered:
    return Tampered(
        message, code="rolled_back", stream=stream, seq=seq, hint=RESTORE_OR_ACCEPT_HINT
    )
