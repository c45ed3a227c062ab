"""One screen of a crowd: who was seen last is shown, the others are counted, nobody is believed."""

from __future__ import annotations

import pytest

from moot.api.presence import agents, scopes
from moot.api.presence.agent_facts import ProvedSigns, find_last_seen
from moot.api.presence.status import Status, status
from moot.api.session import Session
from moot.core.clock import HOUR
from moot.core.ledger import Heartbeat
from moot.engine.signs_of_life import SEEN
from moot.protocols.presence.labels import Health
from moot.protocols.presence.model import Liveness
from tests.api.sessions import open_as
from tests.project import Project

CROWD = [f"agent-{letter}" for letter in "abcdef"]


@pytest.fixture
def crowd(project: Project, session: Session) -> Session:
    """Six who hold a file each, the last one the newest; two more only have a name."""
    for name in CROWD:
        agents.register(session, name)
        with open_as(project, name) as acting:
            scopes.reserve(acting, [f"src/{name}.py"], work=f"T-{name[-1]}")
    return session


def names(seen: Status) -> list[str]:
    return [view.agent for view in seen.agents]


def forge_heartbeat(session: Session, name: str) -> None:
    """As somebody can who may write to the disk: a row without a signature, far ahead."""
    workspace = session.workspace
    kid = workspace.engine.registry().agents[name].kid
    ahead = workspace.engine.clock() + HOUR
    with workspace.store.write() as change:
        change.put_heartbeat(Heartbeat(name, ahead, kid, b"forged", bytes(64)))


def test_those_seen_last_are_shown_and_everyone_is_counted(crowd: Session) -> None:
    seen = status(crowd, most=2)
    assert names(seen) == ["agent-e", "agent-f"]
    assert [view.owner for view in seen.reservations] == ["agent-e", "agent-f"]
    assert [view.work for view in seen.work] == ["T-e", "T-f"]
    assert [view.agents for view in seen.work] == [("agent-e",), ("agent-f",)]
    assert (seen.agents_total, seen.working_total, seen.reservations_total) == (8, 6, 6)
    assert seen.health is Health.ACTIVE


def test_a_heartbeat_counts_as_being_seen(project: Project, crowd: Session) -> None:
    with open_as(project, "agent-a") as acting:
        agents.heartbeat(acting)
    assert names(status(crowd, most=2)) == ["agent-a", "agent-f"]


@pytest.mark.usefixtures("crowd")
def test_anyone_who_acts_is_always_shown(project: Project) -> None:
    with open_as(project, "amber-otter") as acting:
        assert names(status(acting, most=1)) == ["amber-otter"]
        assert names(status(acting, most=3)) == ["agent-e", "agent-f", "amber-otter"]


def test_forged_times_hide_nobody_and_make_nobody_look_alive(crowd: Session) -> None:
    honest = status(crowd, most=2)
    for name in (*CROWD[:4], "amber-otter", "teal-crane"):
        forge_heartbeat(crowd, name)
    seen = status(crowd, most=2)
    assert names(seen) == ["agent-e", "agent-f"]
    assert [view.last_seen_at for view in seen.agents] == [
        view.last_seen_at for view in honest.agents
    ]


def test_a_damaged_row_hides_nobody(crowd: Session) -> None:
    with crowd.workspace.store.write() as change:
        change.clear_rows()
    with crowd.workspace.store.read() as view:
        assert view.values(SEEN) == {}
    assert names(status(crowd, most=2)) == ["agent-e", "agent-f"]


def test_with_those_who_have_ended_there_is_no_limit(crowd: Session) -> None:
    agents.retire(crowd, "agent-a")
    assert names(status(crowd, most=1)) == ["agent-f"]
    seen = status(crowd, ended=True, most=1)
    assert names(seen) == [*CROWD, "amber-otter", "teal-crane"]
    assert {view.owner for view in seen.reservations} == set(CROWD[1:])
    assert status(crowd, most=1).agents_total == 7


def test_a_ledger_with_room_for_all_is_shown_in_full(crowd: Session) -> None:
    seen = status(crowd)
    assert names(seen) == [*CROWD, "amber-otter", "teal-crane"]
    assert len(seen.reservations) == len(seen.work) == 6
    assert {view.liveness for view in seen.reservations} == {Liveness.ACTIVE}


def test_the_screen_says_how_many_more_there_are(project: Project, session: Session) -> None:
    for number in range(22):
        name = f"agent-{number}"
        agents.register(session, name)
        with open_as(project, name) as acting:
            scopes.reserve(acting, [f"src/{name}.py"])
    lines = project.run("status").out.splitlines()
    assert "and 2 more, seen earlier: `moot agent list`" in lines
    assert "2 others are not here: `moot agent list`" in lines
    assert not any(line.startswith(("agent-0 ", "agent-1 ")) for line in lines)
    assert any(line.startswith("agent-21 ") for line in lines)
    assert any(
        line.startswith("agent-0 ") for line in project.run("status", "--all").out.splitlines()
    )
    assert len(project.ok("status")["agents"]) == 24


def test_the_first_in_line_are_proved_and_no_others() -> None:
    proved: list[str] = []
    true_times = {"a": 50, "b": 40, "c": 30, "d": 20, "e": 10}
    claimed = {**true_times, "d": 99, "e": 60}

    def prove(name: str) -> int:
        proved.append(name)
        return true_times[name]

    assert find_last_seen(claimed, claimed, 2, prove) == ["a", "b"]
    assert sorted(proved) == ["a", "b", "d", "e"]


def test_a_sign_is_proved_once_and_only_if_it_is_asked_for(crowd: Session) -> None:
    signs = ProvedSigns(crowd.workspace.engine)
    assert list(signs) == []
    assert signs.get("agent-a") is signs.get("agent-a")
    assert signs.get("amber-otter") is None
    assert (list(signs), len(signs)) == (["agent-a"], 1)
