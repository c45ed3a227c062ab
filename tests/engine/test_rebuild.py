"""Everything derived can be computed again; differences are named before they are fixed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.core.clock import parse_time
from moot.core.errors import Refused, Tampered
from moot.core.ledger import RecordToAppend, RowEdit, Store
from moot.core.machine import Drop, Put, Words
from moot.core.names import REGISTRY
from moot.core.record import Record
from moot.engine.engine import Engine
from moot.protocols.example.machine import MACHINE as EXAMPLE
from moot.protocols.example.model import Ask, Finish
from moot.store.memory import MemoryStore
from moot.store.sqlite import SqliteStore
from moot.testing import World

STREAM = "example/today"


@pytest.fixture(params=["memory", "sqlite"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    store: Store = MemoryStore()
    if request.param == "sqlite":
        store = SqliteStore(tmp_path / "ledger.db", create=True)
    world = World(store)
    world.clock.forward(seconds=1)
    world.agent("amber-otter")
    world.clock.forward(seconds=1)
    world.agent("teal-crane")
    for number in range(70):
        world.clock.forward(seconds=1)  # a sign of life is written down once a second
        ask = Ask(title=f"errand {number} of today", of="teal-crane")
        world.engine.execute(STREAM, ask, "amber-otter")
    world.engine.execute(STREAM, Finish(id="e1"), "teal-crane")
    yield world
    store.close()


def codes(world: World) -> set[str]:
    return {finding.code for finding in world.engine.rebuild().differences}


def derived(world: World) -> tuple[set[object], list[tuple[str, str, str]], set[object]]:
    with world.store.read() as view:
        return set(view.all_rows()), sorted(view.all_words()), set(view.all_snapshots())


def test_what_is_sound_is_counted_and_left_alone(world: World) -> None:
    before, changes = derived(world), world.store.version()
    done = world.engine.rebuild()
    assert done.differences == ()
    assert (done.streams, done.events) == (2, 74)
    assert (done.words, done.snapshots) == (70, len(before[2]))
    assert derived(world) == before
    if isinstance(world.store, SqliteStore):
        assert world.store.version() == changes


def test_wrong_missing_and_foreign_rows_are_named_and_fixed(world: World) -> None:
    before = derived(world)
    with world.store.write() as change:
        edits: list[Put | Drop | Words] = [
            Put("example.errands", f"{STREAM}#e2", {"of": "someone-else", "title": "forged"}),
            Drop("example.errands", f"{STREAM}#e3"),
            Put("example.errands", f"{STREAM}#e1", {"of": "teal-crane", "title": "back again"}),
            Words("example.errands", "nowhere", "planted words"),
        ]
        change.edit_rows([RowEdit(edit, STREAM, 0) for edit in edits])
    assert codes(world) == {"row_differs", "row_missing", "row_foreign", "words_foreign"}
    rows, words, _ = derived(world)
    assert (rows, words) == before[:2]
    assert codes(world) == set()


@pytest.mark.requirement("LDG-071")
def test_an_index_that_is_gone_is_made_again(world: World) -> None:
    rows, words, _ = derived(world)
    with world.store.write() as change:
        change.clear_rows()
    assert codes(world) == {"row_missing", "words_missing"}
    again = derived(world)
    assert (again[0], again[1]) == (rows, words)
    with world.store.read() as view:
        snapshot = view.snapshot(STREAM)
    assert snapshot is not None
    assert snapshot.seq == 70


def test_a_forged_snapshot_is_named_and_replaced(world: World) -> None:
    with world.store.write() as change:
        snapshot = change.snapshot(STREAM)
        assert snapshot is not None
        change.put_snapshot(snapshot._replace(state=b"\x92\x01\x80"))
    assert codes(world) == {"snapshot_differs"}
    assert codes(world) == set()
    assert world.another_engine().state(EXAMPLE, STREAM).closed == 1


def test_a_snapshot_that_another_key_signed_is_named(world: World) -> None:
    with world.store.write() as change:
        snapshot = change.snapshot(STREAM)
        assert snapshot is not None
        change.put_snapshot(snapshot._replace(signature=bytes(64)))
    assert codes(world) == {"snapshot_unsigned"}


def test_snapshots_of_the_future_or_of_nothing_are_named(world: World) -> None:
    with world.store.write() as change:
        snapshot = change.snapshot(STREAM)
        assert snapshot is not None
        change.put_snapshot(snapshot._replace(seq=5_000))
        change.put_snapshot(snapshot._replace(stream="example/none"))
    assert codes(world) == {"snapshot_differs", "snapshot_foreign"}


@pytest.mark.requirement("LDG-071")
def test_signs_of_life_and_cursors_stay(world: World) -> None:
    world.engine.beat("teal-crane")
    with world.store.write() as change:
        change.put_cursor("teal-crane", "inbox", 7)
        change.clear_rows()
    world.engine.rebuild()
    with world.store.read() as view:
        assert view.cursor("teal-crane", "inbox") == 7
        assert view.heartbeat("teal-crane") is not None


@pytest.mark.parametrize("value", [{"at": 1}, {"at": "x"}, {"at": 10**30}, {}])
def test_a_sign_of_life_must_point_at_an_event_of_its_agent(
    world: World, value: dict[str, object]
) -> None:
    with world.store.write() as change:
        change.edit_rows([RowEdit(Put("seen", "teal-crane", value), STREAM, 70)])
    assert codes(world) == {"row_differs"}


def test_any_event_of_an_agent_is_a_sign_of_its_life(world: World) -> None:
    """Which one came last, only the order of commits knew; an older one is no difference."""
    with world.store.write() as change:
        at = parse_time(next(change.records(STREAM, after=2)).body.at)
        change.edit_rows([RowEdit(Put("seen", "amber-otter", {"at": at}), STREAM, 3)])
        change.edit_rows([RowEdit(Put("seen", "teal-crane", {"at": at}), STREAM, 3)])
    (difference,) = world.engine.rebuild().differences
    assert (difference.code, difference.where) == ("row_differs", "seen teal-crane")


def test_a_record_that_does_not_hold_stops_it_and_nothing_changes() -> None:
    world = World(MemoryStore())
    world.agent("amber-otter")
    world.engine.execute(STREAM, Ask(title="x", of="amber-otter"), "amber-otter")
    with world.store.write() as change:
        forged = Record(STREAM, 1, "0" * 32, b"{}", bytes(64))
        change.append([RecordToAppend(forged, None)])
        change.clear_rows()
    with pytest.raises(Tampered):
        world.another_engine().rebuild()
    assert derived(world) == (set(), [], set())


def test_only_what_is_proved_is_signed_again(world: World) -> None:
    """Without the checkpoint key rows are fixed; snapshots wait for a process that has it."""
    engine = Engine(world.store, _NoKeys(), world.trust, world.clock)
    with world.store.write() as change:
        change.clear_rows()
    assert engine.rebuild().snapshots == 0
    assert derived(world)[0]
    assert world.engine.state(EXAMPLE, STREAM).asked == 70


def test_a_frozen_ledger_is_not_rebuilt(world: World) -> None:
    frozen = Refused("rolled_back", "an older copy")
    engine = Engine(world.store, world.keys, world.trust, world.clock, write_error=frozen)
    with pytest.raises(Refused, match="an older copy"):
        engine.rebuild()


def test_the_registry_is_walked_like_any_other(world: World) -> None:
    with world.store.write() as change:
        change.edit_rows([RowEdit(Put("registry.erased", "ab" * 32, {"reason": "x"}), REGISTRY, 0)])
    assert codes(world) == {"row_foreign"}


class _NoKeys:
    def find(self, _name: str, _kid: str) -> None:
        return None
