"""Before anything that takes or runs, every record is proved: by whom, where, and with what key.

Each test is someone with write access to the store, who keeps the hash chain whole. A guarded
command must refuse and append nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from moot.core.errors import Tampered
from moot.core.ledger import Head
from moot.core.names import REGISTRY, SYSTEM
from moot.core.record import Actor
from moot.core.signing import Signer
from moot.engine.engine import Engine
from moot.engine.machines import Machines
from moot.engine.registry_commands import current_heads, retire, revoke, rotate
from moot.engine.replay import SNAPSHOT_EVERY
from moot.store.memory import MemoryStore
from moot.testing import World
from moot.testing.world import CUSTODIAN
from tests.engine import tampering
from tests.engine.toy_protocol import MACHINE as TOY
from tests.engine.toy_protocol import STREAM, Spend, jot, toy_world

OTTER, CRANE = "amber-otter", "teal-crane"


def written(events: int = 4) -> World:
    world = toy_world(OTTER, CRANE)
    for number in range(events):
        world.engine.execute(STREAM, jot(str(number)), OTTER)
    return world


def signer_of(world: World, name: str) -> Signer:
    return world.keys.signers[name][-1]


def refused(world: World, engine: Engine | None = None, code: str = "unproved_record") -> Tampered:
    """A guarded command is refused, and nothing is appended by it."""
    before = tampering.everything(world)
    with pytest.raises(Tampered) as caught:
        (engine or world.another_engine()).execute(STREAM, Spend(), CRANE)
    assert caught.value.code == code
    assert tampering.everything(world) == before
    return caught.value


def allowed(world: World) -> None:
    outcome = world.another_engine().execute(STREAM, Spend(), CRANE)
    assert TOY.require_state(outcome.state).texts[-1] == "spent"


@pytest.mark.requirement("LDG-047")
def test_an_honest_history_is_proved() -> None:
    world = written()
    allowed(world)
    allowed(world)


@pytest.mark.requirement("LDG-047")
def test_a_signature_that_does_not_hold_is_found_and_named() -> None:
    world = written()
    records = tampering.chain(world, STREAM)
    records[-1] = tampering.spoil_signature(records[-1])
    error = refused(world)
    assert (error.stream, error.seq) == (STREAM, 3)
    assert "moot verify" in error.hint


@pytest.mark.requirement("LDG-047")
@pytest.mark.parametrize("seq", [0, 1, 3])
def test_a_rewritten_event_is_found_though_the_chain_is_whole(seq: int) -> None:
    world = written()
    tampering.rewrite(world, STREAM, seq, data={"text": "forged"})
    error = refused(world)
    assert error.seq == seq


@pytest.mark.requirement("LDG-047")
@pytest.mark.parametrize("guarded_first", [False, True])
def test_a_process_that_has_read_it_unproved_proves_it_before_it_relies_on_it(
    guarded_first: bool,
) -> None:
    world = written()
    tampering.rewrite(world, STREAM, 2, data={"text": "forged"})
    engine = world.another_engine()
    if not guarded_first:
        assert engine.state(TOY, STREAM).texts == ("0", "1", "forged", "3")
    refused(world, engine)
    refused(world, engine)


@pytest.mark.requirement("LDG-047")
def test_a_process_that_has_proved_the_beginning_proves_what_came_after() -> None:
    world = written()
    engine = world.another_engine()
    engine.execute(STREAM, Spend(), OTTER)
    world.engine.execute(STREAM, jot("late"), OTTER)
    records = tampering.chain(world, STREAM)
    records[-1] = tampering.spoil_signature(records[-1])
    refused(world, engine)


@pytest.mark.requirement("LDG-048")
def test_a_forged_event_is_not_washed_clean_by_a_snapshot() -> None:
    """Ordinary commands only follow the chain; what they sign as a snapshot must be proved."""
    world = written()
    tampering.rewrite(world, STREAM, 2, data={"text": "forged"})
    engine = world.another_engine()
    for number in range(SNAPSHOT_EVERY + 4):
        engine.execute(STREAM, jot(str(number)), OTTER)
    refused(world, engine)
    refused(world)


@pytest.mark.requirement("LDG-048")
def test_snapshots_are_made_by_any_process_for_an_honest_history() -> None:
    world = written()
    for number in range(SNAPSHOT_EVERY):
        world.another_engine().execute(STREAM, jot(str(number)), OTTER)
    with world.store.read() as view:
        snapshot = view.snapshot(STREAM)
    assert snapshot is not None
    assert snapshot.seq + 1 == SNAPSHOT_EVERY


Claim = Callable[[World], dict[str, Any]]


def claims(world: World, name: str, **changed: Any) -> dict[str, Any]:
    actor = Actor(name, 1, signer_of(world, name).kid)
    return {"actor": msgspec.structs.replace(actor, **changed)}


LIES: dict[str, tuple[str, Claim]] = {
    "under another's name": (OTTER, lambda w: claims(w, OTTER, id=CRANE)),
    "as a later holder": (OTTER, lambda w: claims(w, OTTER, epoch=2)),
    "as the machine": (OTTER, lambda w: claims(w, OTTER, id=SYSTEM)),
    "from before its author was registered": (CRANE, lambda w: {**claims(w, CRANE), "reg": 1}),
    "from beyond the registry": (OTTER, lambda w: {**claims(w, OTTER), "reg": 99}),
    "from nowhere in the registry": (OTTER, lambda w: {**claims(w, OTTER), "reg": None}),
    "from before the registry": (OTTER, lambda w: {**claims(w, OTTER), "reg": -1}),
}


@pytest.mark.requirement("LDG-040")
@pytest.mark.parametrize("lie", LIES)
def test_a_lie_about_the_author_is_found_though_someone_registered_signed_it(lie: str) -> None:
    world = written()
    author, claim = LIES[lie]
    tampering.append_as(world, STREAM, signer_of(world, author), **claim(world))
    with pytest.raises(Tampered):
        world.another_engine().execute(STREAM, Spend(), CRANE)
    assert len(tampering.chain(world, STREAM)) == 5


@pytest.mark.requirement("LDG-040")
@pytest.mark.parametrize("name", ["stranger", "checkpoint"])
def test_a_key_that_the_registry_does_not_hold_proves_nothing(name: str) -> None:
    world = written()
    signer = world.keys.make(name)
    tampering.append_as(world, STREAM, signer, actor=Actor(name, 1, signer.kid))
    refused(world)


@pytest.mark.requirement("LDG-027")
def test_an_old_registry_position_is_found_where_a_newer_one_stands_before_it() -> None:
    """So that a key which has ended cannot write into the past of a stream that went on."""
    world = written()
    (old,) = world.keys.signers[OTTER]
    new = world.keys.make(OTTER, salt="second")
    rotate(world.engine, OTTER, new, endorser=old, custodian=CUSTODIAN, reason="stolen")
    world.engine.execute(STREAM, jot("after"), OTTER)
    stale = Actor(OTTER, 1, old.kid)
    tampering.append_as(world, STREAM, old, actor=stale, reg=2, data={"text": "from the past"})
    refused(world, code="tampered")


@pytest.mark.requirement("LDG-041")
@pytest.mark.parametrize("how", ["rotated", "retired"])
def test_an_ended_key_proves_nothing_at_or_after_its_end(how: str) -> None:
    world = written()
    (old,) = world.keys.signers[OTTER]
    if how == "rotated":
        new = world.keys.make(OTTER, salt="second")
        rotate(world.engine, OTTER, new, endorser=old, custodian=CUSTODIAN, reason="time")
    else:
        retire(world.engine, OTTER)
    allowed(world)
    position = world.engine.registry().position
    tampering.append_as(world, STREAM, old, actor=Actor(OTTER, 1, old.kid), reg=position)
    refused(world)


def revoked(world: World) -> None:
    ref, data = current_heads(world.engine)
    world.artifacts.put(data, ref.media_type)
    revoke(world.engine, signer_of(world, OTTER).kid, "stolen", ref)


@pytest.mark.requirement("LDG-042")
def test_what_a_revoked_key_signed_before_the_cited_heads_still_counts() -> None:
    """Else revoking one agent's key would end takeovers wherever it had written."""
    world = written()
    revoked(world)
    allowed(world)


