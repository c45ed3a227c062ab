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
