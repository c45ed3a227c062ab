"""What people and agents read of presence, as plain values ready for JSON.

Liveness is derived here each time, from signs of life the caller has had proved
(`Engine.signs`); nothing is read from a clock or a store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from moot.core.clock import Millis, to_text
from moot.core.machine import Sign
from moot.protocols.presence import adoption, liveness, overlap, sessions, shelf
from moot.protocols.presence import labels as words
from moot.protocols.presence.commands import Evidence
from moot.protocols.presence.liveness import Verdict
from moot.protocols.presence.model import Liveness, Member, Message, Reservation, State
from moot.protocols.presence.overlap import Asker, Conflict
from moot.protocols.presence.paths import Scope
from moot.protocols.presence.recommend import Candidate


class Moment(msgspec.Struct, frozen=True):
    """When one looks, with which proved signs, and after how long the reader calls one stale
    (None: as the workspace does).

    `registered` may say since when names have their holder: that is a first sign of life (B-35).
    """

    now: Millis
    seen: Mapping[str, Sign] = {}
    stale_millis: Millis | None = None
    registered: Mapping[str, Millis] = {}


def liveness_of(state: State, name: str, moment: Moment) -> Verdict:
    """How alive `name` is; whoever never acted here is judged by the sign alone."""
    member = shelf.member(state, name)
    stale = liveness.effective_stale(moment.stale_millis, state.stale_millis)
    acted, sign = member.last_at if member is not None else None, moment.seen.get(name)
    if acted is None and sign is None:
        registered = moment.registered.get(name)
        return liveness.judge(registered, moment.now, stale, "its registration")
    return liveness.judge_sign(sign, acted, moment.now, stale)


def agent(state: State, name: str, moment: Moment) -> dict[str, Any]:
    """One agent, how alive it is, and the facts that say so."""
    verdict, member = liveness_of(state, name, moment), shelf.member(state, name)
    return {
        "agent": name,
        "session_agent_id": member.session_agent_id if member else name,
        "logical_agent_id": member.logical_agent_id if member else name,
        "liveness": str(verdict.liveness),
        "label": _label(member, verdict.liveness),
        "last_seen_at": _time(verdict.last_seen_at),
        "because": verdict.because,
        "here": member is not None and not member.left,
        "worktree": member.worktree if member else "",
        "branch": member.branch if member else None,
        "work": member.work if member else None,
        "holds": [one.scope for one in shelf.held_by(state, name, member.epoch if member else 1)],
    }


def _label(member: Member | None, liveness: Liveness) -> str:
    """Who never joined is simply not here, however lately they were registered."""
    if member is None:
        return words.NOT_HERE
    return words.LEFT if member.left else words.LIVENESS[liveness]


def members(state: State, moment: Moment) -> list[dict[str, Any]]:
    """Who is here, by name; those who have left are not."""
    return [agent(state, one.name, moment) for one in state.members if not one.left]


def reservation(state: State, held: Reservation, moment: Moment) -> dict[str, Any]:
    asker = Asker("", 0, moment.now, moment.seen, moment.stale_millis)
    verdict, _sign = overlap.owner_verdict(state, held, asker)
    return {
        "scope": held.scope,
        "owner": held.owner,
        "liveness": str(verdict.liveness),
        "label": words.LIVENESS[verdict.liveness],
        "because": verdict.because,
        "work": held.work,
        "worktree": held.worktree,
        "branch": held.branch,
        "since": to_text(held.since),
        "expires_at": _time(held.expires_at),
        "automatic": held.automatic,
        "fencing": held.fencing,
    }


def reservations(state: State, moment: Moment, owner: str | None = None) -> list[dict[str, Any]]:
    """What is held, by path; what is over is not shown, though nobody may have archived it yet."""
    live = (one for one in state.live if not one.over(moment.now))
    wanted = (one for one in live if owner is None or one.owner == owner)
    return [reservation(state, one, moment) for one in wanted]


def pending(state: State, agent: str | None = None) -> list[dict[str, Any]]:
    """Events that owe an acceptance, oldest first; `agent` narrows to those it owes."""
    waiting = sorted(state.pending.values(), key=lambda one: (one.at, one.id))
    return [message(one) for one in waiting if agent is None or one.to == agent]


def message(one: Message) -> dict[str, Any]:
    seen = one.to is not None and one.to in one.seen_by
    return {
        "id": one.id,
        "event_type": str(one.type),
        "label": words.EVENTS[one.type],
        "from_agent": one.sender,
        "to_agent": one.to,
        "subject": one.subject,
        "work": one.work,
        "scope": one.scope,
        "urgency": None if one.urgency is None else str(one.urgency),
        "created_at": to_text(one.at),
        "status": "accepted" if one.accepted else "seen" if seen else "sent",
    }


def status(state: State, moment: Moment, me: str | None = None) -> dict[str, Any]:
    """One screen: who is here, who holds what, who owes an answer, what waits for me."""
    here = members(state, moment)
    held, waiting = reservations(state, moment), pending(state)
    return {
        "agents": here,
        "reservations": held,
        "pending": waiting,
        "mine": [one for one in waiting if me is not None and one["to_agent"] == me],
        "work": work_items(state, moment, {}),
        "counts": {"agents": len(here), "reservations": len(held), "pending": len(waiting)},
        "health": str(sessions.health(Liveness(one["liveness"]) for one in here)),
    }


def work_items(
    state: State, moment: Moment, bead_status: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The state of each work item that someone here works on, holds something for, or waits for."""
    names = {one.work for one in (*_here(state), *state.live, *state.pending.values()) if one.work}
    return [_work_item(state, work, moment, bead_status) for work in sorted(names | {*bead_status})]


