"""Compare with another copy of the same ledger: two events signed for one position are a fork.

The caller has verified the other copy. Of each stream, Moot keeps the first event that differs from
ours and is signed by a known key. Later ones differ because of it, and one event is proof enough.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from moot.core.ledger import View
from moot.core.record import Body, Record
from moot.core.registry.model import State as Registry
from moot.engine.engine import Engine

_ENVELOPE = b'{"payload":'


class CopyComparison(NamedTuple):
    """How many events are the same, only in the other copy, or different; and the proof."""

    same: int
    ahead: int
    differing: int
    forks: tuple[Record, ...]


class _Signature(msgspec.Struct, frozen=True):
    keyid: str
    sig: str


class _Envelope(msgspec.Struct, frozen=True):
    payload: str
    signatures: tuple[_Signature, ...]


def witness(engine: Engine, lines: Iterable[bytes]) -> CopyComparison:
    """Compare every event of a bundle with ours, and store the proof of a second history."""
    # LDG-087
    registry = engine.registry()
    with engine.store.read() as view:
        comparison = _compare(view, registry, _records(lines))
    if comparison.forks:
        with engine.store.write() as change:
            for record in comparison.forks:
                change.keep_fork(record)
    return comparison


def _compare(view: View, registry: Registry, others: Iterable[Record]) -> CopyComparison:
    same, ahead, differing = 0, 0, 0
    forks: dict[str, Record] = {}
    stream = ""
    ours: Iterator[Record] = iter(())
    for other in others:
        if other.stream != stream:
            stream, ours = other.stream, view.records(other.stream)
        mine = next(ours, None)
        if mine is None:
            ahead += 1
        elif mine == other:
            same += 1
        else:
            differing += 1
            if stream not in forks and _is_signed(registry, other):
                forks[stream] = other
    return CopyComparison(same, ahead, differing, tuple(forks.values()))


def _is_signed(registry: Registry, record: Record) -> bool:
    key = registry.keys.get(record.kid)
    return key is not None and record.signed_by(bytes.fromhex(key.public))


def _records(lines: Iterable[bytes]) -> Iterator[Record]:
    """Yield the events of a bundle in order."""
    for line in lines:
        if line.startswith(_ENVELOPE):
            envelope = msgspec.json.decode(line, type=_Envelope)
            raw, (signature,) = base64.b64decode(envelope.payload), envelope.signatures
            body = msgspec.json.decode(raw, type=Body)
            yield Record(
                body.stream, body.seq, signature.keyid, raw, base64.b64decode(signature.sig)
            )
