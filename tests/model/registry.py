"""A registry with an agent and a person, whose keys are added, rotated, revoked and retired."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

from immutables import Map
from msgspec.structs import replace

from moot.core.machine import KeyClass, VerifiedActor
from moot.core.names import SYSTEM
from moot.core.registry import model as ask
from moot.core.registry.machine import MACHINE, TRANSITIONS
from moot.core.registry.model import RegisteredKey
from moot.core.signing import Signer
from tests.core.registry_machine import HEADS, ORIGIN, ROOT, RegistryScenario, creation, signer
from tests.model.small_world import Act, Scene, SmallWorld, Step, Taken

AGENT, PERSON = "amber-otter", "operator"
KEYS = tuple(signer(f"key {number}") for number in range(3))
KINDS = {AGENT: KeyClass.AGENT, PERSON: KeyClass.HUMAN}


class Registry(SmallWorld):
    machine = MACHINE
    stream = "registry"
    origin = ORIGIN
    idle_commands = (ask.EraseArtifact, ask.AcceptHistory)

    def acting(self, scene: Scene, name: str) -> VerifiedActor:
        if name == SYSTEM:
            return VerifiedActor(SYSTEM, 1, ROOT.kid, KeyClass.SYSTEM)
        agent = scene.state.agents[name]
        return VerifiedActor(name, agent.epoch, agent.kid, agent.kind)

    def find_openings(self) -> dict[str, Scene]:
        return {"a ledger": self.play(Scene(MACHINE.initial), Act(SYSTEM, creation()))}

    def list_steps(self, scene: Scene) -> Iterable[Step]:
        scenario, state = RegistryScenario(created=False), scene.state
        scenario.state = state
        actors = (SYSTEM, *sorted(state.agents))
        for name, kind in KINDS.items():
            for key in KEYS:
                for endorser in (None, ROOT, KEYS[0]):
                    yield Act(SYSTEM, _adding(name, key, kind, endorser))
                    for step in (0, 1) if name in state.agents else ():
                        yield Act(SYSTEM, scenario.rotating(name, key, endorser, step))
            for actor in actors:
                yield Act(actor, ask.RetireAgent(name=name))
        for kid in (*(key.kid for key in KEYS), ROOT.kid):
            for actor in actors:
                yield Act(actor, ask.RevokeKey(kid=kid, reason="stolen", heads=HEADS))
        if not state.erased:
            yield Act(SYSTEM, ask.EraseArtifact(sha256="0" * 64, size=2, reason="private"))

    def is_final(self, _scene: Scene) -> bool:
        return False

    def key_of(self, scene: Scene) -> bytes:
        """Positions are told apart by their order alone."""
        state = scene.state
        found = {at for key in state.keys.values() for at in (key.added, key.ended)}
        rank = {at: place for place, at in enumerate(sorted(found - {None}))}
        keys = Map(
            {
                kid: replace(key, added=rank[key.added], ended=rank.get(key.ended))
                for kid, key in state.keys.items()
            }
        )
        return super().key_of(replace(scene, state=replace(state, keys=keys, position=0)))

    def is_at_bound(self, scene: Scene) -> bool:
        """All names or all keys that there are here have been used; another one could be added."""
        state = scene.state
        return all(key.kid in state.keys for key in KEYS) or set(KINDS) <= set(state.agents)

    def find_flaws_of_step(self, before: Scene, _step: Step, taken: Taken) -> Iterator[str]:
        old, new = before.state, taken.scene.state
        for kid, key in new.keys.items():
            was, now = _ending_of(old.keys.get(kid)), _ending_of(key)
            if was != now and now not in TRANSITIONS[was].values():
                yield f"key {kid[:8]} went from {was} to {now}, which is in no table"
            ended = old.keys[kid].ended if kid in old.keys else None
            if ended is not None and (key.ended != ended or new.valid_key(kid) is not None):
                yield f"key {kid[:8]} had ended, and signs again"
        if set(old.keys) - set(new.keys):
            yield "a key was forgotten"

    def find_flaws(self, scene: Scene) -> Iterator[str]:
        state = scene.state
        valid = Counter(key.name for key in state.keys.values() if state.valid_key(key.kid))
        for name, agent in state.agents.items():
            if valid[name] > 1:
                yield f"{name} has {valid[name]} valid keys at once"
            if agent.retired and valid[name]:
                yield f"{name} has retired, and still has a key"
        if state.origin != ORIGIN or state.valid_key(ROOT.kid) is None:
            yield "the root key no longer counts"


@cache
def _adding(name: str, key: Signer, kind: KeyClass, endorser: Signer | None) -> ask.AddKey:
    return RegistryScenario(created=False).adding(name, key, kind, endorser)


def _ending_of(key: RegisteredKey | None) -> str:
    if key is None:
        return "absent"
    return str(key.ending) if key.ending else "valid"
