"""Signs of life: heartbeats and signed events, believed only under the current key."""

from __future__ import annotations

from typing import cast

import pytest

from moot.core.errors import MootError, NotFound, Refused
from moot.core.ledger import Heartbeat, View
from moot.core.record import Actor
from moot.engine.registry_commands import retire, rotate
from moot.engine.signs_of_life import SEEN, read_claimed_times
from moot.store.memory import MemoryStore
from moot.testing import World
from moot.testing.world import CUSTODIAN
from tests.engine import tampering
from tests.engine.toy_protocol import STREAM, jot, toy_world

OTTER, CRANE = "amber-otter", "teal-crane"


def beats(world: World) -> dict[str, Heartbeat]:
    assert isinstance(world.store, MemoryStore)
    return world.store._tables.beats


def seen(world: World, name: str = OTTER) -> int | None:
    sign = world.another_engine().signs([name]).get(name)
    return None if sign is None else sign.at


@pytest.mark.requirement("LDG-070")
def test_a_heartbeat_is_the_latest_sign_and_no_event() -> None:
    world = toy_world()
    assert seen(world) is None
    world.clock.forward(minutes=1)
    assert world.engine.beat(OTTER) == world.clock.now
    assert seen(world) == world.clock.now
    with world.store.read() as view:
        assert view.count_streams_and_events() == (1, 2)
        assert len(view.heartbeats()) == 1


@pytest.mark.requirement("LDG-070")
def test_a_signed_event_counts_as_well_and_the_newer_of_both_is_told() -> None:
    world = toy_world()
    world.engine.beat(OTTER)
    world.clock.forward(minutes=1)
    (recorded,) = world.engine.execute(STREAM, jot("a"), OTTER).recorded
    sign = world.engine.signs([OTTER])[OTTER]
    assert (sign.at, sign.event, sign.heartbeat) == (recorded.at, recorded.hash.hex(), None)
    world.clock.forward(minutes=1)
    world.engine.beat(OTTER)
    sign = world.engine.signs([OTTER])[OTTER]
    assert (sign.at, sign.event) == (world.clock.now, None)
    assert sign.heartbeat is not None
    assert sign.signature is not None


@pytest.mark.requirement("LDG-070")
def test_who_acts_often_is_written_down_once_a_second() -> None:
    world = toy_world()
    first = world.clock.now
    told = []
    for _ in range(5):
        world.engine.execute(STREAM, jot("a"), OTTER)
        told.append(seen(world))
        world.clock.forward(millis=300)
    assert told == [first] * 4 + [first + 1_200]


@pytest.mark.requirement("LDG-070")
def test_a_clock_that_went_back_does_not_keep_an_event_from_being_written_down() -> None:
    world = toy_world()
    world.engine.execute(STREAM, jot("a"), OTTER)
    world.clock.forward(minutes=-5)
    world.engine.execute(STREAM, jot("b"), OTTER)
    assert seen(world) == world.clock.now


@pytest.mark.requirement("LDG-070")
def test_a_heartbeat_never_moves_time_back() -> None:
    world = toy_world()
    world.engine.beat(OTTER)
    latest = world.clock.now
    world.clock.forward(minutes=-5)
    assert world.engine.beat(OTTER) == latest
    assert seen(world) == latest


@pytest.mark.requirement("LDG-070")
@pytest.mark.parametrize("lie", ["signature", "time", "agent", "kid", "body", "other's key"])
def test_a_forged_heartbeat_is_no_sign(lie: str) -> None:
    world = toy_world(OTTER, CRANE)
    world.engine.beat(OTTER)
    world.engine.beat(CRANE)
    mine, theirs = beats(world)[OTTER], beats(world)[CRANE]
    beats(world)[OTTER] = {
        "signature": mine._replace(signature=bytes(64)),
        "time": mine._replace(at=mine.at + 60_000),
        "agent": theirs._replace(agent=OTTER),
        "kid": mine._replace(kid=theirs.kid),
        "body": mine._replace(raw=mine.raw[:-1]),
        "other's key": theirs._replace(agent=OTTER, kid=mine.kid),
    }[lie]
    assert seen(world) is None
    assert seen(world, CRANE) == theirs.at


@pytest.mark.requirement("LDG-070")
@pytest.mark.parametrize("ahead", [1, 999_999_999])
def test_a_forged_heartbeat_silences_nobody(ahead: int) -> None:
    world = toy_world()
    world.engine.beat(OTTER)
    beats(world)[OTTER] = beats(world)[OTTER]._replace(at=world.clock.now + ahead)
    assert world.engine.beat(OTTER) == world.clock.now
    assert seen(world) == world.clock.now


