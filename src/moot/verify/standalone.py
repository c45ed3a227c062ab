"""Checks a Moot bundle or receipt: `python standalone.py FILE [--trust FILE] [--checkpoint NOTE]`.

One file to copy: it needs Python 3.11 and PyNaCl. Written from docs/format.md alone, it takes the
steps of section 7 (step 8: the end). That the trust file came by another way than the bundle is the
caller's to see to. Exit: 0 valid, 1 not to be trusted, 2 usage, 3 unproven, 4 not checked.
"""

import argparse
import base64
import hashlib
import io
import itertools
import json
import os
import re
import sys
from types import SimpleNamespace
from typing import Any, BinaryIO, Self

try:
    from nacl import bindings as nacl
    from nacl.exceptions import CryptoError
except ImportError as error:
    if __name__ != "__main__":
        raise
    print(f"could not check: {error}; `pip install pynacl` brings it", file=sys.stderr)
    sys.exit(4)

LINE, BODY, CHUNK, HEADS, WHOLE, DEPTH, MAX = 2**21, 65_536, 786_432, 2**24, 2**26, 32, 2**53 - 1
CLAIM = re.compile(rb'\{"digest":"|.*moot-(bundle|receipt)/', re.DOTALL)
RECEIPT, MADE = b'{"format":"moot-receipt/1","record":', ("root", "decision.receipt_made")
TYPES = ("event", "key-proof", "key-endorsement")
EVENT_TYPE, PROOF_TYPE, ENDORSEMENT_TYPE = (f"application/vnd.moot.{one}.v1+json" for one in TYPES)
SAID = ("decision", "stage", "question", "word", "result")  # what is told of a receipt
LOSS = "a loss was accepted at event %d of the registry on %s: %s"
VERDICTS = ("tampered", "forked", "unknown-key", "truncated", "rolled-back", "unproven", "valid")
Json = dict[str, Any]


def need(condition: object, why: str) -> None:
    if not condition:
        raise ValueError(why)  # by which a step fails, or by what a library raises


# Section 1, in one linear scan: strings, with the colon that makes a key; brackets; all else.
TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?:?|[\[\]{}]|[^"\[\]{}:,\s]++', re.DOTALL)
sha256 = nacl.crypto_hash_sha256
write = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


def parse(text: bytes, exact: bool = True) -> Any:
    tokens = TOKEN.findall(text)
    steps = ((one[0] in b"[{") - (one[0] in b"]}") for one in tokens)
    need(max(itertools.accumulate(steps), default=0) <= DEPTH, "nested too deep")
    need(all(max(one) < 0xEE for one in tokens if one.endswith(b'":')), "a key beyond U+D7FF")
    need(all(abs(int(one)) <= MAX for one in tokens if one[0] in b"-0123456789"), "out of range")
    value = json.loads(text.decode(), parse_float=int, parse_constant=int)  # int() refuses both
    need(not exact or write(value).encode() == text, "not canonical")
    return value


def unb64(text: str) -> bytes:
    raw = base64.b64decode(text, validate=True)
    need(base64.b64encode(raw).decode() == text, "base64 is not canonical")
    return raw


def framed(mark: bytes, *parts: bytes) -> bytes:
    return sha256(mark + b"".join(len(part).to_bytes(8, "big") + part for part in parts))


def need_signature(signature: bytes, public: bytes, body: bytes, kind: str) -> None:
    pae = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(body), body)
    nacl.crypto_sign_open(signature + pae, public)


# Sections 3 to 6 as tables. A form is an expression for a text, the least value of an integer, a
# tuple of alternatives, a list (item, least, most), a table of exactly these fields, dict or None.
def fits(value: Any, form: Any) -> bool:
    if isinstance(form, str):
        return isinstance(value, str) and re.fullmatch(form, value, re.DOTALL) is not None
    if isinstance(form, int):
        return type(value) is int and value >= form
    if isinstance(form, tuple):
        return any(fits(value, one) for one in form)
    if isinstance(form, list) and type(value) is list:
        return form[1] <= len(value) <= form[2] and all(fits(one, form[0]) for one in value)
    if isinstance(form, dict) and type(value) is dict:
        return value.keys() == form.keys() and all(fits(value[name], form[name]) for name in form)
    return value is None if form is None else type(value) is form


