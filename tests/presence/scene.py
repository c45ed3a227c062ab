"""The usual scene of these tests: one project, a few agents, and short ways to ask for things."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moot.core.clock import MINUTE, Millis, parse_time
from moot.core.errors import Refused
from moot.core.machine import Context, KeyClass, SignOfLife, VerifiedActor
from moot.core.paged_map import PagedMap
from moot.engine.job import JobOutcome
from moot.engine.registry_commands import rotate
from moot.protocols.presence import commands as ask
from moot.protocols.presence.machine import MACHINE
from moot.protocols.presence.model import STREAM, Reservation, State
from moot.testing import Scenario, World, given
from moot.testing.world import CUSTODIAN

ROOT = "/home/user/repo"
OTHER_WORKTREE = "/home/user/repo-two"
WINDOWS_ROOT = "C:/Users/Zenchant/codex/beadboard"
NOON: Millis = parse_time("2026-02-18T12:00:00.000Z")
OTTER, CRANE, HARBOR = "amber-otter", "teal-crane", "cobalt-harbor"


def holding(*reservations: Reservation) -> State:
    """A state in which these are held, and nobody is here."""
    return State(live_by_key=PagedMap({held.key: held for held in reservations}))


def reserve(*scopes: str, **more: Any) -> ask.Reserve:
    return ask.Reserve(**{"scopes": scopes, "project_root": ROOT, **more})


def take_over(*scopes: str, **more: Any) -> ask.TakeOver:
    return ask.TakeOver(**{"scopes": scopes, "project_root": ROOT, **more})


def release(*scopes: str, **more: Any) -> ask.Release:
    return ask.Release(**{"scopes": scopes, "project_root": ROOT, **more})


def join(**more: Any) -> ask.Join:
    return ask.Join(**{"project_root": ROOT, **more})


def handoff(to: str = CRANE, **more: Any) -> ask.SendHandoff:
    said = {
        "to": to,
        "subject": "Parser",
        "summary": "half done",
        "next_action": "finish the lexer",
        "work": "bb-7",
        "project_root": ROOT,
    }
    return ask.SendHandoff(**{**said, **more})


def blocked(to: str = CRANE, **more: Any) -> ask.SendBlocked:
    said = {
        "to": to,
        "subject": "Schema",
        "blocker": "two schemas disagree",
        "requested_action": "say which one holds",
        "work": "bb-7",
        "project_root": ROOT,
    }
    return ask.SendBlocked(**{**said, **more})


def scene(world: World | None = None) -> Scenario[State]:
    return given(world or World(), MACHINE, STREAM)


def crew(*names: str) -> Scenario[State]:
    """A scene in which these agents have joined; the first one acts."""
    scenario = scene()
    for name in names:
        scenario.as_(name).when(join())
    return scenario.as_(names[0])


def run(scenario: Scenario[State], command: Any, actor: str) -> JobOutcome:
    return scenario.world.engine.execute(STREAM, command, actor)


def refusal(scenario: Scenario[State], command: Any, actor: str) -> Refused:
    """The refusal of a command that must be refused."""
    try:
        run(scenario, command, actor)
    except Refused as error:
        return error
    raise AssertionError(f"{command} was not refused")


def owners(scenario: Scenario[State]) -> dict[str, str]:
    """Who holds what, as people read it."""
    return {held.scope: held.owner for held in scenario.state.live}


def new_holder(world: World, name: str) -> None:
    """The registry gives the name to its next holder, with a key of its own."""
    current = world.engine.registry().agents[name].kid
    old = next(signer for signer in world.keys.signers[name] if signer.kid == current)
    signer = world.keys.make(name, salt=str(len(world.keys.signers[name])))
    rotate(
        world.engine,
        name,
        signer,
        endorser=old,
        custodian=CUSTODIAN,
        reason="adopted",
        new_holder=True,
    )


def minutes(count: float) -> Millis:
    return round(count * MINUTE)


def context(
    name: str = OTTER,
    *,
    epoch: int = 1,
    now: Millis = NOON,
    seen: Mapping[str, SignOfLife] | None = None,
    kind: KeyClass = KeyClass.AGENT,
) -> Context:
    return Context(
        now, VerifiedActor(name, epoch, "0" * 32, kind), STREAM, "moot.ledger/x", dict(seen or {})
    )
