"""What a warm engine remembers of who acts, and of states: never longer than it is true."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from moot.core.errors import Refused
from moot.core.names import REGISTRY, SYSTEM
from moot.engine import replay
from moot.engine.batch import Result
from moot.engine.job import Job, JobOutcome
from moot.engine.registry_commands import rotate, rotation_command
from moot.engine.signers import PrivateKey
from moot.testing import MemoryKeys
from moot.testing.world import CUSTODIAN
from tests.engine.tampering import everything
from tests.engine.toy_protocol import STREAM, jot, toy_world

OTTER = "amber-otter"


class Asking(MemoryKeys):
    """Each look at a key may be a question to a person."""

    def __init__(self, known: MemoryKeys) -> None:
        super().__init__()
        self.signers = known.signers
        self.asked: list[str] = []

    def find(self, name: str, kid: str) -> PrivateKey | None:
        self.asked.append(name)
        return super().find(name, kid)


def test_a_key_is_looked_for_once_a_command() -> None:
    world = toy_world()
    keys = world.engine.keys = Asking(world.keys)
    for _ in range(3):
        world.engine.execute(STREAM, jot("one"), OTTER)
    assert keys.asked == [OTTER] * 3


def test_whether_a_person_is_there_is_asked_each_time() -> None:
    world = toy_world()
    seen = []
    for attended in (False, True, False):
        world.keys.attended = {OTTER} if attended else set()
        seen.append(
            world.engine._signatories.find(world.engine.registry(), world.keys, OTTER, None)
        )
    assert [hand.acting.attended for hand in seen] == [False, True, False]


def test_a_key_that_vanished_after_it_was_used_signs_nothing_more() -> None:
    world = toy_world()
    for name in (OTTER, SYSTEM):
        world.engine.execute(STREAM, jot("one"), name)
        world.keys.signers[name], kept = [], world.keys.signers[name]
        before = everything(world)
        with pytest.raises(Refused) as caught:
            world.engine.execute(STREAM, jot("two"), name)
        assert caught.value.code == "key_missing"
        assert everything(world) == before
        world.keys.signers[name] = kept
        world.engine.execute(STREAM, jot("three"), name)


def test_the_same_agent_in_another_role_is_recorded_in_that_role() -> None:
    world = toy_world()
    jobs = [Job(STREAM, jot("one"), OTTER, role=role) for role in ("a", None, "b", "a")]
    told = [result for result in world.engine.execute_all(jobs) if isinstance(result, JobOutcome)]
    assert [each.recorded[0].actor.role for each in told] == ["a", None, "b", "a"]


@pytest.mark.parametrize("kept", [False, True])
def test_a_rotation_counts_from_its_place_in_a_batch_and_only_if_it_was_kept(kept: bool) -> None:
    world = toy_world()
    (old,) = world.keys.signers[OTTER]
    world.engine.execute(STREAM, jot("one"), OTTER)
    new = world.keys.make(OTTER, salt="second")
    turned = rotation_command(
        world.engine, OTTER, new, endorser=old, custodian=CUSTODIAN, reason="time"
    )
    jobs = [
        Job(STREAM, jot("before"), OTTER),
        Job(REGISTRY, turned, SYSTEM),
        Job(STREAM, jot("after"), OTTER),
    ]
    signed: list[str] = []

    def look(results: list[Result]) -> None:
        told = [result for result in results if isinstance(result, JobOutcome)]
        signed.extend(each.recorded[0].actor.kid for each in told if each.stream == STREAM)
        if not kept:
            raise Refused("not_now", "left")

    with nullcontext() if kept else pytest.raises(Refused):
        world.engine.execute_all(jobs, look)
    assert signed == [old.kid, new.kid]
    (recorded,) = world.engine.execute(STREAM, jot("now"), OTTER).recorded
    assert recorded.actor.kid == (new.kid if kept else old.kid)


def test_a_rotation_by_another_process_is_noticed() -> None:
    world = toy_world()
    (old,) = world.keys.signers[OTTER]
    world.engine.execute(STREAM, jot("one"), OTTER)
    new = world.keys.make(OTTER, salt="second")
    other = world.another_engine()
    rotate(other, OTTER, new, endorser=old, custodian=CUSTODIAN, reason="time")
    (recorded,) = world.engine.execute(STREAM, jot("two"), OTTER).recorded
    assert recorded.actor.kid == new.kid


def test_a_state_that_is_only_read_stays_at_hand_while_others_come_and_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As the registry, which every command asks and few change."""
    monkeypatch.setattr(replay, "CACHED_STREAMS", 2)
    world = toy_world()
    first = world.engine.load(REGISTRY)
    for number in range(5):
        world.engine.execute(f"{STREAM}{number}", jot("one"), OTTER)
        assert world.engine.load(REGISTRY) is first