def row(names: str, *values: Any) -> Json:
    return dict(zip(names.split(), values, strict=True))


STREAM = r"(?!registry/)[a-z]{1,32}(?:/[A-Za-z0-9._:@+~-]{1,200})?"
AT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"
ORIGIN, NAME = r"moot\.ledger/[0-9a-f]{32}", r"(?=.{3,48}\Z)[a-z0-9]+(?:-[a-z0-9]+)*"
TYPE, TEXT, NUMBER = r"(?=.{3,96}\Z)[a-z]+\.[a-z][a-z0-9_]*", ".*", "(?:0|[1-9][0-9]{0,15})"
HEX32, HEX64, HEX128 = (f"[0-9a-f]{{{size}}}" for size in (32, 64, 128))
ACTOR = row("epoch id kid role", 1, NAME, HEX32, (None, ".{1,64}"))
CITATION = row("media_type sha256 size", ".{1,127}", HEX64, 0)
EVENT = row(
    "v origin stream seq prev reg key type at actor cause corr data artifacts",
    *(1, ORIGIN, STREAM, 0, HEX64, (None, 0), (None, ".{1,300}"), TYPE, AT, ACTOR),
    *((None, HEX64), (None, ".{1,128}"), dict, [CITATION, 0, 256]),
)
ENDORSEMENT = (None, row("kid sig", HEX32, HEX128))
STATEMENT, ACCEPTANCE = ("class", "custodian", "epoch", "name", "public"), ("lost", "reason")
KEY = "class custodian endorsement epoch name proof public"
KEY_FORMS = ("agent|human", HEX32, ENDORSEMENT, 1, NAME, HEX128, HEX64)
CREATED = "checkpoint checkpoint_proof clock custodian root"
REGISTRY = {
    "ledger_created": row(CREATED, HEX64, HEX128, "system|fixed", HEX32, HEX64),
    "key_added": row(KEY, *KEY_FORMS),
    "key_rotated": row(f"{KEY} reason replaces", *KEY_FORMS, TEXT, HEX32),
    "key_revoked": row("heads kid reason", HEX64, HEX32, TEXT),
    "agent_retired": row("epoch name reason", 1, NAME, TEXT),
    "artifact_erased": row("reason sha256 size", TEXT, HEX64, 0),
    "history_accepted": row("endorsement lost reason", ENDORSEMENT, TEXT, TEXT),
}
SIGNATURES = [row("keyid sig", HEX32, ".{88}"), 1, 1]
ENVELOPE = row("payload payloadType signatures", TEXT, re.escape(EVENT_TYPE), SIGNATURES)
PROOF = row("hash index path seq stream", HEX64, 0, [HEX64, 0, LINE], 0, STREAM)
KINDS = {  # each with the kinds that may follow it
    "header": (row("digest format lines origin", HEX64, "moot-bundle/1", 0, ORIGIN), "event"),
    "event": (ENVELOPE, "event fork artifact proof checkpoint"),
    "fork": ({"fork": ENVELOPE}, "fork artifact proof checkpoint"),
    "artifact": ({"artifact": row("sha256 size", HEX64, 0)}, "artifact chunk proof checkpoint"),
    "chunk": ({"chunk": TEXT}, "artifact chunk proof checkpoint"),
    "proof": ({"proof": PROOF}, "proof checkpoint"),
    "checkpoint": ({"checkpoint": TEXT}, ""),
}
PIN = row("checkpoint format minimum origin root", HEX64, "moot-trust/1", (None, 0), ORIGIN, HEX64)
HEAD = re.compile(rf'"({STREAM})":\[({NUMBER}),"({HEX64})"\]')
NOTE = re.compile(
    rf"(?P<text>(?P<origin>[^\n]+)\n(?P<streams>{NUMBER})\n(?P<root>[A-Za-z0-9+/]{{43}}=)\n"
    rf"moot (?P<number>{NUMBER}) (?P<events>{NUMBER}) (?P<at>{AT})\n)\n"
    r"— (?P=origin) (?P<seal>[A-Za-z0-9+/]{91}=)\n"
)
NOBODY = SimpleNamespace(kind="", name="", epoch=0, added=MAX, ended=0, heads="", retired=False)


