"""What must hold in every state of every machine, whatever its protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from moot.core.machine import Recorded
from moot.core.paged_map import decode_state, encode_state
from tests.model.small_world import Act, Scene, SmallWorld, Step, Taken


def find_broken_promises(world: SmallWorld, before: Scene, step: Step, taken: Taken) -> str | None:
    """The first promise that this step, or the state after it, breaks."""
    flaw = next(_refusal_without_reason(before, step, taken), None)
    if flaw is not None or taken.left_nothing:
        return flaw
    looks = (
        _replay_differs(world, before, taken),
        world.find_flaws_of_step(before, step, taken),
        find_flaws_of_state(world, taken.scene),
    )
    return next((flaw for look in looks for flaw in look), None)


def find_flaws_of_state(world: SmallWorld, scene: Scene) -> Iterator[str]:
    yield from _snapshot_differs(scene)
    yield from _agenda_and_timeouts_differ(world, scene)
    is_over = world.is_final(scene) and not world.awaits_operator(scene)
    if is_over and world.machine.agenda(scene.state, scene.now):
        yield "the state is final, and yet something is due"
    yield from world.find_flaws(scene)


def _refusal_without_reason(before: Scene, step: Step, taken: Taken) -> Iterator[str]:
    decision = taken.decision
    if decision is None or not decision.refused:
        return
    if not decision.findings:
        yield f"{step} was refused without a reason"
    if not taken.recorded and taken.scene.state != before.state:
        yield f"{step} was refused, recorded nothing, and changed the state"


def _snapshot_differs(scene: Scene) -> Iterator[str]:
    if decode_state(type(scene.state), encode_state(scene.state)) != scene.state:
        yield "a snapshot of the state is another state"


def _replay_differs(world: SmallWorld, before: Scene, taken: Taken) -> Iterator[str]:
    """Another process reads a snapshot and the bytes of the events: it must see the same."""
    if not taken.recorded:
        return
    state = decode_state(type(before.state), encode_state(before.state))
    for recorded in taken.recorded:
        state = world.machine.evolve(state, _read_again(world, recorded))
    if state != taken.scene.state:
        yield "replaying the recorded events gives another state"


def _read_again(world: SmallWorld, recorded: Recorded[Any]) -> Recorded[Any]:
    data = msgspec.json.decode(msgspec.json.encode(recorded.event))
    event = world.machine.read_event(world.machine.type_of[type(recorded.event)], data)
    return msgspec.structs.replace(recorded, event=event)


def _agenda_and_timeouts_differ(world: SmallWorld, scene: Scene) -> Iterator[str]:
    """Whatever the engine would do by itself stands in the agenda, and the other way round."""
    machine, now = world.machine, scene.now
    due = machine.agenda(scene.state, now)
    will_act = set(machine.timeouts(scene.state, now)) if scene.seq else set()
    known = {one.command for one in due if one.command is not None}
    for command in will_act - known:
        yield f"{command} is overdue, and the agenda does not know of it"
    if world.timeouts_follow_agenda and scene.seq:
        late = {one.command for one in due if one.command and one.by is not None and one.by < now}
        for command in late - will_act:
            yield f"the agenda calls {command} overdue, and nobody will do it"


def is_stuck(world: SmallWorld, scene: Scene, accepted: list[Step]) -> bool:
    """Nothing leads on from here, and yet it is not an end."""
    leads_on = [
        step
        for step in accepted
        if isinstance(step, Act) and not isinstance(step.command, world.idle_commands)
    ]
    if world.machine.timeouts(scene.state, scene.now):
        return False
    return not (leads_on or world.is_final(scene) or world.is_at_bound(scene))
