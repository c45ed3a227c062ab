"""Making and opening a workspace: whole or absent, and never on top of an older copy."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from moot.core.clock import fixed_clock, system_clock
from moot.core.errors import Refused, StoreFailed, Tampered
from moot.core.machine import KeyClass
from moot.engine.registry_commands import register
from moot.keys.folder import KeyFolder
from moot.protocols.example.machine import MACHINE as EXAMPLE
from moot.protocols.example.model import Ask
from moot.workspace.create import create_workspace
from moot.workspace.workspace import Workspace

NOON = "2026-02-18T12:00:00Z"


@pytest.fixture
def keys(tmp_path: Path) -> KeyFolder:
    return KeyFolder(tmp_path / "keys")


@pytest.fixture
def project(tmp_path: Path, keys: KeyFolder) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    assert create_workspace(root, keys, system_clock)
    return root


def opened(project: Path, keys: KeyFolder, clock: str = "") -> Workspace:
    return Workspace(project / ".moot", keys, clock_text=clock)


def add_agent(space: Workspace, name: str = "amber-otter") -> None:
    signer = space.folder.add_key(space.trust.origin, name, KeyClass.AGENT)
    register(space.engine, name, signer, custodian=space.folder.custodian)


def ask(space: Workspace, count: int = 1) -> None:
    for _ in range(count):
        space.engine.execute("example/a", Ask(title="t", of="amber-otter"), "amber-otter")


def test_it_holds_what_it_should_and_nothing_private(project: Path, keys: KeyFolder) -> None:
    names = {path.name for path in (project / ".moot").iterdir()}
    assert names == {"ledger.db", "artifacts", "trust.json", ".gitignore"}
    assert (project / ".moot" / ".gitignore").read_text() == "*\n"
    secrets = [path.read_bytes() for path in keys.path.rglob("*.key")]
    assert len(secrets) == 2
    assert [p.name for p in project.iterdir()] == [".moot"]


def test_making_it_again_changes_nothing(project: Path, keys: KeyFolder) -> None:
    before = (project / ".moot" / "trust.json").read_bytes()
    assert create_workspace(project, keys, system_clock) is False
    assert (project / ".moot" / "trust.json").read_bytes() == before


def test_many_who_make_it_at_once_make_one(tmp_path: Path, keys: KeyFolder) -> None:
    root = tmp_path / "raced"
    root.mkdir()
    start, made = threading.Barrier(6), []

    def run() -> None:
        start.wait()
        made.append(create_workspace(root, keys, system_clock))

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == [False] * 5 + [True]
    assert [path.name for path in root.iterdir()] == [".moot"]
    with opened(root, keys) as space:
        assert space.rollback is None
        add_agent(space)


def test_a_place_that_cannot_be_written_gives_a_clear_error_and_no_rest(
    tmp_path: Path, keys: KeyFolder
) -> None:
    with pytest.raises(StoreFailed) as error:
        create_workspace(tmp_path / "absent", keys, system_clock)
    assert error.value.code == "workspace_not_created"
    assert not (tmp_path / "absent").exists()


@pytest.mark.requirement("LDG-039")
def test_an_older_database_in_its_place_is_noticed_and_not_written_to(
    project: Path, keys: KeyFolder, tmp_path: Path
) -> None:
    with opened(project, keys) as space:
        add_agent(space)
        ask(space, 3)
    old = tmp_path / "old.db"
    shutil.copy(project / ".moot" / "ledger.db", old)
    with opened(project, keys) as space:
        ask(space, 3)
    shutil.copy(old, project / ".moot" / "ledger.db")
    with opened(project, keys) as space:
        assert space.rollback is not None
        assert space.engine.state(EXAMPLE, "example/a").asked == 3
        with pytest.raises(Tampered) as error:
            ask(space)
        assert error.value.code == "rolled_back"
        assert "accept-loss" in error.value.hint
        assert space.engine.state(EXAMPLE, "example/a").asked == 3


def test_the_newest_database_put_back_is_accepted_again(
    project: Path, keys: KeyFolder, tmp_path: Path
) -> None:
    with opened(project, keys) as space:
        add_agent(space)
    new = tmp_path / "new.db"
    shutil.copy(project / ".moot" / "ledger.db", new)
    with opened(project, keys) as space:
        assert space.rollback is None
    shutil.copy(new, project / ".moot" / "ledger.db")
    with opened(project, keys) as space:
        ask(space)


def test_two_copies_that_went_apart_are_told_from_each_other(
    project: Path, keys: KeyFolder, tmp_path: Path
) -> None:
    with opened(project, keys) as space:
        add_agent(space)
    twin = tmp_path / "twin"
    shutil.copytree(project, twin)
    with opened(project, keys) as space:
        ask(space)
    with opened(twin, keys) as space:
        assert space.rollback is not None
        with pytest.raises(Tampered):
            ask(space)


def test_a_changed_trust_file_is_noticed(project: Path, keys: KeyFolder) -> None:
    file = project / ".moot" / "trust.json"
    with opened(project, keys) as space:
        root, pin = space.trust.root.hex(), space.trust.checkpoint.hex()
    file.write_text(file.read_text().replace(pin, root))
    with pytest.raises(Tampered) as error:
        opened(project, keys)
    assert error.value.code == "trust_changed"


def test_the_test_clock_is_honoured_only_where_the_record_says_so(
    project: Path, keys: KeyFolder, tmp_path: Path
) -> None:
    with pytest.raises(Refused) as error:
        opened(project, keys, clock=NOON)
    assert error.value.code == "clock_not_allowed"
    other = tmp_path / "tested"
    other.mkdir()
    create_workspace(other, keys, fixed_clock(NOON), fixed_clock=True)
    with opened(other, keys, clock=NOON) as space:
        assert space.engine.clock() == fixed_clock(NOON)()
        assert space.engine.registry().clock == "fixed"


def test_a_process_without_the_checkpoint_key_writes_and_leaves_the_checkpoint_to_others(
    project: Path, keys: KeyFolder, tmp_path: Path
) -> None:
    own = KeyFolder(tmp_path / "own")
    with opened(project, keys) as space:
        signer = own.add_key(space.trust.origin, "amber-otter", KeyClass.AGENT)
        register(space.engine, "amber-otter", signer, custodian=own.custodian)
        space.pin_trust(own)
        with space.store.read() as view:
            before = view.newest_note()
    with opened(project, own) as space:
        ask(space, 70)
    with opened(project, keys) as space, space.store.read() as view:
        assert view.newest_note() != before  # made when the first workspace closed
        moved = [name for name, _ in view.moved_heads()]
        assert moved == ["example/a"]
        assert view.snapshot("example/a") is None


def test_opening_a_workspace_reads_no_events(project: Path, keys: KeyFolder) -> None:
    with opened(project, keys) as space:
        add_agent(space)
        ask(space, 5)
    reads: list[str] = []
    space = opened(project, keys)
    space.store._db.set_trace_callback(reads.append)
    again = space._find_rollback()
    space.store._db.set_trace_callback(None)
    space.close()
    assert again is None
    assert not any("events" in sql for sql in reads)