def _here(state: State) -> Iterable[Member]:
    return (one for one in state.members if not one.left)


def _work_item(
    state: State, work: str, moment: Moment, bead_status: Mapping[str, str]
) -> dict[str, Any]:
    """The liveliest of those at work speaks for it: one agent gone does not end shared work."""
    agents = {one.name for one in _here(state) if one.work == work}
    agents |= {one.owner for one in state.live if one.work == work}
    verdicts = [liveness_of(state, name, moment) for name in sorted(agents)]
    best = max(verdicts, key=lambda one: one.last_seen_at or 0, default=None)
    found = sessions.session_state(
        sessions.Facts(
            bead_status=bead_status.get(work, "in_progress" if agents else None),
            answer_owed=any(one.work == work for one in state.pending.values()),
            liveness=best.liveness if best else None,
            last_activity=best.last_seen_at if best else None,
            now=moment.now,
            stale_millis=best.stale_millis if best else state.stale_millis,
        )
    )
    return {
        "work": work,
        "state": str(found),
        "label": sessions.LABELS[found],
        "agents": sorted(agents),
    }


def guard(
    state: State, claims: Iterable[Scope], me: tuple[str, int], moment: Moment
) -> tuple[Conflict, ...]:
    """May `me` (name, epoch) write there? Whoever stands in the way; records nothing."""
    asker = Asker(me[0], me[1], moment.now, moment.seen, moment.stale_millis)
    return tuple(overlap.conflicts(state, claims, asker))


def adoption_of(
    state: State,
    target: str,
    evidence: Evidence,
    worktree: str,
    now: Millis,
    *,
    scopes: tuple[Scope, ...] = (),
    work: str | None = None,
) -> adoption.Verdict:
    """May a new session here adopt `target`? Ask before the key is rotated: `Resume` asks again."""
    member = shelf.member(state, target)
    found = shelf.held_by(state, target, member.epoch) if member is not None else ()
    held = tuple(one for one in found if not one.over(now))
    return adoption.judge(adoption.Question(target, held, scopes, work, worktree, evidence))


def adoptable(
    state: State,
    evidence: Evidence,
    worktree: str,
    now: Millis,
    *,
    scopes: tuple[Scope, ...] = (),
    work: str | None = None,
    running: frozenset[str] = frozenset(),
) -> tuple[Candidate, ...]:
    """Names that a new session here could adopt, with the reason for each, by name."""
    found = []
    for name in (member.name for member in state.members if member.name not in running):
        verdict = adoption_of(state, name, evidence, worktree, now, scopes=scopes, work=work)
        if verdict.reason is not None:
            found.append(Candidate(name, verdict.reason, verdict.evidence, verdict.bead_ids))
    return tuple(found)


def _time(at: Millis | None) -> str | None:
    return None if at is None else to_text(at)
