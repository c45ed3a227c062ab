"""Checks a Moot bundle with nothing but this file, Python 3.11 and PyNaCl.

    python standalone.py BUNDLE [--trust TRUST.json] [--json]

Written from docs/format.md alone; it imports nothing of Moot, so an auditor may copy this one file
and read it in one sitting. It is a proof in steps, numbered as in section 7 of that page:

1 the line: size, newline, UTF-8, canonical, kind, order, fields     Checker.read, order
2 the signature holds under a key that the registry holds            Checker.unseal
3 the payload is canonical, each field within its rule               Checker.unseal
4 seq, prev and reg continue the stream                              Checker.chain
5 the registry's events obey section 4                               Registry
6 artifacts are cited, and have the hash and size cited              Checker.artifact, chunk
7 proofs and forks fit the events; the note signs every proof        Checker.proof, fork, checkpoint
8 after the last line: digest, trust, age, what nothing proves       Checker.close

The caller still owes a trust file that came by another way than the bundle, and a judgement whether
what was recorded was allowed (policy). Memory: a line, and an entry a stream, key, artifact, fork.
Exit status: 0 valid, 1 not to be trusted, 2 usage, 3 unproven, 4 could not read.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import itertools
import json
import re
import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, BinaryIO

from nacl import bindings
from nacl.exceptions import CryptoError

LINE, BODY, CHUNK, DEPTH, TRUST, MAX = 2**21, 65_536, 786_432, 32, 65_536, 2**53 - 1
EVENT_TYPE = "application/vnd.moot.event.v1+json"
PROOF_TYPE = "application/vnd.moot.key-proof.v1+json"
ENDORSEMENT_TYPE = "application/vnd.moot.key-endorsement.v1+json"
VERDICTS = ("tampered", "forked", "unknown-key", "truncated", "rolled-back", "unproven", "valid")
Json = dict[str, Any]


def need(condition: object, why: str) -> None:
    """Whatever fails a step raises ValueError, here or in a library: the line is tampered."""
    if not condition:
        raise ValueError(why)


# Section 1. Depth is measured before parsing, so that no parser can be exhausted. An unclosed
# string runs to the end of the text: the scan is linear whatever the bytes.
TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)


def too_deep(text: bytes) -> bool:
    if text.count(b"[") + text.count(b"{") <= DEPTH:
        return False
    marks = (text[token.start()] for token in TOKEN.finditer(text))
    steps = ((mark in b"[{") - (mark in b"]}") for mark in marks)
    return any(depth > DEPTH for depth in itertools.accumulate(steps))


def _members(pairs: list[tuple[str, Any]]) -> Json:
    need(len(dict(pairs)) == len(pairs), "a key twice")
    need(all(max(key, default="") < "\ud800" for key, _ in pairs), "a key beyond U+D7FF")
    return dict(pairs)


def _integer(digits: str) -> int:
    need(len(digits) <= 17 and abs(int(digits)) <= MAX, "a number out of range")
    return int(digits)


def canonical(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def parse(text: bytes, exact: bool = True) -> Any:
    need(not too_deep(text), "nested too deep")
    hooks: Json = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), _integer)
    value = json.loads(text.decode(), object_pairs_hook=_members, **hooks)
    need(not exact or canonical(value) == text, "not canonical")
    return value


def unb64(text: str) -> bytes:
    raw = base64.b64decode(text, validate=True)
    need(base64.b64encode(raw).decode() == text, "base64 is not canonical")
    return raw


# Section 2.
def sha256(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def frame(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def weak(public: bytes) -> bool:
    """Libsodium's point test also refuses mixed order, on which libraries disagree."""
    y = int.from_bytes(public, "little") & (2**255 - 1)
    return y >= 2**255 - 19 or not bindings.crypto_core_ed25519_is_valid_point(public)


