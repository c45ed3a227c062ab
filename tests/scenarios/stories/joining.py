"""Sessions start: under a new name, or going on with what an earlier one left unfinished."""

from __future__ import annotations

from typing import Any

from tests.project import git
from tests.scenarios.world import World, story


@story(does="join scope.list", refuses="join")
def a_session_starts_under_a_new_name(world: World) -> None:
    joined = world.do("join", register="coral-finch", scopes=["src/api"], work="T-7")
    assert (joined["agent"], joined["epoch"], joined["adopted"]) == ("coral-finch", 1, False)
    assert (joined["reserved"], joined["event"]) == (["src/api"], None)
    assert joined["recommendation"]["reason"] == "register_requested"
    assert world.refuse("join", register="coral-finch") == "name_taken"
    assert world.refuse("join", "amber-otter", register="jade-wren") == "not_you"
    made_up = world.do("join")
    assert made_up["recommendation"]["reason"] == "no_adoptable_identity"
    again = world.do("join", "amber-otter")
    assert (again["agent"], again["reserved"]) == ("amber-otter", [])
    held = world.do("scope.list")["reservations"]
    assert [(row["scope"], row["owner"]) for row in held] == [("src/api", "coral-finch")]


@story(refuses="join")
def bad_scopes_are_found_before_a_name_is_given(world: World) -> None:
    outside: dict[str, Any] = {"scopes": ["../other"]}
    assert world.refuse("join", register="coral-finch", **outside) == "scope_outside"
    assert world.refuse("join", **outside) == "scope_outside"
    assert world.refuse("join", "amber-otter", **outside) == "scope_outside"
    assert not list(world.project.keys.glob("*/coral-finch.*"))


@story(does="join reserve scope.list", refuses="join")
def a_session_goes_on_with_unfinished_work(world: World) -> None:
    root = world.project.root
    git(root, "init", "-q", "-b", "main")
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    world.do("join", "amber-otter")
    world.do("reserve", "amber-otter", scopes=["src/*"])
    assert world.refuse("join", adopt="amber-otter") == "adoption_rejected"
    assert world.refuse("join", adopt="nobody-here") == "agent_not_found"
    (root / "src").mkdir()
    (root / "src" / "a.py").write_text("unfinished")
    assert world.refuse("join") == "decision_required"
    assert world.refuse("join", "teal-crane", adopt="amber-otter") == "not_you"
    adopted = world.do("join", adopt="amber-otter")
    assert (adopted["adopted"], adopted["epoch"], "reserved" in adopted) == (True, 2, False)
    assert adopted["prior_liveness"] == "active"
    assert adopted["event"]["payload"]["resume_reason"] == "uncommitted_scope"
    held = world.do("scope.list")["reservations"]
    assert [(row["scope"], row["owner"]) for row in held] == [("src/*", "amber-otter")]
