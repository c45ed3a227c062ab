"""What was there before must be there still: asked before anything is written, or signed.

Whoever may write the file can take its newest events away without any key, and the next checkpoint
would sign for what is left. So whoever knows the ledger from before is asked first. What they know,
and from where, is theirs (`workspace/remembered.py`); the engine says when.
"""

from __future__ import annotations

from typing import Protocol

from moot.core.errors import Tampered
from moot.core.ledger import View

IF_GONE = (
    "restore the newest copy of .moot/ledger.db; if it is lost for good, "
    "`moot ledger accept-loss --reason TEXT` goes on from here and says so for ever"
)


class Evidence(Protocol):
    """Each raises Tampered, `rolled_back`, if something that was there is gone."""

    def before_writing(self, view: View) -> None:
        """Under each write lock."""
        ...

    def before_loading(self, view: View, stream: str) -> None:
        """Under the write lock, with every stream that a command rests on."""
        ...

    def loaded(self, stream: str, seq: int, record_hash: bytes) -> None:
        """Its newest event, as it was found there."""
        ...

    def wrote(self, stream: str, seq: int, record_hash: bytes) -> None:
        """Its newest event, once this process has committed it."""
        ...

    def before_signing(self, view: View) -> None:
        """Under the write lock, before all that has moved is pinned."""
        ...


def holds(view: View, stream: str, seq: int, record_hash: bytes) -> bool:
    """Does `stream` reach this position, and is it this very event?"""
    head = view.head(stream)
    if head is None or head.seq < seq:
        return False
    record = next(view.records(stream, after=seq - 1), None)
    return record is not None and (record.seq, record.hash) == (seq, record_hash)


def rolled_back(message: str, stream: str = "", seq: int = -1) -> Tampered:
    return Tampered(message, code="rolled_back", stream=stream, seq=seq, hint=IF_GONE)
