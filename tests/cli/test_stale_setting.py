"""Who is stale: shown by one's own setting, decided by the workspace's as well."""

from __future__ import annotations

import pytest

from tests.cli.test_presence import as_, held
from tests.project import Project

AT = "2026-02-18T12:{}:00.000Z"


@pytest.fixture
def project(bare: Project) -> Project:
    bare.env["MOOT_CLOCK"] = AT.format("00")
    bare.init()
    bare.ok("join", "--register", "amber-otter", "--scope", "src")
    bare.ok("join", "--register", "teal-crane")
    return bare


def shown(project: Project, minute: str, own: str = "") -> tuple[str, ...]:
    """How alive amber-otter is, in every place that says so."""
    settings = {"MOOT_CLOCK": AT.format(minute), "BB_AGENT_STALE_MINUTES": own}
    (reservation,) = project.ok("scope", "list", **settings)["reservations"]
    (view,) = (
        one for one in project.ok("status", **settings)["agents"] if one["agent"] == "amber-otter"
    )
    (listed,) = (
        one
        for one in project.ok("agent", "list", "--all", **settings)["agents"]
        if one["agent"] == "amber-otter"
    )
    agent = project.ok("agent", "show", "amber-otter", **settings)
    return tuple(one["liveness"] for one in (view, reservation, listed, agent))


@pytest.mark.requirement("OPR-020")
@pytest.mark.parametrize(
    ("own", "minute", "state"),
    [
        ("5", "04", "active"),
        ("5", "05", "stale"),
        ("5", "10", "evicted"),
        ("", "14", "active"),
        ("", "15", "stale"),
        ("60", "20", "active"),
    ],
)
def test_every_state_that_is_shown_follows_the_readers_setting(
    project: Project, own: str, minute: str, state: str
) -> None:
    assert set(shown(project, minute, own)) == {state}


@pytest.mark.requirement("OPR-030")
def test_an_impatient_agent_takes_nothing_before_the_workspaces_time(project: Project) -> None:
    taking = as_("teal-crane", "reserve", "src", "--takeover-stale")
    hurry = {"BB_AGENT_STALE_MINUTES": "5", "MOOT_CLOCK": AT.format("06")}
    assert project.refused(*taking, **hurry) == ("reservation_conflict", 1)
    assert held(project) == [("src", "amber-otter")]
    project.ok(*taking, **{**hurry, "MOOT_CLOCK": AT.format("15")})


@pytest.mark.requirement("OPR-020")
def test_it_is_fifteen_minutes_if_none_is_set_to_the_millisecond(project: Project) -> None:
    assert "BB_AGENT_STALE_MINUTES" not in project.env
    for moment, state in (
        ("14:59.999", "active"),
        ("15:00.000", "stale"),
        ("30:00.000", "evicted"),
    ):
        settings = {"MOOT_CLOCK": f"2026-02-18T12:{moment}Z"}
        assert project.ok("agent", "show", "amber-otter", **settings)["liveness"] == state


def test_a_patient_agent_waits_for_its_own_time(project: Project) -> None:
    taking = as_("teal-crane", "reserve", "src", "--takeover-stale")
    slow = {"BB_AGENT_STALE_MINUTES": "30", "MOOT_CLOCK": AT.format("20")}
    assert project.refused(*taking, **slow) == ("reservation_conflict", 1)


def test_a_person_sets_the_workspaces_time_on_record(project: Project, passphrase: str) -> None:
    project.env["MOOT_PASSPHRASE_FILE"] = passphrase
    project.ok("agent", "register", "ada-person", "--human")
    data = project.ok("config", "stale-minutes", "7.5")
    assert (data["settings"][0]["value"], data["changed_by"]) == ("7.5", "ada-person")
    assert project.run("config").out.startswith("stale-minutes  7.5")
    assert set(shown(project, "08")) == {"stale"}
    words = ("ledger", "log", "presence", "--type", "presence.stale_minutes_set")
    (event,) = project.ok(*words)["events"]
    assert event["actor"] == "ada-person"
    project.ok(*as_("teal-crane", "reserve", "src", "--takeover-stale"), MOOT_CLOCK=AT.format("08"))
