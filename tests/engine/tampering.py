"""What someone with write access to the store could do, with or without a key."""

from __future__ import annotations

import copy
from typing import Any

import msgspec

from moot.core.record import Body, Record, seal
from moot.core.signing import Signer
from moot.store.memory import MemoryStore
from moot.testing import World


def chain(world: World, stream: str) -> list[Record]:
    """The stored records themselves, to be damaged in place."""
    assert isinstance(world.store, MemoryStore)
    return world.store._tables.chains[stream]


def everything(world: World) -> dict[str, Any]:
    """All that is stored, for comparing before and after."""
    assert isinstance(world.store, MemoryStore)
    return copy.deepcopy(vars(world.store._tables))


def spoil_signature(record: Record) -> Record:
    signature = bytes([record.signature[0] ^ 1]) + record.signature[1:]
    return Record(record.stream, record.seq, record.kid, record.raw, signature)


def rewrite(world: World, stream: str, seq: int, /, **fields: Any) -> None:
    """Change a record and join all later ones to it: a whole chain, with false signatures."""
    records = chain(world, stream)
    changed = msgspec.structs.replace(records[seq].body, **fields)
    for place in range(seq, len(records)):
        old = records[place]
        raw = msgspec.json.encode(changed, order="sorted")
        records[place] = Record(stream, place, old.kid, raw, old.signature)
        if place + 1 < len(records):
            prev = records[place].hash.hex()
            changed = msgspec.structs.replace(records[place + 1].body, prev=prev)


def append_as(world: World, stream: str, signer: Signer, /, **fields: Any) -> Record:
    """A further record, rightly chained and signed by `signer`, whatever it claims."""
    records = chain(world, stream)
    last = records[-1]
    body: Body = msgspec.structs.replace(
        last.body, seq=last.seq + 1, prev=last.hash.hex(), key=None, **fields
    )
    record = seal(body, signer)
    records.append(record)
    assert isinstance(world.store, MemoryStore)
    world.store._tables.key_of[stream].append(None)
    return record
