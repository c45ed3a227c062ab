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

from moot.core.findings import check_all
from moot.core.machine import (
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
    judged,
    refusal,
)
from moot.core.names import REGISTRY, SYSTEM
from moot.core.registry import commands as ask
from moot.core.registry import events as did
from moot.core.registry.model import Agent, Ending, Key, State
from moot.core.registry.proofs import ORIGIN_PREFIX
from moot.core.registry.rules import RULES, Asked

# What may follow what: an ended key has no way back, so its row is empty.
TRANSITIONS: dict[str, dict[str, str]] = {
    "absent": {"key_added": "valid", "key_rotated": "valid"},
    "valid": {"key_rotated": "rotated", "key_revoked": "revoked", "agent_retired": "retired"},
    "rotated": {"key_revoked": "revoked"},
    "retired": {"key_revoked": "revoked", "key_rotated": "rotated"},
    "revoked": {},
}


def decide(state: State, command: Command, context: Context) -> Decision:
    if not isinstance(command, ask.CreateLedger) and not state.origin:
        return refusal("REG-00", "no_ledger", "this ledger has not been created")
    asked: Asked[Any] = Asked(state, command, context.actor, context.origin)
    findings = check_all(RULES[type(command)], asked)
    return judged(findings, *_DRAFTS[type(command)](state, command))


def _copied(event: type[Event]) -> Callable[[State, Any], tuple[Event]]:
    """The event that says just what the command asked."""
    names = event.__struct_fields__

    def draft(_state: State, command: Any) -> tuple[Event]:
        return (event(**{name: getattr(command, name) for name in names}),)

    return draft


def _revoked(_state: State, command: ask.RevokeKey) -> tuple[Draft]:
    event = did.KeyRevoked(heads=command.heads.sha256, kid=command.kid, reason=command.reason)
    return (Draft(event, (command.heads,)),)


def _retired(state: State, command: ask.RetireAgent) -> tuple[Event]:
    agent = state.agents.get(command.name)
    epoch = agent.epoch if agent else 0
    return (did.AgentRetired(epoch=epoch, name=command.name, reason=command.reason),)


_DRAFTS: dict[type[Command], Callable[[State, Any], tuple[Event | Draft, ...]]] = {
    ask.CreateLedger: _copied(did.LedgerCreated),
    ask.AddKey: _copied(did.KeyAdded),
    ask.RotateKey: _copied(did.KeyRotated),
    ask.RevokeKey: _revoked,
    ask.RetireAgent: _retired,
    ask.EraseArtifact: _copied(did.ArtifactErased),
    ask.AcceptHistory: _copied(did.HistoryAccepted),
}


def evolve(state: State, recorded: Recorded[Any]) -> State:
    changed = _EVOLVE[type(recorded.event)](state, recorded)
    return msgspec.structs.replace(changed, position=recorded.seq)


def _on_created(state: State, recorded: Recorded[did.LedgerCreated]) -> State:
    event, kid = recorded.event, recorded.actor.kid
    root = Key(kid, SYSTEM, KeyClass.SYSTEM, 1, event.root, event.custodian, 0)
    return msgspec.structs.replace(
        state,
        origin=ORIGIN_PREFIX + kid,
        root=event.root,
        checkpoint=event.checkpoint,
        clock=event.clock,
        custodian=event.custodian,
        keys=state.keys.set(kid, root),
    )


def _on_added(state: State, recorded: Recorded[did.KeyAdded] | Recorded[did.KeyRotated]) -> State:
    event = recorded.event
    kid = _kid(event.public)
    if kid is None:
        return state
    key = Key(kid, event.name, event.kind, event.epoch, event.public, event.custodian, recorded.seq)
    agent = Agent(event.name, event.kind, event.epoch, kid, recorded.at)
    return msgspec.structs.replace(
        state, keys=state.keys.set(kid, key), agents=state.agents.set(event.name, agent)
    )


def _on_rotated(state: State, recorded: Recorded[did.KeyRotated]) -> State:
    ended = _end(state, recorded.event.replaces, recorded.seq, Ending.ROTATED)
    return _on_added(ended, recorded)


def _on_revoked(state: State, recorded: Recorded[did.KeyRevoked]) -> State:
    return _end(state, recorded.event.kid, recorded.seq, Ending.REVOKED, recorded.event.heads)


def _on_retired(state: State, recorded: Recorded[did.AgentRetired]) -> State:
    agent = state.agents.get(recorded.event.name)
    if agent is None:
        return state
    ended = _end(state, agent.kid, recorded.seq, Ending.RETIRED)
    retired = msgspec.structs.replace(agent, retired=True)
    return msgspec.structs.replace(ended, agents=ended.agents.set(agent.name, retired))


def _on_erased(state: State, recorded: Recorded[did.ArtifactErased]) -> State:
    event = recorded.event
    return msgspec.structs.replace(state, erased=state.erased.set(event.sha256, event.reason))


def _unchanged(state: State, _recorded: Recorded[Any]) -> State:
    return state


_EVOLVE: dict[type[Event], Callable[[State, Any], State]] = {
    did.LedgerCreated: _on_created,
    did.KeyAdded: _on_added,
    did.KeyRotated: _on_rotated,
    did.KeyRevoked: _on_revoked,
    did.AgentRetired: _on_retired,
    did.ArtifactErased: _on_erased,
    did.HistoryAccepted: _unchanged,
}


def _end(state: State, kid: str, seq: int, ending: Ending, heads: str | None = None) -> State:
    """A key ends where it first ended; a later revocation adds its heads, and stays."""
    key = state.keys.get(kid)
    if key is None or key.ending is Ending.REVOKED:
        return state
    first = seq if key.ended is None else key.ended
    ended = msgspec.structs.replace(key, ended=first, ending=ending, heads=heads)
    return msgspec.structs.replace(state, keys=state.keys.set(kid, ended))


def _kid(public: str) -> str | None:
    """None if the text is no key at all: such an event adds none."""
    from moot.core.signing import PUBLIC_BYTES, key_id  # libsodium is loaded only where needed

    try:
        raw = bytes.fromhex(public)
    except ValueError:
        return None
    return key_id(raw) if len(raw) == PUBLIC_BYTES else None


def index(recorded: Recorded[Any]) -> Iterable[RowChange]:
    """Erased artifacts, so that whoever misses one can say so without reading the registry."""
    event = recorded.event
    if isinstance(event, did.ArtifactErased):
        yield Put("registry.erased", event.sha256, {"reason": event.reason})


MACHINE: Machine[State] = Machine(
    name=REGISTRY,
    version=1,
    initial=State(),
    events=did.EVENTS,
    commands=ask.COMMANDS,
    decide=decide,
    evolve=evolve,
    index=index,
)
