"""A ledger moves while others have it open: a keeper, a machine that joined, a page."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from moot.api.presence import scopes
from moot.api.session import Session
from moot.core.errors import MootError
from moot.keys.folder import KeyFolder
from tests.hosts.kept_ledger import KeptLedger
from tests.hosts.test_several_hosts import CRANE, OTTER, events_of, held_paths, reserve
from tests.project import Project
from tests.store.postgres_server import fresh_database


@pytest.fixture
def database() -> Iterator[str]:
    with fresh_database() as address:
        yield address


def test_a_keeper_goes_on_where_its_ledger_was_moved_to(
    kept: KeptLedger, laptop: Project, database: str
) -> None:
    """There and back; no process is stopped or restarted."""
    assert reserve(laptop, OTTER, "src/a.py") == ""
    for number, place in enumerate((database, "file")):
        kept.project.ok("ledger", "move", place)
        assert reserve(laptop, OTTER, f"src/{number}.py") == ""
        assert held_paths(kept.project) == held_paths(laptop)
        assert f"src/{number}.py" in held_paths(laptop)
    assert kept.project.ok("verify")["verdict"] == "valid"


def test_what_is_recorded_in_the_new_place_is_read_by_anyone_who_had_the_old_one_open(
    kept: KeptLedger, laptop: Project, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "moot.workspace.relocatable_store.CHECK_INTERVAL", 0.0
    )  # all of this is quick
    kept.project.ok("agent", "register", CRANE)
    with kept.project.workspace() as page:
        before = page.engine.registry()
        kept.project.ok("ledger", "move", database)
        assert reserve(kept.project, CRANE, "src/new.py") == ""
        assert page.engine.registry() == before
        with page.store.read() as view:
            assert view.newest_position() == events_of(kept.project)
        assert held_paths(laptop) == ["src/new.py"]


def test_a_ledger_that_moves_under_load_keeps_all_that_was_acknowledged(
    kept: KeptLedger, laptop: Project, desktop: Project, database: str
) -> None:
    acknowledged: list[str] = []
    wrong: list[str] = []
    stop = threading.Event()

    def work(project: Project, name: str, folder: str) -> None:
        keys = KeyFolder(project.keys)
        number = 0
        with Session(project.root, acting=name, keys=keys, env=project.env) as session:
            while not stop.is_set() or number < 20:
                number += 1
                try:
                    scopes.reserve(session, [f"{folder}/{number}.py"])
                except MootError as error:
                    wrong.append(f"{name} {number} [{error.code}] {error}")
                else:
                    acknowledged.append(f"{folder}/{number}.py")

    workers = [
        threading.Thread(target=work, args=(laptop, OTTER, "one")),
        threading.Thread(target=work, args=(desktop, CRANE, "two")),
    ]
    for thread in workers:
        thread.start()
    try:
        for place in (database, "file"):
            kept.project.ok("ledger", "move", place)
    finally:
        stop.set()
        for thread in workers:
            thread.join(120)
    assert wrong == []
    assert set(held_paths(kept.project)) == set(acknowledged)
    for project in (kept.project, laptop, desktop):
        assert project.ok("verify")["verdict"] == "valid"
