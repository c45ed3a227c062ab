"""The registry's machine: which keys exist and for whom they sign.

A key is added once and ends once, in one of three ways:

    (none) --added--> valid --rotated--> ended
                        |----revoked---> ended      what it signed beyond the cited heads is void
                        `----retired---> ended      a later holder may continue the name
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from moot.core.ed25519 import PUBLIC_BYTES
from moot.core.findings import check_all
from moot.core.machine import (
    Case,
    Command,
    Context,
    Decision,
    Draft,
    Event,
    KeyClass,
    Machine,
    Put,
    Recorded,
    RowChange,
    decide_by_findings,
    fill_from,
    refusal,
)
from moot.core.names import REGISTRY, SYSTEM
from moot.core.registry import model
from moot.core.registry.model import ORIGIN_PREFIX, Agent, KeyEnding, RegisteredKey, State
from moot.core.signing import key_id

# What may follow what, for one key (REG-36). Nothing follows a revocation: its row is empty.
TRANSITIONS: dict[str, dict[str, str]] = {
    "absent": {"key_added": "valid", "key_rotated": "valid"},
    "valid": {"key_rotated": "rotated", "key_revoked": "revoked", "agent_retired": "retired"},
    "rotated": {"key_revoked": "revoked"},
    "retired": {"key_revoked": "revoked", "key_rotated": "rotated"},
    "revoked": {},
}


def decide(state: State, command: Command, context: Context) -> Decision:
    """Accept or refuse a command. Never raises (REG-35)."""
    if not isinstance(command, model.CreateLedger) and not state.origin:
        return refusal("REG-00", "no_ledger", "this ledger has not been created")
    from moot.core.registry.rules import RULES  # imported here: a process that only reads skips it

    findings = check_all(RULES[type(command)], Case(state, command, context))
    return decide_by_findings(findings, *_DRAFTS[type(command)](state, command))


def _copy_fields(kind: type[Event]) -> Callable[[State, Any], tuple[Event]]:
    """Return a function that makes the event from the command's fields of the same names."""
    return lambda _state, command: (fill_from(kind, command),)


def _draft_revocation(_state: State, command: model.RevokeKey) -> tuple[Draft]:
    """Cite the heads artifact: it defines which of the key's signatures stay valid (REG-34)."""
    event = model.KeyRevoked(heads=command.heads.sha256, kid=command.kid, reason=command.reason)
    return (Draft(event, (command.heads,)),)


def _draft_retirement(state: State, command: model.RetireAgent) -> tuple[Event]:
    agent = state.agents.get(command.name)
    epoch = agent.epoch if agent else 0
    return (model.AgentRetired(epoch=epoch, name=command.name, reason=command.reason),)


_DRAFTS: dict[type[Command], Callable[[State, Any], tuple[Event | Draft, ...]]] = {
    model.CreateLedger: _copy_fields(model.LedgerCreated),
    model.AddKey: _copy_fields(model.KeyAdded),
    model.RotateKey: _copy_fields(model.KeyRotated),
    model.RevokeKey: _draft_revocation,
    model.RetireAgent: _draft_retirement,
    model.EraseArtifact: _copy_fields(model.ArtifactErased),
    model.AcceptHistory: _copy_fields(model.HistoryAccepted),
}


def evolve(state: State, recorded: Recorded[Any]) -> State:
    """Return the state after an event. Never raises, not even for an invalid event (REG-35)."""
    changed = _EVOLVE[type(recorded.event)](state, recorded)
    return msgspec.structs.replace(changed, position=recorded.seq)


def _on_created(state: State, recorded: Recorded[model.LedgerCreated]) -> State:
    """Add both founding keys; the id of the root key names the ledger (REG-30)."""
    event, kid = recorded.event, recorded.actor.kid
    root = RegisteredKey(kid, SYSTEM, KeyClass.SYSTEM, 1, event.root, event.custodian, 0)
    return msgspec.structs.replace(
        state,
        origin=ORIGIN_PREFIX + kid,
        root=event.root,
        checkpoint=event.checkpoint,
        clock=event.clock,
        custodian=event.custodian,
        keys=state.keys.set(kid, root),
    )


def _on_added(
    state: State, recorded: Recorded[model.KeyAdded] | Recorded[model.KeyRotated]
) -> State:
    event = recorded.event
    kid = _key_id(event.public)
    if kid is None:
        return state
    key = RegisteredKey(
        kid, event.name, event.kind, event.epoch, event.public, event.custodian, recorded.seq
    )
    agent = Agent(event.name, event.kind, event.epoch, kid, recorded.at)
    return msgspec.structs.replace(
        state, keys=state.keys.set(kid, key), agents=state.agents.set(event.name, agent)
    )


def _on_rotated(state: State, recorded: Recorded[model.KeyRotated]) -> State:
    """End the replaced key at the position where its successor is added (REG-32)."""
    ended = _end_key(state, recorded.event.replaces, recorded.seq, KeyEnding.ROTATED)
    return _on_added(ended, recorded)


def _on_revoked(state: State, recorded: Recorded[model.KeyRevoked]) -> State:
    return _end_key(
        state, recorded.event.kid, recorded.seq, KeyEnding.REVOKED, recorded.event.heads
    )


def _on_retired(state: State, recorded: Recorded[model.AgentRetired]) -> State:
    agent = state.agents.get(recorded.event.name)
    if agent is None:
        return state
    ended = _end_key(state, agent.kid, recorded.seq, KeyEnding.RETIRED)
    retired = msgspec.structs.replace(agent, retired=True)
    return msgspec.structs.replace(ended, agents=ended.agents.set(agent.name, retired))


def _on_erased(state: State, recorded: Recorded[model.ArtifactErased]) -> State:
    event = recorded.event
    return msgspec.structs.replace(state, erased=state.erased.set(event.sha256, event.reason))


_EVOLVE: dict[type[Event], Callable[[State, Any], State]] = {
    model.LedgerCreated: _on_created,
    model.KeyAdded: _on_added,
    model.KeyRotated: _on_rotated,
    model.KeyRevoked: _on_revoked,
    model.AgentRetired: _on_retired,
    model.ArtifactErased: _on_erased,
    model.HistoryAccepted: lambda state, _recorded: state,
}


def _end_key(
    state: State, kid: str, seq: int, ending: KeyEnding, heads: str | None = None
) -> State:
    """End a key. The first end counts, and a revoked key stays revoked (REG-33).

    A revocation after a rotation or retirement adds its heads, but does not move the end.
    """
    key = state.keys.get(kid)
    if key is None or key.ending is KeyEnding.REVOKED:
        return state
    position = seq if key.ended is None else key.ended
    ended = msgspec.structs.replace(key, ended=position, ending=ending, heads=heads)
    return msgspec.structs.replace(state, keys=state.keys.set(kid, ended))


def _key_id(public: str) -> str | None:
    """Return the id of a public key, or None if the text is no key: such an event adds no key."""
    try:
        raw = bytes.fromhex(public)
    except ValueError:
        return None
    return key_id(raw) if len(raw) == PUBLIC_BYTES else None


def index(recorded: Recorded[Any]) -> Iterable[RowChange]:
    """Index erased artifacts, so that a missing one is explained without reading the registry."""
    event = recorded.event
    if isinstance(event, model.ArtifactErased):
        yield Put("registry.erased", event.sha256, {"reason": event.reason})


MACHINE: Machine[State] = Machine(
    name=REGISTRY,
    version=2,
    initial=State(),
    events=model.EVENTS,
    commands=model.COMMANDS,
    decide=decide,
    evolve=evolve,
    index=index,
)
