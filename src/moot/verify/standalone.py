"""Checks a Moot bundle or receipt: `python standalone.py FILE [--trust FILE] [--checkpoint NOTE]`.

One file to copy, read and run. It needs Python 3.11 and PyNaCl. It was written from docs/format.md
alone, which is the norm ("section" means a section of that page), and shares no code with Moot.
Exit status: 0 valid, 1 not to be trusted, 2 wrong usage, 3 unproven, 4 not checked.

THE PROOF, in the steps of section 7. A line that fails one of the steps 1 to 7 ends the reading:
the verdict is `tampered`, and the finding names the step. The code below carries these numbers.
  0  Claim. The file says that it is a bundle or a receipt; any other file gets no verdict.
  1  Lines. Each line is canonical, of a known kind, and in its place (sections 1, 6, 8).
     So there is one way to read the bytes: no two programs see two different records in them.
  2  Signatures. Each event is signed with the key that it names, if that key is known (section 2).
  3  Fields. Each event has exactly the fields of section 3 and belongs to this ledger.
  4  Chains. Each event names its position and the hash of the event before it (section 3).
     So nothing was removed, inserted or reordered inside a stream; only its end can be missing.
  5  Keys. The registry obeys section 4, and each author's key was valid then, or `unknown-key`.
  6  Artifacts. The bytes that are in the bundle have the hash and size that an event cites.
  7  Forks, proofs, checkpoint. Two events signed for one position make the verdict `forked`. Each
     proof leads from a stream's newest event to the root that the ledger signed (section 5).
     So the end of a stream cannot be cut off unseen: the verdict is then `truncated`.
  8  The end. All lines are there. The ledger's keys are those of the trust file. The checkpoint is
     as new as the caller demands (else `rolled-back`) and covers every event (else `unproven`).
     What a receipt says is what the ledger signed for last (section 8). Sealed answers were
     opened as they were sealed, after a checkpoint over all (section 9). Then it is `valid`.

WHAT THE CALLER STILL OWES
  - A trust file that came another way than the bundle. Without one, nothing is `valid`.
  - How new it must be: `minimum` in the trust file, or a checkpoint that was kept (`--checkpoint`).
  - A look at `completeness`: `valid` speaks of the streams in the bundle only.
  - Judgement: times are what the authors' clocks said, and what events mean is not checked here.
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
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, BinaryIO, NamedTuple, Self

try:
    from nacl import bindings as nacl
    from nacl.exceptions import CryptoError
except ImportError as error:
    if __name__ != "__main__":
        raise
    print(f"could not check: {error}; `pip install pynacl` brings it", file=sys.stderr)
    sys.exit(4)

# The verdict is the first of these that was set; `valid` if none was.
VERDICTS = ("tampered", "forked", "unknown-key", "truncated", "rolled-back", "unproven", "valid")
MAX_INTEGER, MAX_DEPTH = 2**53 - 1, 32
MAX_LINE_BYTES, MAX_PAYLOAD_BYTES, CHUNK_BYTES, MAX_RECEIPT_BYTES = 2**21, 65_536, 786_432, 2**26
MAX_HEADS_BYTES = 2**24  # a longer list of heads is not held in memory: it counts as absent
Json = dict[str, Any]


def need(condition: object, otherwise: str) -> None:
    """One line of the proof: the condition holds, or the step fails with this sentence."""
    if not condition:
        raise ValueError(otherwise)


# Section 1: canonical JSON. Python's parser is laxer than the norm. So a text is first split, in
# one linear scan, into strings (a key together with its colon), brackets, and all other words.
TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?:?|[\[\]{}]|[^"\[\]{}:,\s]++', re.DOTALL)
write_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


def parse_json(text: bytes, canonical: bool = True) -> Any:
    """The value of a JSON text; ValueError if section 1 refuses it."""
    tokens = TOKEN.findall(text)
    depth_changes = ((token[0] in b"[{") - (token[0] in b"]}") for token in tokens)
    need(max(itertools.accumulate(depth_changes), default=0) <= MAX_DEPTH, "nested too deep")
    keys = (token for token in tokens if token.endswith(b'":'))
    need(all(max(key) < 0xEE for key in keys), "a key beyond U+D7FF")  # which is ED 9F BF
    numbers = (token for token in tokens if token[0] in b"-0123456789")
    need(all(abs(int(number)) <= MAX_INTEGER for number in numbers), "out of range")
    value = json.loads(text.decode(), parse_float=int, parse_constant=int)  # int() refuses both
    need(not canonical or write_json(value).encode() == text, "not canonical")
    return value


# Section 2: building blocks.
EVENT_TYPE = "application/vnd.moot.event.v1+json"
KEY_PROOF_TYPE = "application/vnd.moot.key-proof.v1+json"
ENDORSEMENT_TYPE = "application/vnd.moot.key-endorsement.v1+json"
sha256: Callable[[bytes], bytes] = nacl.crypto_hash_sha256


def decode_base64(text: str) -> bytes:
    raw = base64.b64decode(text, validate=True)
    need(base64.b64encode(raw).decode() == text, "base64 is not canonical")
    return raw


def framed_hash(mark: bytes, *parts: bytes) -> bytes:
    """Each part goes in with its length, so that no two lists of parts give the same bytes."""
    return sha256(mark + b"".join(len(part).to_bytes(8, "big") + part for part in parts))


def need_signature(signature: bytes, public: bytes, body: bytes, kind: str) -> None:
    """CryptoError if the key did not sign this body as a thing of this kind."""
    pae = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(body), body)
    nacl.crypto_sign_open(signature + pae, public)


# Sections 3 to 6 and 8: the form of all that is read, as tables. A form is a regular expression for
# a string; the least value of an integer; a tuple of alternatives; a list [form of an item, least
# length, greatest length]; a dict of exactly the fields of an object; `dict` for any object; None.
def fits(value: Any, form: Any) -> bool:
    if isinstance(form, str):
        return isinstance(value, str) and re.fullmatch(form, value, re.DOTALL) is not None
    if isinstance(form, int):
        return type(value) is int and value >= form  # `True` is no integer
    if isinstance(form, tuple):
        return any(fits(value, alternative) for alternative in form)
    if isinstance(form, list) and type(value) is list:
        item, least, most = form
        return least <= len(value) <= most and all(fits(one, item) for one in value)
    if isinstance(form, dict) and type(value) is dict:
        return value.keys() == form.keys() and all(fits(value[name], form[name]) for name in form)
    return value is None if form is None else type(value) is form


ORIGIN, TEXT = r"moot\.ledger/[0-9a-f]{32}", ".*"
STREAM = r"(?!registry/)[a-z]{1,32}(?:/[A-Za-z0-9._:@+~-]{1,200})?"
EVENT_NAME = r"(?=.{3,96}\Z)[a-z]+\.[a-z][a-z0-9_]*"
AUTHOR_NAME = r"(?=.{3,48}\Z)[a-z0-9]+(?:-[a-z0-9]+)*"
TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"
DECIMAL = "(?:0|[1-9][0-9]{0,15})"
KID = CUSTODIAN = "[0-9a-f]{32}"
HASH = PUBLIC = "[0-9a-f]{64}"
SIGNATURE = "[0-9a-f]{128}"

# fmt: off
EVENT = {"v": 1, "origin": ORIGIN, "stream": STREAM, "seq": 0, "prev": HASH, "reg": (None, 0),
         "key": (None, ".{1,300}"), "type": EVENT_NAME, "at": TIME,
         "actor": {"epoch": 1, "id": AUTHOR_NAME, "kid": KID, "role": (None, ".{1,64}")},
         "cause": (None, HASH), "corr": (None, ".{1,128}"), "data": dict,
         "artifacts": [{"media_type": ".{1,127}", "sha256": HASH, "size": 0}, 0, 256]}
ENDORSEMENT = (None, {"kid": KID, "sig": SIGNATURE})
NEW_KEY = {"class": "agent|human", "custodian": CUSTODIAN, "endorsement": ENDORSEMENT,
           "epoch": 1, "name": AUTHOR_NAME, "proof": SIGNATURE, "public": PUBLIC}
LEDGER = {"checkpoint": PUBLIC, "checkpoint_proof": SIGNATURE, "clock": "system|fixed",
          "custodian": CUSTODIAN, "root": PUBLIC}
REGISTRY_DATA = {
    "registry.ledger_created": LEDGER,
    "registry.key_added": NEW_KEY,
    "registry.key_rotated": {**NEW_KEY, "reason": TEXT, "replaces": KID},
    "registry.key_revoked": {"heads": HASH, "kid": KID, "reason": TEXT},
    "registry.agent_retired": {"epoch": 1, "name": AUTHOR_NAME, "reason": TEXT},
    "registry.artifact_erased": {"reason": TEXT, "sha256": HASH, "size": 0},
    "registry.history_accepted": {"endorsement": ENDORSEMENT, "lost": TEXT, "reason": TEXT},
}
SIGNED_BY = {"keyid": KID, "sig": ".{88}"}
ENVELOPE = {"payload": TEXT, "payloadType": re.escape(EVENT_TYPE), "signatures": [SIGNED_BY, 1, 1]}
HEADER = {"digest": HASH, "format": "moot-bundle/1", "lines": 0, "origin": ORIGIN}
ARTIFACT = {"sha256": HASH, "size": 0}
PROOF = {"hash": HASH, "index": 0, "path": [HASH, 0, MAX_LINE_BYTES], "seq": 0, "stream": STREAM}
LINES = {  # each kind of line, with the kinds that may follow it
    "header": (HEADER, ("event",)),
    "event": (ENVELOPE, ("event", "fork", "artifact", "proof", "checkpoint")),
    "fork": ({"fork": ENVELOPE}, ("fork", "artifact", "proof", "checkpoint")),
    "artifact": ({"artifact": ARTIFACT}, ("artifact", "chunk", "proof", "checkpoint")),
    "chunk": ({"chunk": TEXT}, ("artifact", "chunk", "proof", "checkpoint")),
    "proof": ({"proof": PROOF}, ("proof", "checkpoint")),
    "checkpoint": ({"checkpoint": TEXT}, ()),
}
SEALS_CLOSED = {"index": 0, "note": TEXT, "path": [HASH, 0, 64]}
TRUST = {"checkpoint": PUBLIC, "format": "moot-trust/1", "minimum": (None, 0),
         "origin": ORIGIN, "root": PUBLIC}
RECEIPT_START = b'{"format":"moot-receipt/1","record":'
RECEIPT = {"format": TEXT, "record": TEXT, "says": dict}
# fmt: on


class Place(NamedTuple):  # a line of the bundle, and the event in it if it holds one
    line: int
    stream: str | None = None
    seq: int | None = None


class Event:
    """The fields of section 3 that a checker uses, and what was signed."""

    def __init__(self, body: Json, payload: bytes, signature: bytes) -> None:
        self.origin, self.stream, self.type = body["origin"], body["stream"], body["type"]
        self.prev, self.at, self.actor = body["prev"], body["at"], body["actor"]
        self.data, self.seq = body["data"], int(body["seq"])
        self.reg: int = -1 if body["reg"] is None else body["reg"]
        self.artifacts = {(cited["sha256"], cited["size"]) for cited in body["artifacts"]}
        self.cites: set[str] = {digest for digest, _ in self.artifacts}
        parts = (EVENT_TYPE.encode(), payload, self.actor["kid"].encode(), signature)
        self.hash = framed_hash(b"\0", *parts)  # with the signature: none can be swapped


class StreamEnd(NamedTuple):  # the newest event of a stream, as far as the stream was read
    seq: int
    hash: bytes
    reg: int


class Proof(NamedTuple):  # that a stream's newest event is this leaf of the checkpoint's tree
    seq: int
    hash: bytes
    leaf: int
    path: list[bytes]  # from the leaf up


class Checkpoint(NamedTuple):  # what the ledger signed about all of its streams
    streams: int
    root: bytes
    number: int
    events: int
    at: str


class Trust(NamedTuple):  # what the caller knows from elsewhere: keys, and how new is new enough
    origin: str
    root: str
    checkpoint: str
    minimum: int | None = None
    kept: Checkpoint | None = None


# Step 5, the registry (section 4): which keys exist, and when each was valid.
NEVER = MAX_INTEGER  # a position that no registry reaches
NO_END = StreamEnd(-1, b"", 0)  # of a stream that is not here
KEY_STATEMENT = ("class", "custodian", "epoch", "name", "public")


@dataclass
class Key:
    """A key, with the positions in the registry at which it begins and ceases to be valid."""

    kid: str
    public: bytes
    kind: str  # the class: root, checkpoint, agent or human
    name: str
    epoch: int
    custodian: str
    added: int
    ended: int = NEVER  # where it was replaced, revoked or retired
    retired: bool = False
    heads: str | None = None  # of a revoked key: hash of the list of what it may have signed

    def is_valid_at(self, position: int) -> bool:
        return self.added <= position < self.ended

    def is_valid_human(self) -> bool:
        return self.kind == "human" and self.ended == NEVER


class Registry:
    """The keys of a ledger, as the events of its registry tell them one by one."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.created, self.aliases = Json(), 0  # the data of event 0; sub-agents, who have no keys
        self.keys: dict[str, Key] = {}  # by kid
        self.newest: dict[str, Key] = {}  # by name: the key that this name was given last
        self.revocation_heads, self.erased = set[str](), set[str]()  # hashes of artifacts
        self.accepted_losses: list[str] = []  # a sentence for each

    def class_of_author(self, event: Event, position: int) -> str:
        """The class of the author's key; "" unless it was valid then, for that name and epoch."""
        key, actor = self.keys.get(event.actor["kid"]), event.actor
        is_theirs = key and (key.name, key.epoch) == (actor["id"], actor["epoch"])
        return key.kind if key and is_theirs and key.is_valid_at(position) else ""

    def accept(self, event: Event) -> None:
        kind, data, seq = event.type, event.data, event.seq
        need(kind in REGISTRY_DATA and fits(data, REGISTRY_DATA[kind]), "not of the registry")
        need((kind == "registry.ledger_created") == (seq == 0), "only event 0 creates a ledger")
        need(kind != "registry.key_revoked" or data["heads"] in event.cites, "no artifact of heads")
        # The author comes second, since event 0 brings its author's key. No event can make its own
        # author valid: that is judged at the position before it.
        getattr(self, "_" + kind.removeprefix("registry."))(data, seq)
        author = self.class_of_author(event, seq - 1)
        is_by_root = author == "root" and event.actor["role"] is None
        human_may = kind in ("registry.key_revoked", "registry.artifact_erased")
        need(is_by_root or (author == "human" and human_may), "not by an author who may")
        if kind == "registry.history_accepted":
            where, reason = f"event {seq} of the registry", write_json(data["reason"][:200])
            self.accepted_losses.append(f"a loss was accepted at {where} on {event.at}: {reason}")

    def _statement(self, data: Json, names: tuple[str, ...]) -> bytes:
        """What a proof or an endorsement signs: these fields, bound to this ledger."""
        return write_json({"origin": self.origin, **{name: data[name] for name in names}}).encode()

    def _endorser(self, data: Json, names: tuple[str, ...]) -> Key:
        """The key that signed the endorsement. Whether it was allowed to is for the caller."""
        endorsement, statement = data["endorsement"], self._statement(data, names)
        need(endorsement and endorsement["kid"] in self.keys, "not endorsed by a known key")
        key, signature = self.keys[endorsement["kid"]], bytes.fromhex(endorsement["sig"])
        need_signature(signature, key.public, statement, ENDORSEMENT_TYPE)
        return key

    def _admit(self, data: Json, position: int) -> None:
        """Take a new key, of which the sender has proved to hold the private half."""
        public = bytes.fromhex(data["public"])
        kid, statement = sha256(public).hex()[:32], self._statement(data, KEY_STATEMENT)
        # Libsodium's test also refuses mixed order, where libraries disagree on signatures.
        need(kid not in self.keys and nacl.crypto_core_ed25519_is_valid_point(public), "unfit key")
        if data["class"] != "root":  # which signs event 0 itself
            need_signature(bytes.fromhex(data["proof"]), public, statement, KEY_PROOF_TYPE)
        name, epoch, custodian = data["name"], data["epoch"], data["custodian"]
        key = Key(kid, public, data["class"], name, epoch, custodian, added=position)
        self.keys[kid] = self.newest[name] = key

    def _ledger_created(self, data: Json, _: int) -> None:
        self.created, both = data, {"epoch": 1, "custodian": data["custodian"]}
        self._admit({**both, "class": "root", "name": "system", "public": data["root"]}, -1)
        root = self.newest["system"]
        need(self.origin == f"moot.ledger/{root.kid}", "not the origin's root key")
        public, proof = data["checkpoint"], data["checkpoint_proof"]
        checkpoint = {**both, **dict.fromkeys(("class", "name"), "checkpoint")}
        self._admit({**checkpoint, "public": public, "proof": proof}, NEVER)  # valid for no event

    def _key_added(self, data: Json, seq: int) -> None:
        need(data["name"] not in self.newest and data["epoch"] == 1, "an old name, or a new epoch")
        needs_human = data["class"] == "human" and any(
            k.kind == "human" for k in self.keys.values()
        )
        if needs_human or data["endorsement"]:
            endorser = self._endorser(data, KEY_STATEMENT)
            may = endorser.is_valid_human() if needs_human else endorser.is_valid_at(seq - 1)
            need(may, "not endorsed by who may")
        self._admit(data, seq)

    def _key_rotated(self, data: Json, seq: int) -> None:
        old = self.newest.get(data["name"])
        if old is None or old.kid != data["replaces"]:
            raise ValueError("it replaces a key that is not the current one")
        epochs = (old.epoch + 1,) if old.retired else (old.epoch, old.epoch + 1)
        need(data["class"] == old.kind and data["epoch"] in epochs, "class or epoch do not follow")
        endorser = self._endorser(data, KEY_STATEMENT)
        is_handed_over = endorser is old and old.heads is None  # retired perhaps, never revoked
        need(endorser.is_valid_human() or is_handed_over, "not endorsed by who may")
        old.ended = min(old.ended, seq)
        self._admit(data, seq)

    def _key_revoked(self, data: Json, seq: int) -> None:
        key = self.keys.get(data["kid"])
        if key is None or key.kind not in ("agent", "human") or key.heads is not None:
            raise ValueError("the key cannot be revoked")
        key.heads, key.ended = data["heads"], min(key.ended, seq)
        self.revocation_heads.add(data["heads"])

    def _agent_retired(self, data: Json, seq: int) -> None:
        key, active = self.newest.get(data["name"]), ("agent", data["epoch"], False)
        if key is None or (key.kind, key.epoch, key.retired) != active:
            raise ValueError("not retirable")
        key.retired, key.ended = True, min(key.ended, seq)

    def _artifact_erased(self, data: Json, _: int) -> None:
        self.erased.add(data["sha256"])

    def _history_accepted(self, data: Json, _: int) -> None:
        """Where there are people, one of them must have agreed to the loss."""
        endorser = self._endorser(data, ("lost", "reason")) if data["endorsement"] else None
        has_humans = any(key.is_valid_human() for key in self.keys.values())
        agreed = endorser is not None and endorser.is_valid_human()
        need(agreed if has_humans else endorser is None, "not endorsed by who may")

    def describe_keys(self) -> str:
        keys = [key for key in self.keys.values() if key.kind in ("agent", "human")]
        valid, revoked = sum(k.ended == NEVER for k in keys), sum(k.heads is not None for k in keys)
        aliases = f", aliases signed by their sessions' keys: {self.aliases}" * (self.aliases > 0)
        return f"{len(keys)} keys, {valid} valid, {revoked} revoked{aliases}"

    def describe_custody(self) -> str:
        """Say how many custodians hold the agents' keys: one with two can write as either."""
        clock = "; times are from a fixed test clock" * (self.created.get("clock") == "fixed")
        agents = [k for k in self.keys.values() if k.kind == "agent" and k.ended == NEVER]
        count, custodians = len(agents), len({key.custodian for key in agents})
        if not agents:
            return "no agents" + clock
        counts = f"{count} agent{'s' * (count > 1)}, {custodians} custodian{'s' * (custodians > 1)}"
        others = "each other" if custodians == 1 else "another of the same custodian"
        shared = f": which one wrote is recorded, that they could not impersonate {others} is not"
        return counts + shared * (custodians < count) + clock