@pytest.mark.requirement("LDG-070")
def test_a_heartbeat_of_an_earlier_key_or_holder_is_no_sign() -> None:
    world = toy_world()
    world.engine.beat(OTTER)
    (old,) = world.keys.signers[OTTER]
    new = world.keys.make(OTTER, salt="second")
    rotate(world.engine, OTTER, new, endorser=old, custodian=CUSTODIAN, reason="time")
    assert seen(world) is None
    world.clock.forward(minutes=1)
    world.engine.beat(OTTER)
    assert seen(world) == world.clock.now


@pytest.mark.requirement("LDG-070")
def test_only_who_may_sign_may_say_that_they_are_alive() -> None:
    world = toy_world(OTTER, CRANE)
    retire(world.engine, OTTER)
    world.keys.signers[CRANE] = []
    before = tampering.everything(world)
    wrong: list[tuple[str, type[MootError], str]] = [
        ("nobody-here", NotFound, "agent_not_found"),
        (OTTER, Refused, "agent_retired"),
        (CRANE, Refused, "key_missing"),
    ]
    for name, kind, code in wrong:
        with pytest.raises(kind) as caught:
            world.engine.beat(name)
        assert caught.value.code == code
    assert tampering.everything(world) == before


@pytest.mark.requirement("LDG-070")
def test_an_index_row_that_points_at_someone_elses_event_is_no_sign() -> None:
    world = toy_world(OTTER, CRANE)
    world.engine.execute(STREAM, jot("a"), CRANE)
    assert isinstance(world.store, MemoryStore)
    rows = world.store._tables.rows[SEEN]
    rows[OTTER] = rows[CRANE]._replace(key=OTTER)
    assert seen(world) is None
    rows[CRANE] = rows[CRANE]._replace(seq=7)
    assert seen(world, CRANE) is None


@pytest.mark.requirement("LDG-070")
def test_an_event_whose_signature_does_not_hold_is_no_sign() -> None:
    world = toy_world()
    world.engine.execute(STREAM, jot("a"), OTTER)
    assert seen(world) == world.clock.now
    records = tampering.chain(world, STREAM)
    records[-1] = tampering.spoil_signature(records[-1])
    assert seen(world) is None


@pytest.mark.requirement("LDG-070")
def test_an_event_under_a_borrowed_name_is_no_sign_of_its_owner() -> None:
    world = toy_world(OTTER, CRANE)
    world.engine.execute(STREAM, jot("a"), OTTER)
    (crane,) = world.keys.signers[CRANE]
    tampering.append_as(world, STREAM, crane, actor=Actor(OTTER, 1, crane.kid))
    assert isinstance(world.store, MemoryStore)
    rows = world.store._tables.rows[SEEN]
    rows[OTTER] = rows[OTTER]._replace(seq=1)
    assert seen(world) is None


# Whom to look at first, as rows claim: the later of a heartbeat and an act; damage hides one.


class Rows:
    """The two things that are read of a view."""

    def __init__(self, seen: dict[str, bytes], beats: dict[str, int]) -> None:
        self._seen, self._beats = seen, beats

    def values(self, _space: str) -> dict[str, bytes]:
        return self._seen

    def heartbeat_times(self) -> dict[str, int]:
        return self._beats


def read(seen: dict[str, bytes], beats: dict[str, int]) -> dict[str, int]:
    return read_claimed_times(cast("View", Rows(seen, beats)))


def test_the_later_of_act_and_heartbeat_counts() -> None:
    seen = {"amber-otter": b'{"at":7}', "teal-crane": b'{"at":9}'}
    beats = {"teal-crane": 8, "amber-otter": 12, "coral-finch": 3}
    assert read(seen, beats) == {"amber-otter": 12, "teal-crane": 9, "coral-finch": 3}


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"at":"soon"}', b'{"at":1}{"at":2}'])
def test_a_damaged_row_says_nothing_and_the_others_still_do(damage: bytes) -> None:
    seen = {"amber-otter": b'{"at":7}', "teal-crane": damage, "coral-finch": b'{"at":9}'}
    assert read(seen, {}) == {"amber-otter": 7, "coral-finch": 9}
    assert read(seen, {"teal-crane": 4})["teal-crane"] == 4
