"""Independent opinions about a ledger, from its bytes and with nothing of the engine or the core.

Hashes, chains, signatures, states and trees are computed again from docs/format.md with
the standard library and PyNaCl alone.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from nacl.signing import VerifyKey

Json = dict[str, Any]
EVENT_TYPE = b"application/vnd.moot.event.v1+json"


@dataclass
class Event:
    """One stored record, read again."""

    stream: str
    seq: int
    hash: str
    body: Json


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def framed(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def read_ledger(view: Any) -> dict[str, list[Event]]:
    """Every chain, checked link by link and signature by signature."""
    stored = {name: list(view.records(name)) for name, _ in view.streams()}
    publics = _public_keys(stored["registry"])
    ledger = {name: _read_chain(name, records, publics) for name, records in stored.items()}
    for name, head in view.streams():
        last = ledger[name][-1]
        assert (head.seq, head.hash.hex()) == (last.seq, last.hash)
    return ledger


def _public_keys(registry: Iterable[Any]) -> dict[str, VerifyKey]:
    found = {}
    for record in registry:
        data = json.loads(record.raw)["data"]
        for public in filter(None, (data.get("root"), data.get("public"))):
            raw = bytes.fromhex(public)
            found[sha256(raw).hex()[:32]] = VerifyKey(raw)
    return found


def _read_chain(stream: str, records: list[Any], publics: dict[str, VerifyKey]) -> list[Event]:
    origin = json.loads(records[0].raw)["origin"]
    prev = sha256(b"\x02" + framed(b"moot.genesis.v1", origin.encode(), stream.encode())).hex()
    chain: list[Event] = []
    seen = 0
    for seq, record in enumerate(records):
        body = json.loads(record.raw)
        text = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        assert text.encode() == record.raw
        assert (body["stream"], body["seq"], body["prev"]) == (stream, seq, prev)
        kid, signature = body["actor"]["kid"], record.signature
        pae = b"DSSEv1 %d %b %d %b" % (len(EVENT_TYPE), EVENT_TYPE, len(record.raw), record.raw)
        publics[kid].verify(pae, signature)
        reg = body["reg"] if body["reg"] is not None else -1
        assert reg == seq - 1 if stream == "registry" else reg >= seen
        seen = reg
        prev = sha256(b"\x00" + framed(EVENT_TYPE, record.raw, kid.encode(), signature)).hex()
        chain.append(Event(stream, seq, prev, body))
    return chain


# A tiny model of errands


@dataclass
class Errands:
    open: dict[str, Json] = field(default_factory=dict)
    asked: int = 0
    closed: int = 0
    meddlers: dict[str, int] = field(default_factory=dict)


def errands(chain: list[Event]) -> Errands:
    """What a list of errands holds, by the plain meaning of its events."""
    model = Errands()
    for event in chain:
        data, actor = event.body["data"], event.body["actor"]["id"]
        match event.body["type"]:
            case "example.errand_asked":
                model.asked += 1
                assert data["id"] == f"e{model.asked}"
                model.open[data["id"]] = {**data, "by": actor}
            case "example.errand_done":
                assert model.open.pop(data["id"])["of"] == actor
                model.closed += 1
            case "example.errand_withdrawn":
                assert model.open.pop(data["id"])["by"] == actor
                model.closed += 1
            case "example.errand_lapsed":
                due = model.open.pop(data["id"])["due_at"]
                assert (actor, _millis(event.body["at"]) >= due) == ("system", True)
                model.closed += 1
            case "example.meddled":
                assert data["id"] in model.open
                model.meddlers[actor] = model.meddlers.get(actor, 0) + 1
            case other:
                raise AssertionError(other)
    return model


def _millis(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


# Checkpoints


def tree_hash(leaves: list[bytes]) -> bytes:
    """RFC 6962, as it is written there."""
    if len(leaves) == 1:
        return leaves[0]
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return sha256(b"\x01" + tree_hash(leaves[:k]) + tree_hash(leaves[k:]))


@dataclass
class Note:
    streams: int
    root: bytes
    number: int
    events: int


def read_note(note: str, origin: str, public: bytes) -> Note:
    text, _, stamp = note.rpartition("\n\n")
    text += "\n"
    name, streams, root, ours = text.splitlines()
    word, number, events, _at = ours.split(" ")
    assert (name, word) == (origin, "moot")
    raw = base64.b64decode(stamp.rstrip("\n").split(" ")[2])
    VerifyKey(public).verify(text.encode(), raw[4:])
    return Note(int(streams), base64.b64decode(root), int(number), int(events))


def check_note(view: Any, ledger: dict[str, list[Event]], origin: str, public: bytes) -> int:
    """The newest note pins heads that are really there, under the root of a naive tree."""
    stored = view.newest_note()
    if stored is None:
        return 0
    note = read_note(stored, origin, public)
    pinned = list(view.pinned_heads())
    leaves = []
    for place, (stream, head) in enumerate(pinned):
        event = ledger[stream][head.seq]
        assert (head.number, head.hash.hex()) == (place, event.hash)
        leaves.append(sha256(b"\x00" + framed(stream.encode(), str(head.seq).encode(), head.hash)))
    assert (note.streams, note.root) == (len(leaves), tree_hash(leaves))
    assert note.events == sum(head.seq + 1 for _, head in pinned)
    return note.number
