"""A loss that goes deeper than a signed snapshot, or than the keys that other events rest on."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from moot.core.errors import MootError, Tampered
from moot.core.names import REGISTRY
from moot.keys.folder import KeyFolder
from moot.protocols.example.model import Ask
from moot.store.sqlite.transaction import SqliteTransaction
from moot.verify import standalone
from moot.workspace.recovery import accept_loss
from moot.workspace.workspace import Workspace
from tests.project import Project
from tests.workspace import removing_events
from tests.workspace.test_removed_events import (
    OTTER,
    A,
    B,
    ThreeLists,
    add,
    agent_of_its_own,
    ask,
    refused,
)

ACCEPT = ("ledger", "accept-loss", "--reason", "the disk died")
LOST = "finch-63"


@pytest.fixture
def lists(tmp_path: Path) -> ThreeLists:
    """Enough keys for a signed snapshot of the registry, and none of the last ones used."""
    root = tmp_path / "project"
    root.mkdir()
    lists = ThreeLists(root, KeyFolder(tmp_path / "keys"))
    with lists.open() as space:
        for number in range(64):
            add(space, f"finch-{number}")
    assert [row[:2] for row in removing_events.snapshots(lists.ledger)] == [(REGISTRY, 63)]
    return lists


@pytest.fixture
def project(lists: ThreeLists) -> Project:
    return Project(lists.path.parent, lists.keys.path)


def dump(ledger: Path) -> list[str]:
    with closing(sqlite3.connect(ledger)) as db:
        return list(db.iterdump())


def cut(lists: ThreeLists) -> None:
    """Event 66 was the last; the snapshot speaks of 63, and 58 is the last now."""
    removing_events.cut_under_snapshots(lists.ledger, REGISTRY, 8)


def count(lists: ThreeLists) -> int:
    with closing(sqlite3.connect(lists.ledger)) as db:
        found: int = db.execute("SELECT count(*) FROM events").fetchone()[0]
    return found


def kid_of(lists: ThreeLists, name: str) -> str:
    with lists.open() as space:
        return space.engine.registry().agents[name].kid


@pytest.mark.requirement("LDG-098")
def test_a_registry_cut_below_a_snapshot_is_gone_on_from_once_that_is_accepted(
    lists: ThreeLists, project: Project
) -> None:
    kid = kid_of(lists, LOST)
    cut(lists)
    assert project.refused("agent", "register", "coral-wren")[0] == "rolled_back"
    with lists.open() as space:
        assert refused(space.engine.registry).seq == 59
    assert project.ok(*ACCEPT)["by"] is None
    assert removing_events.snapshots(lists.ledger) == []
    assert lists.verdict() == lists.told_outside() == "valid"
    with lists.open() as space:
        registry = space.engine.registry()
        assert (kid in registry.keys, LOST in registry.agents) == (False, False)
        assert "finch-0" in registry.agents
        with pytest.raises(MootError) as caught:
            space.engine.execute(A, Ask(title="t", of=OTTER), LOST)
        assert caught.value.code == "agent_not_found"
        for stream in (A, "example/new"):
            ask(space, stream, 2)
        for number in range(64):
            add(space, f"wren-{number}")
        add(space, LOST)  # the name is free again, and has a new key
    assert kid_of(lists, LOST) != kid
    assert [row[:2] for row in removing_events.snapshots(lists.ledger)] == [(REGISTRY, 63)]
    assert lists.verdict() == lists.told_outside() == "valid"


@pytest.mark.requirement("LDG-099")
def test_such_a_loss_is_named_in_every_verdict(lists: ThreeLists, project: Project) -> None:
    cut(lists)
    project.ok(*ACCEPT)
    project.ok("ledger", "export", "-o", "record.moot")
    said = "a loss was accepted at event 59 of the list of keys on 20"
    for words in (("verify",), ("verify", "record.moot"), ("verify", A)):
        done = project.run(*words)
        assert (done.code, said in done.out) == (0, True)
    file, trust = lists.path.parent / "record.moot", lists.path / "trust.json"
    (found,) = standalone.verify(str(file), str(trust)).findings
    assert found.startswith("a loss was accepted at event 59 of the registry on 20")


@pytest.mark.requirement("LDG-098")
def test_a_person_who_is_left_signs_for_it_and_one_who_is_lost_cannot(
    tmp_path: Path, passphrase: str
) -> None:
    root, settings = tmp_path / "project", {"MOOT_PASSPHRASE_FILE": passphrase}
    root.mkdir()
    project = Project(root, tmp_path / "keys")
    project.ok("init", **settings)
    with project.workspace() as space:
        for number in range(64):
            add(space, f"finch-{number}")
    by = project.ok("agent", "show", "operator")["kid"]
    removing_events.cut_under_snapshots(project.ledger, REGISTRY, 8)
    before = dump(project.ledger)
    assert project.refused(*ACCEPT) == ("human_key_required", 1)
    assert project.refused(*ACCEPT, MOOT_AGENT="finch-0", **settings)[0] == "human_key_required"
    assert dump(project.ledger) == before
    assert project.ok(*ACCEPT, **settings)["by"] == by
    assert project.ok("verify")["verdict"] == "valid"


@pytest.mark.requirement("LDG-098")
def test_a_loss_that_is_not_accepted_leaves_the_snapshot_that_shows_it(
    lists: ThreeLists, project: Project
) -> None:
    cut(lists)
    before = dump(lists.ledger)
    assert project.refused("ledger", "accept-loss", "--reason", " ") == ("reason_required", 1)
    assert dump(lists.ledger) == before


@pytest.mark.requirement("LDG-098")
def test_nothing_but_accepting_drops_a_snapshot_of_what_is_lost(
    lists: ThreeLists, project: Project
) -> None:
    cut(lists)
    before = dump(lists.ledger)
    for words in (("status",), ("ledger", "rebuild"), ("ledger", "checkpoint"), ("ledger", "log")):
        project.json(*words)
    assert dump(lists.ledger) == before


@pytest.mark.requirement("LDG-098")
def test_snapshots_of_every_list_that_was_cut_or_removed_are_dropped_and_no_other(
    lists: ThreeLists,
) -> None:
    with lists.open() as space:
        for stream in (A, B, "example/gone"):
            ask(space, stream, 70)
    kept = removing_events.snapshots(lists.ledger)
    assert [row[0] for row in kept] == [A, B, "example/gone", REGISTRY]
    removing_events.cut_under_snapshots(lists.ledger, A, 40)
    removing_events.remove(lists.ledger, "example/gone")
    removing_events.put_snapshots(lists.ledger, kept)
    with lists.open() as space:
        accept_loss(space, "the disk died", None)
    assert [row[0] for row in removing_events.snapshots(lists.ledger)] == [B, REGISTRY]
    with lists.open() as space:
        for stream in (A, B, "example/gone"):
            ask(space, stream, 2)
    assert lists.verdict() == lists.told_outside() == "valid"


@pytest.mark.requirement("LDG-098")
def test_a_snapshot_of_a_history_that_was_made_again_is_dropped_too(lists: ThreeLists) -> None:
    """Cut without it, grown beyond it by a process that had kept nothing, and put back."""
    kept = removing_events.snapshots(lists.ledger)
    removing_events.cut(lists.ledger, REGISTRY, 8)
    with lists.open() as space:
        engine = space.engine_ignoring_loss()
        space.engine = engine
        for number in range(7):
            add(space, f"wren-{number}")
    removing_events.put_snapshots(lists.ledger, kept)
    with lists.open() as space:
        refused(space.engine.registry)
        accept_loss(space, "the disk died", None)
    assert removing_events.snapshots(lists.ledger) == []
    with lists.open() as space:
        assert "wren-6" in space.engine.registry().agents
        ask(space)
    assert lists.verdict() == lists.told_outside() == "valid"


@pytest.mark.requirement("LDG-098")
def test_an_acceptance_that_died_before_the_snapshot_was_dropped_can_be_finished(
    lists: ThreeLists, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut(lists)

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(SqliteTransaction, "drop_snapshot", dies)
        assert project.run(*ACCEPT).code == 130
    assert project.json("verify").data["verdict"] == "truncated"
    project.ok(*ACCEPT)
    assert lists.verdict() == "valid"
    with lists.open() as space:
        ask(space)


@pytest.mark.requirement("LDG-098")
def test_a_loss_that_only_a_signed_snapshot_shows_is_accepted(
    lists: ThreeLists, project: Project
) -> None:
    """A process died before anything of it was pinned; then the file lost it."""
    with lists.open() as space:
        space.engine.close = space.store.close  # type: ignore[method-assign]
        for number in range(64):
            add(space, f"wren-{number}")
        with space.store.write() as change:
            change.file_pending()  # as far as a cut by SQL looks
    assert [row[:2] for row in removing_events.snapshots(lists.ledger)] == [(REGISTRY, 127)]
    removing_events.cut_under_snapshots(lists.ledger, REGISTRY, 64)
    done = project.json("agent", "register", "coral-wren")
    assert "accept-loss" in done.error["hint"]
    project.ok(*ACCEPT)
    assert lists.verdict() == lists.told_outside() == "valid"
    with lists.open() as space:
        add(space, "wren-0")


@pytest.mark.requirement("LDG-098")
def test_a_loss_is_accepted_where_what_was_kept_is_lost_as_well(
    lists: ThreeLists, project: Project
) -> None:
    cut(lists)
    for file in lists.keys.path.glob("kept.db*"):
        file.unlink()
    note = lists.note()
    assert project.ok(*ACCEPT)["checkpoint"] == 4
    (event,) = project.ok("ledger", "log", "registry", "--type", "registry.history_accepted")[
        "events"
    ]
    assert event["data"]["lost"] == note
    assert lists.verdict() == lists.told_outside() == "valid"


@pytest.mark.requirement("LDG-098")
def test_a_snapshot_that_nobody_signed_shows_no_loss(lists: ThreeLists, project: Project) -> None:
    (row,) = removing_events.snapshots(lists.ledger)
    removing_events.put_snapshots(lists.ledger, [(row[0], 900, *row[2:])])
    assert project.refused(*ACCEPT) == ("nothing_lost", 1)
    project.ok("agent", "register", "coral-wren")


@pytest.mark.requirement("LDG-098")
def test_forged_keys_in_what_is_left_are_not_accepted(lists: ThreeLists) -> None:
    """From event 0 on, for no snapshot can be trusted here: every signature is looked at."""
    cut(lists)
    removing_events.forge_newest(lists.ledger, REGISTRY)
    kept, events = lists.kept(), count(lists)
    with lists.open() as space:
        error = refused(lambda: accept_loss(space, "the disk died", None))
    assert (error.stream, error.seq) == (REGISTRY, 58)
    assert (lists.kept(), count(lists)) == (kept, events)


# Events that rest on the lost keys.


@pytest.fixture
def used(lists: ThreeLists) -> ThreeLists:
    """The last key that was registered has written; then its registration is cut off."""
    with lists.open() as space:
        space.engine.execute(A, Ask(title="t", of=OTTER), LOST)
    removing_events.cut(lists.ledger, REGISTRY, 8)
    return lists


@pytest.mark.requirement("LDG-098")
def test_what_rests_on_lost_keys_cannot_be_accepted(used: ThreeLists, project: Project) -> None:
    """No checker could follow it, and no event could come after it."""
    before = dump(used.ledger)
    done = project.json(*ACCEPT)
    assert done.error["code"] == "keys_lost"
    assert "event 4 of example/a refers to event 66 of the registry" in done.error["message"]
    assert dump(used.ledger) == before
    assert used.verdict() == "tampered"


@pytest.mark.requirement("LDG-098")
def test_the_doctor_names_what_rests_on_lost_keys(used: ThreeLists, project: Project) -> None:
    del used
    found = project.json("ledger", "doctor").data["findings"]
    (broken,) = (each for each in found if each["code"] == "chain_broken")
    assert (broken["where"], "of the registry" in broken["message"]) == (A, True)


@pytest.mark.requirement("LDG-098")
def test_nothing_is_written_after_what_rests_on_lost_keys(
    lists: ThreeLists, tmp_path: Path
) -> None:
    """Where nothing is kept nobody knows of the loss: what followed would break the chain."""
    with lists.open() as space:
        own = agent_of_its_own(space, tmp_path / "own")
        add(space, "last-finch")
        space.engine.execute(A, Ask(title="t", of=OTTER), "last-finch")
    removing_events.cut(lists.ledger, REGISTRY, 1)
    before = dump(lists.ledger)
    with lists.open(own) as space:
        error = refused(lambda: _ask_as_crane(space, A))
        assert (error.code, error.stream) == ("keys_lost", A)
        assert dump(lists.ledger) == before
        _ask_as_crane(space, B)


def _ask_as_crane(space: Workspace, stream: str) -> None:
    try:
        space.engine.execute(stream, Ask(title="t", of=OTTER), "teal-crane")
    except Tampered:
        space.engine.load(stream)  # reading shows what is there all the same
        raise


@pytest.mark.requirement("LDG-098")
@pytest.mark.parametrize("how", ["cut", "removed"])
def test_a_rebuild_does_not_hide_a_loss_that_only_a_signed_snapshot_shows(
    lists: ThreeLists, project: Project, how: str
) -> None:
    """The notes are gone too, and what was kept: nothing else knows of it any more."""
    with lists.open() as space:
        ask(space, "example/gone", 64)
    kept = removing_events.snapshots(lists.ledger)
    if how == "cut":
        removing_events.cut_under_snapshots(lists.ledger, "example/gone", 5)
    else:
        removing_events.remove(lists.ledger, "example/gone")
        removing_events.put_snapshots(lists.ledger, kept)
    removing_events.run(
        lists.ledger,
        "DELETE FROM notes",
        "DELETE FROM nodes",
        "UPDATE streams SET noted_seq = -1, noted_hash = x'', moved = 1",
    )
    for file in lists.keys.path.glob("kept.db*"):
        file.unlink()
    assert project.refused("ledger", "rebuild") == ("rolled_back", 1)
    assert removing_events.snapshots(lists.ledger) == kept
    found = project.json("ledger", "doctor").data["findings"]
    assert [each["severity"] for each in found if each["where"] == "example/gone"][:1] == ["error"]
    project.ok(*ACCEPT)
    assert lists.verdict() == lists.told_outside() == "valid"