# The heads of a revocation (section 4), the checkpoint and its tree (section 5).
HEAD = re.compile(rf'"({STREAM})":\[({DECIMAL}),"({HASH})"\]')
NOTE = re.compile(
    rf"(?P<signed>(?P<origin>[^\n]+)\n(?P<streams>{DECIMAL})\n(?P<root>[A-Za-z0-9+/]{{43}}=)\n"
    rf"moot (?P<number>{DECIMAL}) (?P<events>{DECIMAL}) (?P<at>{TIME})\n)\n"
    r"— (?P=origin) (?P<seal>[A-Za-z0-9+/]{91}=)\n"
)


def read_heads(raw: bytearray) -> dict[str, int]:
    """Each stream's newest event when a key was revoked; nothing if the form is another."""
    text = raw.decode(errors="replace")
    heads = {stream: [int(seq), digest] for stream, seq, digest in HEAD.findall(text)}
    # The matches, written again, must give the same text. So no parser builds large values of it.
    is_whole = write_json(heads) == text and all(seq <= MAX_INTEGER for seq, _ in heads.values())
    return {stream: seq for stream, (seq, _) in heads.items()} if is_whole else {}


def read_checkpoint(note: str, origin: str, checkpoint_key: str) -> Checkpoint:
    """What a note says, if it was signed with this key for the ledger of this origin."""
    match = NOTE.fullmatch(note)
    if match is None or match["origin"] != origin:
        raise ValueError("not a checkpoint of the ledger named")
    public, seal = bytes.fromhex(checkpoint_key), decode_base64(match["seal"])
    key_hint, signature = sha256(origin.encode() + b"\n\1" + public)[:4], seal[4:]
    need(seal[:4] == key_hint, "not by the checkpoint key")
    nacl.crypto_sign_open(signature + match["signed"].encode(), public)
    streams, number, events = (int(match[name]) for name in ("streams", "number", "events"))
    return Checkpoint(streams, decode_base64(match["root"]), number, events, match["at"])


