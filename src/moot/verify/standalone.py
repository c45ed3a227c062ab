"""Checks a Moot bundle with nothing but this file, Python 3.11 and PyNaCl.

    python standalone.py BUNDLE [--trust TRUST.json] [--json]

Written from docs/format.md alone; it imports nothing of Moot, so an auditor may copy this one file
and read it in one sitting. It is a proof in steps, numbered as in section 7 of that page:

1 the line: size, newline, UTF-8, canonical, kind, order, fields     Checker.read
2 the signature holds under a key that the registry holds            Checker.unseal
3 the payload is canonical, each field within its rule               Checker.body
4 seq, prev and reg continue the stream                              Checker.chain
5 the registry's events obey section 4                               Registry
6 artifacts are cited, and have the hash and size cited              Checker.artifact, chunk
7 proofs and forks fit the events; the note signs every proof        Checker.proof, fork, checkpoint
8 after the last line: digest, trust, age, what nothing proves       Checker.close

What the caller still owes: a trust file that came by another way than the bundle, and a judgement
whether what was recorded was allowed (policy). Memory: one line, and one entry a stream, key,
artifact and fork. Exit status: 0 valid, 1 not to be trusted, 2 usage, 3 unproven, 4 unreadable.
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
from collections.abc import Callable, Container
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

from nacl import bindings
from nacl.exceptions import CryptoError

LINE, BODY, CHUNK, DEPTH, TRUST, MAX = 2**21, 65_536, 786_432, 32, 65_536, 2**53 - 1
EVENT_TYPE = "application/vnd.moot.event.v1+json"
PROOF_TYPE = "application/vnd.moot.key-proof.v1+json"
ENDORSEMENT_TYPE = "application/vnd.moot.key-endorsement.v1+json"
VERDICTS = ("tampered", "forked", "unknown-key", "truncated", "rolled-back", "unproven", "valid")
Json = dict[str, Any]
Rule = Callable[[Any], bool]


class Broken(Exception):
    """The line being read fails a step: `Broken(step, why)`."""


class Unreadable(OSError):
    """The bundle or the trust file cannot be judged at all."""


def need(condition: bool, step: int, why: str) -> None:
    if not condition:
        raise Broken(step, why)


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
    members = dict(pairs)
    if len(members) != len(pairs) or any(max(key, default="") >= "\ud800" for key in members):
        raise ValueError("a key twice, or beyond U+D7FF")
    return members


def _integer(digits: str) -> int:
    if len(digits) > 17 or abs(int(digits)) > MAX:  # int() itself is slow, then fails, on many
        raise ValueError("an integer out of range")
    return int(digits)


def _refuse(_: str) -> None:
    raise ValueError("not an integer")


def parse(text: bytes, step: int) -> Any:
    need(not too_deep(text), step, "nested too deep")
    hooks: Json = {"parse_int": _integer, "parse_float": _refuse, "parse_constant": _refuse}
    try:
        return json.loads(text.decode(), object_pairs_hook=_members, **hooks)
    except (ValueError, RecursionError):
        raise Broken(step, "not JSON of the allowed kind") from None


def canonical(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def parse_canonical(text: bytes, step: int) -> Any:
    value = parse(text, step)
    try:
        need(canonical(value) == text, step, "not canonical")
    except UnicodeEncodeError:
        raise Broken(step, "a lone surrogate") from None
    return value


def unb64(text: str, step: int) -> bytes:
    try:
        raw = base64.b64decode(text, validate=True)
    except ValueError:
        raise Broken(step, "not base64") from None
    need(base64.b64encode(raw).decode() == text, step, "base64 is not canonical")
    return raw


# Section 2.
def sha256(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def frame(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def kid_of(public: bytes) -> str:
    return sha256(public).hex()[:32]


def weak(public: bytes) -> bool:
    """Libsodium's point test also refuses mixed order, on which libraries disagree."""
    y = int.from_bytes(public, "little") & (2**255 - 1)
    return y >= 2**255 - 19 or not bindings.crypto_core_ed25519_is_valid_point(public)


def signed(public: bytes, kind: str, body: bytes, signature: bytes) -> bool:
    """Whether the signature holds over PAE(kind, body), or over the bare body if kind is empty."""
    pae = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(body), body)
    try:
        bindings.crypto_sign_open(signature + (pae if kind else body), public)
    except CryptoError:
        return False
    return True


# Sections 3, 4 and 6 as tables of fields and their rules.
def record(names: str, *rules: Rule) -> Rule:
    table = dict(zip(names.split(), rules, strict=True))
    return lambda value: (
        type(value) is dict
        and value.keys() == table.keys()
        and all(rule(value[name]) for name, rule in table.items())
    )


