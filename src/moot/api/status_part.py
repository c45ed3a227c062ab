"""What of a crowd one screen shows: those who are here and were seen last, and what they hold.

Looking at an agent costs a proof, so a screen looks at as many as it has room for. Everything else
is counted. Whoever wants all of them asks for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.core.clock import Millis
from moot.core.machine import KeyClass
from moot.flows.presence.latest_agents import ProvedSigns, find_latest
from moot.protocols.presence import liveness, sorted_index, views
from moot.protocols.presence.model import Liveness, Reservation, State

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.registry.model import State as Registry

MOST_AGENTS: Final = 200
RESERVATIONS_EACH: Final = 10  # for every agent that there is room for


class ChosenPart(NamedTuple):
    """What is shown, from when and with which proofs, and how many there are of what.

    `working` are those of the agents who are here or hold something.
    """

    shown: views.StatusPart
    observation: views.Observation
    agents: int
    working: int
    reservations: int


def choose_part(
    session: Session, names: Set[str], busy: Iterable[str], most: int | None
) -> ChosenPart:
    """Of `names` at most `most` (None: all), whoever acts always among them."""
    return _Chooser(session, names, frozenset(busy), most).choose()


def names_not_ended(registry: Registry) -> set[str]:
    """Everyone whose key signs."""
    keys = registry.keys.values()
    return {key.name for key in keys if key.ending is None and key.kind is not KeyClass.SYSTEM}


class _Chooser:
    """One choice; what its steps need is read once."""

    def __init__(
        self,
        session: Session,
        names: Set[str],
        busy: frozenset[str],
        most: int | None,
    ) -> None:
        from moot.protocols.presence import STREAM
        from moot.protocols.presence.machine import MACHINE as PRESENCE

        engine = session.workspace.engine
        self._engine, self._names, self._you, self._busy = engine, names, session.acting, busy
        self._is_all = most is None
        self._most = len(names) if most is None else most
        self._is_limited = len(names) > self._most
        self._state: State = engine.state(PRESENCE, STREAM)
        self._here = {member.name for member in self._state.members if not member.left}
        self._held_by = sorted_index.group_by_owner(self._state)
        self._observation = views.Observation(
            engine.clock(), ProvedSigns(engine), session.stale_millis
        )

    def choose(self) -> ChosenPart:
        agents, registered = self._choose_agents(), self._engine.registry().agents
        reservations = self._choose_reservations(agents)
        shown = views.StatusPart(
            agents,
            self._held_by,
            reservations,
            self._choose_works(agents, reservations),
            frozenset(agents) if self._is_limited else None,
            self._judge_unshown(agents),
        )
        now, seen, stale, _ = msgspec.structs.astuple(self._observation)
        since = {name: registered[name].since for name in agents}
        observation = views.Observation(now, seen, stale, since)
        working = len(self._names & (self._here | self._held_by.keys()))
        return ChosenPart(shown, observation, len(self._names), working, self._count_held())

    def _choose_agents(self) -> tuple[str, ...]:
        """By name, as they are listed: first who is here, then who holds something or has something
        to do, then others."""
        if not self._is_limited:
            return tuple(sorted(self._names))
        chosen = {name for name in (self._you,) if name is not None} & self._names
        for group in (self._here, self._held_by.keys() | self._busy, self._names):
            if len(chosen) < self._most:
                waiting, room = (self._names & group) - chosen, self._most - len(chosen)
                chosen.update(find_latest(waiting, self._claimed_times, room, self._prove_time))
        return tuple(sorted(chosen))

    @cached_property
    def _claimed_times(self) -> dict[str, Millis]:
        """The latest that somebody can have been seen: the last act here, or what rows claim."""
        times = self._engine.claimed_times()
        for member in self._state.members_by_name.values():
            if member.last_at > times.get(member.name, 0):
                times[member.name] = member.last_at
        return times

    def _judge(self, name: str) -> liveness.LivenessVerdict:
        return views.observe_liveness(self._state, name, self._observation)

    def _prove_time(self, name: str) -> Millis:
        return self._judge(name).last_seen_at or 0

    def _count_held(self) -> int:
        if not self._has_lapsed:
            return len(self._state.live_by_key)
        return sum(not held.has_ended(self._observation.now) for held in self._state.live)

    @property
    def _has_lapsed(self) -> bool:
        """Is there anything whose time is over?"""
        expiry = self._state.next_expiry
        return expiry is not None and expiry <= self._observation.now

    def _choose_reservations(self, agents: tuple[str, ...]) -> tuple[Reservation, ...]:
        """All, if there is room for all; else the newest of those who are shown."""
        count = len(self._state.live_by_key)
        room = count if self._is_all else self._most * RESERVATIONS_EACH
        owners = agents if self._is_limited or count > room else self._held_by
        now = self._observation.now
        live = [
            held
            for name in owners
            for held in self._held_by.get(name, ())
            if not held.has_ended(now)
        ]
        if len(live) > room:
            live.sort(key=lambda held: (held.owner != self._you, -held.fencing))
            live = live[:room]
        return tuple(sorted(live, key=lambda held: held.key))

    def _choose_works(
        self, agents: tuple[str, ...], reservations: tuple[Reservation, ...]
    ) -> frozenset[str]:
        """What those who are shown work on, and what waits for an answer."""
        names = self._here.intersection(agents) if self._is_limited else self._here
        members = (self._state.members_by_name[name] for name in names)
        sources = (*members, *reservations, *self._state.pending.values())
        return frozenset(source.work for source in sources if source.work)

    def _judge_unshown(self, agents: tuple[str, ...]) -> tuple[Liveness, ...]:
        """How alive the others are who are here; of too many only who was seen longest ago, as
        rows claim that nobody has proved."""
        others = self._here.difference(agents)
        if len(others) <= self._most:
            return tuple(self._judge(name).liveness for name in others)
        oldest = min(self._claimed_times[name] for name in others)
        usual = self._state.stale_millis
        stale = liveness.shown_stale_time(self._observation.stale_millis, usual)
        return (liveness.judge_liveness(oldest, self._observation.now, stale).liveness,)
