"""Checks a Moot bundle with nothing but this file, Python 3.11 and PyNaCl.

    python standalone.py BUNDLE [--trust TRUST.json] [--json]

Written from docs/format.md alone; it imports nothing of Moot, so an auditor may copy this one file
and read it in one sitting. It is a proof in the steps of section 7 of that page (`self.step`): 1 the
line, 2 its signature, 3 its payload, 4 the chain, 5 the registry, 6 artifacts, 7 forks, proofs and
the checkpoint, 8 what only the end can tell. The caller still owes a trust file that came by another
way than the bundle, and a judgement whether what was recorded was allowed (policy). Memory: one line,
and one entry a stream, key, artifact and fork.
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
from collections import Counter
from types import SimpleNamespace
from typing import Any, BinaryIO

from nacl.bindings import crypto_core_ed25519_is_valid_point, crypto_sign_open
from nacl.exceptions import CryptoError

LINE, BODY, CHUNK, HEADS, DEPTH, MAX = 2**21, 65_536, 786_432, 2**24, 32, 2**53 - 1
EVENT_TYPE = "application/vnd.moot.event.v1+json"
PROOF_TYPE = "application/vnd.moot.key-proof.v1+json"
ENDORSEMENT_TYPE = "application/vnd.moot.key-endorsement.v1+json"
VERDICTS = ("tampered", "forked", "unknown-key", "truncated", "rolled-back", "unproven", "valid")
Json = dict[str, Any]


def need(condition: object, why: str) -> None:
    """A step fails by ValueError or CryptoError, raised here or in a library."""
    if not condition:
        raise ValueError(why)


# Section 1. Depth is measured before parsing, so that no parser can be exhausted. An unclosed
# string runs to the end of the text: the scan is linear whatever the bytes.
TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)


def parse(text: bytes, exact: bool = True) -> Any:
    steps = ((one[0] in b"[{") - (one[0] in b"]}") for one in TOKEN.finditer(text))
    need(max(itertools.accumulate(steps), default=0) <= DEPTH, "nested too deep")
    hooks: Json = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), _integer)
    value = json.loads(text.decode(), object_pairs_hook=_members, **hooks)
    need(not exact or canonical(value) == text, "not canonical")
    return value


def _members(pairs: list[tuple[str, Any]]) -> Json:
    need(len(dict(pairs)) == len(pairs), "a key twice")
    need(all(max(key, default="") < "\ud800" for key, _ in pairs), "a key beyond U+D7FF")
    return dict(pairs)


def _integer(digits: str) -> int:
    need(len(digits) <= 17 and abs(int(digits)) <= MAX, "a number out of range")
    return int(digits)


def canonical(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def unb64(text: str) -> bytes:
    raw = base64.b64decode(text, validate=True)
    need(base64.b64encode(raw).decode() == text, "base64 is not canonical")
    return raw


# Section 2.
def sha256(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def frame(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def kid_of(public: bytes) -> str:
    """Libsodium's test covers the encoding, small order, and mixed order, where libraries differ."""
    need(crypto_core_ed25519_is_valid_point(public), "a weak key")
    return sha256(public).hex()[:32]


def need_signature(signature: bytes, public: bytes, body: bytes, kind: str) -> None:
    pae = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(body), body)
    crypto_sign_open(signature + pae, public)


# Sections 3 to 6 as tables. A form is: an expression for a text, the least value of an integer,
# the alternatives, an item and how many, `dict`, or a table of exactly these fields.
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
    if form is dict or type(value) is not dict:
        return type(value) is dict
    return value.keys() == form.keys() and all(fits(value[name], form[name]) for name in form)


def row(names: str, *values: Any) -> Json:
    return dict(zip(names.split(), values, strict=True))


