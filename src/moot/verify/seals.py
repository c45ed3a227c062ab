"""Sealed first answers (section 9): sealed before any is opened, and opened as they were sealed.

Whoever reads the record, or a receipt of it, is told that nobody could fit its answer to another's.
The checkpoint that covers all seals stands in the record itself, with the way from the event before
it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from moot.verify import canonical, field_rules, head_tree
from moot.verify.checkpoint_note import read_note
from moot.verify.crypto import frame_parts
from moot.verify.event_reader import CLOSED_TYPE, OPENED_TYPE, SEALED_TYPE, ReadEvent
from moot.verify.step_failure import StepFailure, StreamPosition
from moot.verify.trusted_registry import TrustedRegistry

DOMAIN: Final = b"moot.sealed-answer.v1"
_WORDS: Final = ("answer", "motives", "why")


class SealedAnswers:
    """What the decisions of a bundle have sealed and opened so far."""

    def __init__(self) -> None:
        self._commitments: dict[tuple[str, str], Any] = {}
        self._covered: set[str] = set()  # streams whose seals a checkpoint covers
        self._opened: set[str] = set()

    def take(self, event: ReadEvent, registry: TrustedRegistry) -> None:
        """`StepFailure` at the event that breaks the order or opens another answer."""
        body = event.body
        if body is None:
            return
        kind, author = body["type"], body["actor"]["id"]
        if kind == SEALED_TYPE:
            self._seal(event, author, body["data"])
        elif kind == CLOSED_TYPE and _is_covered(event, body, registry):
            self._covered.add(event.stream)
        elif kind == OPENED_TYPE:
            self._open(event, author, body["data"])

    def _seal(self, event: ReadEvent, author: str, data: Mapping[str, Any]) -> None:
        if event.stream in self._opened:
            raise _broken(event, "sealed_late", "it was sealed after another one was opened")
        self._commitments[event.stream, author] = data.get("commitment")
        self._covered.discard(event.stream)

    def _open(self, event: ReadEvent, author: str, data: Mapping[str, Any]) -> None:
        nonce, sealed = data.get("nonce"), (event.stream, author)
        if not nonce and sealed not in self._commitments:
            return  # a question whose answers are not sealed
        if event.stream not in self._covered or not field_rules.HEX_HASH(nonce):
            raise _broken(event, "opened_early", "no checkpoint covers what it opens")
        if commitment(event.stream, author, data) != self._commitments.get(sealed):
            raise _broken(event, "seal_broken", "another answer was sealed")
        self._opened.add(event.stream)


def commitment(stream: str, author: str, data: Mapping[str, Any]) -> str:
    """What an opened answer commits to; its nonce is 32 bytes in hex."""
    text = canonical.write_canonical({name: data.get(name) for name in _WORDS})
    parts = (DOMAIN, stream.encode(), author.encode(), bytes.fromhex(data["nonce"]), text)
    return hashlib.sha256(frame_parts(*parts)).hexdigest()


def _is_covered(event: ReadEvent, body: Mapping[str, Any], registry: TrustedRegistry) -> bool:
    """Does a checkpoint of this ledger cover the event right before this one?"""
    data, key = body["data"], registry.checkpoint
    note, index, path = (data.get(name) for name in ("note", "index", "path"))
    if key is None or type(note) is not str or type(index) is not int:
        return False
    if type(path) is not list or len(path) > head_tree.MAX_PATH:
        return False
    if not all(map(field_rules.HEX_HASH, path)):
        return False
    leaf = head_tree.leaf_hash(event.stream, event.seq - 1, bytes.fromhex(body["prev"]))
    try:
        covering = read_note(note, registry.origin, key.public)
    except StepFailure:
        return False
    nodes = tuple(map(bytes.fromhex, path))
    return head_tree.root_from_path(leaf, index, covering.streams, nodes) == covering.root


def _broken(event: ReadEvent, code: str, message: str) -> StepFailure:
    return StepFailure(8, code, message).at(position=StreamPosition(event.stream, event.seq))