def root_from_path(leaf: bytes, index: int, size: int, path: list[bytes]) -> bytes:
    """The root of a tree of `size` leaves, by the definition in RFC 6962: from the top down."""
    need(index < size and bool(path) == (size > 1), "a proof that does not fit the tree")
    if size == 1:
        return leaf
    left_size = 1 << ((size - 1).bit_length() - 1)  # the largest power of two below `size`
    *path_below, sibling = path
    if index < left_size:
        return sha256(b"\1" + root_from_path(leaf, index, left_size, path_below) + sibling)
    right = root_from_path(leaf, index - left_size, size - left_size, path_below)
    return sha256(b"\1" + sibling + right)


@dataclass
class OpenArtifact:  # the one whose chunks are being read
    digest: str = ""
    size: int = 0
    missing: int = 0  # bytes that are still to come
    hash: Any = field(default_factory=hashlib.sha256)
    heads: bytearray = field(default_factory=bytearray)  # its bytes, if a revocation names it


class Reading:
    """Steps 1 to 8: one reading of a bundle, to its end or to the first bad line.

    It holds one line, and an entry for each stream, key and artifact. Forks, proofs and revocations
    ask about events read long before: a first reading collects this, a second one has the answers.
    """

    def __init__(self, trust: Trust | None, first: Self | None = None) -> None:
        self.trust, self.first = trust, first
        self.says: Json | None = first.says if first else None  # what a receipt tells people
        # By verdict, as they were set: the sentence, the place, and the last event before it.
        self.flags: dict[str, tuple[str, Place | None, Place | None]] = {}
        self.step, self.place = 1, Place(1)
        self.lines, self.kind = 0, ""  # how many were taken; what the last one was
        self.digest = hashlib.sha256()  # of all lines but the header
        self.header, self.registry = Json(), Registry("")
        self.streams: dict[str, StreamEnd] = {}
        self.last_event: Place | None = None
        # Hashes of events that are asked about, by stream and position; None while unknown.
        self.asked: dict[tuple[str, int], bytes | None] = {}
        self.asked |= dict.fromkeys(first.asked if first else ())
        self.signed_for: dict[str, set[str]] = {}  # by stream: what its last event is a receipt of
        # Artifacts by hash and size: those that events cite, and those whose bytes are here.
        self.cited, self.held = set[tuple[str, int]](), set[tuple[str, int]]()
        self.artifact = OpenArtifact()
        self.heads: dict[str, dict[str, int]] = {}  # by artifact: each stream's newest event
        self.seals: dict[tuple[str, str], Any] = {}  # of answers, by stream and author
        self.covered, self.opened = set[str](), set[str]()  # streams whose seals are so
        self.proofs: dict[str, Proof] = {}  # by stream, ascending by leaf
        self.checkpoint: Checkpoint | None = None

    def read(self, file: BinaryIO) -> Self:
        try:
            self.bundle = file if self.first else self._step_1_receipt(file)
            while (raw := self.bundle.readline(MAX_LINE_BYTES + 1)) or self.lines == 0:
                self._step_1_line(raw)
            self._step_8_end()
        except (ValueError, CryptoError, RecursionError) as error:  # by `need` or a library
            self.flag("tampered", f"step {self.step}: {error}", self.place)
        return self

    def flag(self, verdict: str, sentence: str, place: Place | None = None) -> None:
        """Set a verdict. The first place at which it is set counts."""
        self.flags.setdefault(verdict, (sentence, place, self.last_event))

    def first_set(self, *verdicts: str) -> str:
        return next((verdict for verdict in verdicts if verdict in self.flags), "")

    def _step_1_receipt(self, file: BinaryIO) -> BinaryIO:
        """The bundle in a receipt, which is one line (section 8); any other file is the bundle."""
        if file.read(len(RECEIPT_START)) != RECEIPT_START:
            file.seek(0)
            return file
        text = (RECEIPT_START + file.read(MAX_RECEIPT_BYTES)).removesuffix(b"\n")
        receipt: Any = parse_json(text) if len(text) <= MAX_RECEIPT_BYTES else None
        need(fits(receipt, RECEIPT), "not a receipt")
        self.says = receipt["says"]
        return io.BytesIO(receipt["record"].encode())

    def _step_1_line(self, raw: bytes) -> None:
        self.step, self.place = 1, Place(self.lines + 1)
        self.digest.update(raw if self.lines else b"")
        need(len(raw) <= MAX_LINE_BYTES and raw.endswith(b"\n"), "the line is too long, or cut off")
        line, may_stand = parse_json(raw[:-1]), LINES[self.kind][1] if self.lines else ("header",)
        self.kind = next((kind for kind in may_stand if fits(line, LINES[kind][0])), "")
        need(self.kind, "not a line that may stand here")
        need((self.kind == "chunk") == (self.artifact.missing > 0), "a chunk too few or too many")
        self.lines += 1
        getattr(self, f"_take_{self.kind}")(line)

    def _take_header(self, line: Json) -> None:
        self.header, self.registry = line, Registry(line["origin"])

    def _take_event(self, line: Json) -> None:
        event, key = self._open_envelope(line)
        self._step_4_chain(event)
        self._step_5_author(event, key)
        self._step_8_seal(event)
        self.last_event = self.place

    def _open_envelope(self, line: Json) -> tuple[Event, Key | None]:
        """The event, and the key with which it is signed; None if the registry does not hold it."""
        signed_by = line["signatures"][0]
        payload, signature = decode_base64(line["payload"]), decode_base64(signed_by["sig"])
        event = self._step_3_fields(payload, signed_by["keyid"], signature)
        if not self.streams:
            self.registry.accept(event)  # event 0 brings the key with which it is signed
        self.step, key = 2, self.registry.keys.get(signed_by["keyid"])
        if key is not None:
            need_signature(signature, key.public, payload, EVENT_TYPE)
        self.cited |= event.artifacts
        return event, key

    def _step_3_fields(self, payload: bytes, kid: str, signature: bytes) -> Event:
        """It comes before step 2: what is wrong here is wrong even if the key is unknown."""
        self.step = 3
        need(len(payload) <= MAX_PAYLOAD_BYTES and len(signature) == 64, "too long, or too short")
        body = parse_json(payload)
        need(fits(body, EVENT) and body["v"] == 1, "a field is missing, unknown or out of rule")
        event = Event(body, payload, signature)
        self.place = Place(self.lines, event.stream, event.seq)
        need((event.origin, event.actor["kid"]) == (self.header["origin"], kid), "not ours")
        need(event.type.split(".")[0] == event.stream.split("/")[0], "not of its stream")
        return event

    def _step_4_chain(self, event: Event) -> None:
        self.step, stream, is_registry = 4, event.stream, event.stream == "registry"
        genesis = framed_hash(b"\2", b"moot.genesis.v1", event.origin.encode(), stream.encode())
        end = self.streams.get(stream, StreamEnd(-1, genesis, 0))
        need(
            (event.seq, event.prev) == (end.seq + 1, end.hash.hex()), "seq or prev breaks the chain"
        )
        # The registry comes first; then each stream is whole before the next one begins.
        begins = event.seq == 0 and is_registry == (not self.streams)
        goes_on = self.last_event is not None and self.last_event.stream == stream
        need(begins or goes_on, "the stream is not in one piece")
        known = self.streams["registry"].seq if not is_registry else event.seq - 1
        least = end.reg if not is_registry else known
        need(least <= event.reg <= known, "reg does not continue the stream")
        self.streams[stream] = StreamEnd(event.seq, event.hash, event.reg)
        if (stream, event.seq) in self.asked:
            self.asked[stream, event.seq] = self.streams[stream].hash

    def _step_5_author(self, event: Event, key: Key | None) -> None:
        self.step, author = 5, self.registry.class_of_author(event, event.reg)
        if event.stream != "registry":
            if not author or self._is_beyond_revocation(event, key):
                self.flag("unknown-key", "its key was not valid for it", self.place)
        elif event.seq > 0:
            self.registry.accept(event)
        self.registry.aliases += event.type == "presence.sub_agent_began"
        makes_receipt = (author, event.type) == ("root", "decision.receipt_made")
        self.signed_for[event.stream] = event.cites if makes_receipt else set()

    def _step_8_seal(self, event: Event) -> None:
        """An answer is sealed before any is opened, and opened as it was sealed."""
        self.step, data, nonce = 8, event.data, event.data.get("nonce")
        stream, author = sealed = event.stream, event.actor["id"]
        if event.type == "decision.answer_sealed":
            need(stream not in self.opened, "it was sealed after another one was opened")
            self.seals[sealed] = data.get("commitment")
            self.covered.discard(stream)
        elif event.type == "decision.seals_closed" and self._are_seals_covered(event):
            self.covered.add(stream)
        elif event.type == "decision.answer_given" and (nonce or sealed in self.seals):
            need(stream in self.covered and fits(nonce, HASH), "no checkpoint covers what it opens")
            text = write_json({name: data.get(name) for name in ("answer", "motives", "why")})
            parts = (stream.encode(), author.encode(), bytes.fromhex(nonce), text.encode())
            opened = framed_hash(b"", b"moot.sealed-answer.v1", *parts).hex()
            need(opened == self.seals.get(sealed), "another answer was sealed")
            self.opened.add(stream)

    def _are_seals_covered(self, event: Event) -> bool:
        """Does a checkpoint of this ledger cover the event right before this one?"""
        data, key = event.data, self.registry.created["checkpoint"]
        try:
            need(all(fits(data.get(name), form) for name, form in SEALS_CLOSED.items()), "")
            note = read_checkpoint(data["note"], event.origin, key)
            prev, *path = (bytes.fromhex(node) for node in (event.prev, *data["path"]))
            leaf = framed_hash(b"\0", event.stream.encode(), b"%d" % (event.seq - 1), prev)
            return root_from_path(leaf, data["index"], note.streams, path) == note.root
        except (ValueError, CryptoError):
            return False

    def _is_beyond_revocation(self, event: Event, key: Key | None) -> bool:
        """Was its key revoked, and are the heads of that revocation older than the event?"""
        # They stand behind the events: only a second reading has them. Absent ones allow nothing.
        if self.first is None or key is None or key.heads is None:
            return False
        return event.seq > self.first.heads.get(key.heads, {}).get(event.stream, -1)

    def _take_artifact(self, line: Json) -> None:
        self.step, digest, size = 6, line["artifact"]["sha256"], line["artifact"]["size"]
        need((digest, size) in self.cited and digest > self.artifact.digest, "not due here")
        self.artifact = OpenArtifact(digest, size, missing=size)
        if size == 0:
            self._take_chunk({"chunk": ""})

    def _take_chunk(self, line: Json) -> None:
        piece, artifact, self.step = decode_base64(line["chunk"]), self.artifact, 6
        need(len(piece) == min(CHUNK_BYTES, artifact.missing), "a chunk of the wrong size")
        artifact.missing -= len(piece)
        artifact.hash.update(piece)
        if artifact.digest in self.registry.revocation_heads and artifact.size <= MAX_HEADS_BYTES:
            artifact.heads += piece
        if artifact.missing == 0:
            need(artifact.hash.hexdigest() == artifact.digest, "not the artifact's hash")
            self.held.add((artifact.digest, artifact.size))
            self.heads[artifact.digest] = read_heads(artifact.heads)

    def _take_fork(self, line: Json) -> None:
        event, key = self._open_envelope(line["fork"])
        self.step = 7
        need(self._hash_at(event.stream, event.seq) != event.hash, "it contradicts no event above")
        need(key and event.seq <= self.streams.get(event.stream, NO_END).seq, "no event to fork")
        self.flag("forked", "two events are signed for one position", self.place)

    def _take_proof(self, line: Json) -> None:
        self.step, fields, stream = 7, line["proof"], line["proof"]["stream"]
        need(stream in self.streams and stream not in self.proofs, "not above, or proved")
        leaf_before = next((proof.leaf for proof in reversed(self.proofs.values())), -1)
        need(fields["index"] > leaf_before, "proofs are not in ascending order")
        event_hash, there = bytes.fromhex(fields["hash"]), self._hash_at(stream, fields["seq"])
        need(there in (None, event_hash), "its hash does not fit the event")
        if fields["seq"] > self.streams[stream].seq:
            self.flag("truncated", "the stream ends before its proof", self.place)
        path = [bytes.fromhex(node) for node in fields["path"][:64]]  # no tree is that high
        self.proofs[stream] = Proof(fields["seq"], event_hash, fields["index"], path)

    def _hash_at(self, stream: str, seq: int) -> bytes | None:
        """The hash of an event above. None if it is not at hand: then the second reading has it."""
        end = self.streams.get(stream, NO_END)
        return end.hash if end.seq == seq else self.asked.setdefault((stream, seq))

    def _take_checkpoint(self, line: Json) -> None:
        self.step, key = 7, self.registry.created["checkpoint"]
        checkpoint = read_checkpoint(line["checkpoint"], self.header["origin"], key)
        for stream, proof in self.proofs.items():
            leaf = framed_hash(b"\0", stream.encode(), b"%d" % proof.seq, proof.hash)
            root = root_from_path(leaf, proof.leaf, checkpoint.streams, proof.path)
            need(root == checkpoint.root, "not to the root")
        is_whole = len(self.proofs) == checkpoint.streams and "truncated" not in self.flags
        events = sum(proof.seq + 1 for proof in self.proofs.values())
        need(not is_whole or events == checkpoint.events, "the note counts other events")
        self.checkpoint = checkpoint

    def _step_8_end(self) -> None:
        self.step, self.place = 8, Place(1)
        signed_for = set().union(*self.signed_for.values())
        says_hash = None if self.says is None else sha256(write_json(self.says).encode()).hex()
        need(says_hash is None or says_hash in signed_for, "not what it cites last")
        if (missing := self.header["lines"] + 1 - self.lines) > 0:
            self.flag("truncated", f"{missing} lines are missing")
        else:
            need(missing == 0 and self.digest.hexdigest() == self.header["digest"], "other lines")
            self.place = Place(self.lines)
            need(self.artifact.missing == 0, "the bundle ends inside an artifact")
        # Without the caller's keys a bundle only agrees with itself, as any forger's would.
        trust, created = self.trust, self.registry.created
        keys = (self.header["origin"], created.get("root"), created.get("checkpoint"))
        if trust is None or keys != (trust.origin, trust.root, trust.checkpoint):
            self.flags["unknown-key"] = ("untrusted", Place(2, "registry", 0), None)
        self._step_8_age(self.checkpoint)
        proofs = self.proofs if self.checkpoint else {}
        for stream, end in self.streams.items():
            if stream not in proofs or proofs[stream].seq < end.seq:
                self.flag("unproven", "a checkpoint does not cover every event")

    def _step_8_age(self, new: Checkpoint | None) -> None:
        """A ledger only grows. Section 7 says what comparing two checkpoints does not prove."""
        kept, minimum = (self.trust.kept, self.trust.minimum) if self.trust else (None, None)
        if kept and (new is None or new.root != kept.root):
            has_grown = new and new.number > kept.number and new.events > kept.events
            if not (new and has_grown and new.streams >= kept.streams):
                self.flag("rolled-back", f"what checkpoint {kept.number} pinned is not all here")
        if minimum is not None and (new is None or new.number < minimum):
            self.flag("rolled-back", "no checkpoint as new as the minimum")


