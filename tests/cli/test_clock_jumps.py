"""A machine that slept, and a clock that went back: nothing lost, nobody living taken over."""

from __future__ import annotations

import pytest

from tests.cli.test_exited_programs import running
from tests.cli.test_presence import as_, held
from tests.project import Project

NOON = "2026-02-18T12:00:00.000Z"
BEFORE = "2026-02-18T09:00:00.000Z"
NEXT_DAY = "2026-02-19T12:00:00.000Z"


@pytest.fixture
def project(bare: Project) -> Project:
    bare.env["MOOT_CLOCK"] = NOON
    bare.init_git()
    bare.init()
    bare.ok("join", "--register", "teal-crane")
    return bare


def test_after_a_day_of_sleep_nobody_living_is_taken_over(project: Project) -> None:
    """Its last sign of life is a day old, its lock is held: it will beat again in a moment."""
    taking = as_("teal-crane", "reserve", "src", "--takeover-stale")
    with running(project, "--name", "amber-otter", "--reserve", "src"):
        (otter, _) = project.ok("status", MOOT_CLOCK=NEXT_DAY)["agents"]
        assert (otter["liveness"], otter["evidence"]) == ("evicted", "running")
        events = project.ok("status")["record"]["events"]
        done = project.json(*taking, MOOT_CLOCK=NEXT_DAY)
        assert (done.code, done.error["code"]) == (1, "agent_alive")
        assert "still runs" in done.error["message"]
        assert project.ok("status")["record"]["events"] == events
        assert held(project) == [("src", "amber-otter")]
    project.ok(*taking, MOOT_CLOCK=NEXT_DAY)
    assert held(project) == [("src", "teal-crane")]


def test_after_a_day_of_sleep_the_dead_are_taken_over_as_ever(project: Project) -> None:
    with running(project, "--name", "amber-otter", "--reserve", "src") as started:
        (project.root / "src").mkdir()
        (project.root / "src" / "a.py").write_text("half done")
        started.kill_all()
    taking = as_("teal-crane", "reserve", "src", "--takeover-stale")
    assert project.refused(*taking) == ("reservation_conflict", 1)
    lost = project.ok(*taking, MOOT_CLOCK=NEXT_DAY)["taken_over"]
    assert [(one["owner"], one["status"]) for one in lost] == [("amber-otter", "expired")]


@pytest.mark.requirement("OPR-026")
def test_after_the_clock_went_back_everybody_is_active_and_holds_what_it_held(
    project: Project,
) -> None:
    project.ok("join", "--register", "amber-otter", "--scope", "src")
    views = project.ok("status", MOOT_CLOCK=BEFORE)["agents"]
    assert {one["liveness"] for one in views} == {"active"}
    taking = as_("teal-crane", "reserve", "src", "--takeover-stale")
    assert project.refused(*taking, MOOT_CLOCK=BEFORE) == ("reservation_conflict", 1)
    project.ok(*as_("teal-crane", "reserve", "docs"), MOOT_CLOCK=BEFORE)
    assert project.ok("agent", "heartbeat", "--agent", "amber-otter", MOOT_CLOCK=BEFORE)
    shown = project.ok("agent", "show", "amber-otter")
    assert shown["last_seen_at"] == NOON  # a heartbeat never moves it back
    assert held(project) == [("docs", "teal-crane"), ("src", "amber-otter")]
    assert project.ok("verify")["verdict"] == "valid"


def test_a_clock_that_went_back_makes_nobody_gone_and_nobody_come_back(project: Project) -> None:
    with running(project, "--name", "amber-otter", "--reserve", "src") as started:
        (otter, _) = project.ok("status", MOOT_CLOCK=BEFORE)["agents"]
        assert otter["evidence"] == "running"
        started.kill_all()
    project.ok(*as_("teal-crane", "reserve", "src"), MOOT_CLOCK=BEFORE)
    assert held(project) == [("src", "teal-crane")]
