"""MOOT_CLOCK: for tests only, and every verdict says so."""

from __future__ import annotations

import pytest

from moot.core.clock import MINUTE, parse_time
from moot.protocols.example.model import Ask
from moot.testing import FakeClock
from tests.project import LIST, Project

NOON = "2026-02-18T12:00:00Z"
LATER = "2026-02-18T13:00:00Z"


@pytest.fixture
def still(bare: Project) -> Project:
    """A workspace made under a clock that stands."""
    bare.env["MOOT_CLOCK"] = NOON
    bare.ok("init")
    bare.ok("agent", "register", "amber-otter")
    return bare


def test_it_is_honoured_in_a_workspace_made_under_it(still: Project) -> None:
    assert still.ok("agent", "show", "amber-otter")["since"] == "2026-02-18T12:00:00.000Z"
    (event, *_) = still.ok("ledger", "log", "registry")["events"]
    assert event["data"]["clock"] == "fixed"
    beat = still.ok("agent", "heartbeat", "--agent", "amber-otter", MOOT_CLOCK=LATER)
    assert beat["last_seen_at"] == "2026-02-18T13:00:00.000Z"


def test_elsewhere_it_is_refused_and_nothing_is_written(project: Project) -> None:
    before = project.ok("status")["record"]["events"]
    for words in (("status",), ("agent", "register", "coral-finch"), ("agenda",)):
        assert project.refused(*words, MOOT_CLOCK=NOON) == ("clock_not_allowed", 1)
    assert project.ok("status")["record"]["events"] == before


def test_every_verdict_says_it(still: Project) -> None:
    live = still.ok("verify")
    assert (live["verdict"], live["clock"]) == ("valid", "fixed")
    assert "clock_fixed" in [finding["code"] for finding in live["findings"]]
    assert still.run("verify").out.splitlines()[0].endswith("· test clock")
    still.ok("ledger", "export", "-o", "record.moot")
    assert still.ok("verify", "record.moot")["clock"] == "fixed"
    assert "test clock" in still.run("status").out


def test_a_workspace_made_under_it_runs_on_without_it(still: Project) -> None:
    del still.env["MOOT_CLOCK"]
    still.ok("agent", "register", "teal-crane")
    assert still.ok("verify")["clock"] == "fixed"


@pytest.mark.parametrize("text", ["yesterday", "2026-02-18", "2026-02-18T12:00:00"])
def test_a_time_without_a_zone_or_sense_is_refused(bare: Project, text: str) -> None:
    code = bare.json("init", MOOT_CLOCK=text).error["code"]
    assert code == "bad_time"
    assert list(bare.root.iterdir()) == []


def test_time_limits_follow_it(still: Project) -> None:
    due = parse_time(NOON) + 30 * MINUTE
    with still.workspace() as space:
        space.engine.clock = FakeClock(NOON)
        ask = Ask(title="soon", of="amber-otter", due_at=due)
        space.engine.execute(LIST, ask, "amber-otter")
    assert still.ok("agenda")["due"][0]["overdue"] is False
    assert still.ok("agenda", MOOT_CLOCK=LATER)["due"][0]["overdue"] is True
    assert still.ok("tick")["applied"] == []
    (applied,) = still.ok("tick", MOOT_CLOCK=LATER)["applied"]
    assert applied["type"] == "example.errand_lapsed"
    assert still.ok("agenda", MOOT_CLOCK=LATER)["due"] == []