def need_signature(signature: bytes, public: bytes, body: bytes, kind: str = "") -> None:
    """Over PAE(kind, body), or over the bare body if there is no kind."""
    pae = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(body), body)
    try:
        bindings.crypto_sign_open(signature + (pae if kind else body), public)
    except CryptoError:
        raise ValueError("a signature does not hold") from None


# Sections 3 to 6 as tables. A form is an expression for a text, the least value of an integer, a
# set of alternatives (None is null), a list of items and their greatest number, or a table.
def fits(value: Any, form: Any) -> bool:
    if isinstance(form, str):
        return isinstance(value, str) and re.fullmatch(form, value, re.DOTALL) is not None
    if isinstance(form, int):
        return type(value) is int and value >= form
    if isinstance(form, tuple):
        return any(value is None if one is None else fits(value, one) for one in form)
    if isinstance(form, list):
        return (
            type(value) is list and len(value) <= form[1] and all(fits(v, form[0]) for v in value)
        )
    same = type(value) is dict and value.keys() == form.keys()
    return same and all(fits(value[name], form[name]) for name in form)


def row(names: str, *forms: Any) -> Json:
    return dict(zip(names.split(), forms, strict=True))


STREAM = r"[a-z]+(?:/[A-Za-z0-9._:@+~-]{1,200})?"
AT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"
ORIGIN, NAME = r"moot\.ledger/[0-9a-f]{32}", r"(?=.{3,48}\Z)[a-z0-9]+(?:-[a-z0-9]+)*"
TYPE, TEXT, NUMBER = r"(?=.{3,96}\Z)[a-z]+\.[a-z][a-z0-9_]*", ".*", "(?:0|[1-9][0-9]{0,15})"
HEX32, HEX64, HEX128 = (f"[0-9a-f]{{{size}}}" for size in (32, 64, 128))
ACTOR = row("epoch id kid role", 1, NAME, HEX32, (None, ".{1,64}"))
ARTIFACT = row("media_type sha256 size", ".{1,127}", HEX64, 0)
EVENT = row(
    "v origin stream seq prev reg key type at actor cause corr data artifacts",
    *(1, ORIGIN, STREAM, 0, HEX64, (None, 0), (None, ".{1,300}"), TYPE, AT, ACTOR),
    *((None, HEX64), (None, ".{1,128}"), dict, [ARTIFACT, 256]),
)
ENDORSEMENT = (None, row("kid sig", HEX32, HEX128))
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
SIGNATURES = [row("keyid sig", HEX32, "[^=]{86}=="), 1]
ENVELOPE = row("payload payloadType signatures", TEXT, re.escape(EVENT_TYPE), SIGNATURES)
KINDS = {  # in the order of section 6; chunks belong to artifacts
    "header": row("digest format lines origin", HEX64, "moot-bundle/1", 0, ORIGIN),
    "event": ENVELOPE,
    "fork": {"fork": ENVELOPE},
    "artifact": {"artifact": row("sha256 size", HEX64, 0)},
    "chunk": {"chunk": TEXT},
    "proof": {"proof": row("hash index path seq stream", HEX64, 0, [HEX64, LINE], 0, STREAM)},
    "checkpoint": {"checkpoint": TEXT},
}
TRUSTED = "checkpoint format minimum origin root"
TRUST_FILE = row(TRUSTED, HEX64, "moot-trust/1", (None, 0), ORIGIN, HEX64)
HEAD = rf'"({STREAM})":\[({NUMBER}),"[0-9a-f]{{{{64}}}}"\]'
NOTE = re.compile(
    rf"(?P<text>(?P<origin>[^\n]+)\n(?P<streams>{NUMBER})\n(?P<root>[A-Za-z0-9+/]{{43}}=)\n"
    rf"moot (?P<number>{NUMBER}) (?P<events>{NUMBER}) (?P<at>{AT})\n)\n"
    r"— (?P<signer>[^\n]+) (?P<signature>[A-Za-z0-9+/=]{92})\n"
)


@dataclass
class Key:
    public: bytes
    kind: str
    name: str
    epoch: int
    custodian: str
    added: int
    ended: int = MAX  # where it was first replaced, retired or revoked
    heads: str = ""  # set by its revocation


