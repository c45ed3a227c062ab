"""What lists show of an agent: its family, tool and work, and how alive it is."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from moot.api.session import read_presence
from moot.core.clock import Millis, to_text
from moot.core.machine import KeyClass, SignOfLife
from moot.core.names import REGISTRY
from moot.core.text import Quoted
from moot.protocols.presence import liveness, views
from moot.protocols.presence.model import Liveness, Reservation, State, find_member
from moot.protocols.presence.views import Holdings

if TYPE_CHECKING:
    from moot.api.observed.guards import AgentTool
    from moot.api.presence.exited_agents import RunEvidence
    from moot.api.session import Session
    from moot.core.registry.model import RegisteredKey
    from moot.core.registry.model import State as Registry
    from moot.engine.engine import Engine
    from moot.protocols.presence.views import AgentView
    from moot.workspace.workspace import Workspace


# The order of a list: active first, then those who have not joined, voices, and the ended last.
_BY_LIVENESS: Final = {Liveness.ACTIVE: 0, Liveness.STALE: 1, Liveness.EVICTED: 2}
_NOT_HERE: Final = 3
_VOICE: Final = 4
_ENDED: Final = 5


class AgentFacts(NamedTuple):
    """Facts about some names: their views in presence, tools, families and runs, and which of them
    are voices."""

    views: Mapping[str, AgentView]
    tools: Mapping[str, AgentTool]
    voices: frozenset[str]
    families: Mapping[str, str]
    runs: Mapping[str, RunEvidence]

    def describe(self, name: str) -> dict[str, Any]:
        """Return the fields that every list adds to a name."""
        view, tool = self.views[name], self.tools.get(name)
        run = self.runs.get(name)
        return {
            "family": self.families[name],
            "tool": None if tool is None else Quoted(tool.tool),
            "voice": name in self.voices,
            "here": view.here,
            "liveness": str(view.liveness),
            "label": view.label,
            "last_seen_at": view.last_seen_at,
            "work": view.work,
            "evidence": None if run is None else run.state,
            "process": None if run is None else run.because,
        }

    def sort_key(self, name: str, *, has_ended: bool) -> tuple[int, str]:
        """Return what lists sort by."""
        view = self.views[name]
        if has_ended:
            return _ENDED, name
        if name in self.voices:
            return _VOICE, name
        return (_BY_LIVENESS[view.liveness] if view.here else _NOT_HERE), name


def find_agent_facts(
    session: Session, names: tuple[str, ...], known: Iterable[AgentView] | None = None
) -> AgentFacts:
    """Find the facts for these names; verify their signs of life unless their views are `known`."""
    from moot.api.observed.guards import find_tools
    from moot.api.presence.observation import list_voices, observe
    from moot.protocols.presence import agent_names as families

    workspace = session.workspace
    state = read_presence(workspace)
    if known is None:
        observation = observe(workspace, names, session.stale_millis)
        known = views.view_agents(state, names, observation)
    registered = workspace.engine.registry().agents
    return AgentFacts(
        {view.agent: view for view in known},
        find_tools(workspace, names),
        list_voices(workspace),
        {name: families.family_of(name, registered) for name in names},
        _look_at_runs(workspace, state, names),
    )


def _look_at_runs(
    workspace: Workspace, state: State, names: tuple[str, ...]
) -> dict[str, RunEvidence]:
    """Return what the locks of those who are here show."""
    from moot.api.presence.exited_agents import find_run_evidence

    members = (member for name in names if (member := find_member(state, name)) is not None)
    looks = (
        (member.name, find_run_evidence(workspace, member.name, member.epoch))
        for member in members
        if not member.left
    )
    return {name: evidence for name, evidence in looks if evidence is not None}


def find_end_times(workspace: Workspace, names: Iterable[str]) -> dict[str, str]:
    """Return when the keys of those `names` ended that have ended.

    The registry knows only the position of that event, so the time is read from its record.
    """
    registry = workspace.engine.registry()
    keys = ((name, registry.keys[registry.agents[name].kid]) for name in names)
    ended = {name: key.ended for name, key in keys if key.ended is not None}
    if not ended:
        return {}
    from moot.core.registry.machine import MACHINE
    from moot.engine.replay import read_record

    times: dict[str, str] = {}
    with workspace.store.read() as view:
        for name, position in ended.items():
            for record in islice(view.records(REGISTRY, after=position - 1), 1):
                times[name] = to_text(read_record(MACHINE, record).at)
    return times


# Finding the agents that were seen last among thousands. Verifying a sign of life is expensive, so
# only candidates for the list are verified, in the order of their unverified times. A forged time
# costs one verification and hides no agent.


class ProvedSigns(Mapping[str, SignOfLife]):
    """Signs of life by name, each verified when it is first read."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._signs: dict[str, SignOfLife | None] = {}

    def __getitem__(self, name: str) -> SignOfLife:
        if name not in self._signs:
            self._signs[name] = self._engine.signs((name,)).get(name)
        sign = self._signs[name]
        if sign is None:
            raise KeyError(name)
        return sign

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names that were read so far."""
        return (name for name, sign in self._signs.items() if sign is not None)

    def __len__(self) -> int:
        return sum(1 for _name in self)


def find_last_seen(
    names: Iterable[str],
    claimed: Mapping[str, Millis],
    most: int,
    prove: Callable[[str], Millis | None],
) -> list[str]:
    """Return the `most` of `names` that were seen last, the latest first.

    `prove` returns the verified time of a name; None leaves the name out. A verified time is never
    later than the claimed one, so a verified name is next once no remaining claim is later.
    """
    by_claim = iter(sorted(names, key=lambda name: claimed.get(name, 0), reverse=True))
    candidate = next(by_claim, None)
    chosen: list[str] = []
    proved: list[tuple[Millis, str]] = []  # (minus the verified time, name): the latest first
    while len(chosen) < most and (proved or candidate is not None):
        if candidate is None or (proved and -proved[0][0] >= claimed.get(candidate, 0)):
            chosen.append(proved.pop(0)[1])
            continue
        seen_at = prove(candidate)
        if seen_at is not None:
            insort(proved, (-seen_at, candidate))
        candidate = next(by_claim, None)
    return chosen


# What one screen shows of many agents: those who are here and were seen last, and what they hold.

MOST_AGENTS: Final = 200
RESERVATIONS_EACH: Final = 10  # for every agent that there is room for


class ShownPart(NamedTuple):
    """What is shown, when and with which signs of life it was observed, and the totals.

    `working` counts agents that are here or hold something.
    """

    shown: views.StatusPart
    observation: views.Observation
    agents: int
    working: int
    reservations: int


def choose_shown_part(
    session: Session, names: ListedNames, busy: Iterable[str], most: int | None
) -> ShownPart:
    """Choose at most `most` of `names` (None: all); the acting agent is always among them."""
    return _Chooser(session, names, frozenset(busy), most).choose()


class ListedNames:
    """The names that a list may show: those that have not ended, or with `ended` all that were ever
    registered, without voices, who only answer questions. Looks up only the names asked for."""

    def __init__(self, registry: Registry, voices: frozenset[str], *, ended: bool) -> None:
        self._registry, self._voices, self._ended = registry, voices, ended
        self._unlisted = sum(self._is_listed(name) for name in voices)

    def __contains__(self, name: str) -> bool:
        return name not in self._voices and self._is_listed(name)

    def _is_listed(self, name: str) -> bool:
        agent = self._registry.agents.get(name)
        return agent is not None and (self._ended or _can_sign(self._registry.keys[agent.kid]))

    def __len__(self) -> int:
        registry = self._registry
        keys = (
            len(registry.agents) if self._ended else registry.keys.count_where(_SIGNING, _can_sign)
        )
        return keys - self._unlisted

    def list_all(self) -> set[str]:
        return {name for name in self._registry.agents if name in self}


# The (kind, ending) of keys that can sign, as the pages of the key table count them.
_SIGNING: Final = frozenset((kind, None) for kind in (KeyClass.AGENT, KeyClass.HUMAN))


def _can_sign(key: RegisteredKey) -> bool:
    return (key.kind, key.ending) in _SIGNING


class _Chooser:
    """Makes one choice; reads once what its steps need."""

    def __init__(
        self,
        session: Session,
        names: ListedNames,
        busy: frozenset[str],
        most: int | None,
    ) -> None:
        engine = session.workspace.engine
        self._engine, self._names, self._you, self._busy = engine, names, session.acting, busy
        self._is_all = most is None
        self._count = len(names)
        self._most = self._count if most is None else most
        self._is_limited = self._count > self._most
        self._state: State = read_presence(session.workspace)
        members = self._state.members_by_name.values()
        self._here = dict.fromkeys(member.name for member in members if not member.left)
        self._holdings = Holdings(self._state)
        self._observation = views.Observation(
            engine.clock(), ProvedSigns(engine), session.stale_millis
        )

    def choose(self) -> ShownPart:
        agents, registered = self._choose_agents(), self._engine.registry().agents
        held_by = self._holdings.of(agents if self._is_limited else self._holdings.owners)
        reservations = self._choose_reservations(agents, held_by)
        shown = views.StatusPart(
            agents,
            held_by,
            reservations,
            self._choose_works(agents, reservations),
            frozenset(agents) if self._is_limited else None,
            self._judge_unshown(agents),
        )
        now, seen, stale, _ = msgspec.structs.astuple(self._observation)
        since = {name: registered[name].since for name in agents}
        observation = views.Observation(now, seen, stale, since)
        working = self._here.keys() | self._holdings.owners
        if not self._is_limited:  # a limited list also counts ended agents that hold something
            working &= set(agents)
        return ShownPart(shown, observation, self._count, len(working), self._count_held())

    def _choose_agents(self) -> tuple[str, ...]:
        """Choose those who are here first, then those who hold something or have something to do,
        then others; return them by name."""
        if not self._is_limited:
            return tuple(sorted(self._names.list_all()))
        chosen = [self._you] if self._you is not None and self._you in self._names else []
        for group in self._groups():
            known, room = frozenset(chosen), self._most - len(chosen)
            waiting = [name for name in group if name not in known]
            chosen += find_last_seen(waiting, self._claimed_times, room, self._prove_time)
            if len(chosen) >= self._most:
                break
        return tuple(sorted(chosen))

    def _groups(self) -> Iterator[Iterable[str]]:
        """Yield the groups to choose from, each by name, which decides between equal times."""
        yield self._here
        yield sorted(self._holdings.owners | self._busy)
        yield sorted(self._names.list_all())

    @cached_property
    def _claimed_times(self) -> dict[str, Millis]:
        """Name -> the latest time it can have been seen: its last event, or an unverified sign."""
        times = self._engine.claimed_times()
        known = times.get
        for member in self._state.members_by_name.values():
            if member.last_at > known(member.name, 0):
                times[member.name] = member.last_at
        return times

    def _judge(self, name: str) -> liveness.LivenessVerdict:
        return views.observe_liveness(self._state, name, self._observation)

    def _prove_time(self, name: str) -> Millis | None:
        return (self._judge(name).last_seen_at or 0) if name in self._names else None

    def _count_held(self) -> int:
        if not self._has_lapsed:
            return len(self._state.live_by_key)
        return sum(not held.has_ended(self._observation.now) for held in self._state.live)

    @property
    def _has_lapsed(self) -> bool:
        """True if the time of some reservation is over."""
        expiry = self._state.next_expiry
        return expiry is not None and expiry <= self._observation.now

    def _choose_reservations(
        self, agents: tuple[str, ...], held_by: Mapping[str, Iterable[Reservation]]
    ) -> tuple[Reservation, ...]:
        """Choose all if there is room; else the newest of the agents that are shown."""
        count = len(self._state.live_by_key)
        room = count if self._is_all else self._most * RESERVATIONS_EACH
        owners = agents if self._is_limited or count > room else held_by
        now = self._observation.now
        live = [
            held for name in owners for held in held_by.get(name, ()) if not held.has_ended(now)
        ]
        if len(live) > room:
            live.sort(key=lambda held: (held.owner != self._you, -held.fencing))
            live = live[:room]
        return tuple(sorted(live, key=lambda held: held.key))

    def _choose_works(
        self, agents: tuple[str, ...], reservations: tuple[Reservation, ...]
    ) -> frozenset[str]:
        """Return what the shown agents work on, and what waits for an answer."""
        names = self._here.keys() & agents if self._is_limited else self._here.keys()
        members = (self._state.members_by_name[name] for name in names)
        sources = (*members, *reservations, *self._state.pending.values())
        return frozenset(source.work for source in sources if source.work)

    def _judge_unshown(self, agents: tuple[str, ...]) -> tuple[Liveness, ...]:
        """Return how alive the unshown agents are that are here; of too many only the one seen
        longest ago, by its unverified time."""
        shown = frozenset(agents)
        others = [name for name in self._here if name not in shown]
        if len(others) <= self._most:
            return tuple(self._judge(name).liveness for name in others)
        oldest = min(map(self._claimed_times.__getitem__, others))
        usual = self._state.stale_millis
        stale = liveness.shown_stale_time(self._observation.stale_millis, usual)
        return (liveness.judge_liveness(oldest, self._observation.now, stale).liveness,)
