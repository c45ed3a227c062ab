"""A machine in a small world: few agents, coarse time, and a menu of what may happen next.

Nothing here does IO: a step is `decide` and `evolve` with a clock that the world holds. As in the
engine, what is overdue is applied before a command is decided.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import msgspec
from immutables import Map

from moot.core.clock import MINUTE, Millis, parse_time
from moot.core.machine import (
    Command,
    Context,
    Decision,
    KeyClass,
    Machine,
    Recorded,
    SignOfLife,
    VerifiedActor,
)
from moot.core.names import OPERATOR, SYSTEM
from moot.core.paged_map import encode_state

NOON: Millis = parse_time("2026-03-01T09:00:00.000Z")
# A number this large in a state is a time; nothing else counts that far.
_FIRST_TIME = 10**12
_MOST_TIMEOUTS = 20


class Act(msgspec.Struct, frozen=True):
    """Somebody gives a command."""

    actor: str
    command: Command

    def __str__(self) -> str:
        return f"{self.actor}: {_show_command(self.command)}"


class TimePasses(msgspec.Struct, frozen=True):
    """The clock goes on, or back."""

    minutes: int

    def __str__(self) -> str:
        return f"(the clock moves by {self.minutes} minutes)"


class SignsOfLife(msgspec.Struct, frozen=True):
    """An agent's heartbeat, which is not an event."""

    name: str

    def __str__(self) -> str:
        return f"({self.name} gives a sign of life)"


class NameChangesHands(msgspec.Struct, frozen=True):
    """The registry gives the name to its next holder."""

    name: str

    def __str__(self) -> str:
        return f"({self.name} has a new holder)"


Step = Act | TimePasses | SignsOfLife | NameChangesHands


def _show_command(command: Command) -> str:
    fields = msgspec.structs.fields(command)
    values = ((field, getattr(command, field.name)) for field in fields)
    told = (f"{field.name}={value!r}" for field, value in values if value != field.default)
    return f"{type(command).__name__}({', '.join(told)})"


class Scene(msgspec.Struct, frozen=True):
    """A state and what surrounds it. `memory` is what a small world remembers by itself, to compare
    the machine's own account with."""

    state: Any
    now: Millis = NOON
    seq: int = 0
    epochs: Map[str, int] = Map()
    beats: Map[str, Millis] = Map()
    memory: Any = ()


class Taken(msgspec.Struct, frozen=True):
    """A step and where it led; `recorded` are the events of the command and of what was overdue."""

    scene: Scene
    recorded: tuple[Recorded[Any], ...] = ()
    decision: Decision | None = None

    @property
    def is_accepted(self) -> bool:
        return self.decision is not None and not self.decision.refused

    @property
    def left_nothing(self) -> bool:
        """A command after which all is as it was."""
        return self.decision is not None and not self.recorded