class Registry:
    """Step 5: the keys, as told by events already proved. It holds only what it accepted."""

    def __init__(self, origin: str) -> None:
        self.origin, self.created, self.lost = origin, Json(), list[str]()
        self.keys, self.names = Json(), Json()  # by kid; the kid of each name's newest key
        self.heads, self.erased = set[str](), set[str]()

    def author(self, event: Json, position: int) -> str:
        """The class of the actor's key, if it was valid at the position and bore that name."""
        actor, key = event["actor"], self.keys.get(event["actor"]["kid"], NOBODY)
        named = (key.name, key.epoch) == (actor["id"], actor["epoch"])
        return str(key.kind) if named and key.added <= position < key.ended else ""

    def accept(self, event: Json) -> None:
        kind, data, seq = event["type"].removeprefix("registry."), event["data"], event["seq"]
        need(kind in REGISTRY and fits(data, REGISTRY[kind]), "not an event of the registry")
        need((kind == "ledger_created") == (seq == 0), "only event 0 creates a ledger")
        cited = {artifact["sha256"] for artifact in event["artifacts"]}
        need(kind != "key_revoked" or data["heads"] in cited, "the heads are not an artifact")
        getattr(self, kind)(data, seq)
        may = ("root", "human") if kind in ("key_revoked", "artifact_erased") else ("root",)
        by, role = self.author(event, seq - 1), event["actor"]["role"]
        need(by in may and (by == "human" or role is None), "not by an author who may")
        if kind == "history_accepted":
            self.lost.append(LOSS % (seq, event["at"], write(data["reason"][:200])))

    def told(self, data: Json, names: tuple[str, ...]) -> bytes:
        return write({"origin": self.origin, **{name: data[name] for name in names}}).encode()

    def endorser(self, data: Json, names: tuple[str, ...]) -> Any:
        by, told = data["endorsement"], self.told(data, names)
        need(by and by["kid"] in self.keys, "not endorsed by a known key")
        need_signature(bytes.fromhex(by["sig"]), self.keys[by["kid"]].raw, told, ENDORSEMENT_TYPE)
        return self.keys[by["kid"]]

    def add(self, data: Json, at: int) -> None:
        raw, kind, name = bytes.fromhex(data["public"]), data["class"], data["name"]
        kid, told = sha256(raw).hex()[:32], self.told(data, STATEMENT)
        # Libsodium's test also refuses mixed order, where libraries disagree on signatures.
        need(kid not in self.keys and nacl.crypto_core_ed25519_is_valid_point(raw), "unfit key")
        if kind != "root":  # which signs event 0 itself
            need_signature(bytes.fromhex(data["proof"]), raw, told, PROOF_TYPE)
        life = row("added ended heads human retired", at, MAX, "", kind == "human", False)
        self.keys[kid], self.names[name] = SimpleNamespace(**data, raw=raw, kind=kind, **life), kid

    def ledger_created(self, data: Json, _: int) -> None:
        self.created, names = data, "class name epoch custodian public proof"
        self.add(row(names, "root", "system", 1, data["custodian"], data["root"], ""), -1)
        need(self.origin == f"moot.ledger/{self.names['system']}", "not the origin's root key")
        key, proof = data["checkpoint"], data["checkpoint_proof"]  # for notes: never valid for more
        self.add(row(names, "checkpoint", "checkpoint", 1, data["custodian"], key, proof), MAX)

    def key_added(self, data: Json, at: int) -> None:
        need(data["name"] not in self.names and data["epoch"] == 1, "an old name, or a new epoch")
        further = data["class"] == "human" and any(k.kind == "human" for k in self.keys.values())
        if further or data["endorsement"]:
            by = self.endorser(data, STATEMENT)
            need(by.human if further else by.added < at <= by.ended, "not endorsed by who may")
        self.add(data, at)

    def key_rotated(self, data: Json, at: int) -> None:
        kid, old = data["replaces"], self.keys.get(data["replaces"], NOBODY)
        need(self.names.get(data["name"]) == kid, "it replaces a key that is not the current one")
        follows = data["epoch"] - old.epoch in ((1,) if old.retired else (0, 1))
        need(follows and old.kind == data["class"], "the class or the epoch does not follow")
        by = self.endorser(data, STATEMENT)  # a retired key may hand over, a revoked one never
        need(by.human or (by is old and not old.heads), "not endorsed by who may")
        old.ended, old.human = min(old.ended, at), False
        self.add(data, at)

    def key_revoked(self, data: Json, at: int) -> None:
        key = self.keys.get(data["kid"], NOBODY)
        need(key.kind in ("agent", "human") and not key.heads, "the key cannot be revoked")
        key.heads, key.ended, key.human = data["heads"], min(key.ended, at), False
        self.heads.add(key.heads)

    def agent_retired(self, data: Json, at: int) -> None:
        key = self.keys.get(self.names.get(data["name"], ""), NOBODY)
        need((key.epoch, key.kind, key.retired) == (data["epoch"], "agent", False), "not retirable")
        key.retired, key.ended = True, min(key.ended, at)

    def artifact_erased(self, data: Json, _: int) -> None:
        self.erased.add(data["sha256"])

    def history_accepted(self, data: Json, _: int) -> None:
        by = self.endorser(data, ACCEPTANCE) if data["endorsement"] else None
        asked = any(key.human for key in self.keys.values())
        need(by and by.human if asked else by is None, "not endorsed by who may")

    def custody(self) -> str:
        agents = [key for key in self.keys.values() if (key.kind, key.ended) == ("agent", MAX)]
        count, boxes = len(agents), len({key.custodian for key in agents})
        said = f"{count} agent{'s' * (count != 1)}, {boxes} custodian{'s' * (boxes != 1)}"
        others = "each other" if boxes == 1 else "another of the same custodian"
        shared = f": which one wrote is recorded, that they could not impersonate {others} is not"
        fixed = "; times are from a fixed test clock" * (self.created.get("clock") == "fixed")
        return (said + shared * (boxes < count) if count else "no agents") + fixed


