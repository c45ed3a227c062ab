"""Registering, rotating, revoking and retiring: the registry's commands with their signatures.

The caller makes the new private key and stores it; here it only signs that it is held.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict, Unpack

from moot.core.canonical import canonical
from moot.core.errors import NotFound
from moot.core.machine import KeyClass
from moot.core.names import REGISTRY, SYSTEM
from moot.core.record import ArtifactRef
from moot.core.registry import commands as ask
from moot.core.registry.model import Agent, RegisteredKey
from moot.core.registry.proofs import key_statement, sign_endorsement, sign_proof
from moot.core.sha256 import sha256
from moot.core.signing import Signer
from moot.engine.engine import Engine
from moot.engine.job import JobOutcome

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
    """A new name with its key. A further human key needs an existing human's `endorser`."""
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
    """The command that enters a new name, for a commit with others."""
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
    """What a new key for an old name needs: the old key's consent or a person's, and why."""

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
    """The command that gives a name a new key, for a commit with others."""
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
    """All heads of this moment as an artifact: a revocation cites it, and events of the revoked key
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


def current_key(engine: Engine, name: str) -> RegisteredKey:
    """The current key of a name, valid or ended."""
    return engine.registry().keys[find_agent(engine, name).kid]


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
