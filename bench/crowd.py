"""A busy project: many agents, many reservations, a long history."""

from __future__ import annotations

from pathlib import Path

from bench.ground import AGENT, STREAM, Ground, fill, keys_of, opened
from moot.core.errors import MootError
from moot.core.machine import KeyClass
from moot.core.names import REGISTRY, SYSTEM
from moot.engine.batch import Result
from moot.engine.job import Job
from moot.engine.registry_commands import registration_command
from moot.keys.folder import KeyFolder
from moot.protocols.presence import STREAM as PRESENCE
from moot.protocols.presence.commands import Reserve

AT_ONCE = 500


def crowded(ground: Ground, name: str) -> tuple[Path, str]:
    """A workspace with a crowd and a long history in it, and what to call that crowd."""
    agents, held = ground.pick(5_000, 500), ground.pick(10_000, 1_000)
    events = ground.pick(1_000_000, 100_000)
    place = gathered(ground, name, agents, held)
    with opened(place) as space:
        fill(space, [STREAM], events)
    return place, f"among {held:,} reservations, {agents:,} agents, {events:,} events"


def gathered(ground: Ground, name: str, agents: int, held: int) -> Path:
    """A workspace with so many agents, who hold so many scopes together."""
    place = ground.new(name)
    names = [AGENT, *(f"agent-{number}" for number in range(agents - 1))]
    keys = KeyFolder(keys_of(place))
    with opened(place) as space:
        jobs = []
        for each in names[1:]:
            signer = keys.add_key(space.trust.origin, each, KeyClass.AGENT)
            command = registration_command(space.engine, each, signer, keys.custodian)
            jobs.append(Job(REGISTRY, command, SYSTEM))
        for start in range(0, len(jobs), AT_ONCE):
            _require_all(space.engine.execute_all(jobs[start : start + AT_ONCE]))
        share = held // (agents - 1) or 1
        reserving = [
            Job(
                PRESENCE,
                Reserve(
                    scopes=tuple(f"src/{each}/{part}" for part in range(share)),
                    project_root=str(place),
                    worktree=str(place),
                ),
                each,
            )
            for each in names[1:]
        ]
        for start in range(0, len(reserving), AT_ONCE):
            _require_all(space.engine.execute_all(reserving[start : start + AT_ONCE]))
    return place


def _require_all(results: list[Result]) -> None:
    for result in results:
        if isinstance(result, MootError):
            raise result