def root_of(leaf: bytes, index: int, size: int, path: list[str]) -> bytes:
    """The root of a tree of `size` leaves, from its definition in RFC 6962: top down."""
    need(index < size and bool(path) == (size > 1), "a proof that does not fit the tree")
    if size == 1:
        return leaf
    left, beside = 1 << (size - 1).bit_length() - 1, bytes.fromhex(path[-1])
    if index < left:
        return sha256(b"\1" + root_of(leaf, index, left, path[:-1]) + beside)
    return sha256(b"\1" + beside + root_of(leaf, index - left, size - left, path[:-1]))


def read_note(text: str, keys: Json) -> Json:
    """What a note says that is of the ledger, and holds under the checkpoint key, in `keys`."""
    note: Json = match.groupdict() if (match := NOTE.fullmatch(text)) else {}
    need(note and note["origin"] == keys.get("origin"), "not a checkpoint of the ledger named")
    origin, public, seal = note["origin"], bytes.fromhex(keys["checkpoint"]), unb64(note["seal"])
    need(seal[:4] == sha256(origin.encode() + b"\n\1" + public)[:4], "not by the checkpoint key")
    nacl.crypto_sign_open(seal[4:] + note["text"].encode(), public)
    return {**note, "root": unb64(note["root"])}


class Checker:
    """One reading of a bundle. Where later lines ask about earlier events, a second one answers."""

    def __init__(self, file: BinaryIO, trust: Json, first: Any = None) -> None:
        self.file, self.trust, self.first, self.registry = file, trust, first, Registry("")
        self.step, self.lines, self.kind, self.index, self.left, self.kept = 1, 0, "", -1, 0, b""
        self.head, self.note, self.said, self.last_event = Json(), Json(), Json(), Json()
        self.streams, self.proofs, self.flags, self.heads = Json(), Json(), Json(), Json()
        self.asked: dict[tuple[str, int], Any] = dict.fromkeys(first.asked if first else ())
        self.cited, self.held = set[tuple[str, int]](), set[tuple[str, int]]()
        self.open, self.digest, self.hash = ("", 0), hashlib.sha256(), hashlib.sha256()
        self.here, self.says = row("line stream seq", 1, None, None), first.says if first else {}

    def flag(self, verdict: str, why: str, place: Json | None = None) -> None:
        self.flags.setdefault(verdict, (place, self.last_event, why))  # the first place counts

    def run(self) -> Self:
        try:
            self.read()
            self.close()
        except (ValueError, CryptoError, RecursionError) as error:
            self.flag("tampered", f"step {self.step}: {error}", self.here)
        if self.first or not (self.asked or self.registry.heads):
            return self
        again = type(self)(self.file, self.trust, self).run()
        if "tampered" not in again.flags and again.digest.digest() != self.digest.digest():
            raise OSError("the bundle changed while it was read")
        return again

    def read(self) -> None:
        """Section 8: a receipt is one line; what it says must be cited at the end of its record."""
        if self.file.read(len(RECEIPT)) == RECEIPT:
            receipt = parse(RECEIPT + self.file.read(WHOLE).removesuffix(b"\n"))
            need(fits(receipt, row("format record says", TEXT, TEXT, dict)), "not a receipt")
            self.says = {sha256(write(receipt["says"]).encode()).hex(): receipt["says"]}
            self.file = io.BytesIO(receipt["record"].encode())
        self.file.seek(0)
        while (raw := self.file.readline(LINE + 1)) or self.lines == 0:
            self.step, self.here = 1, row("line stream seq", self.lines + 1, None, None)
            self.digest.update(raw if self.lines else b"")
            need(len(raw) <= LINE and raw.endswith(b"\n"), "the line is too long, or cut off")
            value, may = parse(raw[:-1]), KINDS[self.kind][1] if self.lines else "header"
            self.kind = next((kind for kind in may.split() if fits(value, KINDS[kind][0])), "")
            need(self.kind, "not a line that may stand here")
            need((self.kind == "chunk") == (self.left > 0), "a chunk is missing or too many")
            self.lines += 1
            getattr(self, self.kind)(value)

    def header(self, header: Json) -> None:
        self.head, self.registry = header, Registry(header["origin"])

    def unseal(self, envelope: Json) -> tuple[Json, bytes, Any]:
        """The event, its hash, and its key if the registry holds it."""
        keyid, sig = (envelope["signatures"][0][name] for name in ("keyid", "sig"))
        self.step, payload, signature = 3, unb64(envelope["payload"]), unb64(sig)
        need(len(payload) <= BODY and len(signature) == 64, "payload or signature too long")
        event = parse(payload)
        need(fits(event, EVENT) and event["v"] == 1, "a field is missing, unknown or out of rule")
        self.here.update(stream=event["stream"], seq=event["seq"])
        need((event["origin"], event["actor"]["kid"]) == (self.head["origin"], keyid), "not ours")
        need(event["type"].split(".")[0] == event["stream"].split("/")[0], "not of its stream")
        if not self.streams:
            self.registry.accept(event)  # event 0 brings its own key
        self.step, key = 2, self.registry.keys.get(keyid, NOBODY)
        if key is not NOBODY:
            need_signature(signature, key.raw, payload, EVENT_TYPE)
        self.cited.update((one["sha256"], one["size"]) for one in event["artifacts"])
        return event, framed(b"\0", EVENT_TYPE.encode(), payload, keyid.encode(), signature), key

    def event(self, envelope: Json) -> None:
        event, hashed, key = self.unseal(envelope)
        self.step, name, seq, kind = 4, event["stream"], event["seq"], event["type"]
        genesis = framed(b"\2", b"moot.genesis.v1", event["origin"].encode(), name.encode())
        last, prev, least = self.streams.get(name, (-1, genesis, 0))
        need((seq, event["prev"]) == (last + 1, prev.hex()), "seq or prev breaks the chain")
        new = seq == 0 and bool(self.streams) == (name != "registry")
        need(new or name == self.last_event.get("stream"), "the stream is not in one piece")
        low, high = (seq - 1,) * 2 if name == "registry" else (least, self.streams["registry"][0])
        reg = -1 if event["reg"] is None else event["reg"]
        need(low <= reg <= high, "reg does not continue the stream")
        self.streams[name] = (seq, hashed, reg)
        self.asked.update({(name, seq): hashed} if (name, seq) in self.asked else {})
        self.step, revoked, by = 5, self.first and key.heads, self.registry.author(event, reg)
        limit = self.first.heads.get(revoked, {}).get(name, [-1])[0] if revoked else seq
        if name == "registry" and seq > 0:
            self.registry.accept(event)
        elif name != "registry" and (seq > limit or not by):
            self.flag("unknown-key", "its key was not valid for it", self.here)
        self.said[name] = [ref["sha256"] for ref in event["artifacts"] if (by, kind) == MADE]
        self.last_event = self.here

    def fork(self, line: Json) -> None:
        (event, hashed, key), self.step = self.unseal(line["fork"]), 7
        need(key is not NOBODY and self.reaches(event, hashed, False), "no fork of an event above")
        self.flag("forked", "two events are signed for one position", self.here)

    def reaches(self, what: Json, hashed: bytes, same: bool) -> bool:
        """Whether the stream has such an event; its hash must be the same, or must not be."""
        at = (what["stream"], what["seq"])
        last, newest, _ = self.streams.get(at[0], (-1, b"", -1))
        there = newest if at[1] == last else self.asked.setdefault(at)
        need(there is None or (there == hashed) == same, "its hash does not fit the event")
        return bool(at[1] <= last)

    def artifact(self, line: Json) -> None:
        self.step, item = 6, (line["artifact"]["sha256"], line["artifact"]["size"])
        need(item in self.cited and item[0] > self.open[0], "an artifact not cited or in disorder")
        self.open, self.left, self.hash, self.kept = item, item[1], hashlib.sha256(), b""
        if self.left == 0:
            self.chunk({"chunk": ""})

    def chunk(self, line: Json) -> None:
        self.step, piece = 6, unb64(line["chunk"])
        need(len(piece) == min(CHUNK, self.left), "a chunk of the wrong size")
        self.left -= len(piece)
        self.hash.update(piece)
        if self.open[0] in self.registry.heads and self.open[1] <= HEADS:
            self.kept += piece
        if self.left == 0:
            need(self.hash.hexdigest() == self.open[0], "the bytes do not have the artifact's hash")
            self.held.add(self.open)
            # The [seq, hash] of each stream; nothing if this is not the canonical JSON of heads.
            text = self.kept.decode(errors="replace")
            heads = {name: [int(seq), hashed] for name, seq, hashed in HEAD.findall(text)}
            fit = write(heads) == text and all(head[0] <= MAX for head in heads.values())
            self.heads[self.open[0]] = heads if fit else {}

    def proof(self, line: Json) -> None:
        self.step, proof, name = 7, line["proof"], line["proof"]["stream"]
        need(name in self.streams and name not in self.proofs, "its stream is not above, or proved")
        need(proof["index"] > self.index, "proofs are not in ascending order")
        if not self.reaches(proof, bytes.fromhex(proof["hash"]), True):
            self.flag("truncated", "the stream ends before its proof", self.here)
        proof["path"] = proof["path"][:64]  # no tree is that deep: it fails at the note as it would
        self.index, self.proofs[name] = proof["index"], proof

    def checkpoint(self, line: Json) -> None:
        self.step, told = 7, {**self.registry.created, **self.head}
        note, events = read_note(line["checkpoint"], told), 0
        size, root = int(note["streams"]), note["root"]
        for name, proof in self.proofs.items():
            leaf = framed(b"\0", name.encode(), b"%d" % proof["seq"], bytes.fromhex(proof["hash"]))
            need(root_of(leaf, proof["index"], size, proof["path"]) == root, "not to the root")
            events += proof["seq"] + 1
        whole = len(self.proofs) == size and "truncated" not in self.flags
        need(not whole or events == int(note["events"]), "the note counts other events")
        self.note = note

    def close(self) -> None:
        self.step, self.here = 8, row("line stream seq", 1, None, None)
        need(self.says.keys() <= {*itertools.chain(*self.said.values())}, "not what it cites last")
        missing = self.head["lines"] + 1 - self.lines
        if missing > 0:
            self.flag("truncated", f"{missing} lines are missing")
        else:
            need(missing == 0 and self.digest.hexdigest() == self.head["digest"], "other lines")
            self.here["line"] = self.lines
            need(not self.left, "the bundle ends inside an artifact")
        told, pins = {**self.registry.created, **self.head}, ("origin", "root", "checkpoint")
        if any(told.get(name) != self.trust.get(name) for name in pins):
            self.flags["unknown-key"] = (row("line stream seq", 2, "registry", 0), {}, "untrusted")
        minimum, kept, note = self.trust.get("minimum"), self.trust.get("kept"), self.note
        if kept and note.get("root") != kept["root"]:
            old = [one for one in ("number", "events") if int(note.get(one, 0)) <= int(kept[one])]
            if old or int(note["streams"]) < int(kept["streams"]):
                self.flag("rolled-back", f"what checkpoint {kept['number']} pinned is not all here")
        if minimum is not None and int(note.get("number", -1)) < minimum:
            self.flag("rolled-back", "no checkpoint as new as the minimum")
        proved = {name: proof["seq"] for name, proof in self.proofs.items() if self.note}
        if any(proved.get(name, -1) < newest[0] for name, newest in self.streams.items()):
            self.flag("unproven", "a checkpoint does not cover every event")

    def result(self) -> SimpleNamespace:
        def flagged(*verdicts: str) -> str:
            return next((verdict for verdict in verdicts if verdict in self.flags), "")

        verdict, note = flagged(*VERDICTS) or "valid", self.note
        place, event, _ = self.flags.get(verdict, (None, {}, ""))
        trusted = event if verdict in ("tampered", "unknown-key") and place["line"] > 1 else {}
        whole = f"{len(self.streams)} of {note['streams']} streams" if note else ""
        fresh = f"checkpoint {note['number']} of {note['at']}" if note else "no checkpoint"
        keys = [key for key in self.registry.keys.values() if key.kind in ("agent", "human")]
        valid, revoked = sum(key.ended == MAX for key in keys), sum(bool(key.heads) for key in keys)
        absent, events = self.cited - self.held, sum(seq + 1 for seq, _, _ in self.streams.values())
        erased = sum(sha in self.registry.erased for sha, _ in absent)
        pins = [self.trust[name] for name in ("root", "checkpoint") if name in self.trust]
        says = [{"signed_by": "machine", **{k: v.get(k) for k in SAID}} for v in self.says.values()]
        digits = int(sha256(bytes.fromhex("".join(pins))).hex()[:32], 16) % 10**20
        return SimpleNamespace(
            **row("verdict integrity", verdict, flagged("tampered") or "ok"),
            authenticity=flagged("tampered", "forked", "unknown-key") or "ok",
            completeness=flagged("tampered", "truncated", "unproven") or whole,
            freshness=flagged("rolled-back") or fresh,
            key_status=f"{len(keys)} keys, {valid} valid, {revoked} revoked",
            artifacts=f"{len(self.held)} held, {erased} erased, {len(absent) - erased} missing",
            custody=self.registry.custody(),
            says=says[0] if says and verdict in ("valid", "unproven") else None,
            fingerprint=" ".join(re.findall(".{5}", f"{digits:020}")) if pins else None,
            **row("first_bad last_trusted policy", place, trusted or None, "not checked"),
            checks={"lines": self.lines, "events": events, "proofs": len(self.proofs)},
            findings=[f"{one}: {flag[2]}" for one, flag in self.flags.items()] + self.registry.lost,
        )