STREAM = r"[a-z]+(?:/[A-Za-z0-9._:@+~-]{1,200})?"
AT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"
ORIGIN, NAME = r"moot\.ledger/[0-9a-f]{32}", r"(?=.{3,48}\Z)[a-z0-9]+(?:-[a-z0-9]+)*"
TYPE, TEXT, NUMBER = r"(?=.{3,96}\Z)[a-z]+\.[a-z][a-z0-9_]*", ".*", "(?:0|[1-9][0-9]{0,15})"
HEX32, HEX64, HEX128 = (f"[0-9a-f]{{{size}}}" for size in (32, 64, 128))
ACTOR = row("epoch id kid role", 1, NAME, HEX32, (None, ".{1,64}"))
CITATION = row("media_type sha256 size", ".{1,127}", HEX64, 0)
EVENT = row(
    "v origin stream seq prev reg key type at actor cause corr data artifacts",
    *(1, ORIGIN, STREAM, 0, HEX64, (None, 0), (None, ".{1,300}"), TYPE, AT, ACTOR),
    *((None, HEX64), (None, ".{1,128}"), dict, [CITATION, 256]),
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
ENVELOPE = row("payload payloadType signatures", TEXT, re.escape(EVENT_TYPE), [dict, 1])
SIGNED = row("keyid sig", HEX32, ".{88}")
PROOF = row("hash index path seq stream", HEX64, 0, [HEX64, LINE], 0, STREAM)
HEADER = row("digest format lines origin", HEX64, "moot-bundle/1", 0, ORIGIN)
TRUST = "checkpoint format minimum origin root"
TRUST_FILE = row(TRUST, HEX64, "moot-trust/1", (None, 0), ORIGIN, HEX64)
KINDS = {  # each with the kinds that may follow it
    "header": (HEADER, "event"),
    "event": (ENVELOPE, "event fork artifact proof checkpoint"),
    "fork": ({"fork": ENVELOPE}, "fork artifact proof checkpoint"),
    "artifact": ({"artifact": row("sha256 size", HEX64, 0)}, "artifact chunk proof checkpoint"),
    "chunk": ({"chunk": TEXT}, "artifact chunk proof checkpoint"),
    "proof": ({"proof": PROOF}, "proof checkpoint"),
    "checkpoint": ({"checkpoint": TEXT}, ""),
}
HEAD = rf'"({STREAM})":\[({NUMBER}),"[0-9a-f]{{64}}"\]'
NOTE = re.compile(
    rf"(?P<text>(?P<origin>[^\n]+)\n(?P<streams>{NUMBER})\n(?P<root>[A-Za-z0-9+/]{{43}}=)\n"
    rf"moot (?P<number>{NUMBER}) (?P<events>{NUMBER}) (?P<at>{AT})\n)\n"
    r"— (?P<signer>[^\n]+) (?P<signature>[A-Za-z0-9+/=]{92})\n"
)


class Registry:
    """Step 5: the keys, as told by events already proved. It holds only what it accepted.

    A key ends where it is first replaced, retired or revoked; it has heads once it is revoked."""

    def __init__(self, origin: str) -> None:
        self.origin, self.position, self.created, self.human_seen = origin, -1, Json(), False
        self.keys: dict[str, SimpleNamespace] = {}
        self.names: dict[str, str] = {}  # name -> kid of its newest key
        self.humans: set[str] = set()  # kids of the human keys valid now
        self.erased: set[str] = set()
        self.heads: set[str] = set()

    def author(self, event: Json, position: int) -> str:
        """The class of the actor's key, if it was valid at the position and bore that name."""
        actor, key = event["actor"], self.keys.get(event["actor"]["kid"])
        if key is None or (key.name, key.epoch) != (actor["id"], actor["epoch"]):
            return ""
        return str(key.kind) if key.added <= position < key.ended else ""

    def accept(self, event: Json) -> None:
        kind, data, seq = event["type"].removeprefix("registry."), event["data"], event["seq"]
        need(kind in REGISTRY and fits(data, REGISTRY[kind]), "not an event of the registry")
        need((kind == "ledger_created") == (seq == 0), "only event 0 creates a ledger")
        cited = {artifact["sha256"] for artifact in event["artifacts"]}
        need(kind != "key_revoked" or data["heads"] in cited, "the heads are not an artifact")
        getattr(self, kind)(data, seq)
        by, humans_may = self.author(event, seq - 1), kind in ("key_revoked", "artifact_erased")
        by_root = by == "root" and event["actor"]["role"] is None
        need(by_root or (by == "human" and humans_may), "not by an author who may")
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

    def enter(self, data: Json, at: int) -> str:
        public = bytes.fromhex(data["public"])
        kid = sha256(public).hex()[:32]
        need(kid not in self.keys and crypto_core_ed25519_is_valid_point(public), "weak or known")
        facts = row("name epoch custodian", data["name"], data["epoch"], data["custodian"])
        life = row("added ended heads retired", at, MAX, "", False)
        self.keys[kid] = SimpleNamespace(public=public, kind=data["class"], **facts, **life)
        self.names[data["name"]] = kid
        return kid

    def add(self, data: Json, at: int) -> None:
        kid = self.enter(data, at)
        proof, public = bytes.fromhex(data["proof"]), self.keys[kid].public
        need_signature(proof, public, self.statement(data), PROOF_TYPE)
        if data["class"] == "human":
            self.human_seen = True
            self.humans.add(kid)

    def ledger_created(self, data: Json, _: int) -> None:
        """The root key is taken from the event itself; the origin binds it."""
        self.created, names = data, "class name epoch custodian public proof"
        kid = self.enter(row(names, "root", "system", 1, data["custodian"], data["root"], ""), -1)
        need(self.origin == f"moot.ledger/{kid}", "the origin is not the root key's")
        # The checkpoint key signs notes: at no position may it write or endorse.
        key, proof = data["checkpoint"], data["checkpoint_proof"]
        self.add(row(names, "checkpoint", "checkpoint", 1, data["custodian"], key, proof), MAX)

    def key_added(self, data: Json, at: int) -> None:
        fresh = data["name"] not in self.names and data["epoch"] == 1
        need(fresh, "the name was used, or the epoch is not 1")
        later_human = data["class"] == "human" and self.human_seen
        if later_human or data["endorsement"]:
            by = self.endorser(data, self.statement(data))
            valid = self.keys[by].added < at <= self.keys[by].ended
            need(by in self.humans if later_human else valid, "not endorsed by who may")
        self.add(data, at)

    def key_rotated(self, data: Json, at: int) -> None:
        kid = data["replaces"]
        need(self.names.get(data["name"]) == kid, "it replaces a key that is not the current one")
        old = self.keys[kid]
        follows = data["epoch"] - old.epoch in ((1,) if old.retired else (0, 1))
        need(follows and old.kind == data["class"], "the class or the epoch does not follow")
        by = self.endorser(data, self.statement(data))
        # A key may hand over although it is retired, never once it is revoked.
        need(by in self.humans or (by == kid and not old.heads), "not endorsed by who may")
        old.ended = min(old.ended, at)
        self.humans.discard(kid)
        self.add(data, at)

    def key_revoked(self, data: Json, at: int) -> None:
        key = self.keys.get(data["kid"])
        if key is None or key.heads or key.kind not in ("agent", "human"):
            raise ValueError("it revokes a key that cannot be revoked")
        key.heads, key.ended = data["heads"], min(key.ended, at)
        self.heads.add(key.heads)
        self.humans.discard(data["kid"])

    def agent_retired(self, data: Json, at: int) -> None:
        key = self.keys.get(self.names.get(data["name"], ""))
        if key is None or (key.kind, key.epoch) != ("agent", data["epoch"]) or key.retired:
            raise ValueError("it retires a name that cannot be retired")
        key.retired, key.ended = True, min(key.ended, at)

    def artifact_erased(self, data: Json, _: int) -> None:
        self.erased.add(data["sha256"])

    def history_accepted(self, data: Json, _: int) -> None:
        told = {"lost": data["lost"], "origin": self.origin, "reason": data["reason"]}
        by = self.endorser(data, canonical(told)) if data["endorsement"] else None
        need(by in self.humans if self.humans else by is None, "not endorsed by who may")


def root_of(leaf: bytes, index: int, size: int, path: list[str]) -> bytes:
    """The root of a tree of `size` leaves, from its definition in RFC 6962: top down."""
    if size == 1:
        need(not path, "a path that is too long")
        return leaf
    need(path and 0 <= index < size, "a path that is too short, or an index beyond the tree")
    left, beside = 1 << (size - 1).bit_length() - 1, bytes.fromhex(path[-1])
    if index < left:
        return sha256(b"\1", root_of(leaf, index, left, path[:-1]), beside)
    return sha256(b"\1", beside, root_of(leaf, index - left, size - left, path[:-1]))


class Checker:
    """One reading of a bundle. Where later lines ask about earlier events, a second one answers,
    so that memory holds the questions and never the events."""

    def __init__(self, file: BinaryIO, trust: Json | None, first: Checker | None = None) -> None:
        self.file, self.trust, self.first, self.registry = file, trust, first, Registry("")
        self.step, self.lines, self.kind, self.signatures, self.index = 1, 0, "", 0, -1
        self.head, self.note, self.here, self.last_event = Json(), Json(), Json(), Json()
        self.streams, self.proofs, self.flags = Json(), Json(), Json()
        self.cited: set[tuple[str, int]] = set()
        self.held: set[tuple[str, int]] = set()
        self.heads: dict[str, dict[str, str]] = {}
        self.asked: dict[tuple[str, int], list[tuple[Json, bytes, bool]]] = {}
        self.open, self.left, self.kept = ("", 0), 0, b""
        self.digest, self.hash = hashlib.sha256(), hashlib.sha256()

    def flag(self, verdict: str, why: str, place: Json | None, trusted: Json | None = None) -> None:
        """Set a verdict. Of several places the first counts."""
        old = self.flags.get(verdict)
        if old is None or (place and old[0] and place["line"] < old[0]["line"]):
            self.flags[verdict] = (place, trusted or None, why)

    def run(self) -> Checker:
        try:
            self.read()
            self.close()
        except (ValueError, CryptoError, RecursionError) as error:
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
            need(len(raw) <= LINE and raw.endswith(b"\n"), "the line is too long, or cut off")
            value = parse(raw[:-1])
            may = KINDS[self.kind][1].split() if self.lines else ["header"]
            self.kind = next((kind for kind in may if fits(value, KINDS[kind][0])), "")
            need(self.kind, "not a line that may stand here")
            need((self.kind == "chunk") == (self.left > 0), "too few or too many chunks")
            self.lines += 1
            getattr(self, self.kind)(value)

    def header(self, header: Json) -> None:
        self.head, self.registry = header, Registry(header["origin"])

    def unseal(self, envelope: Json) -> tuple[Json, bytes, SimpleNamespace | None]:
        """The event, its hash, and its key if the registry holds it."""
        self.step, signatures = 3, envelope["signatures"]
        need(signatures, "no signature")
        keyid, payload = signatures[0]["keyid"], unb64(envelope["payload"])
        signature, event = unb64(signatures[0]["sig"]), parse(payload[: BODY + 1])
        need(len(payload) <= BODY and len(signature) == 64, "payload or signature too long")
        need(fits(event, EVENT) and event["v"] == 1, "a field is missing, unknown or out of rule")
        self.here.update(stream=event["stream"], seq=event["seq"])
        fit = (event["origin"], event["actor"]["kid"], event["type"].split(".")[0])
        protocol = event["stream"].split("/")[0]
        need(fit == (self.head["origin"], keyid, protocol), "it does not belong here")
        if not self.streams:
            self.registry.accept(event)  # event 0 brings its own key
        self.step, key = 2, self.registry.keys.get(keyid)
        if key:
            need_signature(signature, key.public, payload, EVENT_TYPE)
            self.signatures += 1
        self.cited.update((one["sha256"], one["size"]) for one in event["artifacts"])
        parts = (EVENT_TYPE.encode(), payload, keyid.encode(), signature)
        return event, sha256(b"\0", frame(*parts)), key

    def chain(self, event: Json, hashed: bytes) -> None:
        self.step, name, seq, reg = 4, event["stream"], event["seq"], event["reg"]
        genesis = frame(b"moot.genesis.v1", event["origin"].encode(), name.encode())
        last, prev, least = self.streams.get(name, (-1, sha256(b"\2", genesis), 0))
        need((seq, event["prev"]) == (last + 1, prev.hex()), "seq or prev breaks the chain")
        here = self.last_event.get("stream", "registry")
        need(name == here or (seq == 0 and self.streams), "the stream is not in one piece")
        if name == "registry":
            need(reg == (seq - 1 if seq else None), "reg is not the event before")
        else:
            need(
                least <= (-1 if reg is None else reg) <= self.registry.position,
                "reg is out of range",
            )
        self.streams[name] = (seq, hashed, reg)

    def event(self, envelope: Json) -> None:
        event, hashed, key = self.unseal(envelope)
        self.chain(event, hashed)
        self.step, name, seq = 5, event["stream"], event["seq"]
        if name != "registry":
            limit = (
                self.first.heads.get(key.heads, {}).get(name, -1)
                if self.first and key and key.heads
                else seq
            )
            if seq > limit or not self.registry.author(event, event["reg"]):
                self.flag("unknown-key", "its key was not valid for it", self.here, self.last_event)
        elif seq > 0:
            self.registry.accept(event)
        self.last_event = self.here
        for place, other, same in self.first.asked.get((name, seq), []) if self.first else []:
            if (hashed == other) != same:
                why = "step 7: its hash does not fit the event"
                self.flag("tampered", why, place, self.first and self.first.last_event)

    def fork(self, line: Json) -> None:
        event, hashed, key = self.unseal(line["fork"])
        self.step = 7
        need(key and self.reaches(event, hashed, False), "a fork of nothing, or by an unknown key")
        self.flag("forked", "two events are signed for one position", self.here)

    def reaches(self, what: Json, hashed: bytes, same: bool) -> bool:
        """Whether the stream has such an event; its hash must be the same, or must not be."""
        need(what["stream"] in self.streams, "its stream is not above")
        (last, newest, _), at = self.streams[what["stream"]], (what["stream"], what["seq"])
        need(at[1] != last or (hashed == newest) == same, "its hash does not fit the event")
        if at[1] < last:
            self.asked.setdefault(at, []).append((self.here, hashed, same))
        return bool(at[1] <= last)

    def artifact(self, line: Json) -> None:
        self.step, item = 6, (line["artifact"]["sha256"], line["artifact"]["size"])
        need(item in self.cited, "an artifact that no event cites")
        need(item[0] > self.open[0], "artifacts are not in ascending order")
        self.open, self.left, self.hash, self.kept = item, item[1], hashlib.sha256(), b""
        self.take(b"")

    def chunk(self, line: Json) -> None:
        self.step, piece = 6, unb64(line["chunk"])
        need(len(piece) == min(CHUNK, self.left), "a chunk of the wrong size")
        self.take(piece)

    def take(self, piece: bytes) -> None:
        self.left -= len(piece)
        self.hash.update(piece)
        if self.open[0] in self.registry.heads and len(self.kept) <= HEADS:
            self.kept += piece
        if self.left == 0:
            need(self.hash.hexdigest() == self.open[0], "the bytes do not have the artifact's hash")
            self.held.add(self.open)
            self.heads[self.open[0]] = heads_in(self.kept)

    def proof(self, line: Json) -> None:
        self.step, proof = 7, line["proof"]
        new = proof["stream"] not in self.proofs and proof["index"] > self.index
        need(new, "proofs are not in ascending order, one a stream")
        if not self.reaches(proof, bytes.fromhex(proof["hash"]), True):
            self.flag("truncated", "the stream ends before its proof", self.here)
        self.index, self.proofs[proof["stream"]] = proof["index"], proof

    def checkpoint(self, line: Json) -> None:
        self.step, match, origin = 7, NOTE.fullmatch(line["checkpoint"]), self.head["origin"]
        self.note = note = match.groupdict() if match else row("origin", "")
        need(note["origin"] == origin == note["signer"], "not a checkpoint of this ledger")
        public, signature = (
            bytes.fromhex(self.registry.created["checkpoint"]),
            unb64(note["signature"]),
        )
        tag = sha256(origin.encode(), b"\n\1", public)[:4]
        need(signature[:4] == tag, "not signed by the checkpoint key")
        crypto_sign_open(signature[4:] + note["text"].encode(), public)
        root, size, events = unb64(note["root"]), int(note["streams"]), 0
        for name, proof in self.proofs.items():
            leaf = frame(name.encode(), b"%d" % proof["seq"], bytes.fromhex(proof["hash"]))
            proved = root_of(sha256(b"\0", leaf), proof["index"], size, proof["path"])
            need(proved == root, "a proof does not lead to the root")
            events += proof["seq"] + 1
        whole = len(self.proofs) == size and "truncated" not in self.flags
        need(not whole or events == int(note["events"]), "the note counts other events")

    def close(self) -> None:
        self.step, self.here = 8, row("line stream seq", 1, None, None)
        missing = self.head["lines"] + 1 - self.lines
        if missing > 0:
            self.flag("truncated", f"{missing} lines are missing", None)
        else:
            same = missing == 0 and self.digest.hexdigest() == self.head["digest"]
            need(same, "not the lines the header counts and digests")
            self.here["line"] = self.lines
            need(not self.left, "the bundle ends inside an artifact")
        told = {**self.head, **self.registry.created}
        if not self.trust or any(
            told.get(n) != self.trust[n] for n in ("origin", "root", "checkpoint")
        ):
            place = row("line stream seq", 2, "registry", 0)
            self.flag("unknown-key", "its root is not one you said you trust", place)
        minimum = self.trust["minimum"] if self.trust else None
        if minimum is not None and int(self.note.get("number", -1)) < minimum:
            self.flag("rolled-back", "no checkpoint as new as the minimum", None)
        proved = {name: proof["seq"] for name, proof in self.proofs.items()}
        if not self.note or any(proved.get(n, -1) < s[0] for n, s in self.streams.items()):
            self.flag("unproven", "a checkpoint does not cover every event", None)

    def verdict(self) -> Verdict:
        def first(*names: str) -> str | None:
            return next((name for name in names if name in self.flags), None)

        found = first(*VERDICTS) or "valid"
        place, trusted, _ = self.flags.get(found, (None, None, ""))
        absent = self.cited - self.held
        erased = sum(sha in self.registry.erased for sha, _ in absent)
        held = len(self.cited) - len(absent)
        keys = [key for key in self.registry.keys.values() if key.kind in ("agent", "human")]
        fates = Counter(fate(key) for key in keys)
        note = self.note
        return Verdict(
            verdict=found,
            integrity=first("tampered") or "ok",
            authenticity=first("tampered", "forked", "unknown-key") or "ok",
            completeness=first("tampered", "truncated", "unproven")
            or f"{len(self.streams)} of {note['streams']} streams",
            freshness=first("rolled-back")
            or (f"checkpoint {note['number']} of {note['at']}" if note else "no checkpoint"),
            key_status=", ".join(f"{count} {fate}" for fate, count in fates.items()),
            artifacts=f"{held} held, {erased} erased, {len(absent) - erased} missing",
            custody=custody(keys, clock),
            first_bad=place,
            last_trusted=trusted,
            checks=...,
            findings=[...],
            policy="not checked",
        )
