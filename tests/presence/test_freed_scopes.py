"""What is freed for others: by a person at a terminal, or when a session's program is gone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moot.core.names import SYSTEM
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence.machine import MACHINE, RECEIPT_TRANSITIONS, TRANSITIONS
from moot.protocols.presence.model import ReceiptKind, Stage, State
from moot.testing import Scenario

from .scene import CRANE, OTTER, ROOT, crew, handoff, owners, refusal, release, reserve, run

PERSON = "operator"


def by_person(scenario: Scenario[State], *, attended: bool = True) -> Scenario[State]:
    scenario.world.human(PERSON)
    if attended:
        scenario.world.keys.attended.add(PERSON)
    scenario.actor = PERSON
    return scenario


def free(*scopes: str, reason: str = "it is needed") -> ask.FreeScopes:
    return ask.FreeScopes(scopes=scopes, project_root=ROOT, reason=reason)


@pytest.mark.requirement("OPR-030")
def test_a_person_at_a_terminal_frees_what_another_holds() -> None:
    scenario = by_person(crew(OTTER).when(reserve("src", "docs"))).when(free("src"))
    assert [type(event) for event in scenario.recorded] == [did.ScopeFreed]
    assert owners(scenario) == {"docs": OTTER}
    with scenario.world.store.read() as view:
        (row,) = view.rows("presence.archive")
    archived = json.loads(row.value)
    assert row.key == f"{1:012d}"
    assert (archived["scope"], archived["owner"], archived["status"], archived["by"]) == (
        *("src", OTTER, "released", PERSON),
    )


@pytest.mark.requirement("OPR-030")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (free("src", reason=" "), "reason_required"),
        (free("docs"), "reservation_not_found"),
        (free(), "scope_empty"),
        (free("../elsewhere"), "scope_outside"),
        (free("src", reason="x" * 100_000), "text_too_long"),
    ],
)
def test_a_person_says_why_and_what(command: ask.FreeScopes, code: str) -> None:
    by_person(crew(OTTER).when(reserve("src"))).refused(code, command)


@pytest.mark.requirement("OPR-030")
def test_nobody_else_releases_by_force() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src")).as_(CRANE)
    scenario.refused("human_key_required", free("src"))
    by_person(scenario, attended=False).refused("human_key_required", free("src"))
    scenario.actor = SYSTEM
    scenario.refused("human_key_required", free("src"))


def gone(**more: Any) -> ask.EndGone:
    told = {
        "agent": OTTER,
        "agent_epoch": 1,
        "observer": CRANE,
        "because": "its program ended",
        "worktree": ROOT,
        "dirty": (),
    }
    return ask.EndGone(**{**told, **more})


@pytest.mark.requirement("OPR-030")
def test_a_session_that_is_gone_frees_what_it_held() -> None:
    scenario = crew(OTTER).when(reserve("src"))
    scenario.actor = SYSTEM
    scenario.when(gone(dirty=("docs/readme.md",)))
    assert [type(event) for event in scenario.recorded] == [did.ScopeFreed, did.AgentGone]
    assert owners(scenario) == {}


@pytest.mark.requirement("OPR-030")
@pytest.mark.parametrize(
    ("dirty", "told"),
    [
        (("src/a.py",), "not committed in its scopes: src/a.py"),
        (None, "what is uncommitted there is not known (no git)"),
    ],
)
def test_a_session_that_is_gone_keeps_uncommitted_work(dirty: Any, told: str) -> None:
    scenario = crew(OTTER).when(reserve("src"))
    scenario.actor = SYSTEM
    scenario.refused("work_unfinished", gone(dirty=dirty))
    assert told in str(refusal(scenario, gone(dirty=dirty), SYSTEM))
    assert owners(scenario) == {"src": OTTER}


def test_a_port_needs_no_commit() -> None:
    scenario = crew(OTTER).when(reserve("port:3000"))
    scenario.actor = SYSTEM
    assert owners(scenario.when(gone(dirty=None))) == {}


def test_only_the_workspace_says_that_a_session_is_gone() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src")).as_(CRANE)
    scenario.refused("not_allowed", gone())


def test_only_what_is_waited_for_lapses() -> None:
    scenario = crew(OTTER, CRANE).when(handoff())
    (sent,) = scenario.state.pending
    scenario.actor = SYSTEM
    scenario.refused("event_not_found", ask.LapseAnswer(id="proto_none", ended=CRANE))
    scenario.refused("event_not_found", ask.LapseAnswer(id=sent, ended="cobalt-harbor"))
    for waiting in (CRANE, OTTER):
        again = crew(OTTER, CRANE).when(handoff())
        (sent,) = again.state.pending
        run(again, ask.LapseAnswer(id=sent, ended=waiting), SYSTEM)
        assert len(again.state.pending) == 0


def warnings(scenario: Scenario[State], command: Any, actor: str) -> list[str]:
    return [one.code for one in run(scenario, command, actor).findings]


def test_who_passes_on_what_it_does_not_hold_is_reported_that_nothing_will_move() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    assert warnings(scenario, handoff(scope="src"), OTTER) == []
    assert warnings(scenario, handoff(scope="src/a.py"), OTTER) == ["nothing_to_move"]
    assert warnings(scenario, handoff(), OTTER) == ["nothing_to_move"]


def test_who_gives_everything_back_keeps_what_a_sub_agent_works_on() -> None:
    scenario = crew(OTTER).when(ask.BeginSubAgent(sub_agent="t-1"))
    scenario.when(reserve("src", sub_agent="t-1"), reserve("docs"))
    assert warnings(scenario, release(all=True), OTTER) == ["kept_for_sub_agent"]
    assert owners(scenario) == {"src": OTTER}


@pytest.mark.parametrize(
    ("scope", "root", "code"),
    [
        ("port:", ROOT, "bad_resource"),
        ("port: 3000", ROOT, "bad_resource"),
        ("src", "relative/root", "bad_root"),
    ],
)
def test_a_scope_that_cannot_be_read_is_refused_with_its_own_code(
    scope: str, root: str, code: str
) -> None:
    crew(OTTER).refused(code, reserve(scope, project_root=root))
    crew(OTTER).refused(code, release(scope, project_root=root))


def test_every_way_a_reservation_ends_has_a_row() -> None:
    assert TRANSITIONS[Stage.LIVE] == {
        did.ScopeReserved: Stage.LIVE,
        did.ScopeReleased: Stage.RELEASED,
        did.ScopeExpired: Stage.EXPIRED,
        did.ScopeTakenOver: Stage.TAKEN_OVER,
        did.ScopeHandedOver: Stage.HANDED_OVER,
        did.ScopeFreed: Stage.RELEASED,
    }
    assert RECEIPT_TRANSITIONS[ReceiptKind.SEEN] == {did.EventAccepted: ReceiptKind.ACCEPTED}
    assert MACHINE.version == 4, "snapshots of another version are not read"