def verify(path: str, pins: str | None = None, note: str | None = None) -> SimpleNamespace:
    """OSError if a file cannot be read; ValueError, CryptoError if it is none of its kind."""
    with open(path, "rb") as file, open(pins or path, "rb") as pin, open(note or path, "rb") as old:
        need(CLAIM.match(file.read(256)) and not file.seek(0), "neither an export nor a receipt")
        raw = pin.read(BODY) if pins else b"{}"
        trust: Json = parse(raw, exact=False)
        need(not pins or (fits(trust, PIN) and raw.count(b":") == len(PIN)), "not a trust file")
        trust["kept"] = read_note(old.read(BODY).decode(), trust) if note else None
        return Checker(file, trust).run().result()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("bundle", "--trust", "--checkpoint"):
        parser.add_argument(name)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    try:
        result = vars(verify(options.bundle, options.trust, options.checkpoint))
        lines = (f"{k}: {v if isinstance(v, str) else json.dumps(v)}" for k, v in result.items())
        print(json.dumps(result) if options.json else "\n".join(lines), flush=True)
    except BrokenPipeError:  # `| head` has read enough; the verdict stands all the same
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, CryptoError) as error:
        print(f"could not read: {error}", file=sys.stderr)
        return 4
    return {"valid": 0, "unproven": 3}.get(result["verdict"], 1)


if __name__ == "__main__":
    sys.exit(main())
