"""What must be true afterwards, told by the record's events alone and by no machine of ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import moot
from bench.soak import keys_beside
from bench.soak.crew import Acknowledged
from moot.core.ledger import View
from moot.core.machine import Recorded
from moot.engine.machines import Machines
from moot.engine.replay import read_record
from moot.protocols.debate import events as debate
from moot.protocols.mail import events as mail
from moot.protocols.presence import STREAM as PRESENCE
from moot.protocols.presence import events as presence

ENDINGS = (
    presence.ScopeReleased,
    presence.ScopeExpired,
    presence.ScopeTakenOver,
    presence.ScopeFreed,
)


def count_events(place: Path) -> int:
    with moot.open(place, keys=keys_beside(place)) as session:
        return int(moot.api.status.status(session).record.events)


def find_flaws(place: Path, acknowledged: list[Acknowledged]) -> Iterator[str]:
    with moot.open(place, keys=keys_beside(place)) as session:
        moot.api.ledger.checkpoint(session)
        verdict = moot.api.verification.verify(session)
        if not verdict:
            yield f"the record does not verify: {verdict}"
        with session.workspace.store.read() as view:
            streams = {name: list(_events_of(view, name)) for name, _ in view.streams()}
    yield from find_double_holders(streams.get(PRESENCE, []))
    known = {fact for events in streams.values() for one in events for fact in _facts_in(one)}
    for one in acknowledged:
        if one.fact is not None and one.fact not in known:
            yield f"{one.name} was told that {one.fact} is on record, and it is not"


def _events_of(view: View, stream: str) -> Iterator[Recorded[Any]]:
    machine = Machines().machine_of(stream)
    return (read_record(machine, record) for record in view.records(stream))


def _facts_in(recorded: Recorded[Any]) -> Iterator[tuple[str, ...]]:
    event = recorded.event
    if isinstance(event, presence.ScopeReserved):
        yield "reserve", event.scope, str(event.fencing)
    elif isinstance(event, mail.MessageSent):
        yield "send", event.id
    elif isinstance(event, mail.MessageAcknowledged):
        yield "acknowledge", event.id
    elif isinstance(event, debate.Spoken):
        yield "argue", event.id


def find_double_holders(events: list[Recorded[Any]]) -> Iterator[str]:
    """Only single files are reserved here, so two of one key are two of one file."""
    held: dict[str, tuple[str, int]] = {}
    for recorded in events:
        event = recorded.event
        if isinstance(event, presence.ScopeReserved):
            holder = (recorded.actor.id, recorded.actor.epoch)
            if held.get(event.key, holder) != holder:
                yield f"{event.scope} was given to {holder} while {held[event.key]} held it"
            held[event.key] = holder
        elif isinstance(event, presence.ScopeHandedOver):
            held[event.key] = (event.owner, event.owner_epoch)
        elif isinstance(event, ENDINGS):
            held.pop(event.key, None)
