"""One command through the door: what is recorded, what is refused, and what it leaves behind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moot.core.canonical import parse_canonical
from moot.core.errors import Malformed, MootError, NotFound, Refused
from moot.core.machine import Command
from moot.core.names import REGISTRY, SYSTEM
from moot.core.record import ArtifactRef, genesis
from moot.core.registry.model import KeyEnding, RetireAgent
from moot.engine.registry_commands import current_heads, retire, revoke, rotate
from moot.engine.signers import PrivateKey
from moot.protocols.example.machine import MACHINE as EXAMPLE
from moot.protocols.example.model import Ask, ErrandAsked, Finish
from moot.testing import MemoryKeys, World
from moot.testing.world import CUSTODIAN
from tests.engine.tampering import chain, everything
from tests.engine.toy_protocol import MACHINE as TOY
from tests.engine.toy_protocol import STREAM, Complain, Jot, Jotted, Ponder, jot, toy_world

OTTER = "amber-otter"


def unchanged(
    world: World, error: type[MootError], code: str, *args: Any, **more: Any
) -> MootError:
    """The command fails so, and nothing at all is stored by it."""
    before = everything(world)
    with pytest.raises(error) as caught:
        world.engine.execute(*args, **more)
    assert type(caught.value) is error
    assert caught.value.code == code
    assert everything(world) == before
    return caught.value


@pytest.mark.requirement("LDG-021")
def test_a_command_becomes_a_signed_record_that_continues_its_stream() -> None:
    world = toy_world()
    outcome = world.engine.execute(STREAM, jot("one", "two"), OTTER)
    first, second = chain(world, STREAM)
    signer = world.keys.signers[OTTER][0]
    assert (first.signed_by(signer.public), second.signed_by(signer.public)) == (True, True)
    assert first.body.prev == genesis(world.trust.origin, STREAM)
    assert second.body.prev == first.hash.hex()
    assert [record.body.data for record in (first, second)] == [{"text": "one"}, {"text": "two"}]
    assert [r.hash for r in outcome.recorded] == [first.hash, second.hash]
    assert outcome.state == world.engine.state(TOY, STREAM)
    assert outcome.state.texts == ("one", "two")
    assert not outcome.replayed


@pytest.mark.requirement("LDG-020")
def test_role_cause_and_correlation_are_recorded_and_signed() -> None:
    world = toy_world()
    cause = "0f" * 32
    outcome = world.engine.execute(
        STREAM, jot("one"), OTTER, role="judge", cause=cause, corr="affair-7"
    )
    told = parse_canonical(chain(world, STREAM)[0].raw)
    assert told["actor"]["role"] == "judge"
    assert (told["cause"], told["corr"]) == (cause, "affair-7")
    (recorded,) = outcome.recorded
    assert (recorded.actor.role, recorded.cause, recorded.corr) == ("judge", cause, "affair-7")
    again = world.another_engine().state(TOY, STREAM)
    assert again == outcome.state


@pytest.mark.requirement("LDG-020")
def test_the_time_is_that_of_the_engines_clock() -> None:
    world = toy_world()
    outcome = world.engine.execute(STREAM, jot("one"), OTTER)
    assert outcome.recorded[0].at == world.clock.now
    assert chain(world, STREAM)[0].body.at == "2026-02-18T16:00:00.000Z"


@pytest.mark.requirement("LDG-027")
def test_an_event_names_the_newest_registry_position_its_author_saw() -> None:
    world = toy_world()
    world.engine.execute(STREAM, jot("one"), OTTER)
    world.agent("teal-crane")
    world.engine.execute(STREAM, jot("two"), OTTER)
    assert [record.body.reg for record in chain(world, STREAM)] == [1, 2]
    assert [record.body.reg for record in chain(world, REGISTRY)] == [None, 0, 1]


@pytest.mark.requirement("LDG-027")
def test_the_registry_position_never_decreases_along_a_stream() -> None:
    world = toy_world()
    for number in range(6):
        world.engine.execute(STREAM, jot(str(number)), OTTER)
        if number % 2:
            world.agent(f"helper-{number}")
        world.another_engine().execute(STREAM, jot("x"), OTTER)
    seen = [record.body.reg for record in chain(world, STREAM)]
    numbers = [reg for reg in seen if reg is not None]
    assert seen == sorted(numbers)
    assert len(set(seen)) == 4


def test_a_refusal_raises_its_first_error_with_all_findings_and_keeps_its_events() -> None:
    world = toy_world()
    with pytest.raises(Refused) as caught:
        world.engine.execute(STREAM, Complain(text="too loud"), OTTER)
    assert (caught.value.code, str(caught.value)) == ("unhappy", "too loud")
    assert [f.code for f in caught.value.findings] == ["sigh", "unhappy"]
    assert [record.body.type for record in chain(world, STREAM)] == ["toy.complained"]
    assert world.engine.state(TOY, STREAM).complaints == 1


def test_a_plain_refusal_stores_nothing() -> None:
    world = toy_world()
    world.engine.execute("example/today", Ask(title="tea", of=OTTER), OTTER)
    error = unchanged(world, Refused, "errand_not_open", "example/today", Finish(id="e9"), OTTER)
    assert error.findings[0].rule == "EXA-03"


def test_remarks_travel_with_an_accepted_command() -> None:
    world = toy_world()
    outcome = world.engine.execute(STREAM, Ponder(), OTTER)
    assert [f.code for f in outcome.findings] == ["hm"]
    assert outcome.recorded == ()
    assert world.engine.state(TOY, STREAM).texts == ()


@pytest.mark.requirement("LDG-024")
@pytest.mark.parametrize("texts", [("x" * 70_000,), ("fine", "x" * 70_000), ("x" * 70_000, "fine")])
def test_an_event_too_large_is_refused_and_its_siblings_with_it(texts: tuple[str, ...]) -> None:
    world = toy_world()
    error = unchanged(world, Refused, "too_large", STREAM, Jot(texts=texts), OTTER)
    assert error.hint


@pytest.mark.requirement("LDG-002")
def test_an_event_outside_the_canonical_profile_is_malformed_and_stores_nothing() -> None:
    world = toy_world()
    unchanged(world, Malformed, "not_canonical", STREAM, jot("\ud800"), OTTER)


@pytest.mark.requirement("LDG-025")
@pytest.mark.parametrize("more", [{"corr": ""}, {"corr": "c" * 129}, {"role": ""}, {"cause": "x"}])
def test_what_a_checker_would_refuse_is_refused_by_the_writer(more: dict[str, str]) -> None:
    world = toy_world()
    unchanged(world, Malformed, "malformed", STREAM, jot("one"), OTTER, **more)


@pytest.mark.parametrize("stream", ["", "Toy/x", "toy/a b", "toy/../x", "registry/x"])
def test_a_stream_that_is_no_stream_is_malformed(stream: str) -> None:
    unchanged(toy_world(), Malformed, "bad_id", stream, jot("one"), OTTER)


def test_a_protocol_that_nobody_runs_is_not_found() -> None:
    unchanged(toy_world(), NotFound, "unknown_protocol", "nobody/x", jot("one"), OTTER)


@pytest.mark.parametrize(
    ("stream", "command"),
    [
        (STREAM, Finish(id="e1")),
        ("example/today", jot("one")),
        ("example/today", RetireAgent(name=OTTER)),
        (REGISTRY, jot("one")),
    ],
)
def test_a_command_of_another_protocol_is_malformed(stream: str, command: Command) -> None:
    unchanged(toy_world(), Malformed, "unknown_command", stream, command, OTTER)


# Who may sign


@pytest.mark.requirement("LDG-040")
def test_a_name_that_was_never_registered_cannot_act() -> None:
    unchanged(toy_world(), NotFound, "agent_not_found", STREAM, jot("one"), "nobody-here")


@pytest.mark.requirement("LDG-040")
def test_a_name_alone_is_not_enough_the_key_must_be_here() -> None:
    world = toy_world()
    world.keys.signers[OTTER] = []
    unchanged(world, Refused, "key_missing", STREAM, jot("one"), OTTER)


@pytest.mark.requirement("LDG-040")
def test_another_key_under_the_same_name_does_not_sign() -> None:
    world = toy_world()
    world.keys.signers[OTTER] = []
    world.keys.make(OTTER, salt="impostor")
    unchanged(world, Refused, "key_missing", STREAM, jot("one"), OTTER)


class Confused(MemoryKeys):
    """A key folder that hands out whatever it has under a name."""

    def find(self, name: str, kid: str) -> PrivateKey | None:
        right = super().find(name, kid)
        return right or next((PrivateKey(signer) for signer in self.signers.get(name, ())), None)


@pytest.mark.requirement("LDG-040")
def test_a_key_folder_that_hands_out_another_key_is_not_believed() -> None:
    world = toy_world()
    confused = Confused()
    confused.make(OTTER, salt="impostor")
    world.engine.keys = confused
    unchanged(world, Refused, "key_missing", STREAM, jot("one"), OTTER)


@pytest.mark.requirement("LDG-040")
def test_the_checkpoint_key_acts_for_nobody() -> None:
    unchanged(toy_world(), NotFound, "agent_not_found", STREAM, jot("one"), "checkpoint")


@pytest.mark.requirement("LDG-040")
def test_the_root_acts_as_system_only_where_its_key_is() -> None:
    world = toy_world()
    outcome = world.engine.execute(STREAM, jot("by the machine"), SYSTEM)
    assert outcome.recorded[0].actor.id == SYSTEM
    world.keys.signers[SYSTEM] = []
    unchanged(world, Refused, "key_missing", STREAM, jot("one"), SYSTEM)


@pytest.mark.requirement("LDG-041")
@pytest.mark.parametrize("new_holder", [False, True])
def test_after_a_rotation_only_the_new_key_signs(new_holder: bool) -> None:
    world = toy_world()
    (old,) = world.keys.signers[OTTER]
    new = world.keys.make(OTTER, salt="second")
    rotate(
        world.engine,
        OTTER,
        new,
        endorser=old,
        custodian=CUSTODIAN,
        reason="time",
        new_holder=new_holder,
    )
    (recorded,) = world.engine.execute(STREAM, jot("one"), OTTER).recorded
    assert (recorded.actor.kid, recorded.actor.epoch) == (new.kid, 2 if new_holder else 1)
    world.keys.signers[OTTER] = [old]
    unchanged(world, Refused, "key_missing", STREAM, jot("two"), OTTER)


@pytest.mark.requirement("LDG-041")
def test_a_revoked_key_signs_nothing_more() -> None:
    world = toy_world()
    (signer,) = world.keys.signers[OTTER]
    ref, data = current_heads(world.engine)
    world.artifacts.put(data, ref.media_type)
    revoke(world.engine, signer.kid, "stolen", ref)
    unchanged(world, Refused, "key_revoked", STREAM, jot("one"), OTTER)
    assert world.engine.registry().keys[signer.kid].ending is KeyEnding.REVOKED


@pytest.mark.requirement("LDG-041")
def test_a_revocation_needs_its_heads_to_be_stored_before() -> None:
    world = toy_world()
    (signer,) = world.keys.signers[OTTER]
    before = everything(world)
    with pytest.raises(Refused) as caught:
        revoke(world.engine, signer.kid, "stolen", current_heads(world.engine)[0])
    assert caught.value.code == "artifact_missing"
    assert everything(world) == before


@pytest.mark.requirement("LDG-041")
def test_a_retired_agent_signs_nothing_more_until_a_next_holder_takes_the_name() -> None:
    world = toy_world()
    (old,) = world.keys.signers[OTTER]
    retire(world.engine, OTTER, "done")
    unchanged(world, Refused, "agent_retired", STREAM, jot("one"), OTTER)
    new = world.keys.make(OTTER, salt="second")
    rotate(
        world.engine, OTTER, new, endorser=old, custodian=CUSTODIAN, reason="back", new_holder=True
    )
    (recorded,) = world.engine.execute(STREAM, jot("one"), OTTER).recorded
    assert (recorded.actor.kid, recorded.actor.epoch) == (new.kid, 2)


@pytest.mark.requirement("LDG-042")
def test_the_heads_a_revocation_cites_list_every_stream() -> None:
    world = toy_world()
    world.engine.execute(STREAM, jot("one", "two"), OTTER)
    ref, data = current_heads(world.engine)
    heads = json.loads(data)
    assert heads == {
        REGISTRY: [1, chain(world, REGISTRY)[-1].hash.hex()],
        STREAM: [1, chain(world, STREAM)[-1].hash.hex()],
    }
    assert parse_canonical(data) == heads
    assert ref.size == len(data)


# Artifacts


@pytest.mark.requirement("LDG-050")
def test_artifacts_are_cited_by_hash_in_the_signed_body() -> None:
    world = toy_world()
    ref = world.artifacts.put(b"long text", "text/plain")
    outcome = world.engine.execute(STREAM, Jot(texts=("see there",), cites=(ref,)), OTTER)
    assert outcome.recorded[0].artifacts == (ref,)
    assert parse_canonical(chain(world, STREAM)[0].raw)["artifacts"] == [
        {"media_type": "text/plain", "sha256": ref.sha256, "size": 9}
    ]


@pytest.mark.requirement("LDG-050")
@pytest.mark.parametrize("stored", [False, True])
def test_what_an_event_cites_must_be_stored_before_it(stored: bool) -> None:
    world = toy_world()
    real = world.artifacts.put(b"long text", "text/plain") if stored else None
    absent = ArtifactRef("ab" * 32, 9, "text/plain")
    cites = (real, absent) if real else (absent,)
    unchanged(world, Refused, "artifact_missing", STREAM, Jot(texts=("x",), cites=cites), OTTER)


@pytest.mark.requirement("LDG-050")
def test_a_citation_gives_the_size_the_artifact_has() -> None:
    """A checker looks for the artifact of that hash and that size."""
    world = toy_world()
    ref = world.artifacts.put(b"long text", "text/plain")
    wrong = ArtifactRef(ref.sha256, ref.size + 1, ref.media_type)
    unchanged(world, Refused, "artifact_missing", STREAM, Jot(texts=("x",), cites=(wrong,)), OTTER)


def test_a_ledger_without_artifacts_accepts_no_citation() -> None:
    world = toy_world()
    ref = world.artifacts.put(b"long text", "text/plain")
    world.engine.artifacts = None
    unchanged(world, Refused, "artifact_missing", STREAM, Jot(texts=("x",), cites=(ref,)), OTTER)


def test_a_stream_is_read_only_with_the_machine_that_runs_it() -> None:
    world = toy_world()
    world.engine.execute(STREAM, jot("one"), OTTER)
    assert world.engine.state(TOY, STREAM).texts == ("one",)
    with pytest.raises(TypeError, match="example"):
        world.engine.state(EXAMPLE, STREAM)


def test_an_outcome_gives_the_newest_event_of_a_kind() -> None:
    world = toy_world()
    outcome = world.engine.execute(STREAM, jot("one", "two"), OTTER)
    assert outcome.newest(Jotted) == outcome.recorded[1]
    with pytest.raises(KeyError, match="ErrandAsked"):
        outcome.newest(ErrandAsked)
