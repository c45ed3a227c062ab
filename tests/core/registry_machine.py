"""A registry without an engine: commands in, decisions out, every refusal checked for effects."""

from __future__ import annotations

import hashlib
from typing import Any

from moot.core.machine import Command, Context, Decision, Event, KeyClass, Recorded, VerifiedActor
from moot.core.names import CHECKPOINT, SYSTEM
from moot.core.record import ArtifactRef
from moot.core.registry import MACHINE, State
from moot.core.registry import model as ask
from moot.core.registry.model import (
    KeyEndorsement,
    key_statement,
    loss_statement,
    sign_endorsement,
    sign_proof,
)
from moot.core.signing import Signer

CUSTODIAN = "c" * 32
HEADS = ArtifactRef("d" * 64, 2, "application/json")


def signer(name: str) -> Signer:
    return Signer(hashlib.sha256(b"registry test " + name.encode()).digest())


ROOT, PIN = signer("root"), signer("pin")
ORIGIN = "moot.ledger/" + ROOT.kid


def creation(**changed: Any) -> ask.CreateLedger:
    whole: dict[str, Any] = {
        "root": ROOT.public.hex(),
        "checkpoint": PIN.public.hex(),
        "checkpoint_proof": "",
        "clock": "system",
        "custodian": CUSTODIAN,
    }
    whole.update(changed)
    said = key_statement(
        origin=ORIGIN,
        name=CHECKPOINT,
        kind=KeyClass.CHECKPOINT,
        epoch=1,
        public=PIN.public.hex(),
        custodian=CUSTODIAN,
    )
    whole["checkpoint_proof"] = whole["checkpoint_proof"] or sign_proof(PIN, said)
    return ask.CreateLedger(**whole)


class RegistryScenario:
    def __init__(self, created: bool = True) -> None:
        self.state: State = MACHINE.initial
        self.history: list[Event] = []
        if created:
            self.accept(creation())

    def acting(self, name: str = SYSTEM) -> VerifiedActor:
        if name == SYSTEM:
            return VerifiedActor(SYSTEM, 1, ROOT.kid, KeyClass.SYSTEM)
        agent = self.state.agents[name]
        return VerifiedActor(name, agent.epoch, agent.kid, agent.kind)

    def decide(self, command: Command, by: str = SYSTEM) -> Decision:
        context = Context(1_000, self.acting(by), "registry", ORIGIN)
        return MACHINE.decide(self.state, command, context)

    def apply(self, event: Event, by: str = SYSTEM) -> None:
        """What stands in the ledger happened, whatever the rules say."""
        seq, actor = self.state.position + 1, self.acting(by).as_actor()
        recorded: Recorded[Any] = Recorded(event, "registry", seq, 1_000 + seq, actor, bytes(32))
        self.state = MACHINE.evolve(self.state, recorded)
        self.history.append(event)

    def accept(self, command: Command, by: str = SYSTEM) -> list[Event]:
        decision = self.decide(command, by)
        assert not decision.refused, decision.findings
        for draft in decision.drafts:
            self.apply(draft.event, by)
        return [draft.event for draft in decision.drafts]

    def refuse(self, rule: str, code: str, command: Command, by: str = SYSTEM) -> None:
        """Refused for this one reason, and nothing would be recorded."""
        before = self.state
        decision = self.decide(command, by)
        assert decision.refused
        assert [(f.rule, f.code) for f in decision.findings] == [(rule, code)]
        assert decision.findings[0].message
        assert decision.drafts == ()
        assert self.state == before

    # Commands with their signatures made; keyword arguments spoil them afterwards.

    def adding(
        self,
        name: str,
        key: Signer | None = None,
        kind: KeyClass = KeyClass.AGENT,
        endorser: Signer | None = None,
        **changed: Any,
    ) -> ask.AddKey:
        key = key or signer(name)
        facts: dict[str, Any] = {"name": name, "kind": kind, "epoch": 1}
        facts |= {"public": key.public.hex(), "custodian": CUSTODIAN}
        facts |= {field: changed.pop(field) for field in tuple(facts) if field in changed}
        said = key_statement(origin=ORIGIN, **facts)
        signed: dict[str, Any] = {"proof": sign_proof(key, said)}
        signed["endorsement"] = sign_endorsement(endorser, said) if endorser else None
        return ask.AddKey(**{**facts, **signed, **changed})

    def rotating(
        self, name: str, key: Signer, endorser: Signer | None, step: int = 0, **changed: Any
    ) -> ask.RotateKey:
        agent = self.state.agents.get(name)
        facts: dict[str, Any] = {
            "name": name,
            "kind": agent.kind if agent else KeyClass.AGENT,
            "epoch": (agent.epoch if agent else 1) + step,
            "public": key.public.hex(),
            "custodian": CUSTODIAN,
        }
        facts |= {field: changed.pop(field) for field in tuple(facts) if field in changed}
        said = key_statement(origin=ORIGIN, **facts)
        signed: dict[str, Any] = {
            "proof": sign_proof(key, said),
            "endorsement": sign_endorsement(endorser, said) if endorser else None,
            "replaces": agent.kid if agent else "0" * 32,
            "reason": "time",
        }
        return ask.RotateKey(**{**facts, **signed, **changed})

    def revoking(self, kid: str, **changed: Any) -> ask.RevokeKey:
        return ask.RevokeKey(**{"kid": kid, "reason": "stolen", "heads": HEADS, **changed})

    def accepting(self, endorser: Signer | None = None, **changed: Any) -> ask.AcceptHistory:
        facts: dict[str, Any] = {"lost": "the note", "reason": "the disk died"}
        facts |= changed
        said = loss_statement(origin=ORIGIN, **facts)
        given: KeyEndorsement | None = sign_endorsement(endorser, said) if endorser else None
        return ask.AcceptHistory(**facts, endorsement=given)

    # Whole steps.

    def agent(self, name: str = "amber-otter") -> Signer:
        self.accept(self.adding(name))
        return signer(name)

    def human(self, name: str = "operator", endorser: Signer | None = None) -> Signer:
        self.accept(self.adding(name, kind=KeyClass.HUMAN, endorser=endorser))
        return signer(name)