class SmallWorld:
    """One machine and the menu that its exploration chooses from. Subclasses fill in the rest."""

    machine: ClassVar[Machine[Any]]
    stream: ClassVar[str] = ""
    origin: ClassVar[str] = "origin"
    # Times further back than this are all the same to the machine, and to the exploration.
    horizon_minutes: ClassVar[int] = 60
    # Commands that anybody can always give; a state where only these are left goes nowhere.
    idle_commands: ClassVar[tuple[type[Command], ...]] = ()
    # False where overdue commands of the agenda are applied by somebody else than the engine.
    timeouts_follow_agenda: ClassVar[bool] = True

    def find_openings(self) -> dict[str, Scene]:
        """Where exploration begins, by name."""
        return {"nothing": Scene(self.machine.initial)}

    def list_steps(self, scene: Scene) -> Iterable[Step]:
        raise NotImplementedError

    def is_final(self, scene: Scene) -> bool:
        """May this state be the last one?"""
        raise NotImplementedError

    def awaits_operator(self, _scene: Scene) -> bool:
        """May something be due at this end?"""
        return False

    def is_at_bound(self, _scene: Scene) -> bool:
        """Does the menu end here, though the machine would go on?"""
        return False

    def remember(self, memory: Any, _recorded: Recorded[Any]) -> Any:
        return memory

    def find_flaws(self, _scene: Scene) -> Iterator[str]:
        """What is wrong with a state, in words."""
        return iter(())

    def find_flaws_of_step(self, _before: Scene, _step: Step, _taken: Taken) -> Iterator[str]:
        return iter(())

    def key_of(self, scene: Scene) -> bytes:
        """Two scenes of one key go on alike: only how long ago things were counts, not when."""
        plain = msgspec.msgpack.decode(encode_state(scene.state))
        around = (sorted(scene.epochs.items()), sorted(scene.beats.items()), scene.memory)
        timeless = _without_clock((plain, *around), scene.now, self.horizon_minutes * MINUTE)
        return hashlib.blake2b(self.unify(repr(timeless)).encode(), digest_size=12).digest()

    def unify(self, text: str) -> str:
        """The state as text, without what only numbers things."""
        return text

    def acting(self, scene: Scene, name: str) -> VerifiedActor:
        kinds = {SYSTEM: KeyClass.SYSTEM, OPERATOR: KeyClass.HUMAN}
        kind = kinds.get(name, KeyClass.AGENT)
        epoch, kid = scene.epochs.get(name, 1), kid_of(name)
        return VerifiedActor(name, epoch, kid, kind, attended=kind is KeyClass.HUMAN)

    def play(self, scene: Scene, *steps: Step) -> Scene:
        """Where these steps lead; each must be accepted."""
        for step in steps:
            taken = self.take(scene, step)
            if isinstance(step, Act) and not taken.is_accepted:
                raise AssertionError(f"{step} was refused: {taken.decision}")
            scene = taken.scene
        return scene

    def take(self, scene: Scene, step: Step) -> Taken:
        match step:
            case TimePasses(minutes):
                return Taken(msgspec.structs.replace(scene, now=scene.now + minutes * MINUTE))
            case SignsOfLife(name):
                beats = scene.beats.set(name, scene.now)
                return Taken(msgspec.structs.replace(scene, beats=beats))
            case NameChangesHands(name):
                epochs = scene.epochs.set(name, scene.epochs.get(name, 1) + 1)
                return Taken(msgspec.structs.replace(scene, epochs=epochs))
            case Act(actor, command):
                after, overdue = self.apply_overdue(scene)
                taken = self._decide(after, actor, command)
                return Taken(taken.scene, (*overdue, *taken.recorded), taken.decision)

    def apply_overdue(self, scene: Scene) -> tuple[Scene, tuple[Recorded[Any], ...]]:
        recorded: tuple[Recorded[Any], ...] = ()
        for _ in range(_MOST_TIMEOUTS):
            overdue = tuple(self.machine.timeouts(scene.state, scene.now)) if scene.seq else ()
            if not overdue:
                return scene, recorded
            taken = self._decide(scene, SYSTEM, overdue[0])
            if not taken.recorded:
                raise AssertionError(f"{overdue[0]} is overdue and leaves nothing behind")
            scene, recorded = taken.scene, (*recorded, *taken.recorded)
        raise AssertionError("what is overdue never ends")

    def _decide(self, scene: Scene, name: str, command: Command) -> Taken:
        actor, machine = self.acting(scene, name), self.machine
        asked = machine.needs_signs_of(scene.state, command)
        beats = {one: SignOfLife(scene.beats[one]) for one in asked if one in scene.beats}
        context = Context(scene.now, actor, self.stream, self.origin, beats)
        decision = machine.decide(scene.state, command, context)
        recorded = []
        for draft in decision.drafts:
            digest = hashlib.sha256(f"{scene.seq}{draft.event}".encode()).digest()
            one: Recorded[Any] = Recorded(
                draft.event, self.stream, scene.seq, scene.now, actor.as_actor(), digest,
                artifacts=draft.artifacts,
            )  # fmt: skip
            for _row in machine.index(one):
                pass
            scene = msgspec.structs.replace(
                scene,
                state=machine.evolve(scene.state, one),
                seq=scene.seq + 1,
                memory=self.remember(scene.memory, one),
            )
            recorded.append(one)
        return Taken(scene, tuple(recorded), decision)


def kid_of(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:32]


def _without_clock(value: Any, now: Millis, horizon: Millis) -> Any:
    """`value` with every time as a distance from `now`; the far past is all one."""
    match value:
        case dict():
            return [(key, _without_clock(one, now, horizon)) for key, one in value.items()]
        case list() | tuple():
            return [_without_clock(one, now, horizon) for one in value]
        case bool():
            return value
        case int() if value >= _FIRST_TIME:
            return f"{max(value - now, -horizon):+}"
        case frozenset():
            return tuple(sorted(map(repr, value)))
        case _:
            return value
