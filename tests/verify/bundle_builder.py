"""Builds bundles by hand, honest ones and forged ones, for the tests of the verifiers.

Written from docs/format.md with PyNaCl and nothing of Moot, so that a mistake shared by
writer and verifier cannot hide here. Everything is deterministic: a key comes from its label.

    ledger = Ledger()
    ada = ledger.add("ada")
    ledger.event("errand/tea", ada, {"kettle": "on"})
    data, trust = ledger.bundle().data(), ledger.trust()

To forge: every builder takes `**changes` that replace fields of what it builds (`DROP` removes it);
`Ledger.seal` signs any bytes with any key; `Ledger.rechain` rewrites a stream from some event on;
a `Bundle` can be edited line by line. Lines are counted as in a file: 1 is the header.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nacl.signing import SigningKey

Json = dict[str, Any]

EVENT = "application/vnd.moot.event.v1+json"
KEY_PROOF = "application/vnd.moot.key-proof.v1+json"
ENDORSEMENT = "application/vnd.moot.key-endorsement.v1+json"
CHUNK = 786_432
AT = "2026-01-02T03:04:05.678Z"
BOX = "b0" * 16  # the custodian of every key, unless a test says otherwise
DROP: Any = object()  # as a change: this field is left out


def canon(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def b64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def sha(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def frame(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def signed_bytes(kind: str, body: bytes) -> bytes:
    return b" ".join((b"DSSEv1", b"%d" % len(kind), kind.encode(), b"%d" % len(body), body))


def changed(fields: Json, changes: Json) -> Json:
    """The fields with the changes made; what was changed to DROP is gone."""
    return {name: value for name, value in {**fields, **changes}.items() if value is not DROP}


class Signer:
    """A key pair. The same label always gives the same keys."""

    def __init__(self, label: str, custodian: str = BOX) -> None:
        self.label, self.custodian = label, custodian
        self._key = SigningKey(hashlib.sha256(f"moot test key {label}".encode()).digest())
        self.public = bytes(self._key.verify_key)
        self.kid = sha(self.public)[:32]

    def sign(self, kind: str, body: bytes) -> bytes:
        return self.sign_bare(signed_bytes(kind, body))

    def sign_bare(self, message: bytes) -> bytes:
        return self._key.sign(message).signature


@dataclass(frozen=True)
class Entry:
    """One signed event."""

    payload: bytes
    keyid: str
    signature: bytes
    signer: Signer

    @property
    def body(self) -> Json:
        body: Json = json.loads(self.payload)
        return body

    @property
    def hash(self) -> bytes:
        framed = frame(EVENT.encode(), self.payload, self.keyid.encode(), self.signature)
        return hashlib.sha256(b"\x00" + framed).digest()

    @property
    def envelope(self) -> Json:
        signature = {"keyid": self.keyid, "sig": b64(self.signature)}
        return {"payload": b64(self.payload), "payloadType": EVENT, "signatures": [signature]}


def seal(payload: bytes, signer: Signer, **changes: Any) -> Entry:
    """Sign any bytes as an event; `keyid` and `signature` may be changed."""
    made = Entry(payload, signer.kid, signer.sign(EVENT, payload), signer)
    return replace(made, **changes)


def tree_root(leaves: Sequence[bytes]) -> bytes:
    """RFC 6962, section 2.1: the root over leaves that are hashes already."""
    if len(leaves) <= 1:
        return leaves[0] if leaves else hashlib.sha256().digest()
    left = 1 << (len(leaves) - 1).bit_length() - 1
    return hashlib.sha256(b"\x01" + tree_root(leaves[:left]) + tree_root(leaves[left:])).digest()


def tree_path(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """What must be hashed beside leaf `index` on its way to the root, from the leaf up."""
    if len(leaves) <= 1:
        return []
    left = 1 << (len(leaves) - 1).bit_length() - 1
    if index < left:
        return [*tree_path(leaves[:left], index), tree_root(leaves[left:])]
    return [*tree_path(leaves[left:], index - left), tree_root(leaves[:left])]


def leaf(stream: str, seq: int, hashed: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + frame(stream.encode(), b"%d" % seq, hashed)).digest()


class Bundle:
    """The lines of a bundle, to be edited; each edit gives a new one. `data` makes the header."""

    def __init__(self, origin: str, lines: Iterable[bytes]) -> None:
        self.origin, self.lines = origin, list(lines)

    def data(self, **header: Any) -> bytes:
        """The bytes, under a header that is right unless the test changes it."""
        body = b"".join(line + b"\n" for line in self.lines)
        right = {"digest": sha(body), "format": "moot-bundle/1", "lines": len(self.lines)}
        return canon(changed({**right, "origin": self.origin}, header)) + b"\n" + body

    def edited(self, edit: Callable[[list[bytes]], object]) -> Bundle:
        lines = list(self.lines)
        edit(lines)
        return Bundle(self.origin, lines)

    def drop(self, line: int) -> Bundle:
        return self.edited(lambda lines: lines.pop(line - 2))

    def duplicate(self, line: int) -> Bundle:
        return self.insert(line + 1, self.lines[line - 2])

    def swap(self, one: int, other: int) -> Bundle:
        moved = {one: self.lines[other - 2], other: self.lines[one - 2]}
        return self.replace(one, moved[one]).replace(other, moved[other])

    def insert(self, line: int, raw: bytes | Json) -> Bundle:
        made = raw if isinstance(raw, bytes) else canon(raw)
        return self.edited(lambda lines: lines.insert(line - 2, made))

    def replace(self, line: int, raw: bytes | Json) -> Bundle:
        return self.drop(line).insert(line, raw)

    def append(self, raw: bytes | Json) -> Bundle:
        return self.insert(len(self.lines) + 2, raw)

    def cut(self, line: int) -> Bundle:
        """Only the lines up to and including this one."""
        return Bundle(self.origin, self.lines[: line - 1])

    def change(self, line: int, **changes: Any) -> Bundle:
        """Change fields of what the line holds: of the object inside, where there is one inside."""
        value = json.loads(self.lines[line - 2])
        inside = next(iter(value.values()))
        if len(value) == 1 and isinstance(inside, dict):
            return self.replace(line, {next(iter(value)): changed(inside, changes)})
        return self.replace(line, changed(value, changes))

    def find(self, kind: str, nth: int = 0) -> int:
        """The line of the nth event, fork, artifact, chunk, proof or checkpoint."""
        field = "payload" if kind == "event" else kind
        return [i for i, raw in enumerate(self.lines, 2) if field in json.loads(raw)][nth]

    def event(self, stream: str, seq: int) -> int:
        """The line of that event."""
        for number, raw in enumerate(self.lines, 2):
            payload = json.loads(raw).get("payload")
            body = json.loads(base64.b64decode(payload)) if payload else {}
            if (body.get("stream"), body.get("seq")) == (stream, seq):
                return number
        raise LookupError((stream, seq))


class Ledger:
    """An honest ledger in memory; it becomes a forged one only where a test makes a change."""

    def __init__(self, label: str = "ledger", clock: str = "system", **changes: Any) -> None:
        self.root, self.note_key = Signer(f"{label} root"), Signer(f"{label} checkpoint")
        self.origin = f"moot.ledger/{self.root.kid}"
        self.streams: dict[str, list[Entry]] = {}
        self.artifacts: dict[str, bytes] = {}
        self.current: dict[str, Signer] = {}  # the newest key of each name
        self.classes: dict[str, str] = {}
        self.names = {self.root.kid: ("system", 1)}  # kid -> name and epoch
        self.registry("ledger_created", changed(self.creation(clock), changes))

    # The registry.

    def creation(self, clock: str = "system") -> Json:
        key, public = self.note_key, self.note_key.public.hex()
        statement = self.statement(key, "checkpoint", "checkpoint", 1)
        return {
            "checkpoint": public,
            "checkpoint_proof": key.sign(KEY_PROOF, canon(statement)).hex(),
            "clock": clock,
            "custodian": key.custodian,
            "root": self.root.public.hex(),
        }

    def statement(self, key: Signer, name: str, kind: str, epoch: int) -> Json:
        facts = {"class": kind, "custodian": key.custodian, "epoch": epoch, "name": name}
        return {**facts, "origin": self.origin, "public": key.public.hex()}

    def endorse(self, by: Signer, statement: Json) -> Json:
        return {"kid": by.kid, "sig": by.sign(ENDORSEMENT, canon(statement)).hex()}

    def new_key(
        self, key: Signer, name: str, kind: str = "agent", epoch: int = 1, by: Signer | None = None
    ) -> Json:
        """The data of `key_added`; `by` endorses."""
        statement = self.statement(key, name, kind, epoch)
        return {
            **{field: value for field, value in statement.items() if field != "origin"},
            "endorsement": self.endorse(by, statement) if by else None,
            "proof": key.sign(KEY_PROOF, canon(statement)).hex(),
        }

    def registry(
        self, kind: str, data: Json, signer: Signer | None = None, **changes: Any
    ) -> Entry:
        """Append any event to the registry."""
        return self.event("registry", signer or self.root, data, type=f"registry.{kind}", **changes)

    def add(
        self,
        name: str,
        kind: str = "agent",
        by: Signer | None = None,
        key: Signer | None = None,
        **changes: Any,
    ) -> Signer:
        """`key_added`; the key is made from the name unless it is given."""
        key = key or Signer(f"{self.origin} {name}")
        self._know(key, name, kind, 1)
        self.registry("key_added", changed(self.new_key(key, name, kind, 1, by), changes))
        return key

    def rotate(
        self, name: str, by: Signer, step: int = 0, key: Signer | None = None, **changes: Any
    ) -> Signer:
        """`key_rotated`, `step` epochs onward, endorsed by `by`."""
        old = self.current[name]
        epoch = self.names[old.kid][1] + step
        key = key or Signer(f"{old.label}+")
        self._know(key, name, self.classes[name], epoch)
        data = self.new_key(key, name, self.classes[name], epoch, by)
        data |= {"reason": "a test", "replaces": old.kid}
        self.registry("key_rotated", changed(data, changes))
        return key

    def _know(self, key: Signer, name: str, kind: str, epoch: int) -> None:
        self.current[name], self.classes[name] = key, kind
        self.names.setdefault(key.kid, (name, epoch))

    def heads(self) -> Json:
        """Where each stream stands: what a revocation cites."""
        return {name: [len(es) - 1, es[-1].hash.hex()] for name, es in self.streams.items()}

    def revoke(
        self,
        key: Signer,
        signer: Signer | None = None,
        heads: bytes | Json | None = None,
        **changes: Any,
    ) -> Entry:
        """`key_revoked`, with the heads of this moment unless others are given."""
        heads = self.heads() if heads is None else heads
        cited = self.cite(heads if isinstance(heads, bytes) else canon(heads), "application/json")
        data = {"heads": cited["sha256"], "kid": key.kid, "reason": "a test"}
        return self.registry("key_revoked", changed(data, changes), signer, artifacts=[cited])

    def retire(self, name: str, **changes: Any) -> Entry:
        epoch = self.names[self.current[name].kid][1] if name in self.current else 1
        data = {"epoch": epoch, "name": name, "reason": "a test"}
        return self.registry("agent_retired", changed(data, changes))

    def erase(self, content: bytes, signer: Signer | None = None, **changes: Any) -> Entry:
        """`artifact_erased`; the bytes are gone from the ledger."""
        self.artifacts.pop(sha(content), None)
        data = {"reason": "a test", "sha256": sha(content), "size": len(content)}
        return self.registry("artifact_erased", changed(data, changes), signer)

    def accept_history(self, by: Signer | None = None, **changes: Any) -> Entry:
        told = {"lost": "a note", "origin": self.origin, "reason": "a test"}
        endorsement = self.endorse(by, told) if by else None
        data = {"endorsement": endorsement, "lost": told["lost"], "reason": told["reason"]}
        return self.registry("history_accepted", changed(data, changes))

    # Events.

    def cite(self, content: bytes, media_type: str = "text/plain") -> Json:
        """Keep the bytes as an artifact and return the citation of it."""
        self.artifacts[sha(content)] = content
        return {"media_type": media_type, "sha256": sha(content), "size": len(content)}

    def body(
        self, stream: str, signer: Signer, data: Json | None = None, /, **changes: Any
    ) -> Json:
        """The body of the next event of a stream."""
        entries = self.streams.get(stream, [])
        registry = len(self.streams.get("registry", []))
        name, epoch = self.names.get(signer.kid, (signer.label, 1))
        honest: Json = {
            "v": 1,
            "origin": self.origin,
            "stream": stream,
            "seq": len(entries),
            "prev": (entries[-1].hash if entries else self.genesis(stream)).hex(),
            "reg": registry - 1 if registry else None,
            "key": None,
            "type": f"{stream.split('/')[0]}.noted",
            "at": AT,
            "actor": {"epoch": epoch, "id": name, "kid": signer.kid, "role": None},
            "cause": None,
            "corr": None,
            "data": data or {},
            "artifacts": [],
        }
        return changed(honest, changes)

    def event(
        self, stream: str, signer: Signer, data: Json | None = None, /, **changes: Any
    ) -> Entry:
        """Sign the next event of a stream and append it."""
        return self.append(stream, seal(canon(self.body(stream, signer, data, **changes)), signer))

    def append(self, stream: str, entry: Entry) -> Entry:
        """Put any sealed event at the end of a stream."""
        self.streams.setdefault(stream, []).append(entry)
        return entry

    def genesis(self, stream: str) -> bytes:
        framed = frame(b"moot.genesis.v1", self.origin.encode(), stream.encode())
        return hashlib.sha256(b"\x02" + framed).digest()

    def rechain(
        self, stream: str, seq: int, edit: Callable[[Json], Json], signer: Signer | None = None
    ) -> None:
        """Edit an event and rewrite everything after it, as someone would who holds the keys.

        Each event is signed again by its own author, or all of them by `signer`, who keeps the
        claimed authors' kids: that is a thief with one key only."""
        old, self.streams[stream] = self.streams[stream], self.streams[stream][:seq]
        for entry in old[seq:]:
            entries = self.streams[stream]
            body = edit(entry.body) if len(entries) == seq else entry.body
            body["prev"] = (entries[-1].hash if entries else self.genesis(stream)).hex()
            made = seal(canon(body), signer or entry.signer)
            self.append(stream, replace(made, keyid=entry.keyid, signer=entry.signer))

    # The checkpoint.

    def leaves(self) -> list[bytes]:
        items = self.streams.items()
        return [leaf(name, len(entries) - 1, entries[-1].hash) for name, entries in items]

    def proof(self, stream: str, leaves: Sequence[bytes] | None = None, **changes: Any) -> Json:
        """The proof of a stream's newest event among the leaves, as the object inside the line."""
        leaves = self.leaves() if leaves is None else leaves
        index, entries = list(self.streams).index(stream), self.streams[stream]
        honest = {
            "hash": entries[-1].hash.hex(),
            "index": index,
            "path": [node.hex() for node in tree_path(leaves, index)],
            "seq": len(entries) - 1,
            "stream": stream,
        }
        return changed(honest, changes)

    def note(
        self,
        number: int | str = 1,
        *,
        origin: str | None = None,
        streams: int | str | None = None,
        root: bytes | str | None = None,
        events: int | str | None = None,
        at: str = AT,
        key: Signer | None = None,
        signer: str | None = None,
        tag: bytes | None = None,
    ) -> str:
        """A checkpoint over the ledger as it stands. Every part may be another."""
        leaves, key, origin = self.leaves(), key or self.note_key, origin or self.origin
        streams = len(leaves) if streams is None else streams
        events = sum(map(len, self.streams.values())) if events is None else events
        root = tree_root(leaves) if root is None else root
        root = b64(root) if isinstance(root, bytes) else root
        text = f"{origin}\n{streams}\n{root}\nmoot {number} {events} {at}\n"
        tagged = origin.encode() + b"\n\x01" + key.public
        tag = hashlib.sha256(tagged).digest()[:4] if tag is None else tag
        seal64 = b64(tag + key.sign_bare(text.encode()))
        return f"{text}\n\N{EM DASH} {signer or origin} {seal64}\n"

    # What leaves the ledger.

    def trust(self, minimum: int | None = None, **changes: Any) -> Json:
        root, checkpoint = self.root.public.hex(), self.note_key.public.hex()
        pins = {"checkpoint": checkpoint, "format": "moot-trust/1", "minimum": minimum}
        return changed({**pins, "origin": self.origin, "root": root}, changes)

    def bundle(
        self,
        streams: Sequence[str] | None = None,
        *,
        forks: Sequence[Entry] = (),
        artifacts: bool = True,
        proofs: Sequence[Json] | bool = True,
        note: str | bool = True,
    ) -> Bundle:
        """The ledger, or some of its streams, as a bundle with proofs and a checkpoint."""
        names = [name for name in self.streams if streams is None or name in streams]
        entries = [entry for name in names for entry in self.streams[name]]
        lines: list[Json] = [entry.envelope for entry in entries]
        lines += [{"fork": fork.envelope} for fork in forks]
        cited = {item["sha256"] for entry in entries for item in self._citations(entry)}
        for digest in sorted(cited & set(self.artifacts) if artifacts else ()):
            lines += artifact_lines(self.artifacts[digest])
        if proofs is True:
            proofs = [self.proof(name) for name in names]
        lines += [{"proof": proof} for proof in proofs or ()]
        if note:
            lines.append({"checkpoint": self.note() if note is True else note})
        return Bundle(self.origin, map(canon, lines))

    @staticmethod
    def _citations(entry: Entry) -> list[Json]:
        try:
            cited = entry.body["artifacts"]
            return [item for item in cited if isinstance(item, dict) and "sha256" in item]
        except (ValueError, KeyError, TypeError, RecursionError):
            return []