class Registry:
    """Step 5: the keys, as told by events already proved. It holds only what it accepted."""

    def __init__(self, origin: str) -> None:
        self.origin, self.position, self.root, self.human_seen = origin, -1, Json(), False
        self.keys: dict[str, Key] = {}
        self.names: dict[str, str] = {}  # name -> kid of its newest key
        self.humans: set[str] = set()  # kids of the human keys valid now
        self.retired: set[str] = set()
        self.erased: set[str] = set()
        self.heads: set[str] = set()

    def claim_root(self, event: Json) -> None:
        """Event 0's key is taken from its own `root`, which the origin binds."""
        creates = event["type"] == "registry.ledger_created"
        need(creates and fits(event["data"], REGISTRY["ledger_created"]), "no ledger is created")
        self.root, public = event["data"], bytes.fromhex(event["data"]["root"])
        kid = sha256(public).hex()[:32]
        need(self.origin == f"moot.ledger/{kid}" and not weak(public), "not the origin's root key")
        self.keys[kid] = Key(public, "root", "system", 1, self.root["custodian"], -1)

    def author(self, event: Json, position: int) -> str:
        """The class of the actor's key, if it was valid at the position and bore that name."""
        actor, key = event["actor"], self.keys.get(event["actor"]["kid"])
        if key is None or (key.name, key.epoch) != (actor["id"], actor["epoch"]):
            return ""
        return key.kind if key.added <= position < key.ended else ""

    def accept(self, event: Json) -> None:
        kind, data, seq = event["type"].removeprefix("registry."), event["data"], event["seq"]
        need(kind in REGISTRY and fits(data, REGISTRY[kind]), "not an event of the registry")
        need((kind == "ledger_created") == (seq == 0), "only event 0 creates a ledger")
        by, humans_may = self.author(event, seq - 1), kind in ("key_revoked", "artifact_erased")
        by_root = by == "root" and event["actor"]["role"] is None
        need(by_root or (by == "human" and humans_may), "not by an author who may")
        cited = {artifact["sha256"] for artifact in event["artifacts"]}
        need(kind != "key_revoked" or data["heads"] in cited, "the heads are not an artifact")
        getattr(self, kind)(data, seq)
        self.position = seq

    def statement(self, data: Json) -> bytes:
        told = {name: data[name] for name in ("class", "custodian", "epoch", "name", "public")}
        return canonical({**told, "origin": self.origin})

    def endorser(self, data: Json, statement: bytes) -> str:
        """The kid of the registered key that signed the statement."""
        by = data["endorsement"]
        need(by and by["kid"] in self.keys, "not endorsed by a known key")
        public = self.keys[by["kid"]].public
        need_signature(bytes.fromhex(by["sig"]), public, statement, ENDORSEMENT_TYPE)
        return str(by["kid"])

    def add(self, data: Json, at: int) -> None:
        public, kind, name = bytes.fromhex(data["public"]), data["class"], data["name"]
        kid = sha256(public).hex()[:32]
        need(kid not in self.keys and not weak(public), "the key is weak or added twice")
        need_signature(bytes.fromhex(data["proof"]), public, self.statement(data), PROOF_TYPE)
        self.keys[kid] = Key(public, kind, name, data["epoch"], data["custodian"], at)
        self.names[name] = kid
        if kind == "human":
            self.human_seen = True
            self.humans.add(kid)

    def ledger_created(self, data: Json, _: int) -> None:
        key = row("class name epoch", "checkpoint", "checkpoint", 1)
        held = {"public": data["checkpoint"], "proof": data["checkpoint_proof"]}
        # It signs notes: at no position may it write or endorse.
        self.add({**key, **held, "custodian": data["custodian"]}, MAX)

    def key_added(self, data: Json, at: int) -> None:
        fresh = data["name"] not in self.names and data["name"] != "system"
        need(fresh and data["epoch"] == 1, "the name was used, or the epoch is not 1")
        later_human = data["class"] == "human" and self.human_seen
        if later_human or data["endorsement"]:
            by = self.endorser(data, self.statement(data))
            valid = self.keys[by].added < at <= self.keys[by].ended
            need(by in self.humans if later_human else valid, "not endorsed by who may")
        self.add(data, at)

    def key_rotated(self, data: Json, at: int) -> None:
        kid, name = data["replaces"], data["name"]
        need(self.names.get(name) == kid, "it replaces a key that is not the name's current one")
        old, steps = self.keys[kid], (1,) if name in self.retired else (0, 1)
        follows = old.kind == data["class"] and data["epoch"] - old.epoch in steps
        need(follows, "the class or the epoch does not follow")
        by = self.endorser(data, self.statement(data))
        # A key may hand over although it is retired, never once it is revoked.
        need(by in self.humans or (by == kid and not old.heads), "not endorsed by who may")
        self.humans.discard(kid)
        self.retired.discard(name)
        old.ended = min(old.ended, at)
        self.add(data, at)

    def key_revoked(self, data: Json, at: int) -> None:
        key = self.keys.get(data["kid"])
        if key is None or key.heads or key.kind not in ("agent", "human"):
            raise ValueError("it revokes a key that cannot be revoked")
        key.heads, key.ended = data["heads"], min(key.ended, at)
        self.heads.add(key.heads)
        self.humans.discard(data["kid"])

    def agent_retired(self, data: Json, at: int) -> None:
        name, key = data["name"], self.keys.get(self.names.get(data["name"], ""))
        if key is None or (key.kind, key.epoch) != ("agent", data["epoch"]) or name in self.retired:
            raise ValueError("it retires a name that cannot be retired")
        self.retired.add(name)
        key.ended = min(key.ended, at)

    def artifact_erased(self, data: Json, _: int) -> None:
        self.erased.add(data["sha256"])

    def history_accepted(self, data: Json, _: int) -> None:
        told = {"lost": data["lost"], "origin": self.origin, "reason": data["reason"]}
        by = self.endorser(data, canonical(told)) if data["endorsement"] else None
        need(by in self.humans if self.humans else by is None, "not endorsed by who may")