def report_on(reading: Reading) -> SimpleNamespace:
    """The verdict and what it rests on, in the order in which it is printed."""
    first_set, checkpoint = reading.first_set, reading.checkpoint
    verdict = first_set(*VERDICTS) or "valid"
    _, place, last_event = reading.flags.get(verdict, ("", None, None))
    if verdict not in ("tampered", "unknown-key") or (place and place.line == 1):
        last_event = None
    extent = f"{len(reading.streams)} of {checkpoint.streams} streams" if checkpoint else ""
    age = f"checkpoint {checkpoint.number} of {checkpoint.at}" if checkpoint else "no checkpoint"
    events = sum(end.seq + 1 for end in reading.streams.values())
    findings = [f"{name}: {sentence}" for name, (sentence, _, _) in reading.flags.items()]
    absent, held, says = reading.cited - reading.held, len(reading.held), reading.says or {}
    erased = sum(digest in reading.registry.erased for digest, _ in absent)
    told = {name: says.get(name) for name in ("decision", "stage", "question", "word", "result")}
    is_told = reading.says is not None and verdict in ("valid", "unproven")
    return SimpleNamespace(
        verdict=verdict,
        integrity=first_set("tampered") or "ok",
        authenticity=first_set("tampered", "forked", "unknown-key") or "ok",
        completeness=first_set("tampered", "truncated", "unproven") or extent,
        freshness=first_set("rolled-back") or age,
        key_status=reading.registry.describe_keys(),
        artifacts=f"{held} held, {erased} erased, {len(absent) - erased} missing",
        custody=reading.registry.describe_custody(),
        says={"signed_by": "machine", **told} if is_told else None,
        fingerprint=fingerprint(reading.trust) if reading.trust else None,
        first_bad=place and place._asdict(),
        last_trusted=last_event and last_event._asdict(),
        policy="not checked",
        checks={"lines": reading.lines, "events": events, "proofs": len(reading.proofs)},
        findings=findings + reading.registry.accepted_losses,
    )


