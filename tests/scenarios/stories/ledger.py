"""The record as a whole: read, checked, copied, repaired."""

from __future__ import annotations

from tests.scenarios.world import World, story


@story(does="ledger.log ledger.verify", refuses="ledger.log")
def the_record_is_listed_and_checked(world: World) -> None:
    listed = world.do("ledger.log")
    assert [line["id"] for line in listed["streams"]] == ["registry"]
    events = world.do("ledger.log", name="registry", limit=1)
    assert [event["type"] for event in events["events"]] == ["registry.key_added"]
    assert events["total"] == 4
    assert world.refuse("ledger.log", name="debate/none") == "not_found"
    assert world.do("ledger.verify")["verdict"] == "valid"


@story(does="ledger.checkpoint", refuses="ledger.checkpoint")
def a_checkpoint_is_made_once_for_the_same_events(world: World) -> None:
    file = world.project.root / "note.txt"
    made = world.do("ledger.checkpoint", file=file)
    assert made["note"] == file.read_text()
    again = world.do("ledger.checkpoint")
    assert (again["made"], again["number"]) == (False, made["number"])
    nowhere = file / "note.txt"
    assert world.refuse("ledger.checkpoint", file=nowhere) == "unwritable_file"


@story(
    does="ledger.export ledger.verify trust.export trust.show ledger.backup",
    refuses="ledger.verify ledger.backup",
)
def copies_prove_something_elsewhere(world: World) -> None:
    root = world.project.root
    made = world.do("ledger.export", file=root / "record.moot")
    assert made["complete"]
    trust = world.do("trust.export", file=root / "trust.json", minimum=True)
    assert trust["minimum"] == made["checkpoint"]
    shown = world.do("trust.show", file=root / "trust.json")
    assert shown["fingerprint"] == trust["fingerprint"]
    verdict = world.do("ledger.verify", what="record.moot", trust=root / "trust.json")
    assert verdict["verdict"] == "valid"
    assert world.refuse("ledger.verify", what="none.moot") == "unreadable_file"
    assert world.do("ledger.backup", file=root / "copy.db")["events"] == 4
    assert world.refuse("ledger.backup", file=root / "copy.db") == "file_exists"


@story(does="ledger.doctor ledger.rebuild", refuses="ledger.rebuild")
def indexes_are_rebuilt(world: World) -> None:
    assert world.do("ledger.doctor")["healthy"]
    done = world.do("ledger.rebuild")
    assert (done["changed"], done["events"]) == (False, 4)
    world.project.ledger.rename(world.project.root / "away.db")
    assert world.refuse("ledger.rebuild") == "no_ledger"


@story(does="ledger.witness ledger.export", refuses="ledger.witness")
def two_copies_of_one_ledger_are_compared(world: World) -> None:
    file = world.project.root / "other.moot"
    world.do("ledger.export", file=file)
    seen = world.do("ledger.witness", file=file)
    assert (seen["verdict"], seen["differing"], seen["other"]) == ("agrees", 0, "valid")
    first, second, *rest = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([first, second.replace(b"A", b"B"), *rest]))
    assert world.refuse("ledger.witness", file=file) == "tampered"


@story(does="ledger.accept_loss", refuses="ledger.accept_loss")
def a_person_goes_on_from_an_older_copy(world: World) -> None:
    project = world.project
    older = project.root / "older.db"
    project.ok("ledger", "backup", str(older))
    assert world.refuse("ledger.accept_loss", reason="nobody unlocks") == "human_key_required"
    project.ok("agent", "register", "coral-finch")
    for name in ("ledger.db-wal", "ledger.db-shm"):
        project.ledger.with_name(name).unlink(missing_ok=True)
    older.replace(project.ledger)
    assert world.refuse("ledger.accept_loss", "amber-otter", reason="no") == "human_key_required"
    accepted = world.as_person("ledger.accept_loss", reason="the disk died")
    assert accepted["reason"] == "the disk died"


@story(does="init", refuses="init")
def a_workspace_is_made_once(world: World) -> None:
    made = world.do("init")
    assert (made["created"], made["operator"]) == (False, True)
    (world.project.root / ".moot").rename(world.project.root / "away")
    made = world.do("init")
    assert (made["created"], len(made["earlier"])) == (True, 1)
    (world.project.root / ".moot").rename(world.project.root / "away-too")
    (world.project.root / ".moot").write_text("a file is in the way")
    assert world.refuse("init") in ("no_trust", "no_workspace", "workspace_not_created")


@story(does="ledger.forget", refuses="ledger.forget")
def a_workspace_that_is_gone_is_forgotten(world: World) -> None:
    root = world.project.root
    assert world.refuse("ledger.forget") == "workspace_exists"
    (root / ".moot").rename(root.with_name("away"))
    assert world.refuse("ledger.forget", "amber-otter") == "human_key_required"
    assert world.do("ledger.forget") == {"folder": str(root)}
    assert world.refuse("ledger.forget") == "workspace_not_known"
