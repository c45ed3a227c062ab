"""Two agents and a person in one project: who holds what, who is gone, and what waits for whom."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

from msgspec.structs import replace

from moot.core.machine import Recorded
from moot.core.names import OPERATOR, SYSTEM
from moot.core.paged_map import PagedMap
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence.machine import MACHINE
from moot.protocols.presence.model import (
    STREAM,
    EventType,
    Kind,
    PresenceMessage,
    Reservation,
    State,
)
from moot.protocols.presence.paths import classify_overlap
from tests.model.small_world import (
    Act,
    NameChangesHands,
    Scene,
    SignsOfLife,
    SmallWorld,
    Step,
    Taken,
    TimePasses,
)

ROOT = "/home/user/repo"
NAMES = ("amber-otter", "teal-crane")
SCOPES = ("src", "src/a.py")
_EVENT_ID = re.compile(r"proto_\d+_\d+")
TAKING = (ask.Reserve, ask.TakeOver)


def _reserve(scope: str, **more: Any) -> ask.Reserve:
    return ask.Reserve(scopes=(scope,), project_root=ROOT, **more)


def _edit(scope: str, sub_agent: str, kind: Any = ask.Reserve) -> Any:
    return kind(scopes=(scope,), project_root=ROOT, sub_agent=sub_agent, automatic=True, once=True)


def _hand_off(to: str, scope: str | None) -> ask.SendHandoff:
    return ask.SendHandoff(
        to=to, subject="s", summary="s", next_action="n", work="bb-1", project_root=ROOT,
        scope=scope,
    )  # fmt: skip


def _blocked(to: str) -> ask.SendBlocked:
    return ask.SendBlocked(
        to=to, subject="s", blocker="b", requested_action="r", work="bb-1", project_root=ROOT
    )


class Presence(SmallWorld):
    """`memory` are the ids of messages that owe an acceptance, told by the events alone.

    Numbers of leases and events only grow; here they are told apart by their order alone.
    """

    machine = MACHINE
    stream = STREAM
    horizon_minutes = 40

    def find_openings(self) -> dict[str, Scene]:
        joined = [Act(name, ask.Join(project_root=ROOT)) for name in NAMES]
        here = self.play(Scene(MACHINE.initial, memory=frozenset()), *joined)
        holding = self.play(here, Act(NAMES[0], _reserve("src")))
        sent = self.play(holding, Act(NAMES[0], _hand_off(NAMES[1], "src")))
        helped = self.play(here, Act(NAMES[0], _edit("src/a.py", "first")))
        return {
            "two have joined": here,
            "one holds, and is quiet": self.play(holding, TimePasses(16)),
            "one holds, and passes on": sent,
            "a sub-agent edits": helped,
        }

    def list_steps(self, scene: Scene) -> Iterable[Step]:
        for name, other in (NAMES, NAMES[::-1]):
            yield from (Act(name, command) for command in self._commands_of(scene, other))
            yield SignsOfLife(name)
            if scene.epochs.get(name, 1) < 2:
                yield NameChangesHands(name)
            gone = ask.EndGone(
                agent=name, agent_epoch=scene.epochs.get(name, 1), observer=other, because="exit",
                worktree=ROOT, dirty=(),
            )  # fmt: skip
            yield Act(SYSTEM, gone)
        freed = ask.FreeScopes(scopes=("src",), project_root=ROOT, reason="mine")
        yield Act(OPERATOR, freed)
        yield Act(NAMES[0], freed)
        yield TimePasses(8)
        yield TimePasses(-8)

    def _commands_of(self, scene: Scene, other: str) -> Iterable[Any]:
        for scope in SCOPES:
            yield _reserve(scope)
            yield ask.TakeOver(scopes=(scope,), project_root=ROOT)
            yield ask.Release(scopes=(scope,), project_root=ROOT)
        yield _reserve("src/a.py", ttl_minutes=5)
        yield _edit("src/a.py", "first")
        yield _edit("src/a.py", "second", ask.TakeOver)
        yield ask.EndSubAgent(all=True)
        yield ask.Leave()
        yield ask.Resume(evidence=ask.Evidence(("src/a.py",), ()), project_root=ROOT)
        if len(scene.state.pending) + len(_sent(scene.state)) < 2:
            yield _hand_off(other, "src")
            yield _blocked(other)
        for id_ in sorted(scene.memory):
            yield ask.Accept(id=id_)
            yield ask.MarkSeen(id=id_)

    def is_final(self, _scene: Scene) -> bool:
        return False

    def key_of(self, scene: Scene) -> bytes:
        state: State = scene.state
        order = sorted(held.fencing for held in state.live)
        live = {held.key: replace(held, fencing=order.index(held.fencing)) for held in state.live}
        recent = tuple(_sent(state))
        bare = replace(state, live_by_key=PagedMap(live), recent=recent, fencing=0, day_count=0)
        return super().key_of(replace(scene, state=bare))

    def unify(self, text: str) -> str:
        names: dict[str, str] = {}
        return _EVENT_ID.sub(lambda found: names.setdefault(found[0], f"event {len(names)}"), text)

    def remember(self, memory: Any, recorded: Recorded[Any]) -> Any:
        event = recorded.event
        if isinstance(event, did.BlockedSent):
            return memory | {event.id}
        if isinstance(event, did.HandoffSent):
            return memory | {event.id} if event.requires_ack else memory
        if isinstance(event, did.EventAccepted | did.AnswerLapsed):
            return memory - {event.id}
        return memory

    def find_flaws_of_step(self, before: Scene, step: Step, taken: Taken) -> Iterator[str]:
        """Nobody takes from the living, whatever they ask for."""
        if not isinstance(step, Act) or not isinstance(step.command, TAKING):
            return
        kept = {held.fencing for held in taken.scene.state.live}
        for held in before.state.live:
            others = held.owner != step.actor and not held.has_ended(before.now)
            if others and _is_alive(before, held) and held.fencing not in kept:
                yield f"{held.scope} was taken from {held.owner}, who is alive"

    def find_flaws(self, scene: Scene) -> Iterator[str]:
        state: State = scene.state
        yield from _overlaps(state.live)
        if set(state.pending) != scene.memory:
            yield f"waiting are {sorted(state.pending)}, owed are {sorted(scene.memory)}"
        owed = {due.subject.partition(":")[0] for due in self.machine.agenda(state, scene.now)}
        if not set(scene.memory) <= owed:
            yield f"owed are {sorted(scene.memory)}, the agenda names {sorted(owed)}"
        ends = [held.expires_at for held in state.live if held.expires_at is not None]
        if state.next_expiry != min(ends, default=None):
            yield "the earliest end is not the one remembered"


def _sent(state: State) -> list[PresenceMessage]:
    return [one for one in state.recent if one.type is not EventType.INCURSION]


def _overlaps(live: tuple[Reservation, ...]) -> Iterator[str]:
    for one, other in combinations(live, 2):
        if classify_overlap(one.key, other.key) is Kind.DISJOINT:
            continue
        if (one.owner, one.epoch) != (other.owner, other.epoch):
            yield f"{one.holder} holds {one.scope} and {other.holder} holds {other.scope}"
        elif one.alias and other.alias and one.alias != other.alias:
            yield f"two sub-agents, {one.holder} and {other.holder}, are at work in {one.scope}"


def _is_alive(scene: Scene, held: Reservation) -> bool:
    """Compute it independently: a sign of life within the stale time, by the name's own holder."""
    member = next(one for one in scene.state.members if one.name == held.owner)
    last = max(member.last_at, scene.beats.get(held.owner, 0))
    is_holder = held.epoch == member.epoch == scene.epochs.get(held.owner, 1)
    return bool(is_holder and scene.now < last + scene.state.stale_millis)
