"""Agents and people: the names that may sign here, and how alive they are.

agent_keys.py rotates and revokes their keys; in joining.py a session starts under a name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.operation import operation
from moot.api.presence.agent_facts import AgentFacts, find_agent_facts, find_end_times
from moot.api.session import read_presence
from moot.core.clock import to_text
from moot.core.errors import Refused
from moot.core.machine import KeyClass
from moot.core.text import Quoted
from moot.protocols.presence import model, views
from moot.protocols.presence.liveness import judge_liveness, longer_stale_time, shown_stale_time
from moot.protocols.presence.views import Observation, SubAgentView, view_sub_agents
from moot.usage.totals import UsageView, read_usage

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.registry.model import RegisteredKey, State
    from moot.protocols.presence.views import AgentView
    from moot.workspace.workspace import Workspace

ACTIVE: Final = "active"

# Takes a person's name and returns the passphrase for their new key; None or empty: none given.
AskNewPassphrase = Callable[[str], str | None]


class RegisteredAgent(msgspec.Struct, frozen=True, kw_only=True, rename={"kind": "class"}):
    """A name and its current key. `status` is active, or how that key ended.

    `epoch` counts the holders of the name; `custodian` is the id of the folder that keeps the key.
    """

    agent: str
    kind: str
    status: str
    epoch: int
    kid: str
    public: str
    custodian: str
    since: str


class NewAgent(RegisteredAgent, frozen=True, kw_only=True):
    """A new name. `status` is active, or waiting: a new person needs the consent of a registered
    one, whose key is not here. That person compares `fingerprint` and runs `moot admit` with the
    code `admission`."""

    admission: str | None = None
    fingerprint: str | None = None


class ListedAgent(RegisteredAgent, frozen=True, kw_only=True):
    """A name with what it does now. `family` is the name it was numbered after (alice of alice-2),
    else its own; `tool` the coding tool it works with, if known. `voice`: it only answers
    questions, so it is neither present nor exited. `evidence` is what the lock of its `moot run`
    shows from here, at any age of its last sign of life: `running`, `gone` (exited), or None;
    `process` says why. `guarded` says who checks its edits now: guarded, expected, unguarded or
    watched; None if unknown. `ended_at` is when its key ended."""

    guarded: str | None = None
    family: str = ""
    tool: Quoted | None = None
    voice: bool = False
    here: bool = False
    liveness: str = ""
    label: str = ""
    last_seen_at: str | None = None
    work: Quoted | None = None
    evidence: str | None = None
    process: str | None = None
    ended_at: str | None = None


class AgentList(msgspec.Struct, frozen=True):
    """The registered names, active ones first; `sub_agents` work under one of them and have
    neither a name nor a key."""

    agents: list[ListedAgent]
    sub_agents: tuple[SubAgentView, ...] = ()


class AgentKey(msgspec.Struct, frozen=True):
    """A key that a name has or had."""

    kid: str
    status: str
    epoch: int
    custodian: str


class ShownAgent(ListedAgent, frozen=True, kw_only=True):
    """A name, how alive its holder is and why, what it holds, and all its keys, oldest first.

    `usage` is what its coding tools reported; None: unknown."""

    session_agent_id: str
    logical_agent_id: str
    because: str
    worktree: Quoted
    branch: Quoted | None
    holds: tuple[Quoted, ...]
    keys: list[AgentKey]
    sub_agents: tuple[SubAgentView, ...] = ()
    usage: UsageView | None = None


class Heartbeat(msgspec.Struct, frozen=True):
    """A sign of life that was signed, and how alive it makes the agent."""

    agent: str
    last_seen_at: str
    liveness: str


class RetiredAgent(RegisteredAgent, frozen=True, kw_only=True):
    """`still_holds` is what it could not release, because its key was not here."""

    still_holds: list[Quoted]


@operation("agent.register", writes=True, as_ledger=True)
def register(
    session: Session,
    name: str,
    *,
    human: bool = False,
    passphrase: AskNewPassphrase | None = None,
    keys: Path | None = None,
) -> NewAgent:
    """Register `name` with a new key, kept in the session's key folder or in the folder `keys`.

    A name is never given twice: a repeat is refused as `name_taken` and needs no idempotency key.
    With `human` the key is a person's: `passphrase` returns the one that locks it, an agent may not
    make it, and a registered person must consent unless it is the first. If machines share a ledger
    and no person's key is here, it waits until a person consents elsewhere.
    """
    from moot.api.presence.admitting import ask_for_admission, needs_admission
    from moot.api.presence.arrival import new_key
    from moot.engine.registry_commands import register as register_key
    from moot.keys.folder import KeyFolder

    workspace = session.workspace
    folder = KeyFolder(keys.absolute()) if keys is not None else session.keys
    kind = KeyClass.HUMAN if human else KeyClass.AGENT
    must_wait = human and needs_admission(session)
    lock = require_new_passphrase(session, name, passphrase) if human else None
    if must_wait and lock is not None:
        return ask_for_admission(session, name, folder, lock)
    endorser = session.person_signer() if human else None
    with new_key(workspace, name, folder, kind, lock) as signer:
        register_key(
            workspace.engine,
            name,
            signer,
            custodian=folder.custodian,
            kind=kind,
            endorser=endorser,
        )
    agent = describe_agent(workspace.engine.registry(), name)
    return NewAgent(**msgspec.structs.asdict(agent))


@operation("agent.list")
def list_agents(session: Session, *, ended: bool = False) -> AgentList:
    """List agents and people, active ones first, with their tool, work and last sign of life.

    With `ended` also those that have ended: all names ever registered here.
    """
    from moot.api.observed.guards import guards_of_active

    registry = session.workspace.engine.registry()
    everyone = (describe_agent(registry, name) for name in registry.agents)
    listed = {agent.agent: agent for agent in everyone if ended or agent.status == ACTIVE}
    facts = find_agent_facts(session, tuple(listed))
    guards = guards_of_active(session.workspace, listed)
    order = sorted(
        listed, key=lambda name: facts.sort_key(name, has_ended=listed[name].status != ACTIVE)
    )
    ends = find_end_times(session.workspace, listed) if ended else {}
    agents = [_list_agent(listed[name], facts, guards.get(name), ends) for name in order]
    return AgentList(agents, _list_sub_agents(session))


def _list_agent(
    agent: RegisteredAgent, facts: AgentFacts, guarded: str | None, ends: Mapping[str, str]
) -> ListedAgent:
    fields = {**msgspec.structs.asdict(agent), **facts.describe(agent.agent)}
    label = liveness_label(facts.views[agent.agent], agent.status)
    ended_at = ends.get(agent.agent)
    return ListedAgent(**{**fields, "label": label}, guarded=guarded, ended_at=ended_at)


def _list_sub_agents(session: Session) -> tuple[SubAgentView, ...]:
    """Return all sub-agents, by the name of their session; no sign of life is verified."""
    state = read_presence(session.workspace)
    observation = Observation(session.workspace.engine.clock(), {}, session.stale_millis)
    names = (member.name for member in state.members if member.sub_agents)
    return tuple(view for name in names for view in view_sub_agents(state, name, observation))


@operation("agent.show")
def show(session: Session, name: str) -> ShownAgent:
    """Show one agent: how alive it is and why, what it holds, its keys."""
    from moot.api.observed.guards import guards_of_active

    session.require_agent(name)
    workspace = session.workspace
    registry = workspace.engine.registry()
    facts = find_agent_facts(session, (name,))
    view, guarded = facts.views[name], guards_of_active(workspace, (name,)).get(name)
    ends = find_end_times(workspace, (name,))
    listed = _list_agent(describe_agent(registry, name), facts, guarded, ends)
    return ShownAgent(
        **msgspec.structs.asdict(listed),
        session_agent_id=view.session_agent_id,
        logical_agent_id=view.logical_agent_id,
        because=view.because,
        worktree=view.worktree,
        branch=view.branch,
        holds=view.holds,
        keys=_keys_of(registry, name),
        sub_agents=view.sub_agents,
        usage=read_usage(workspace).by_agent.get(name),
    )


@operation("agent.heartbeat", writes=True)
def heartbeat(session: Session, *, agent: str | None = None) -> Heartbeat:
    """Sign that an agent is alive, with its key (default: the acting agent).

    Only the latest sign of life is kept and it is not an event, so a repeat is harmless.
    """
    name = session.actor(agent)
    engine = session.workspace.engine
    at = engine.beat(name)
    usual = read_presence(session.workspace).stale_millis
    stale_millis = shown_stale_time(session.stale_millis, usual)
    verdict = judge_liveness(at, engine.clock(), stale_millis)
    return Heartbeat(name, to_text(at), str(verdict.liveness))


@operation("agent.retire", writes=True, as_ledger=True)
def retire(session: Session, name: str, *, reason: str = "") -> RetiredAgent:
    """End the work of `name`: the name stays taken, its key signs no more and is removed.

    If its key is here, it first releases what it holds; otherwise its scopes become stale and can
    be taken over then. An agent may retire only itself, a person anyone. These are two commits;
    a repeat after both is refused, so it needs no idempotency key.
    """
    from moot.api.mail.lapsed_duties import lapse_duties
    from moot.api.presence.exited_agents import remove_ended_keys
    from moot.engine.registry_commands import retire as end_key

    session.require_self_or_person(name)
    workspace = session.workspace
    if _can_sign_its_leave(workspace, name):
        from moot.api.presence.arrival import leave

        leave(workspace, name, reason)
    end_key(workspace.engine, name, reason)
    lapse_duties(workspace)
    remove_ended_keys(workspace)
    agent = describe_agent(workspace.engine.registry(), name)
    return RetiredAgent(**msgspec.structs.asdict(agent), still_holds=_still_holds(workspace, name))


def stale_from(session: Session, name: str) -> str | None:
    """Return from when on others may take over what `name` holds; None: they may do so now."""
    from moot.api.presence.observation import observe

    workspace = session.workspace
    state = read_presence(workspace)
    stale_millis = longer_stale_time(session.stale_millis, state.stale_millis)
    observation = observe(workspace, [name], stale_millis)
    verdict = views.observe_liveness(state, name, observation)
    at = verdict.stale_at
    return None if at is None or at <= observation.now else to_text(at)


def describe_agent(registry: State, name: str) -> RegisteredAgent:
    """Return what the registry says of a name and its current key."""
    agent = registry.agents[name]
    key = registry.keys[agent.kid]
    return RegisteredAgent(
        agent=agent.name,
        kind=str(agent.kind),
        status=_status(key),
        epoch=agent.epoch,
        kid=agent.kid,
        public=key.public,
        custodian=key.custodian,
        since=to_text(agent.since),
    )


def liveness_label(view: AgentView, status: str) -> str:
    """Return how alive an agent is, in one word; an ended agent has ended, whatever it signed."""
    return view.label if status == ACTIVE else status.capitalize()


def require_new_passphrase(session: Session, name: str, ask: AskNewPassphrase | None) -> str:
    """Return the passphrase for a new key of the person `name`.

    Raises Refused for agents, and for a missing or short passphrase, before another one is asked
    for.
    """
    from moot.keys.passphrase_lock import require_long_passphrase

    session.require_no_agent("making a person's key")
    text = ask(name) if ask is not None else None
    if not text:
        raise Refused(
            "passphrase_required",
            "a person's key needs a passphrase",
            hint="type at least 8 characters at a terminal; for automation set"
            " MOOT_PASSPHRASE_FILE",
        )
    require_long_passphrase(text)
    return text


def _keys_of(registry: State, name: str) -> list[AgentKey]:
    own = sorted(
        (key for key in registry.keys.values() if key.name == name), key=lambda key: key.added
    )
    return [AgentKey(key.kid, _status(key), key.epoch, key.custodian) for key in own]


def _status(key: RegisteredKey) -> str:
    return str(key.ending) if key.ending else ACTIVE


def _can_sign_its_leave(workspace: Workspace, name: str) -> bool:
    """Return True if the agent's key is still valid, and here."""
    registry = workspace.engine.registry()
    agent = registry.agents.get(name)
    if agent is None or agent.kind is not KeyClass.AGENT:
        return False
    has_ended = registry.keys[agent.kid].ending is not None
    return not has_ended and workspace.keys.find(name, agent.kid) is not None


def _still_holds(workspace: Workspace, name: str) -> list[Quoted]:
    now = workspace.engine.clock()
    reservations = model.reservations_of(read_presence(workspace), name)
    return [Quoted(each.scope) for each in reservations if not each.has_ended(now)]
