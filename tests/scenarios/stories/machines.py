"""Several machines on one ledger, and a ledger that lies in a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from moot.api.hosts.machines import keep
from moot.api.session import Session
from moot.keys.folder import KeyFolder
from tests.project import Project
from tests.scenarios.world import World, story
from tests.store.postgres_server import fresh_database

OTTER = "amber-otter"


@contextmanager
def keeping(project: Project) -> Iterator[str]:
    """The ledger of this project is kept for others; gives the address."""
    with (
        Session(project.root, keys=KeyFolder(project.keys), env=project.env) as session,
        keep(session, port=0) as kept,
    ):
        yield kept.address


def clone(project: Project, name: str) -> Project:
    """Another machine: a folder and a key folder of its own."""
    place: Path = project.root.parent / name
    (place / "project").mkdir(parents=True)
    return Project(place / "project", place / "keys")


@story(
    does="invite init.join machine.list machine.revoke agent.register scope.reserve",
    refuses="invite init.join machine.revoke scope.reserve",
)
def a_machine_joins_and_is_taken_off(world: World) -> None:
    here, laptop = world.project, clone(world.project, "laptop")
    alone: dict[str, Any] = {"keeper": None, "machines": [], "here": None, "why_old": None}
    assert world.do("machine.list") == alone | {"is_kept_now": None}
    assert world.refuse("invite") == "not_kept"
    with keeping(here) as address:
        assert world.refuse("invite", OTTER) == "human_key_required"
        invited = world.do("invite", hours=1)
        assert invited["address"] == address
        world.do("scope.reserve", OTTER, scopes=["src"])
        world.project = laptop
        assert world.refuse("init.join", invitation="nothing") == "bad_invitation"
        joined = world.do("init.join", invitation=invited["invitation"], name="laptop")
        assert (joined["created"], joined["joined"]["machine"]) == (True, "laptop")
        assert world.do("machine.list")["keeper"] == address
        world.do("agent.register", name="coral-finch")
        refused = world.refuse_on_record("scope.reserve", "coral-finch", scopes=["src"])
        assert refused == "reservation_conflict"
        assert world.refuse("machine.revoke", name="laptop") == "kept_elsewhere"
        world.project = here
        (row,) = world.do("machine.list")["machines"]
        assert (row["name"], row["agents"], row["is_revoked"]) == ("laptop", 1, False)
        assert world.refuse("machine.revoke", name="desktop") == "machine_not_found"
        assert world.do("machine.revoke", name="laptop")["is_revoked"] is True
        world.project = laptop
        assert world.refuse("scope.reserve", "coral-finch", scopes=["docs"]) == "machine_revoked"
        world.project = here


def join(world: World, machine: Project, name: str) -> None:
    """Another machine joins; from then on the story goes on there."""
    invited = world.do("invite")["invitation"]
    world.project = machine
    world.do("init.join", invitation=invited, name=name)


@story(does="invite init.join admit", refuses="admit")
def a_person_is_admitted_from_another_machine(world: World) -> None:
    here, laptop = world.project, clone(world.project, "laptop")
    typed = {"MOOT_PASSPHRASE_FILE": str(here.keys.parent / "passphrase")}
    with keeping(here):
        join(world, laptop, "laptop")
        word = laptop.ok("agent", "register", "bob", "--human", **typed)["admission"]
        assert world.refuse("admit", word=word) == "human_key_required"
        world.project = here
        assert world.refuse("admit", OTTER, word=word) == "human_key_required"
        assert world.refuse("admit", word="bob#nothing") == "bad_admission"
        admitted = world.as_person("admit", word=word, key="k-1")
        assert (admitted["agent"], admitted["by"]) == ("bob", "operator")
        assert admitted["machine"] == "laptop"
        assert world.as_person("admit", word=word, key="k-1")["by"] is None
        laptop.ok("--as", "bob", "config", "stale-minutes", "9", **typed)


@story(
    does="invite init.join machine.leave machine.list agent.register scope.reserve verify",
    refuses="machine.leave scope.reserve",
)
def a_machine_leaves_and_comes_back(world: World) -> None:
    here, laptop = world.project, clone(world.project, "laptop")
    assert world.refuse("machine.leave") == "kept_here"
    with keeping(here):
        join(world, laptop, "laptop")
        world.do("agent.register", name="coral-finch")
        world.do("scope.reserve", "coral-finch", scopes=["src"])
        assert world.refuse("machine.leave", "coral-finch") == "human_key_required"
        left = world.do("machine.leave")
        assert (left["machine"], left["retired"]) == ("laptop", ["coral-finch"])
        assert world.refuse("machine.leave") == "machine_left"
        assert world.refuse("scope.reserve", "coral-finch", scopes=["src"]) == "machine_left"
        assert world.do("verify")["verdict"] == "valid"
        world.project = here
        world.do("scope.reserve", OTTER, scopes=["src"])
        (row,) = world.do("machine.list")["machines"]
        assert (row["name"], row["has_left"]) == ("laptop", True)
        join(world, laptop, "laptop")
        world.do("agent.register", name="coral-finch-2")
        world.do("scope.reserve", "coral-finch-2", scopes=["docs"])
        world.project = here


@story(
    does="invite init.join machine.hand_over machine.move_here machine.leave debate.new",
    refuses="machine.hand_over machine.move_here",
)
def a_debate_moves_from_one_machine_to_another(world: World) -> None:
    here, laptop = world.project, clone(world.project, "laptop")
    file = {"what": "d.md"}
    assert world.refuse("machine.move_here", **file) == "not_found"
    with keeping(here):
        join(world, laptop, "laptop")
        arguments: dict[str, Any] = {"title": "Why?", "agents": ("one-fox", "two-hen")}
        world.do("debate.new", file=laptop.root / "d.md", **arguments)
        world.project = here
        assert world.refuse("machine.move_here", OTTER, **file) == "human_key_required"
        assert world.refuse("machine.hand_over", OTTER, **file, to="laptop") == "human_key_required"
        assert world.refuse("machine.hand_over", **file, to="desktop") == "machine_not_found"
        moved = world.do("machine.move_here", **file)
        assert (moved["home"], moved["files"]) == (None, [str(here.root / "d.md")])
        world.project = laptop
        assert world.refuse("machine.move_here", **file) == "another_home"
        world.project = here
        assert world.do("machine.hand_over", **file, to="laptop")["home"] == "laptop"
        world.project = laptop
        assert world.do("machine.move_here", **file)["home"] == "laptop"
        world.do("machine.leave")
        world.project = here


@story(does="ledger.move scope.reserve verify", refuses="ledger.move scope.reserve")
def the_ledger_moves_into_a_database_and_back(world: World) -> None:
    assert world.refuse("ledger.move", to="file") == "already_there"
    assert world.refuse("ledger.move", to="mysql://x") == "bad_address"
    with fresh_database() as address:
        assert world.refuse("ledger.move", OTTER, to=address) == "human_key_required"
        moved = world.do("ledger.move", to=address)
        assert moved["to"] == "database"
        world.do("scope.reserve", OTTER, scopes=["src"])
        refused = world.refuse_on_record("scope.reserve", "teal-crane", scopes=["src"])
        assert refused == "reservation_conflict"
        back = world.do("ledger.move", to="file")
        assert (back["to"], back["events"] > moved["events"]) == ("file", True)
    found = world.do("verify")
    assert found["verdict"] == "valid", found