@pytest.mark.requirement("LDG-042")
@pytest.mark.parametrize("reg", [2, 3])
def test_what_a_revoked_key_signed_beyond_the_cited_heads_counts_for_nothing(reg: int) -> None:
    world = written()
    old = signer_of(world, OTTER)
    revoked(world)
    actor = Actor(OTTER, 1, old.kid)
    tampering.append_as(world, STREAM, old, actor=actor, reg=reg, data={"text": "backdated"})
    refused(world)


@pytest.mark.requirement("LDG-042")
def test_a_stream_that_the_cited_heads_do_not_list_holds_nothing_of_a_revoked_key() -> None:
    world = written()
    heads = {REGISTRY: [2, tampering.chain(world, REGISTRY)[-1].hash.hex()]}
    data = json.dumps(heads, separators=(",", ":")).encode()
    ref = world.artifacts.put(data, "application/json")
    revoke(world.engine, signer_of(world, OTTER).kid, "stolen", ref)
    refused(world)


@pytest.mark.requirement("LDG-042")
@pytest.mark.parametrize("damage", ["erased", "not JSON", "another shape"])
def test_without_readable_heads_a_revoked_key_counts_for_nothing(damage: str) -> None:
    world = written()
    revoked(world)
    (sha256,) = world.artifacts.blobs
    if damage == "erased":
        world.artifacts.erase(sha256)
    else:
        world.artifacts.blobs[sha256] = b"{" if damage == "not JSON" else b'{"toy/pad":5}'
    refused(world)