def like(form: str, most: int = LINE) -> Rule:
    match = re.compile(form, re.DOTALL).fullmatch
    return lambda value: isinstance(value, str) and len(value) <= most and bool(match(value))


def integer(least: int) -> Rule:
    return lambda value: type(value) is int and value >= least


def maybe(rule: Rule) -> Rule:
    return lambda value: value is None or rule(value)


def array(rule: Rule, least: int, most: int) -> Rule:
    return lambda value: (
        type(value) is list and least <= len(value) <= most and all(map(rule, value))
    )


STREAM_FORM = r"[a-z]+(?:/[A-Za-z0-9._:@+~-]{1,200})?"
AT_FORM = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"
NUMBER_FORM = r"(?:0|[1-9][0-9]{0,15})"
HEX32, HEX64, HEX128 = (like(f"[0-9a-f]{{{size}}}") for size in (32, 64, 128))
TEXT, COUNT, POSITIVE, STREAM = like(".*"), integer(0), integer(1), like(STREAM_FORM)
ORIGIN, NAME = like(r"moot\.ledger/[0-9a-f]{32}"), like("(?=...)[a-z0-9]+(?:-[a-z0-9]+)*", 48)
ACTOR = record("epoch id kid role", POSITIVE, NAME, HEX32, maybe(like(".+", 64)))
EVENT = record(
    "v origin stream seq prev reg key type at actor cause corr data artifacts",
    *(lambda v: type(v) is int and v == 1, ORIGIN, STREAM, COUNT, HEX64, maybe(COUNT)),
    *(maybe(like(".+", 300)), like(r"[a-z]+\.[a-z][a-z0-9_]*", 96), like(AT_FORM), ACTOR),
    *(maybe(HEX64), maybe(like(".+", 128)), lambda v: type(v) is dict),
    array(record("media_type sha256 size", like(".+", 127), HEX64, COUNT), 0, 256),
)
ENDORSEMENT = maybe(record("kid sig", HEX32, HEX128))
KEY = "class custodian endorsement epoch name proof public"
KEY_RULES = (like("agent|human"), HEX32, ENDORSEMENT, POSITIVE, NAME, HEX128, HEX64)
CREATED = "checkpoint checkpoint_proof clock custodian root"
REGISTRY = {
    "ledger_created": record(CREATED, HEX64, HEX128, like("system|fixed"), HEX32, HEX64),
    "key_added": record(KEY, *KEY_RULES),
    "key_rotated": record(f"{KEY} reason replaces", *KEY_RULES, TEXT, HEX32),
    "key_revoked": record("heads kid reason", HEX64, HEX32, TEXT),
    "agent_retired": record("epoch name reason", POSITIVE, NAME, TEXT),
    "artifact_erased": record("reason sha256 size", TEXT, HEX64, COUNT),
    "history_accepted": record("endorsement lost reason", ENDORSEMENT, TEXT, TEXT),
}
SIGNATURES = array(record("keyid sig", HEX32, like(".{88}")), 1, 1)
ENVELOPE = record("payload payloadType signatures", TEXT, like(re.escape(EVENT_TYPE)), SIGNATURES)
PROOF = record("hash index path seq stream", HEX64, COUNT, array(HEX64, 0, LINE), COUNT, STREAM)
HEADER = ("digest format lines origin", HEX64, like("moot-bundle/1"), COUNT, ORIGIN)
TRUSTED = ("checkpoint format minimum origin root", HEX64, like("moot-trust/1"), maybe(COUNT))
KINDS = {  # each with its place in the order of section 6
    "header": (0, record(*HEADER)),
    "event": (1, ENVELOPE),
    "fork": (2, record("fork", ENVELOPE)),
    "artifact": (3, record("artifact", record("sha256 size", HEX64, COUNT))),
    "chunk": (3, record("chunk", TEXT)),
    "proof": (4, record("proof", PROOF)),
    "checkpoint": (5, record("checkpoint", TEXT)),
}


@dataclass
class Key:
    public: bytes
    kind: str
    name: str
    epoch: int
    custodian: str
    added: int
    ended: int | None = None  # where it was first replaced, retired or revoked
    fate: str = "current"
    heads: str | None = None  # set by its revocation

    def valid_at(self, position: int) -> bool:
        # The checkpoint key signs notes: it is nobody's key to write or endorse with.
        lives = self.added <= position and (self.ended is None or position < self.ended)
        return lives and self.kind != "checkpoint"

    def end(self, position: int, fate: str) -> None:
        self.ended = position if self.ended is None else self.ended
        self.fate = "revoked" if self.heads else fate


