"""Scopes: reserved, listed, in each other's way, given back."""

from __future__ import annotations

from typing import Any

from tests.scenarios.world import World, story


def held(world: World) -> list[tuple[str, str]]:
    rows = world.do("scope.list")["reservations"]
    return [(row["scope"], row["owner"]) for row in rows]


@story(
    does="reserve scope.list release",
    refuses="reserve release",
)
def two_agents_share_a_project_by_its_folders(world: World) -> None:
    reserved = world.do("reserve", "amber-otter", scopes=["src/a", "docs/*"], work="T-7")
    assert [(lease["scope"], lease["work"]) for lease in reserved["reserved"]] == [
        ("src/a", "T-7"),
        ("docs/*", "T-7"),
    ]
    assert held(world) == [("docs/*", "amber-otter"), ("src/a", "amber-otter")]
    again = world.do("reserve", "amber-otter", scopes=["src/a"], work="T-7")
    assert (again["reserved"], again["taken_over"]) == ([], [])
    refused = world.refuse_on_record("reserve", "teal-crane", scopes=["src/b", "docs/x.md"])
    assert refused == "reservation_conflict"
    taken = world.refuse_on_record("reserve", "teal-crane", scopes=["src/a"], take_stale=True)
    assert taken == "reservation_conflict"
    assert held(world) == [("docs/*", "amber-otter"), ("src/a", "amber-otter")]
    assert world.refuse("release", "teal-crane", scopes=["src/a"]) == "release_forbidden"
    released = world.do("release", "amber-otter", scopes=["src/a"])
    assert (released["agent"], released["released"]) == ("amber-otter", ["src/a"])
    lease = world.do("reserve", "teal-crane", scopes=["src/a"], ttl_minutes=60)["reserved"][0]
    assert lease["expires_at"] is not None
    mine = world.do("scope.list", agent="teal-crane")["reservations"]
    assert [row["scope"] for row in mine] == ["src/a"]
    assert world.do("release", "amber-otter", everything=True)["released"] == ["docs/*"]


@story(refuses="reserve release")
def a_reservation_that_cannot_be_is_refused_and_leaves_nothing(world: World) -> None:
    assert world.refuse("reserve", scopes=["src"]) == "actor_required"
    assert world.refuse("reserve", "amber-otter", scopes=["../other"]) == "scope_outside"
    assert world.refuse("reserve", "amber-otter", scopes=["src/*.py"]) == "unsupported_glob"
    as_another: dict[str, Any] = {"scopes": ["src"], "agent": "teal-crane"}
    assert world.refuse("reserve", "amber-otter", **as_another) == "not_you"
    assert world.refuse("release", "amber-otter", **as_another) == "not_you"


@story(does="scope.compare")
def two_scopes_are_compared(world: World) -> None:
    inside = world.do("scope.compare", first="src/*", second="src/lib/parser.ts")
    assert (inside["class"], inside["a"]) == ("partial", str(world.project.root / "src"))
    assert world.do("scope.compare", first="src", second="./src/")["class"] == "exact"
    assert world.do("scope.compare", first="src/lib", second="src/library")["class"] == "disjoint"


@story(does="reserve release guard.check scope.compare", refuses="reserve")
def things_that_are_not_files_are_shared_too(world: World) -> None:
    world.do("reserve", "amber-otter", scopes=["port:3000", "."])
    assert world.refuse_on_record("reserve", "teal-crane", scopes=["Port:3000"]) == (
        "reservation_conflict"
    )
    checked = world.do("guard.check", acting="teal-crane", paths=["port:3000"])
    assert [row["message"].split(":", 2)[1] for row in checked["held"]] == [
        "3000 is held by amber-otter"
    ]
    free = world.do("guard.check", acting="teal-crane", paths=["port:3001"])
    assert (free["allowed"], free["paths"]) == (True, ["port:3001"])
    task = world.do("reserve", "teal-crane", scopes=[], work="T-7", exclusive=True)
    assert [lease["scope"] for lease in task["reserved"]] == ["task:T-7"]
    again: dict[str, Any] = {"scopes": [], "work": "T-7", "exclusive": True}
    assert world.refuse_on_record("reserve", "amber-otter", **again) == "reservation_conflict"
    unnamed: dict[str, Any] = {"scopes": [], "exclusive": True}
    assert world.refuse("reserve", "amber-otter", **unnamed) == "no_task"
    assert world.refuse("reserve", "amber-otter", scopes=["port:"]) == "bad_resource"
    assert world.do("scope.compare", first=".", second="port:3000")["class"] == "disjoint"
    beside = world.do("scope.compare", first="port:3000", second="./port:3000")
    assert beside["class"] == "disjoint"
    released = world.do("release", "teal-crane", scopes=["task:T-7"])["released"]
    assert released == ["task:T-7"]