def fingerprint(trust: Trust) -> str:
    """Section 6: four groups of five digits, for two people who compare by voice."""
    digest = sha256(bytes.fromhex(trust.root + trust.checkpoint))
    digits = f"{int.from_bytes(digest[:16], 'big') % 10**20:020}"
    return " ".join(digits[start : start + 5] for start in range(0, 20, 5))


# Step 0, and the files.
CLAIM = re.compile(rb'\{"digest":"|.*moot-(bundle|receipt)/', re.DOTALL)


def check(file: BinaryIO, trust: Trust | None) -> SimpleNamespace:
    """Steps 1 to 8; in a second reading if the first one leaves questions."""
    first = Reading(trust).read(file)
    if not first.asked and not first.registry.revocation_heads:
        return report_on(first)
    first.bundle.seek(0)
    second = Reading(trust, first).read(first.bundle)
    if "tampered" not in second.flags and second.digest.digest() != first.digest.digest():
        raise OSError("the bundle changed while it was read")
    return report_on(second)


def read_trust(raw: bytes) -> Trust:
    pins = parse_json(raw, canonical=False)
    # White space is allowed, so this text is not canonical; a name given twice is a colon too many.
    need(fits(pins, TRUST) and raw.count(b":") == len(TRUST), "not a trust file")
    return Trust(*(pins[name] for name in ("origin", "root", "checkpoint", "minimum")))