class Registry:
    """Step 5: the keys, as told by events already proved. It holds only what it accepted."""

    def __init__(self) -> None:
        self.origin = self.root = self.checkpoint = self.clock = ""
        self.position = -1
        self.keys: dict[str, Key] = {}
        self.names: dict[str, str] = {}  # name -> kid of its newest key
        self.humans: set[str] = set()  # kids of the human keys valid now
        self.human_seen = False
        self.retired: set[str] = set()
        self.erased: set[str] = set()

    def claim_root(self, event: Json) -> None:
        """Event 0's key is taken from its own `root`, which the origin binds."""
        known = event["type"] == "registry.ledger_created"
        need(known and REGISTRY["ledger_created"](event["data"]), 5, "no ledger is created")
        public = bytes.fromhex(event["data"]["root"])
        self.root, self.origin = kid_of(public), event["origin"]
        need(not weak(public), 5, "the root key is weak")
        need(self.origin == f"moot.ledger/{self.root}", 5, "the origin is not the root key's")
        self.keys[self.root] = Key(public, "root", "system", 1, event["data"]["custodian"], 0)

    def accept(self, event: Json) -> None:
        kind, data = event["type"].removeprefix("registry."), event["data"]
        need(kind in REGISTRY and REGISTRY[kind](data), 5, "not an event of the registry")
        need((kind == "ledger_created") == (event["seq"] == 0), 5, "only event 0 creates a ledger")
        cited = {artifact["sha256"] for artifact in event["artifacts"]}
        need(kind != "key_revoked" or data["heads"] in cited, 5, "the heads are not an artifact")
        self.check_author(event["actor"], kind)
        getattr(self, kind)(data, event["seq"])
        self.position = event["seq"]

    def check_author(self, actor: Json, kind: str) -> None:
        if actor["kid"] in self.humans and kind in ("key_revoked", "artifact_erased"):
            key = self.keys[actor["kid"]]
            need((actor["id"], actor["epoch"]) == (key.name, key.epoch), 5, "not the key's name")
        else:
            system = {"epoch": 1, "id": "system", "kid": self.root, "role": None}
            need(actor == system, 5, "not an author this event may have")

    def statement(self, data: Json) -> bytes:
        told = {name: data[name] for name in ("class", "custodian", "epoch", "name", "public")}
        return canonical({**told, "origin": self.origin})

    def endorser(self, data: Json, statement: bytes) -> str:
        """The kid of the registered key that signed the statement."""
        by = data["endorsement"] or {"kid": "", "sig": ""}
        key, signature = self.keys.get(by["kid"]), bytes.fromhex(by["sig"])
        holds = key is not None and signed(key.public, ENDORSEMENT_TYPE, statement, signature)
        need(holds, 5, "the endorsement is missing or does not hold")
        return str(by["kid"])

    def add(self, data: Json, at: int) -> None:
        public, proof = bytes.fromhex(data["public"]), bytes.fromhex(data["proof"])
        kid, kind, name = kid_of(public), data["class"], data["name"]
        need(not weak(public), 5, "a weak key")
        need(kid not in self.keys, 5, "a key is added twice")
        need(signed(public, PROOF_TYPE, self.statement(data), proof), 5, "the key is not held")
        self.keys[kid] = Key(public, kind, name, data["epoch"], data["custodian"], at)
        self.names[name] = kid
        if kind == "human":
            self.human_seen = True
            self.humans.add(kid)

    def ledger_created(self, data: Json, at: int) -> None:
        self.clock, self.checkpoint = data["clock"], data["checkpoint"]
        note_key = {"class": "checkpoint", "name": "checkpoint", "epoch": 1}
        held = {"public": self.checkpoint, "proof": data["checkpoint_proof"]}
        self.add({**note_key, **held, "custodian": data["custodian"]}, at)

    def key_added(self, data: Json, at: int) -> None:
        fresh = data["name"] not in self.names and data["name"] != "system"
        need(fresh and data["epoch"] == 1, 5, "the name was used, or the epoch is not 1")
        later_human = data["class"] == "human" and self.human_seen
        if later_human or data["endorsement"] is not None:
            by = self.endorser(data, self.statement(data))
            need(self.keys[by].valid_at(at - 1), 5, "the endorsing key is not valid here")
            need(by in self.humans or not later_human, 5, "the endorsing key is not a human's")
        self.add(data, at)

    def key_rotated(self, data: Json, at: int) -> None:
        kid, name = data["replaces"], data["name"]
        need(self.names.get(name) == kid, 5, "it replaces a key that is not the name's current one")
        old = self.keys[kid]
        steps = (1,) if name in self.retired else (0, 1)
        fits = old.kind == data["class"] and data["epoch"] - old.epoch in steps
        need(fits, 5, "the class or the epoch does not follow")
        by = self.endorser(data, self.statement(data))
        # A key may hand over although it is retired, never once it is revoked.
        need(by in self.humans or (by == kid and not old.heads), 5, "not endorsed by who may")
        self.humans.discard(kid)
        self.retired.discard(name)
        old.end(at, "replaced")
        self.add(data, at)

    def key_revoked(self, data: Json, at: int) -> None:
        key = self.keys.get(data["kid"])
        if key is None or key.heads or key.kind not in ("agent", "human"):
            raise Broken(5, "it revokes a key that cannot be revoked")
        key.heads = data["heads"]
        key.end(at, "revoked")
        self.humans.discard(data["kid"])

    def agent_retired(self, data: Json, at: int) -> None:
        name, key = data["name"], self.keys.get(self.names.get(data["name"], ""))
        if key is None or (key.kind, key.epoch) != ("agent", data["epoch"]) or name in self.retired:
            raise Broken(5, "it retires a name that cannot be retired")
        self.retired.add(name)
        key.end(at, "retired")

    def artifact_erased(self, data: Json, _: int) -> None:
        self.erased.add(data["sha256"])

    def history_accepted(self, data: Json, _: int) -> None:
        told = {"lost": data["lost"], "origin": self.origin, "reason": data["reason"]}
        if self.humans:
            need(self.endorser(data, canonical(told)) in self.humans, 5, "not endorsed by a human")
        else:
            need(data["endorsement"] is None, 5, "an endorsement where no human key is valid")