def root_of(leaf: bytes, index: int, size: int, path: list[str]) -> bytes | None:
    """The root of a tree of `size` leaves, from its definition in RFC 6962: top down."""
    if size <= 1 or not path:
        return leaf if size == 1 and not path else None
    left, beside = 1 << (size - 1).bit_length() - 1, bytes.fromhex(path[-1])
    if index < left:
        below = root_of(leaf, index, left, path[:-1])
        return below and sha256(b"\1", below, beside)
    below = root_of(leaf, index - left, size - left, path[:-1])
    return below and sha256(b"\1", beside, below)


class Verdict(SimpleNamespace):
    """What was found, field by field as `--json` prints it; truthy only if the bundle is valid."""

    def __bool__(self) -> bool:
        return bool(self.verdict == "valid")


class Checker:
    """One reading of a bundle. Where later lines ask about earlier events, a second one answers,
    so that memory holds the questions and never the events."""

    def __init__(self, file: BinaryIO, trust: Json | None, first: Checker | None = None) -> None:
        self.file, self.trust, self.first = file, trust, first
        self.step, self.lines, self.rank, self.signatures, self.index = 1, 0, -1, 0, -1
        self.head, self.note, self.here, self.last_event = Json(), Json(), Json(), Json()
        self.streams, self.proofs, self.heads, self.flags = Json(), Json(), Json(), Json()
        self.cited: set[tuple[str, int]] = set()
        self.held: set[str] = set()
        self.asked: dict[tuple[str, int], list[tuple[Json, bytes, bool]]] = {}
        self.sha, self.left, self.hash, self.kept = "", 0, hashlib.sha256(), bytearray()
        self.registry, self.digest = Registry(""), hashlib.sha256()

    def flag(self, verdict: str, why: str, place: Json | None, trusted: Json | None = None) -> None:
        """Set a verdict. Of several places the first counts."""
        old = self.flags.get(verdict)
        if old is None or (place and old[0] and place["line"] < old[0]["line"]):
            self.flags[verdict] = (place, trusted or None, why)

    def run(self) -> Checker:
        try:
            self.read()
            self.close()
        except (ValueError, RecursionError) as error:
            before = self.last_event if self.here["line"] > 1 else None
            self.flag("tampered", f"step {self.step}: {error}", self.here, before)
        if self.first or not (self.asked or self.registry.heads):
            return self
        self.file.seek(0)
        again = Checker(self.file, self.trust, self).run()
        if again.digest.digest() != self.digest.digest():
            raise OSError("the bundle changed while it was read")
        return again

    def read(self) -> None:
        while True:
            self.step, self.here = 1, row("line stream seq", self.lines + 1, None, None)
            raw = self.file.readline(LINE + 1)
            if self.lines and not raw:
                return
            self.digest.update(raw if self.lines else b"")
            need(len(raw) <= LINE and raw.endswith(b"\n"), "too long, or cut off")
            value = parse(raw[:-1])
            self.order(kind := next((kind for kind in KINDS if fits(value, KINDS[kind])), ""))
            self.lines += 1
            getattr(self, kind)(value)

    def order(self, kind: str) -> None:
        rank = ("header", "event", "fork", "artifact", "proof", "checkpoint", "chunk", "").index(
            kind
        )
        ...

    def header(self, header: Json) -> None:
        self.head, self.registry = header, Registry(header["origin"])

    def unseal(self, envelope: Json) -> tuple[Json, bytes, Key | None]:
        """The event, its hash, and its key if the registry holds it."""
        self.step, keyid, sig = 3, *envelope["signatures"][0].values()
        payload, signature = unb64(envelope["payload"]), unb64(sig)
        need(len(payload) <= BODY, "the payload is too long")
        event = parse(payload)
        need(fits(event, EVENT) and event["v"] == 1, "a field is missing, unknown or out of rule")
        self.here.update(stream=event["stream"], seq=event["seq"])
        need(event["origin"] == self.head["origin"], "an event of another ledger")
        need(event["actor"]["kid"] == keyid, "the actor's kid is not the keyid")
        need(event["type"].split(".")[0] == event["stream"].split("/")[0], "not the stream's type")
        self.cited.update((artifact["sha256"], artifact["size"]) for artifact in event["artifacts"])
        if not self.streams:
            self.registry.claim_root(event)
        self.step, key = 2, self.registry.keys.get(keyid)
        if key:
            need_signature(signature, key.public, payload, EVENT_TYPE)
            self.signatures += 1
        parts = (EVENT_TYPE.encode(), payload, keyid.encode(), signature)
        return event, sha256(b"\0", frame(*parts)), key

    def chain(self, event: Json, hashed: bytes) -> None:
        self.step, name, seq, reg = 4, event["stream"], event["seq"], event["reg"]
        genesis = frame(b"moot.genesis.v1", event["origin"].encode(), name.encode())
        last, prev, least = self.streams.get(name, (-1, sha256(b"\2", genesis), 0))
        need(seq == last + 1 and event["prev"] == prev.hex(), "seq or prev breaks the chain")
        need(seq == 0 or name == self.last_event["stream"], "the stream is not in one piece")
        seen = reg is not None and least <= reg <= self.registry.position
        before = seq - 1 if seq else None
        need(reg == before if name == "registry" else seen, "reg does not continue the stream")
        self.streams[name] = (seq, hashed, reg)

    def event(self, envelope: Json) -> None:
        event, hashed, key = self.unseal(envelope)
        self.chain(event, hashed)
        self.step, name, seq = 5, event["stream"], event["seq"]
        if name == "registry":
            self.registry.accept(event)
        elif not self.registry.author(event, event["reg"]) or self.beyond_heads(key, name, seq):
            why = "the key was not valid for the actor"
            self.flag("unknown-key", why, self.here, self.last_event)
        self.last_event = self.here
        asked = self.first.asked.get((name, seq), []) if self.first else []
        for place, other, same in asked:
            if (hashed == other) != same:
                why = "step 7: its hash does not fit the event"
                self.flag("tampered", why, place, self.first.last_event)

    def fork(self, line: Json) -> None:
        event, hashed, key = self.unseal(line["fork"])
        self.step = 7
        need(key and self.reaches(event, hashed, False), "a fork of nothing, or by an unknown key")
        self.flag("forked", "two events are signed for one position", self.here)

    def reaches(self, what: Json, hashed: bytes, same: bool) -> bool:
        """Whether the stream has such an event; its hash must be the same, or must not be."""
        need(what["stream"] in self.streams, "its stream is not above")
        last, newest, _ = self.streams[what["stream"]]
        need(what["seq"] != last or (hashed == newest) == same, "its hash does not fit the event")
        if what["seq"] < last:
            self.asked.setdefault((what["stream"], what["seq"]), []).append(
                (self.here, hashed, same)
            )
        return bool(what["seq"] <= last)

    def artifact(self, line: Json) -> None:
        self.step, (sha, size) = 6, line["artifact"].values()
        need((sha, size) in self.cited, "an artifact that no event cites")
        need(sha > self.sha, "artifacts are not in ascending order")
        self.sha, self.left, self.hash, self.kept = sha, size, hashlib.sha256(), bytearray()
        self.take(b"")

    def chunk(self, line: Json) -> None:
        self.step, piece = 6, unb64(line["chunk"])
        need(len(piece) == min(CHUNK, self.left), "a chunk of the wrong size")
        self.take(piece)

    def take(self, piece: bytes) -> None:
        self.left -= len(piece)
        self.hash.update(piece)
        if self.sha in self.registry.heads and len(self.kept) < HEADS:
            self.kept += piece
        if self.left == 0:
            need(self.hash.hexdigest() == self.sha, "the bytes do not have the artifact's hash")
            self.held.add(self.sha)
            self.heads[self.sha] = heads_in(self.kept)

    def proof(self, line: Json) -> None:
        self.step, proof = 7, line["proof"]
        new = proof["stream"] not in self.proofs and proof["index"] > self.index
        need(new, "proofs are not in ascending order, one a stream")
        if not self.reaches(proof, bytes.fromhex(proof["hash"]), True):
            self.flag("truncated", "the stream ends before its proof", self.here)
        self.index, self.proofs[proof["stream"]] = proof["index"], proof

    def checkpoint(self, line: Json) -> None:
        self.step, note = 7, NOTE.fullmatch(line["checkpoint"])
        need(note, "not a checkpoint")
        origin, public = self.head["origin"], bytes.fromhex(self.registry.root["checkpoint"])
        need(note["origin"] == note["signer"] == origin, "a checkpoint of another ledger")
        signature, tag = unb64(note["signature"]), sha256(origin.encode(), b"\n\1", public)[:4]
        need(signature[:4] == tag, "not signed by the ledger's checkpoint key")
        need_signature(signature[4:], public, note["text"].encode())
        self.note = {name: int(note[name]) for name in ("streams", "number", "events")}
        for proof in self.proofs.values():
            need(self.proved(proof, ...), "a proof does not lead to the root")
        whole = len(self.proofs) == size and "truncated" not in self.flags
        need(not whole or events == sum(...), "the number of events is another")

    def close(self) -> None:
        self.step, self.here = 8, row("line stream seq", 1, None, None)
        missing = self.head["lines"] + 1 - self.lines
        if missing > 0:
            self.flag("truncated", f"{missing} lines are missing", None)
        else:
            need(
                missing == 0 and self.digest.hexdigest() == self.head["digest"],
                "other lines than the header's",
            )
            self.here["line"] = self.lines
            need(not self.left, "the bundle ends inside an artifact")
        ...
