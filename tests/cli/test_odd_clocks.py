"""A machine that slept, and a clock that went back: nothing lost, nobody living taken over."""

from __future__ import annotations

import pytest

from tests.cli.founding import found
from tests.cli.project import Project
from tests.cli.test_gone import running
from tests.cli.test_presence import as_, git, held

NOON = "2026-02-18T12:00:00.000Z"
BEFORE = "2026-02-18T09:00:00.000Z"
NEXT_DAY = "2026-02-19T12:00:00.000Z"


@pytest.fixture
def shop(bare: Project) -> Project:
    bare.env["MOOT_CLOCK"] = NOON
    git(bare.root, "init", "-q", "-b", "main")
    git(bare.root, "commit", "-q", "--allow-empty", "-m", "first")
    found(bare)
    bare.ok("join", "--register", "teal-crane")
    return bare


def test_after_a_day_of_sleep_nobody_living_is_taken_over(shop: Project) -> None:
    """Its last sign of life is a day old, its lock is held: it will beat again in a moment."""
    taking = as_("teal-crane", "reserve", "src", "--takeover-stale")
    with running(shop, "--name", "amber-otter", "--reserve", "src"):
        (otter, _) = shop.ok("status", MOOT_CLOCK=NEXT_DAY)["agents"]
        assert (otter["liveness"], otter["evidence"]) == ("evicted", "running")
        events = shop.ok("status")["record"]["events"]
        done = shop.json(*taking, MOOT_CLOCK=NEXT_DAY)
        assert (done.code, done.error["code"]) == (1, "agent_alive")
        assert "is alive" in done.error["message"]
        assert shop.ok("status")["record"]["events"] == events
        assert held(shop) == [("src", "amber-otter")]
    shop.ok(*taking, MOOT_CLOCK=NEXT_DAY)
    assert held(shop) == [("src", "teal-crane")]


def test_after_a_day_of_sleep_the_dead_are_taken_over_as_ever(shop: Project) -> None:
    with running(shop, "--name", "amber-otter", "--reserve", "src") as started:
        (shop.root / "src").mkdir()
        (shop.root / "src" / "a.py").write_text("half done")
        started.kill_all()
    taking = as_("teal-crane", "reserve", "src", "--takeover-stale")
    assert shop.refused(*taking) == ("reservation_conflict", 1)
    lost = shop.ok(*taking, MOOT_CLOCK=NEXT_DAY)["taken_over"]
    assert [(one["owner"], one["status"]) for one in lost] == [("amber-otter", "expired")]


@pytest.mark.requirement("OPR-026")
def test_after_the_clock_went_back_everybody_is_active_and_holds_what_it_held(
    shop: Project,
) -> None:
    shop.ok("join", "--register", "amber-otter", "--scope", "src")
    views = shop.ok("status", MOOT_CLOCK=BEFORE)["agents"]
    assert {one["liveness"] for one in views} == {"active"}
    taking = as_("teal-crane", "reserve", "src", "--takeover-stale")
    assert shop.refused(*taking, MOOT_CLOCK=BEFORE) == ("reservation_conflict", 1)
    shop.ok(*as_("teal-crane", "reserve", "docs"), MOOT_CLOCK=BEFORE)
    assert shop.ok("agent", "heartbeat", "--agent", "amber-otter", MOOT_CLOCK=BEFORE)
    shown = shop.ok("agent", "show", "amber-otter")
    assert shown["last_seen_at"] == NOON  # a heartbeat never moves it back
    assert held(shop) == [("docs", "teal-crane"), ("src", "amber-otter")]
    assert shop.ok("verify")["verdict"] == "valid"


def test_a_clock_that_went_back_makes_nobody_gone_and_nobody_come_back(shop: Project) -> None:
    with running(shop, "--name", "amber-otter", "--reserve", "src") as started:
        (otter, _) = shop.ok("status", MOOT_CLOCK=BEFORE)["agents"]
        assert otter["evidence"] == "running"
        started.kill_all()
    shop.ok(*as_("teal-crane", "reserve", "src"), MOOT_CLOCK=BEFORE)
    assert held(shop) == [("src", "teal-crane")]