# The registry itself


@pytest.mark.requirement("LDG-040")
@pytest.mark.parametrize("author", [OTTER, "operator"])
@pytest.mark.parametrize("kind", ["registry.key_added", "registry.agent_retired"])
def test_only_the_root_key_writes_names_into_the_registry(author: str, kind: str) -> None:
    """An agent's or a person's own key must not be enough to register a key of one's choice."""
    world = written()
    world.human()
    signer = signer_of(world, author)
    mallory = world.keys.make("mallory")
    data = tampering.chain(world, REGISTRY)[1].body.data
    data = {**data, "name": "mallory", "public": mallory.public.hex()}
    if kind == "registry.agent_retired":
        data = {"epoch": 1, "name": CRANE, "reason": ""}
    actor = Actor(author, 1, signer.kid)
    tampering.append_as(world, REGISTRY, signer, type=kind, data=data, actor=actor, reg=3)
    with pytest.raises(Tampered):
        world.another_engine().execute(STREAM, Spend(), OTTER)


@pytest.mark.requirement("LDG-040")
@pytest.mark.parametrize("reg", [None, 0, 5])
def test_a_registry_event_stands_right_after_the_position_it_saw(reg: int | None) -> None:
    world = written()
    root = signer_of(world, SYSTEM)
    erased = {"reason": "r", "sha256": "0" * 64, "size": 1}
    actor = Actor(SYSTEM, 1, root.kid)
    kind = "registry.artifact_erased"
    tampering.append_as(world, REGISTRY, root, type=kind, data=erased, actor=actor, reg=reg)
    with pytest.raises(Tampered):
        world.another_engine().execute(STREAM, Spend(), CRANE)


@pytest.mark.requirement("LDG-040")
def test_a_creation_that_the_root_did_not_sign_proves_nothing() -> None:
    """Nothing else is in the registry that could give it away."""
    world = World(machines=Machines(TOY))
    world.engine.execute(STREAM, jot("by the machine"), SYSTEM)
    world.another_engine().execute(STREAM, Spend(), SYSTEM)
    records = tampering.chain(world, REGISTRY)
    records[0] = tampering.spoil_signature(records[0])
    before = tampering.everything(world)
    with pytest.raises(Tampered) as caught:
        world.another_engine().execute(STREAM, Spend(), SYSTEM)
    assert (caught.value.stream, caught.value.seq) == (REGISTRY, 0)
    assert tampering.everything(world) == before


