"""The trusted registry (section 4): a pure object that holds only keys whose chain was proved.

It is fed the registry's events in order, after steps 2 to 4 held for them, and either takes one or
raises `StepFailure` and is not to be used further. What it cannot know is the caller's to check:
whether the root is the one of the trust file, and what the heads of a revocation list.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from moot.verify import canonical
from moot.verify import canonical as field_rules
from moot.verify.canonical import MAX_INT, STREAM_EXPRESSION
from moot.verify.chain import Spool
from moot.verify.crypto import (
    KEY_ENDORSEMENT,
    KEY_PROOF,
    is_weak_key,
    key_id,
    signature_holds,
    signed_bytes,
)
from moot.verify.event_reader import MAX_PAYLOAD, ReadEvent
from moot.verify.verdict import StepFailure, VerdictMark, VerdictMarks, quote_safely

# The fields of each kind of registry event: the table of section 4.

LEDGER_CREATED: Final = "registry.ledger_created"

_ENDORSEMENT = canonical.an_object({"kid": canonical.HEX_KID, "sig": canonical.HEX_SIGNATURE})
_NEW_KEY: Final[Mapping[str, canonical.Rule]] = {
    "class": canonical.one_of("agent", "human"),
    "custodian": canonical.HEX_KID,
    "endorsement": canonical.or_null(_ENDORSEMENT),
    "epoch": canonical.EPOCH,
    "name": canonical.is_name,
    "proof": canonical.HEX_SIGNATURE,
    "public": canonical.HEX_PUBLIC,
}

REGISTRY_FIELDS: Final[Mapping[str, Mapping[str, canonical.Rule]]] = {
    LEDGER_CREATED: {
        "checkpoint": canonical.HEX_PUBLIC,
        "checkpoint_proof": canonical.HEX_SIGNATURE,
        "clock": canonical.one_of("system", "fixed"),
        "custodian": canonical.HEX_KID,
        "root": canonical.HEX_PUBLIC,
    },
    "registry.key_added": _NEW_KEY,
    "registry.key_rotated": {
        **_NEW_KEY,
        "reason": canonical.text(),
        "replaces": canonical.HEX_KID,
    },
    "registry.key_revoked": {
        "heads": canonical.HEX_HASH,
        "kid": canonical.HEX_KID,
        "reason": canonical.text(),
    },
    "registry.agent_retired": {
        "epoch": canonical.EPOCH,
        "name": canonical.is_name,
        "reason": canonical.text(),
    },
    "registry.artifact_erased": {
        "reason": canonical.text(),
        "sha256": canonical.HEX_HASH,
        "size": canonical.SIZE,
    },
    "registry.history_accepted": {
        "endorsement": canonical.or_null(_ENDORSEMENT),
        "lost": canonical.text(),
        "reason": canonical.text(),
    },
}


ROOT_NAME: Final = "system"
CHECKPOINT_NAME: Final = "checkpoint"
SHOWN_REASON: Final = 200
_Data = dict[str, Any]


@dataclass(slots=True)
class RegisteredKey:
    """A key and the registry positions that bound its validity; `ended` is the first without it."""

    kid: str
    public: bytes
    kind: str
    name: str
    epoch: int
    custodian: str
    added: int
    ended: int | None = None
    revoked: int | None = None
    heads: str | None = None

    def is_valid_at(self, position: int) -> bool:
        """Section 4: added at or before the position, and not ended at or before it."""
        return self.added <= position and (self.ended is None or position < self.ended)

    def end(self, position: int) -> None:
        """The key stops being valid; what ended it before stays the end."""
        if self.ended is None:
            self.ended = position


@dataclass(slots=True)
class RegisteredName:
    """A name in use: its current key, and whether it is retired."""

    key: RegisteredKey
    retired: bool = False


class AcceptedLoss(NamedTuple):
    """A registry event by which a loss was accepted, with the beginning of its reason."""

    seq: int
    at: str
    reason: str


@dataclass(slots=True)
class TrustedRegistry:
    """Which keys exist and when each was valid, as far as the registry was read."""

    origin: str
    seq: int = -1
    clock: str | None = None
    root: RegisteredKey | None = None
    checkpoint: RegisteredKey | None = None
    keys: dict[str, RegisteredKey] = field(default_factory=dict)
    public_keys: dict[str, bytes] = field(default_factory=dict)
    names: dict[str, RegisteredName] = field(default_factory=dict)
    erased: set[str] = field(default_factory=set)
    humans_added: list[tuple[int, str]] = field(default_factory=list)
    losses: list[AcceptedLoss] = field(default_factory=list)

    def revoked_keys(self) -> list[RegisteredKey]:
        """The revoked keys, in the order of their revocation."""
        revoked = [key for key in self.keys.values() if key.revoked is not None]
        return sorted(revoked, key=lambda key: key.revoked or 0)

    def is_attributable(self, event: ReadEvent) -> bool:
        """Section 4, for an event outside the registry, all but the heads of a later revocation."""
        key = self.keys.get(event.kid)
        # The checkpoint key signs checkpoints and nothing else, whatever name the event gives.
        if key is None or key is self.checkpoint or event.reg is None:
            return False
        return key.is_valid_at(event.reg) and event.name == key.name and event.epoch == key.epoch

    def accept(self, event: ReadEvent) -> None:
        """Step 5: takes the next registry event, whose body must be at hand, or raises
        `StepFailure`."""
        body = event.body
        assert body is not None
        kind, data = body["type"], body["data"]
        shape = REGISTRY_FIELDS.get(kind)
        if shape is None:
            raise _broken(f"{quote_safely(kind)} is no type of the registry", "type")
        wrong = field_rules.wrong_field(data, shape)
        if wrong is not None:
            raise _broken(f"the field {quote_safely(wrong)} is against section 4", f"data.{wrong}")
        if (kind == LEDGER_CREATED) != (event.seq == 0):
            raise _broken("ledger_created is event 0 and nowhere else", "type")
        if kind != LEDGER_CREATED:
            self._require_permitted_author(event, body)
        _RULE_BY_TYPE[kind](self, event, data)
        self.seq = event.seq

    def _require_permitted_author(self, event: ReadEvent, body: _Data) -> None:
        """Section 4: root signs everything; a human key may revoke and erase."""
        root = self.root
        if root is not None and event.kid == root.kid:
            _require_system_actor(body["actor"], root.kid)
            return
        signer = self.keys.get(event.kid)
        if signer is None or signer.kind != "human" or body["type"] not in _HUMANS_MAY_SIGN:
            raise _broken("the registry is signed by the root key", "actor.kid")
        if signer.ended is not None:
            raise _broken("the human key was no longer valid", "actor.kid")
        if (event.name, event.epoch) != (signer.name, signer.epoch):
            raise _broken("the actor is not the holder of the human key", "actor")

    # One method a row of section 4's table; `event.seq` is the position at which it takes effect.

    def _create_ledger(self, event: ReadEvent, data: _Data) -> None:
        body = event.body
        assert body is not None
        root = self._new_key("root", ROOT_NAME, 1, data["root"], data["custodian"], event.seq)
        if self.origin != f"moot.ledger/{root.kid}":
            raise _broken("the origin is not named after the root key", "data.root")
        _require_system_actor(body["actor"], root.kid)
        self.root = root
        self.checkpoint = self._new_key(
            "checkpoint", CHECKPOINT_NAME, 1, data["checkpoint"], data["custodian"], event.seq
        )
        self._require_proof(self.checkpoint, data["checkpoint_proof"])
        self.clock = data["clock"]

    def _add_key(self, event: ReadEvent, data: _Data) -> None:
        name = data["name"]
        if name in self.names or name in (ROOT_NAME, CHECKPOINT_NAME):
            raise _broken("the name was used before", "data.name")
        if data["epoch"] != 1:
            raise _broken("a new name starts with epoch 1", "data.epoch")
        key = self._proved_key(data, event.seq)
        endorser = self._endorser(data["endorsement"], self._statement(key))
        if key.kind == "human":
            if self.humans_added and (endorser is None or endorser.kind != "human"):
                raise _broken("a further human key needs a human's endorsement", "data.endorsement")
            self.humans_added.append((event.seq, name))
        self.names[name] = RegisteredName(key)

    def _rotate_key(self, event: ReadEvent, data: _Data) -> None:
        name = self.names.get(data["name"])
        if name is None or name.key.kid != data["replaces"] or name.key.kind != data["class"]:
            raise _broken("it replaces no current key of this name and class", "data.replaces")
        old = name.key
        steps = (1,) if name.retired else (0, 1)
        if data["epoch"] - old.epoch not in steps:
            raise _broken("the epoch does not follow that of the replaced key", "data.epoch")
        key = self._proved_key(data, event.seq)
        self._require_permitted_endorser(
            name, self._endorser(data["endorsement"], self._statement(key), old)
        )
        old.end(event.seq)
        self.names[old.name] = RegisteredName(key)

    def _require_permitted_endorser(
        self, name: RegisteredName, endorser: RegisteredKey | None
    ) -> None:
        """Section 4: who may endorse a rotation: the replaced key unless revoked, or a human."""
        if endorser is None:
            raise _broken("a rotation needs an endorsement", "data.endorsement")
        if endorser is not name.key and endorser.kind != "human":
            raise _broken("only the replaced key or a human's endorses", "data.endorsement")

    def _revoke_key(self, event: ReadEvent, data: _Data) -> None:
        key = self.keys.get(data["kid"])
        if key is None or key is self.root or key is self.checkpoint:
            raise _broken("no key that can be revoked has this kid", "data.kid")
        if key.revoked is not None:
            raise _broken("the key was revoked before", "data.kid")
        if data["heads"] not in [sha256 for sha256, _ in event.cites]:
            raise _broken("the heads are not among the event's artifacts", "data.heads")
        key.revoked, key.heads = event.seq, data["heads"]
        key.end(event.seq)

    def _retire_agent(self, event: ReadEvent, data: _Data) -> None:
        name = self.names.get(data["name"])
        if name is None or name.key.kind != "agent" or name.retired:
            raise _broken("no agent that could retire has this name", "data.name")
        if data["epoch"] != name.key.epoch:
            raise _broken("the epoch is not the agent's current one", "data.epoch")
        name.retired = True
        name.key.end(event.seq)

    def _erase_artifact(self, _event: ReadEvent, data: _Data) -> None:
        self.erased.add(data["sha256"])

    def _accept_history(self, event: ReadEvent, data: _Data) -> None:
        self._require_consent_to_loss(data)
        assert event.body is not None
        self.losses.append(AcceptedLoss(event.seq, event.body["at"], data["reason"][:SHOWN_REASON]))

    def _require_consent_to_loss(self, data: _Data) -> None:
        """Section 4: who consents to a loss: a human if there is one, else nobody."""
        if not any(key.kind == "human" and key.ended is None for key in self.keys.values()):
            if data["endorsement"] is not None:
                raise _broken("no human key is valid, so none endorses", "data.endorsement")
            return
        statement = {"lost": data["lost"], "origin": self.origin, "reason": data["reason"]}
        endorser = self._endorser(data["endorsement"], canonical.write_canonical(statement))
        if endorser is None or endorser.kind != "human":
            raise _broken("a human key must endorse this", "data.endorsement")

    # What the rows share.

    def _proved_key(self, data: _Data, position: int) -> RegisteredKey:
        """The new key of `key_added` and `key_rotated`, with its proof of possession checked."""
        key = self._new_key(
            data["class"], data["name"], data["epoch"], data["public"], data["custodian"], position
        )
        self._require_proof(key, data["proof"])
        return key

    def _new_key(
        self, kind: str, name: str, epoch: int, public_hex: str, custodian: str, position: int
    ) -> RegisteredKey:
        public = bytes.fromhex(public_hex)
        if is_weak_key(public):
            raise _broken("the public key is weak", "data.public")
        key = RegisteredKey(key_id(public), public, kind, name, epoch, custodian, position)
        if key.kid in self.keys:
            raise _broken("a key is never added twice", "data.public")
        self.keys[key.kid], self.public_keys[key.kid] = key, public
        return key

    def _statement(self, key: RegisteredKey) -> bytes:
        return canonical.write_canonical(
            {
                "class": key.kind,
                "custodian": key.custodian,
                "epoch": key.epoch,
                "name": key.name,
                "origin": self.origin,
                "public": key.public.hex(),
            }
        )

    def _require_proof(self, key: RegisteredKey, proof: str) -> None:
        if not signature_holds(
            key.public, bytes.fromhex(proof), signed_bytes(KEY_PROOF, self._statement(key))
        ):
            raise _broken("the proof that the new key is held does not hold", "data.proof")

    def _endorser(
        self, endorsement: Any, statement: bytes, replaced: RegisteredKey | None = None
    ) -> RegisteredKey | None:
        """The key whose endorsement of the statement holds; `None` if there is no endorsement.

        It is valid at this point, where the retirement of a replaced key does not count against it.
        """
        if endorsement is None:
            return None
        key = self.keys.get(endorsement["kid"])
        if key is None or key is self.checkpoint:
            raise _broken("the endorsing key does not exist", "data.endorsement.kid")
        retired_only = key is replaced and key.revoked is None
        # The new key stands in `keys` already, and is valid only from its own position on.
        if key.added > self.seq or (key.ended is not None and not retired_only):
            raise _broken("the endorsing key is not valid at this point", "data.endorsement.kid")
        signature = bytes.fromhex(endorsement["sig"])
        if not signature_holds(key.public, signature, signed_bytes(KEY_ENDORSEMENT, statement)):
            raise _broken("the endorsement does not hold", "data.endorsement.sig")
        return key


def _broken(message: str, where: str) -> StepFailure:
    return StepFailure(5, "registry_rule", message, where)


def _require_system_actor(actor: _Data, root: str) -> None:
    """Section 4: the actor of everything the root key signs in the registry."""
    if actor != {"epoch": 1, "id": ROOT_NAME, "kid": root, "role": None}:
        raise _broken("the actor of the root key is `system`", "actor")


_HUMANS_MAY_SIGN = ("registry.key_revoked", "registry.artifact_erased")

_RULE_BY_TYPE: Final[Mapping[str, Callable[[TrustedRegistry, ReadEvent, _Data], None]]] = {
    LEDGER_CREATED: TrustedRegistry._create_ledger,
    "registry.key_added": TrustedRegistry._add_key,
    "registry.key_rotated": TrustedRegistry._rotate_key,
    "registry.key_revoked": TrustedRegistry._revoke_key,
    "registry.agent_retired": TrustedRegistry._retire_agent,
    "registry.artifact_erased": TrustedRegistry._erase_artifact,
    "registry.history_accepted": TrustedRegistry._accept_history,
}


# The heads of a revocation (section 4), read as they stream by. They list every stream of the
# ledger: only the streams that are asked for are kept, and never more of the text than one entry.

# Names, numbers and hexadecimal need no escapes, so a canonical entry has exactly one spelling.
_ENTRY = re.compile(
    rb'"(%b)":\[(0|[1-9][0-9]{0,15}),"([0-9a-f]{64})"\]([,}])' % STREAM_EXPRESSION.encode()
).match
# A stream's name fits into a body; what is longer than that and the rest of an entry is none.
_MAX_ENTRY: Final = MAX_PAYLOAD + 128


class HeadsReader:
    """Fed the bytes of a heads artifact piece by piece; `finish` says whether they were one."""

    def __init__(self, wanted: Container[str]) -> None:
        self._wanted = wanted
        self._rest = b""  # the beginning of an entry whose end is in the next piece
        self._last = ""  # the stream read last: canonical keys ascend
        self._state = _START
        self.heads: dict[str, tuple[int, str]] = {}

    def feed(self, data: bytes) -> None:
        """The next piece; after a malformed one nothing more is kept."""
        if self._state is _BROKEN:
            return
        rest = self._rest + data
        at = 0
        if self._state is _START and rest:
            self._state = _OPEN if rest[:1] == b"{" else _BROKEN
            at = 1
        while self._state is _OPEN and (match := _ENTRY(rest, at)):
            self._take_entry(match)
            at = match.end()
        self._rest = rest[at:]
        if len(self._rest) > _MAX_ENTRY or (self._state is _CLOSED and self._rest):
            self._refuse()

    def finish(self) -> bool:
        """Whether all that was fed is the canonical JSON of heads."""
        empty = self._state is _OPEN and not self._last and self._rest == b"}"
        return empty or self._state is _CLOSED

    def _take_entry(self, match: re.Match[bytes]) -> None:
        name, digits, event_hash, after = match.groups()
        stream, seq = name.decode("ascii"), int(digits)
        # Canonical keys ascend and are distinct (section 1).
        if stream <= self._last or seq > MAX_INT:
            self._refuse()
            return
        self._last = stream
        self._state = _CLOSED if after == b"}" else _OPEN
        if stream in self._wanted:
            self.heads[stream] = (seq, event_hash.decode("ascii"))

    def _refuse(self) -> None:
        self._state, self._rest = _BROKEN, b""


_START, _OPEN, _CLOSED, _BROKEN = "start", "open", "closed", "broken"


# Whether the author's key was valid (section 4). A revocation cites stream heads as an artifact,
# which follows the events: events of keys that were revoked later are noted on a spool and judged
# when the heads are known. Without the heads every event of such a key counts as beyond them.

# Index of the stream, index of the key, seq, line.
_NOTED_EVENT: Final = struct.Struct(">QQQQ")


class Attribution:
    """Judges each event outside the registry, some of them at once and some at the end."""

    def __init__(self, registry: TrustedRegistry, marks: VerdictMarks) -> None:
        self._registry = registry
        self._marks = marks
        self._events_of_revoked_keys = Spool(_NOTED_EVENT.size)
        self._index_of_revoked_key = {
            key.kid: index for index, key in enumerate(registry.revoked_keys())
        }

    def judge(self, event: ReadEvent, line: int, stream_index: int) -> bool:
        """Whether the event is attributable as far as the registry alone can tell."""
        if not self._registry.is_attributable(event):
            self._mark_unknown_key(
                "key_not_valid", "the author's key was not valid here", event.kid, line
            )
            return False
        key_index = self._index_of_revoked_key.get(event.kid)
        if key_index is not None:
            self._events_of_revoked_keys.append(
                _NOTED_EVENT.pack(stream_index, key_index, event.seq, line)
            )
        return True

    def judge_revoked_keys(self, heads: Mapping[str, HeadsReader], streams: list[str]) -> None:
        """Judge the events of revoked keys by the heads that the bundle holds (LDG-042)."""
        revoked = self._registry.revoked_keys()
        for stream_index, key_index, seq, line in map(
            _NOTED_EVENT.unpack, self._events_of_revoked_keys
        ):
            key = revoked[key_index]
            reader = heads.get(key.heads or "")
            listed = reader.heads.get(streams[stream_index]) if reader is not None else None
            if listed is None or seq > listed[0]:
                message = "the key was revoked, and its revocation does not cover this event"
                self._mark_unknown_key("key_revoked", message, key.kid, line)

    def close(self) -> None:
        """Give the spool back."""
        self._events_of_revoked_keys.close()

    def _mark_unknown_key(self, code: str, message: str, kid: str, line: int) -> None:
        self._marks.set(VerdictMark("unknown-key", "authors", code, message, line, f"key {kid}"))
