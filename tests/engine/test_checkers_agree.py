"""Whatever the engine accepts, both offline checkers call valid; whatever was forged, neither does.

The invariant of the first test: no sequence of accepted commands can produce a record, a registry
or a checkpoint that a checker refuses. The writer must be at least as strict as its judges.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.errors import MootError
from moot.core.machine import KeyClass
from moot.core.names import CHECKPOINT, REGISTRY, SYSTEM
from moot.core.record import Actor, ArtifactRef
from moot.core.registry.model import (
    AcceptHistory,
    EraseArtifact,
    RevokeKey,
    loss_statement,
    sign_endorsement,
)
from moot.engine.export import bundle
from moot.engine.registry_commands import current_heads, register, retire, rotate
from moot.testing import World
from moot.testing.world import CUSTODIAN
from moot.verify import TrustedLedger, standalone, verify_records
from tests.engine import tampering
from tests.engine.toy_protocol import STREAM, Complain, Jot, jot, toy_world
from tests.sampling import examples

OTTER = "amber-otter"


def exported(world: World) -> list[bytes]:
    with world.store.read() as view:
        return list(bundle(view, world.trust, world.artifacts))


def verdict(world: World, lines: list[bytes] | None = None) -> str:
    """What both checkers say; they must say the same."""
    lines = exported(world) if lines is None else lines
    root, checkpoint = world.trust.root.hex(), world.trust.checkpoint.hex()
    trust = TrustedLedger(origin=world.trust.origin, root=root, checkpoint=checkpoint)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bundle").write_bytes(b"".join(lines))
        keys = {"origin": trust.origin, "root": root, "checkpoint": checkpoint}
        document = {**keys, "format": "moot-trust/1", "minimum": None}
        (folder / "trust.json").write_text(json.dumps(document))
        told = standalone.verify(str(folder / "bundle"), str(folder / "trust.json"))
    whole = verify_records(lines, trust)
    assert told.verdict == whole.verdict
    return str(whole.verdict)


class Player:
    """Does anything at all to a ledger, with every key at hand, right or wrong."""

    NAMES = (OTTER, OTTER, "teal-crane", "operator", "ada", "Bad Name")
    KINDS = (KeyClass.AGENT, KeyClass.AGENT, KeyClass.HUMAN, KeyClass.HUMAN, KeyClass.SYSTEM)

    def __init__(self) -> None:
        self.world = toy_world()
        self.made = 0

    def fresh(self, name: str) -> Any:
        self.made += 1
        return self.world.keys.make(name, salt=str(self.made))

    def anyone(self, data: st.DataObject, *likely: str) -> Any:
        """Some key, probably a current one of the likely names."""
        registry = self.world.engine.registry()
        signers = [s for each in self.world.keys.signers.values() for s in each]
        current = {registry.agents[name].kid for name in likely if name in registry.agents}
        right = [signer for signer in signers if signer.kid in current]
        return data.draw(st.sampled_from([*signers, *right * len(signers)]))

    def act(self, data: st.DataObject) -> None:
        acts = [self.jot, self.jot, self.add, self.turn, self.end, self.accept, self.tidy]
        data.draw(st.sampled_from(acts))(data)

    def jot(self, data: st.DataObject) -> None:
        text = data.draw(st.text(max_size=5) | st.just("x" * 70_000))
        cite = self.world.artifacts.put(text.encode("utf-8", "replace"), "text/plain")
        ref = ArtifactRef(cite.sha256, cite.size + data.draw(st.integers(0, 1)), cite.media_type)
        maybe = st.none() | st.text(max_size=3) | st.just("r" * 65) | st.just("0f" * 32)
        self.world.engine.execute(
            f"toy/{data.draw(st.sampled_from('abc'))}",
            data.draw(st.sampled_from([Jot(texts=(text,), cites=(ref,)), Complain(text=text)])),
            data.draw(st.sampled_from(self.NAMES)),
            key=data.draw(st.sampled_from([None, "k1", "k2"])),
            role=data.draw(maybe),
            cause=data.draw(maybe),
            corr=data.draw(maybe),
        )

    def add(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(self.NAMES))
        kind = data.draw(st.sampled_from(self.KINDS))
        endorser = data.draw(st.sampled_from([None, self.anyone(data, "operator")]))
        custodian = data.draw(st.sampled_from([CUSTODIAN, CUSTODIAN, "nobody"]))
        fresh = self.fresh(name)
        signer = data.draw(st.sampled_from([fresh, fresh, fresh, self.anyone(data)]))
        register(self.world.engine, name, signer, custodian=custodian, kind=kind, endorser=endorser)

    def turn(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(self.NAMES[:5]))
        rotate(
            self.world.engine,
            name,
            self.fresh(name),
            endorser=self.anyone(data, name, "operator"),
            custodian=CUSTODIAN,
            reason=data.draw(st.text(max_size=3)),
            new_holder=data.draw(st.booleans()),
        )

    def end(self, data: st.DataObject) -> None:
        if data.draw(st.booleans()):
            retire(self.world.engine, data.draw(st.sampled_from(self.NAMES)))
            return
        ref, content = current_heads(self.world.engine)
        self.world.artifacts.put(content, ref.media_type)
        kid = self.anyone(data, OTTER).kid
        actor = data.draw(st.sampled_from([SYSTEM, SYSTEM, "operator", OTTER]))
        self.world.engine.execute(REGISTRY, RevokeKey(kid=kid, reason="r", heads=ref), actor)

    def accept(self, data: st.DataObject) -> None:
        said = loss_statement(origin=self.world.trust.origin, lost="l", reason="r")
        consent = data.draw(
            st.sampled_from([None, sign_endorsement(self.anyone(data, "operator"), said)])
        )
        command = AcceptHistory(lost="l", reason="r", endorsement=consent)
        self.world.engine.execute(REGISTRY, command, SYSTEM)

    def tidy(self, data: st.DataObject) -> None:
        if data.draw(st.booleans()):
            self.world.engine.checkpoint()
            return
        sha256 = data.draw(st.sampled_from(["ab" * 32, "AB" * 32]))
        command = EraseArtifact(sha256=sha256, size=data.draw(st.integers(-1, 1)), reason="r")
        actor = data.draw(st.sampled_from([SYSTEM, "operator", OTTER]))
        self.world.engine.execute(REGISTRY, command, actor)


@pytest.mark.requirement("LDG-080")
@settings(max_examples=examples(120))
@given(st.data())
def test_whatever_the_engine_accepts_both_checkers_call_valid(data: st.DataObject) -> None:
    player = Player()
    for _ in range(data.draw(st.integers(1, 25))):
        try:
            player.act(data)
        except MootError:
            continue
    player.world.engine.checkpoint()
    assert verdict(player.world) == "valid"


@pytest.mark.requirement("LDG-081")
def test_without_a_checkpoint_the_same_ledger_is_unproven() -> None:
    world = toy_world()
    world.engine.execute(STREAM, jot("a"), OTTER)
    assert verdict(world) == "unproven"
    world.engine.checkpoint()
    assert verdict(world) == "valid"
    world.engine.execute(STREAM, jot("b"), OTTER)
    assert verdict(world) == "unproven"


@pytest.mark.requirement("LDG-082")
@pytest.mark.parametrize("seq", [0, 1, 2])
def test_a_rewritten_event_is_tampered(seq: int) -> None:
    world = toy_world()
    world.engine.execute(STREAM, jot("a", "b", "c"), OTTER)
    world.engine.checkpoint()
    tampering.rewrite(world, STREAM, seq, data={"text": "forged"})
    assert verdict(world) == "tampered"


@pytest.mark.requirement("LDG-083")
def test_a_tail_cut_off_after_the_checkpoint_is_truncated() -> None:
    world = toy_world()
    world.engine.execute(STREAM, jot("a", "b", "c"), OTTER)
    world.engine.checkpoint()
    del tampering.chain(world, STREAM)[2:]
    assert verdict(world) == "truncated"


@pytest.mark.requirement("LDG-042")
def test_an_event_beyond_a_revocations_heads_is_by_an_unknown_key() -> None:
    world = toy_world(OTTER, "teal-crane")
    world.engine.execute(STREAM, jot("a"), OTTER)
    (signer,) = world.keys.signers[OTTER]
    ref, content = current_heads(world.engine)
    world.artifacts.put(content, ref.media_type)
    world.engine.execute(REGISTRY, RevokeKey(kid=signer.kid, reason="r", heads=ref), SYSTEM)
    world.engine.checkpoint()
    assert verdict(world) == "valid"
    actor = Actor(OTTER, 1, signer.kid)
    tampering.append_as(world, STREAM, signer, actor=actor, data={"text": "backdated"})
    assert verdict(world) == "unknown-key"


@pytest.mark.requirement("LDG-084")
def test_one_agents_key_cannot_rechain_what_others_signed() -> None:
    world = toy_world(OTTER, "teal-crane")
    world.engine.execute(STREAM, jot("a"), OTTER)
    world.engine.execute(STREAM, jot("b"), "teal-crane")
    world.engine.checkpoint()
    mine, theirs = tampering.chain(world, STREAM)
    (signer,) = world.keys.signers[OTTER]
    # A new first event, honestly signed; the second one can only be joined to it unsigned.
    tampering.chain(world, STREAM)[:] = [mine]
    tampering.append_as(world, STREAM, signer, data={"text": "mine instead"})
    assert verdict(world) in ("tampered", "truncated", "forked")
    tampering.chain(world, STREAM)[:] = [mine, theirs]
    tampering.rewrite(world, STREAM, 0, data={"text": "other"})
    assert verdict(world) == "tampered"


@pytest.mark.requirement("LDG-034")
@pytest.mark.parametrize("streams", [1, 2, 3, 7, 8, 9])
def test_bundles_of_ledgers_of_any_width_are_valid(streams: int) -> None:
    world = toy_world()
    for number in range(streams):
        world.engine.execute(f"toy/{number}", jot("a"), OTTER)
        if number % 3 == 0:
            world.engine.checkpoint()
    world.engine.checkpoint()
    assert verdict(world) == "valid"


@pytest.mark.requirement("LDG-034")
def test_a_checkpoint_by_another_key_is_tampered() -> None:
    world = toy_world()
    world.keys.signers[CHECKPOINT] = []
    world.engine.execute(STREAM, jot("a"), OTTER)
    world.keys.make(CHECKPOINT)
    world.engine.checkpoint()
    lines = exported(world)
    note = json.loads(lines[-1])["checkpoint"]
    changed = json.dumps({"checkpoint": note.replace("moot 1", "moot 2")}, ensure_ascii=False)
    lines[-1] = changed.replace('": "', '":"').encode() + b"\n"
    assert verdict(world, lines) == "tampered"
