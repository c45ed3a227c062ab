"""Whose reservations are in the way of a claim, and how alive their owners are.

The decision, the guard, which records nothing, and the engine, which must know whose signs of life
to prove, all use this module, so that they cannot disagree.
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

# Who may take from whom (section 4.4, B-15, B-16): owner's liveness -> `--takeover-stale` was given
# -> how the old reservation is archived, or None: refused. Nobody takes from an active agent.
TAKEOVER: Final[dict[Liveness, dict[bool, Stage | None]]] = {
    Liveness.ACTIVE: {False: None, True: None},  # OPR-030
    Liveness.STALE: {False: None, True: Stage.TAKEN_OVER},  # OPR-031
    Liveness.EVICTED: {False: None, True: Stage.EXPIRED},  # OPR-032, OPR-033
}


class OverlapConflict(msgspec.Struct, frozen=True):
    """A claim overlaps what another agent holds; `verdict` says how alive that owner is.

    `own_session`: the holder is a sub-agent of the requester's session, still at work.
    """

    claim: Scope
    held: Reservation
    kind: Kind
    verdict: LivenessVerdict
    sign: SignOfLife | None = None
    own_session: bool = False

    @property
    def sentence(self) -> str:
        """The text for the refused agent: who holds what, for which work, and their liveness."""
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

    `stale_millis` is the requester's stale time; None: the workspace's. `alias` is the sub-agent of
    the session that asks, empty for its main agent. None means unknown: then no reservation of the
    same session conflicts.
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
    """Yield every overlapping reservation of another holder that has not ended."""
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
    """True if this reservation keeps the requester from writing.

    A reservation of another holder does. Within one session only that of a sub-agent at work does;
    what the session itself holds is for all of its sub-agents.
    """
    if held.has_ended(requester.now):
        return False
    if not held.is_held_by(requester.name, requester.epoch):
        return True
    return is_of_sibling(held, requester) and not is_of_quiet_sibling(state, held, requester)


def is_of_sibling(held: Reservation, requester: Requester) -> bool:
    """True if another sub-agent of the requester's session is known to hold this."""
    return (
        requester.alias is not None
        and bool(held.alias)
        and held.alias != requester.alias
        and held.is_held_by(requester.name, requester.epoch)
    )


def is_of_quiet_sibling(state: State, held: Reservation, requester: Requester) -> bool:
    """True if a sibling held this and has gone quiet or ended."""
    if not is_of_sibling(held, requester):
        return False
    return judge_sibling(state, held, requester).liveness is not Liveness.ACTIVE


def judge_sibling(state: State, held: Reservation, requester: Requester) -> LivenessVerdict:
    """Judge how alive the sub-agent is that works there: evicted, if it has ended."""
    stale = liveness.longer_stale_time(requester.stale_millis, state.stale_millis)
    session = sub_agents.find_session(state, held.owner, held.epoch)
    sibling = sub_agents.find_by_alias(session, held.alias)
    if sibling is None:
        reason = f"{held.holder} has ended"
        return LivenessVerdict(Liveness.EVICTED, requester.now, stale, reason=reason)
    return sub_agents.judge_sub_agent(sibling, requester.now, stale)


def judge_owner(
    state: State, held: Reservation, requester: Requester, shown_by: Millis | None = None
) -> tuple[LivenessVerdict, SignOfLife | None]:
    """Judge how alive the owner is: evicted, if the name is unknown or has a later holder (B-35).

    `shown_by` is the stale time for display only; decisions use the longer of the two times.
    """
    member = model.find_member(state, held.owner)
    stale = shown_by or liveness.longer_stale_time(requester.stale_millis, state.stale_millis)
    if (
        member is None
        or member.epoch > held.epoch
        or (held.owner == requester.name and held.epoch < requester.epoch)
    ):
        reason = f"it belongs to an earlier {held.owner}"
        return LivenessVerdict(Liveness.EVICTED, requester.now, stale, reason=reason), None
    sign = requester.seen.get(held.owner)
    return liveness.judge_sign(sign, member.last_at, requester.now, stale), sign


def find_owners(state: State, claims: Iterable[Scope]) -> tuple[str, ...]:
    """Return the owners of overlapping reservations, whose signs of life decide."""
    names = (
        held.owner for claim in claims for held in model.overlapping_reservations(state, claim.key)
    )
    return tuple(dict.fromkeys(names))


def find_lapsed(state: State, claims: Iterable[Scope], now: Millis) -> tuple[Reservation, ...]:
    """Return overlapping reservations that have ended but are not archived yet."""
    leases = (held for claim in claims for held in model.overlapping_reservations(state, claim.key))
    return tuple({held.fencing: held for held in leases if held.has_ended(now)}.values())


def first_by_reservation(conflicts: Iterable[OverlapConflict]) -> tuple[OverlapConflict, ...]:
    """Return the first conflict with each reservation: several claims may overlap the same one."""
    first: dict[int, OverlapConflict] = {}
    for conflict in conflicts:
        first.setdefault(conflict.held.fencing, conflict)
    return tuple(first.values())
