"""The trusted registry (section 4): a pure object that holds only keys whose chain was proved.

It is fed the registry's events in order, after steps 2 to 4 held for them, and either takes one or
raises `StepFailure` and is not to be used further. What it cannot know is the caller's to check:
whether the root is the one of the trust file, and what the heads of a revocation list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from moot.verify import canonical, field_rules
from moot.verify.crypto import (
    KEY_ENDORSEMENT,
    KEY_PROOF,
    is_weak_key,
    key_id,
    signature_holds,
    signed_bytes,
)
from moot.verify.event_reader import ReadEvent
from moot.verify.registry_fields import LEDGER_CREATED, REGISTRY_FIELDS
from moot.verify.step_failure import StepFailure, quote_safely

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
