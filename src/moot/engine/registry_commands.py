"""Register, rotate, revoke and retire keys: the registry's commands with their signatures.

The caller makes and stores the new private key; here it only signs the proof of possession.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict, Unpack

from moot.core.canonical import canonical
from moot.core.clock import Clock
from moot.core.errors import NotFound, Refused
from moot.core.ledger import Store
from moot.core.machine import KeyClass
from moot.core.names import CHECKPOINT, REGISTRY, SYSTEM
from moot.core.record import ArtifactRef
from moot.core.registry import model as ask
from moot.core.registry.model import (
    ORIGIN_PREFIX,
    Agent,
    CreateLedger,
    EraseArtifact,
    key_statement,
    sign_endorsement,
    sign_proof,
)
from moot.core.sha256 import sha256
from moot.core.signing import Signer
from moot.engine.engine import Engine
from moot.engine.job import JobOutcome
from moot.engine.signers import LedgerTrust, PrivateKey
from moot.store.artifacts import Artifacts, artifact_not_found

HEADS_MEDIA_TYPE = "application/vnd.moot.heads.v1+json"


def register(
    engine: Engine,
    name: str,
    signer: Signer,
    *,
    custodian: str,
    kind: KeyClass = KeyClass.AGENT,
    endorser: Signer | None = None,
) -> JobOutcome:
    """Register a new name with its key. A second human's key needs a human `endorser`."""
    command = registration_command(engine, name, signer, custodian, kind, endorser)
    return engine.execute(REGISTRY, command, SYSTEM)


def registration_command(
    engine: Engine,
    name: str,
    signer: Signer,
    custodian: str,
    kind: KeyClass = KeyClass.AGENT,
    endorser: Signer | None = None,
) -> ask.AddKey:
    """Make the command that registers a new name, to be committed with others."""
    proof_text = _statement(engine, name, kind, 1, signer, custodian)
    return ask.AddKey(
        name=name,
        kind=kind,
        public=signer.public.hex(),
        custodian=custodian,
        proof=sign_proof(signer, proof_text),
        endorsement=sign_endorsement(endorser, proof_text) if endorser else None,
    )


class KeyConsent(TypedDict):
    """What a new key for a registered name needs: the consent of the old key or of a person, and
    a reason."""

    endorser: Signer
    custodian: str
    reason: str
    new_holder: NotRequired[bool]


def rotate(engine: Engine, name: str, signer: Signer, **consent: Unpack[KeyConsent]) -> JobOutcome:
    """Give a name a new key."""
    return engine.execute(REGISTRY, rotation_command(engine, name, signer, **consent), SYSTEM)


def rotation_command(
    engine: Engine, name: str, signer: Signer, **consent: Unpack[KeyConsent]
) -> ask.RotateKey:
    """Make the command that gives a name a new key, to be committed with others."""
    agent, custodian = find_agent(engine, name), consent["custodian"]
    epoch = agent.epoch + 1 if consent.get("new_holder") else agent.epoch
    proof_text = _statement(engine, name, agent.kind, epoch, signer, custodian)
    return ask.RotateKey(
        name=name,
        kind=agent.kind,
        public=signer.public.hex(),
        custodian=custodian,
        proof=sign_proof(signer, proof_text),
        epoch=epoch,
        replaces=agent.kid,
        reason=consent["reason"],
        endorsement=sign_endorsement(consent["endorser"], proof_text),
    )


def retire(engine: Engine, name: str, reason: str = "") -> JobOutcome:
    return engine.execute(REGISTRY, ask.RetireAgent(name=name, reason=reason), SYSTEM)


def current_heads(engine: Engine) -> tuple[ArtifactRef, bytes]:
    """Return all current heads as an artifact. A revocation cites it: events of the revoked key
    count up to these heads."""
    with engine.store.read() as view:
        heads = {name: [head.seq, head.hash.hex()] for name, head in view.streams()}
    data = canonical(heads)
    digest = sha256(data).hexdigest()
    return ArtifactRef(digest, len(data), HEADS_MEDIA_TYPE), data


def revoke(
    engine: Engine, kid: str, reason: str, heads: ArtifactRef, actor: str = SYSTEM
) -> JobOutcome:
    """Stop trusting a key. The artifact `heads` must already be stored."""
    return engine.execute(REGISTRY, ask.RevokeKey(kid=kid, reason=reason, heads=heads), actor)


def find_agent(engine: Engine, name: str) -> Agent:
    agent = engine.registry().agents.get(name)
    if agent is None:
        raise NotFound(
            "agent_not_found", f"no agent is called {name}", hint="`moot agent list` shows all"
        )
    return agent


def _statement(
    engine: Engine, name: str, kind: KeyClass, epoch: int, signer: Signer, custodian: str
) -> bytes:
    return key_statement(
        origin=engine.trust.origin,
        name=name,
        kind=kind,
        epoch=epoch,
        public=signer.public.hex(),
        custodian=custodian,
    )


# A new ledger: event 0 of the registry, signed by the root key that it names.


class FoundingKeys:
    """The two keys that a ledger starts with, and no others."""

    def __init__(self, root: Signer, checkpoint: Signer) -> None:
        self._held = {SYSTEM: PrivateKey(root), CHECKPOINT: PrivateKey(checkpoint)}

    def find(self, name: str, kid: str) -> PrivateKey | None:
        held = self._held.get(name)
        return held if held is not None and held.signer.kid == kid else None


def found_ledger(
    store: Store,
    root: Signer,
    checkpoint: Signer,
    clock: Clock,
    *,
    custodian: str,
    fixed_clock: bool = False,
) -> LedgerTrust:
    """Write event 0 into an empty store and return what to trust from now on."""
    trust = LedgerTrust(ORIGIN_PREFIX + root.kid, root.public, checkpoint.public)
    proof_text = key_statement(
        origin=trust.origin,
        name=CHECKPOINT,
        kind=KeyClass.CHECKPOINT,
        epoch=1,
        public=checkpoint.public.hex(),
        custodian=custodian,
    )
    command = CreateLedger(
        root=root.public.hex(),
        checkpoint=checkpoint.public.hex(),
        checkpoint_proof=sign_proof(checkpoint, proof_text),
        clock="fixed" if fixed_clock else "system",
        custodian=custodian,
    )
    Engine(store, FoundingKeys(root, checkpoint), trust, clock).execute(REGISTRY, command, SYSTEM)
    return trust


# Erasing an artifact: first the event, then the bytes. After a crash between the two, erasing again
# deletes the bytes and records nothing twice. Decision 0007.


def erase_artifact(
    engine: Engine, artifacts: Artifacts, sha256: str, reason: str, actor: str = SYSTEM
) -> bool:
    """Remove an artifact's bytes for good; False if that was recorded before (LDG-094)."""
    registry = engine.registry()
    if any(key.heads == sha256 for key in registry.keys.values()):
        raise Refused(
            "artifact_needed",
            "this artifact decides which events of a revoked key count; without it none would",
            hint="keep it: it has only positions and hashes, no text of an agent or a person",
        )
    recorded = sha256 in registry.erased
    if not recorded:
        size = artifacts.size(sha256)
        if size is None:
            raise artifact_not_found(sha256)
        engine.execute(REGISTRY, EraseArtifact(sha256=sha256, size=size, reason=reason), actor)
    artifacts.erase(sha256)
    return not recorded