def artifact_lines(content: bytes) -> list[Json]:
    """An artifact's line and the lines of its chunks."""
    chunks = (content[i : i + CHUNK] for i in range(0, len(content), CHUNK))
    head = {"artifact": {"sha256": sha(content), "size": len(content)}}
    return [head, *({"chunk": b64(chunk)} for chunk in chunks)]


BIG = bytes(range(256)) * 3_100  # 793,600 bytes: two chunks
GONE = b"a secret that was erased"


def small() -> Ledger:
    """A ledger with one person, one agent, one stream and one artifact: quick to check."""
    ledger = Ledger("small", clock="fixed")
    ledger.add("operator", "human")
    ada = ledger.add("ada")
    cited = ledger.cite(b"tea leaves")
    ledger.event("errand/tea", ada, {"kettle": "on"}, artifacts=[cited])
    ledger.event("errand/tea", ada, {"kettle": "off"}, key="k-1", corr="tea")
    return ledger


def story() -> Ledger:
    """A ledger in which everything the format knows has happened once."""
    ledger = Ledger("story")
    operator = ledger.add("operator", "human")
    ledger.add("auditor", "human", operator)
    ada, bob = ledger.add("ada"), ledger.add("bob", by=operator)
    cyd, dan = ledger.add("cyd"), ledger.add("dan")
    opened = ledger.event("errand/tea", ada, {"kettle": "on"}, artifacts=[ledger.cite(b"")])
    ledger.event("errand/tea", bob, {"cups": 2}, cause=opened.hash.hex(), corr="tea")
    ledger.event("talk", cyd, {"said": "héllo \N{SNOWMAN} \U0001f600"}, key="once")
    ledger.event("talk", dan, {"big": True}, artifacts=[ledger.cite(BIG), ledger.cite(GONE)])
    ledger.event("talk", ledger.root, {"note": "by the system"})
    ada = ledger.rotate("ada", ada)
    ledger.event("errand/tea", ada, {"kettle": "off"})
    ledger.revoke(bob)
    bob = ledger.rotate("bob", operator, step=1)
    ledger.event("errand/tea", bob, {"cups": 3})
    ledger.retire("cyd")
    ledger.retire("dan")
    dan = ledger.rotate("dan", dan, step=1)
    ledger.event("errand/milk", dan, {"litres": 1})
    ledger.erase(GONE, operator)
    ledger.accept_history(operator)
    ledger.event("errand/milk", operator, {"paid": True}, actor={
        "epoch": 1, "id": "operator", "kid": operator.kid, "role": "payer",
    })  # fmt: skip
    return ledger