class Heads:
    """The heads a revocation cites, read in pieces: in canonical form they are a regular language,
    and may be larger than memory. Only the streams of this bundle are kept."""

    ENTRY = re.compile(rf'([{{,])"({STREAM_FORM})":\[({NUMBER_FORM}),"[0-9a-f]{{64}}"\]'.encode())

    def __init__(self, streams: Container[str]) -> None:
        self.streams, self.last, self.rest, self.sound = streams, "", b"", True
        self.limits: dict[str, int] = {}

    def feed(self, piece: bytes) -> None:
        piece, at = self.rest + piece, 0
        while self.sound and (entry := self.ENTRY.match(piece, at)):
            name, seq, at = entry[2].decode(), int(entry[3]), entry.end()
            in_order = name > self.last and (entry[1] == b"{") == (self.last == "")
            self.sound, self.last = in_order and seq <= MAX, name
            if name in self.streams:
                self.limits[name] = seq
        self.sound, self.rest = self.sound and len(piece) - at < 1024, piece[at : at + 1024]

    def at_hand(self) -> bool:
        return self.sound and self.rest == (b"}" if self.last else b"{}")


# Section 5.
NOTE = re.compile(
    rf"(?P<text>(?P<origin>[^\n]+)\n(?P<streams>{NUMBER_FORM})\n(?P<root>[A-Za-z0-9+/]{{43}}=)\n"
    rf"moot (?P<number>{NUMBER_FORM}) (?P<events>{NUMBER_FORM}) (?P<at>{AT_FORM})\n)\n"
    r"— (?P<signer>[^\n ]+) (?P<signature>[A-Za-z0-9+/=]{92})\n"
)


def root_of(leaf: bytes, index: int, size: int, path: list[bytes]) -> bytes | None:
    """The root of a tree of `size` leaves, from its definition in RFC 6962: top down."""
    if size == 1 or not path:
        return leaf if size == 1 and not path else None
    left = 1 << (size - 1).bit_length() - 1
    if index < left:
        below = root_of(leaf, index, left, path[:-1])
        return below and sha256(b"\1", below, path[-1])
    below = root_of(leaf, index - left, size - left, path[:-1])
    return below and sha256(b"\1", path[-1], below)


@dataclass
class Place:
    line: int
    stream: str | None = None
    seq: int | None = None


@dataclass
class Verdict:
    """What was found, able to say so; truthy only if the bundle is valid."""

    verdict: str
    integrity: str
    authenticity: str
    completeness: str
    freshness: str
    key_status: str
    artifacts: str
    custody: str
    first_bad: Place | None
    last_trusted: Place | None
    checks: dict[str, int]
    findings: list[str]
    policy: str = "not checked"

    def __bool__(self) -> bool:
        return self.verdict == "valid"
