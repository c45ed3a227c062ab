"""Found where people look: codes explained, what agents left cleaned up, the hooks taken out."""

from __future__ import annotations

from tests.project import git
from tests.scenarios.world import World, story

OTTER = "amber-otter"


@story(does="explain", refuses="explain")
def a_code_is_explained(world: World) -> None:
    (meaning, *_) = world.do("explain", code="reservation_conflict")["meanings"]
    assert (meaning["code"], bool(meaning["what_to_do"])) == ("reservation_conflict", True)
    assert world.refuse("explain", code="reservation_conflikt") == "unknown_code"


@story(does="clean join agent.retire", refuses="clean")
def what_an_agent_left_is_removed_if_nothing_is_lost(world: World) -> None:
    root = world.project.root
    assert world.refuse("clean") == "no_repository"
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "commit", "--quiet", "--allow-empty", "-m", "first")
    git(root, "branch", "feature")
    git(root, "switch", "--quiet", "feature")
    world.do("join", OTTER)
    git(root, "switch", "--quiet", "main")
    (kept,) = world.do("clean", remove=True)["leftovers"]
    assert (kept["branch"], kept["removed"]) == ("feature", False)
    assert kept["keep"] == [f"{OTTER} has not left"]
    assert world.refuse("clean", OTTER, remove=True) == "human_key_required"
    world.do("agent.retire", name=OTTER)
    (gone,) = world.do("clean", remove=True)["leftovers"]
    assert (gone["branch"], gone["removed"], gone["keep"]) == ("feature", True, [])
    assert world.do("clean")["leftovers"] == []


@story(does="uninstall hook.install", refuses="uninstall")
def the_hooks_go_and_the_record_stays(world: World) -> None:
    world.do("hook.install", tool="claude")
    assert world.refuse("uninstall", OTTER) == "human_key_required"
    done = world.do("uninstall")
    assert any("settings" in file for file in done["changed"])
    kept = {place["where"] for place in done["kept"]}
    assert str(world.project.root / ".moot") in kept
    assert world.do("uninstall")["changed"] == []
    assert world.project.ledger.is_file()