def verify(bundle: str, trust: str | None = None, note: str | None = None) -> SimpleNamespace:
    """OSError if a file cannot be read; ValueError, CryptoError if it is none of its kind."""
    trust_name, note_name = trust or os.devnull, note or os.devnull
    with open(bundle, "rb") as file, open(trust_name, "rb") as pins, open(note_name, "rb") as old:
        need(CLAIM.match(file.read(256)), "neither an export nor a receipt")  # step 0
        file.seek(0)
        trusted = read_trust(pins.read(65_536)) if trust else None
        if note:
            keys, text = trusted or Trust("", "", ""), old.read(65_536).decode()
            trusted = keys._replace(kept=read_checkpoint(text, keys.origin, keys.checkpoint))
        return check(file, trusted)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Checks a Moot bundle or receipt.")
    for name in ("bundle", "--trust", "--checkpoint"):
        parser.add_argument(name)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    try:
        report = vars(verify(options.bundle, options.trust, options.checkpoint))
        lines = (f"{k}: {v if isinstance(v, str) else json.dumps(v)}" for k, v in report.items())
        print(json.dumps(report) if options.json else "\n".join(lines), flush=True)
    except BrokenPipeError:  # `| head` has read enough; the verdict stands all the same
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, CryptoError) as error:
        print(f"could not read: {error}", file=sys.stderr)
        return 4
    return {"valid": 0, "unproven": 3}.get(report["verdict"], 1)


if __name__ == "__main__":
    sys.exit(main())