@pytest.mark.requirement("LDG-047")
def test_a_rewritten_registry_is_found_before_its_keys_are_believed() -> None:
    world = written()
    mallory = world.keys.make("mallory")
    data = {**tampering.chain(world, REGISTRY)[1].body.data, "public": mallory.public.hex()}
    tampering.rewrite(world, REGISTRY, 1, data=data)
    with pytest.raises(Tampered) as caught:
        world.another_engine().execute(STREAM, Spend(), CRANE)
    assert caught.value.stream == REGISTRY


# Damage that every reader notices


@pytest.mark.requirement("LDG-049")
@pytest.mark.parametrize("seq", [0, 2, 3])
def test_a_changed_byte_breaks_the_chain_for_every_reader(seq: int) -> None:
    world = written(5)
    records = tampering.chain(world, STREAM)
    records[seq] = tampering.spoil_signature(records[seq])
    before = tampering.everything(world)
    engine = world.another_engine()
    with pytest.raises(Tampered) as caught:
        engine.execute(STREAM, jot("x"), OTTER)
    assert (caught.value.stream, caught.value.seq) == (STREAM, seq + 1)
    with pytest.raises(Tampered):
        engine.state(TOY, STREAM)
    assert tampering.everything(world) == before


@pytest.mark.requirement("LDG-049")
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda records: records.pop(1), id="dropped"),
        pytest.param(lambda records: records.insert(1, records[0]), id="doubled"),
        pytest.param(lambda records: records.insert(0, records.pop(1)), id="swapped"),
    ],
)
def test_a_dropped_doubled_or_swapped_record_is_found_by_every_reader(
    change: Callable[[list[Any]], None],
) -> None:
    world = written()
    change(tampering.chain(world, STREAM))
    with pytest.raises(Tampered):
        world.another_engine().state(TOY, STREAM)


@pytest.mark.requirement("LDG-049")
@pytest.mark.parametrize("field", ["stream", "origin", "type", "at"])
def test_an_event_that_claims_another_place_is_found_by_every_reader(field: str) -> None:
    world = written()
    other = {
        "stream": "toy/other",
        "origin": "moot.ledger/" + "0" * 32,
        "type": "example.errand_asked",
        "at": "yesterday",
    }
    tampering.rewrite(world, STREAM, 3, **{field: other[field]})
    before = tampering.everything(world)
    with pytest.raises(Tampered):
        world.another_engine().execute(STREAM, jot("x"), OTTER)
    assert tampering.everything(world) == before


class Forgetful(MemoryStore):
    """A store whose head of one stream is not that of its records."""

    wrong: Head | None = None

    @contextmanager
    def read(self) -> Iterator[Any]:
        with super().read() as view:
            if self.wrong is not None:
                real = view.head
                view.head = lambda stream: self.wrong if stream == STREAM else real(stream)  # type: ignore[method-assign]
            yield view


@pytest.mark.requirement("LDG-049")
@pytest.mark.parametrize("seq", [2, 3, 4])
def test_a_stored_head_that_does_not_fit_the_records_is_found_by_every_reader(seq: int) -> None:
    store = Forgetful()
    world = toy_world(OTTER, CRANE, store=store)
    world.engine.execute(STREAM, jot(*"abcd"), OTTER)
    store.wrong = Head(1, seq, bytes(32))
    with pytest.raises(Tampered):
        world.another_engine().state(TOY, STREAM)


@pytest.mark.requirement("LDG-049")
def test_a_record_copied_from_another_stream_is_found_by_every_reader() -> None:
    world = written()
    world.engine.execute("toy/other", jot("theirs"), OTTER)
    assert isinstance(world.store, MemoryStore)
    world.store._tables.chains["toy/copy"] = list(tampering.chain(world, "toy/other"))
    with pytest.raises(Tampered):
        world.another_engine().state(TOY, "toy/copy")


@pytest.mark.requirement("LDG-026")
def test_an_unreadable_record_is_named_and_nothing_is_repaired_by_reading_it() -> None:
    world = written()
    records = tampering.chain(world, STREAM)
    old = records[2]
    records[2] = type(old)(old.stream, old.seq, old.kid, old.raw[:-5], old.signature)
    before = tampering.everything(world)
    with pytest.raises(Tampered) as caught:
        world.another_engine().state(TOY, STREAM)
    assert caught.value.seq == 2
    assert tampering.everything(world) == before
