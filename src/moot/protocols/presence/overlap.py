"""Whose reservations are in the way of a claim, and how alive their owners are.

The decision, the guard that records nothing and the engine, which must know whose signs of life to
prove first, all ask here, so that they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from moot.core.clock import Millis
from moot.core.machine import SignOfLife
from moot.core.text import quote_name
from moot.protocols.presence import liveness, model, sub_agents
from moot.protocols.presence.liveness import LivenessVerdict
from moot.protocols.presence.model import Kind, Liveness, Reservation, Stage, State
from moot.protocols.presence.paths import Scope, classify_overlap, is_inside

# A living (active) agent is never taken over. Who may take from whom, by the owner's liveness and
# whether `--takeover-stale` was given: how the old reservation is archived, or None for refused
# (section 4.4, B-15, B-16).
TAKEOVER: Final[dict[Liveness, dict[bool, Stage | None]]] = {
    Liveness.ACTIVE: {False: None, True: None},  # OPR-030
    Liveness.STALE: {False: None, True: Stage.TAKEN_OVER},  # OPR-031
    Liveness.EVICTED: {False: None, True: Stage.EXPIRED},  # OPR-032, OPR-033
}


class OverlapConflict(msgspec.Struct, frozen=True):
    """A claim meets what someone else holds; `verdict` says how alive that owner is.

    `own_session`: it is a sub-agent of the very session that asks, still at work.
    """

    claim: Scope
    held: Reservation
    kind: Kind
    verdict: LivenessVerdict
    sign: SignOfLife | None = None
    own_session: bool = False

    @property
    def sentence(self) -> str:
        """What the refused agent reads: who holds what, for which work, and how alive they are."""
        held, verdict = self.held, self.verdict
        work = f" for {quote_name(held.work)}" if held.work else ""
        return (
            f"{quote_name(self.claim.shown)} is {self._held_how} {held.holder}{self._whose}"
            f"{self._held_as}{work}: {verdict.liveness}, {verdict.because}"
        )

    @property
    def _whose(self) -> str:
        return " (a sub-agent of your own session)" if self.own_session else ""

    @property
    def _held_how(self) -> str:
        return "partly held by" if is_inside(self.held.key, self.claim.key) else "held by"

    @property
    def _held_as(self) -> str:
        if self.kind is Kind.EXACT:
            return ""
        part = is_inside(self.held.key, self.claim.key)
        scope = quote_name(self.held.scope)
        return f" ({scope})" if part else f" as part of {scope}"


class Requester(msgspec.Struct, frozen=True):
    """Who asks, when, with the proved signs of life of the others (`seen`).

    `stale_millis` is after how long the asker calls them stale; None: as the workspace does.
    `alias` says who of a session asks: one of its sub-agents, or its main agent (empty). None: that
    is not known, and nothing of the session's own is in its way.
    """

    name: str
    epoch: int
    now: Millis
    seen: Mapping[str, SignOfLife]
    stale_millis: Millis | None
    alias: str | None = None


def find_conflicts(
    state: State, claims: Iterable[Scope], requester: Requester
) -> Iterator[OverlapConflict]:
    """Yield every overlapping reservation of another holder, without those whose time is over."""
    for claim in claims:
        for held in model.overlapping_reservations(state, claim.key):
            if not is_in_the_way(state, held, requester):
                continue
            kind = classify_overlap(claim.key, held.key)
            if held.is_held_by(requester.name, requester.epoch):
                verdict = judge_sibling(state, held, requester)
                yield OverlapConflict(claim, held, kind, verdict, own_session=True)
            else:
                verdict, sign = judge_owner(state, held, requester)
                yield OverlapConflict(claim, held, kind, verdict, sign)


def is_in_the_way(state: State, held: Reservation, requester: Requester) -> bool:
    """Does this reservation keep the requester off?

    Another holder's does. Within one session only what a sub-agent works on does, while it works;
    what the session itself holds is there for all of it.
    """
    if held.has_ended(requester.now):
        return False
    if not held.is_held_by(requester.name, requester.epoch):
        return True
    return is_of_sibling(held, requester) and not is_of_quiet_sibling(state, held, requester)


def is_of_sibling(held: Reservation, requester: Requester) -> bool:
    """Is this the work of another of the requester's own session, as far as that is known?"""
    return (
        requester.alias is not None
        and bool(held.alias)
        and held.alias != requester.alias
        and held.is_held_by(requester.name, requester.epoch)
    )


def is_of_quiet_sibling(state: State, held: Reservation, requester: Requester) -> bool:
    """Has the sub-agent who held this gone quiet, or ended without a word?"""
    if not is_of_sibling(held, requester):
        return False
    return judge_sibling(state, held, requester).liveness is not Liveness.ACTIVE


def judge_sibling(state: State, held: Reservation, requester: Requester) -> LivenessVerdict:
    """Return how alive the sub-agent is who works there: evicted, if it is not at work any more."""
    stale = liveness.longer_stale_time(requester.stale_millis, state.stale_millis)
    session = sub_agents.find_session(state, held.owner, held.epoch)
    sibling = sub_agents.find_by_alias(session, held.alias)
    if sibling is None:
        ruled = f"{held.holder} has ended"
        return LivenessVerdict(Liveness.EVICTED, requester.now, stale, reason=ruled)
    return sub_agents.judge_sub_agent(sibling, requester.now, stale)


def judge_owner(
    state: State, held: Reservation, requester: Requester, shown_by: Millis | None = None
) -> tuple[LivenessVerdict, SignOfLife | None]:
    """Return how alive the owner is: evicted, if the name is unknown or has a later holder (B-35).

    `shown_by` is the stale time for who only reads; what is decided goes by the longer of two.
    """
    member = model.find_member(state, held.owner)
    stale = shown_by or liveness.longer_stale_time(requester.stale_millis, state.stale_millis)
    if (
        member is None
        or member.epoch > held.epoch
        or (held.owner == requester.name and held.epoch < requester.epoch)
    ):
        ruled = f"it belongs to an earlier {held.owner}"
        return LivenessVerdict(Liveness.EVICTED, requester.now, stale, reason=ruled), None
    sign = requester.seen.get(held.owner)
    return liveness.judge_sign(sign, member.last_at, requester.now, stale), sign


def find_owners(state: State, claims: Iterable[Scope]) -> tuple[str, ...]:
    """Return whose signs of life decide about these claims."""
    names = (
        held.owner for claim in claims for held in model.overlapping_reservations(state, claim.key)
    )
    return tuple(dict.fromkeys(names))


def find_lapsed(state: State, claims: Iterable[Scope], now: Millis) -> tuple[Reservation, ...]:
    """Overlapping reservations whose time is over but which nobody has archived yet."""
    leases = (held for claim in claims for held in model.overlapping_reservations(state, claim.key))
    return tuple({held.fencing: held for held in leases if held.has_ended(now)}.values())


def first_by_reservation(conflicts: Iterable[OverlapConflict]) -> tuple[OverlapConflict, ...]:
    """Return the first conflict with each reservation: several claims may meet the same one."""
    first: dict[int, OverlapConflict] = {}
    for conflict in conflicts:
        first.setdefault(conflict.held.fencing, conflict)
    return tuple(first.values())
