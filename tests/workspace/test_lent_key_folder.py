"""A folder that was lent: whose it is, what it remembers, and what others sign for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.api.presence.arrival import new_key
from moot.core.errors import Refused, Tampered
from moot.core.machine import KeyClass
from moot.engine.registry_commands import register
from moot.engine.replay import SNAPSHOT_EVERY
from moot.keys.agent_folder import LentFolder, lend_folder
from moot.keys.folder import KeyFolder
from moot.protocols.example.model import Ask
from moot.workspace.workspace import Workspace
from tests.project import LIST, Project, make_project

NAME = "amber-otter"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path, NAME)


@pytest.fixture
def lent(project: Project) -> Iterator[LentFolder]:
    with project.workspace() as workspace:
        origin = workspace.trust.origin
        kid = workspace.engine.registry().agents[NAME].kid
    with lend_folder(KeyFolder(project.keys), origin, NAME, kid) as folder:
        yield folder


def in_lent(project: Project, lent: LentFolder) -> Workspace:
    return Workspace(project.root / ".moot", KeyFolder(lent.path))


def test_the_users_folder_is_the_custodian_and_remembers(
    project: Project, lent: LentFolder
) -> None:
    own, users = KeyFolder(lent.path), KeyFolder(project.keys)
    assert own.custodian == users.custodian
    assert own.user_folder.path == users.path
    assert not (lent.path / "kept.db").exists()


def test_no_key_is_made_in_it(project: Project, lent: LentFolder) -> None:
    folder = KeyFolder(lent.path)
    with in_lent(project, lent) as workspace:
        with pytest.raises(Refused) as refused, new_key(workspace, "teal-crane", folder) as signer:
            register(workspace.engine, "teal-crane", signer, custodian=folder.custodian)
        assert refused.value.code == "key_folder_lent"
        assert "teal-crane" not in workspace.engine.registry().agents
        with pytest.raises(Refused):
            folder.add_key(workspace.trust.origin, "teal-crane", KeyClass.AGENT)
    assert [*folder.names_with_keys(workspace.trust.origin)] == [NAME]


def test_anyone_who_lent_it_makes_the_snapshots_that_are_due(
    project: Project, lent: LentFolder
) -> None:
    with in_lent(project, lent) as workspace:
        for number in range(SNAPSHOT_EVERY + 1):
            workspace.engine.execute(LIST, Ask(title=f"errand {number}", of=NAME), NAME)
        with workspace.store.read() as view:
            assert view.snapshot(LIST) is None
    with project.workspace() as workspace:
        workspace.engine.take_late_snapshots()
        workspace.engine.checkpoint()
        with workspace.store.read() as view:
            snapshot = view.snapshot(LIST)
            assert snapshot is not None
            assert snapshot.seq == SNAPSHOT_EVERY
            assert not view.moved_heads()
        state = workspace.engine.load(LIST).state
    with in_lent(project, lent) as workspace:
        assert workspace.engine.load(LIST).state == state
    assert project.ok("verify")["verdict"] == "valid"


def test_a_rollback_is_noticed_in_it(project: Project, lent: LentFolder, tmp_path: Path) -> None:
    older = tmp_path / "older.db"
    project.ok("ledger", "backup", str(older))
    project.ok("--as", NAME, "reserve", "src/a")
    for beside in ("-wal", "-shm"):
        Path(f"{project.ledger}{beside}").unlink(missing_ok=True)
    project.ledger.write_bytes(older.read_bytes())
    with in_lent(project, lent) as workspace, pytest.raises(Tampered) as tampered:
        workspace.engine.execute(LIST, Ask(title="an errand", of=NAME), NAME)
    assert tampered.value.code == "rolled_back"


def test_another_key_takes_the_place_of_the_one_before(project: Project, lent: LentFolder) -> None:
    project.ok("agent", "rotate", NAME)
    with project.workspace() as workspace:
        kid = workspace.engine.registry().agents[NAME].kid
    lent.renew_key(kid)
    (file,) = lent.path.glob("*/*.key")
    assert file.name == f"{NAME}.{kid}.key"
    with in_lent(project, lent) as workspace:
        workspace.engine.execute(LIST, Ask(title="an errand", of=NAME), NAME)
