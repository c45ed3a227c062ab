"""Nothing runs that declares to write where its executor holds nothing (FLO-02, XPR-03).

The executor's live reservation must cover every declared scope. What nobody holds is refused; what
another holds is refused and put on record as INCURSION. The numbers of the reservations are
looked at again once the start is on record, and after the run: what was taken over meanwhile has
another number.

This counts for executors who take part in presence, and wherever anyone holds what would be
written. Where presence is not used at all, the trace's own policy decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.errors import Refused
from moot.core.findings import Finding
from moot.protocols.presence import STREAM, overlap, sorted_index
from moot.protocols.presence.commands import Release, Reserve
from moot.protocols.presence.model import DEFAULT_STALE_MILLIS
from moot.protocols.presence.paths import Scope, is_inside, read_scope
from moot.protocols.trace.model import HeldReservation

if TYPE_CHECKING:
    from moot.protocols.presence.model import Reservation
    from moot.protocols.presence.model import State as Presence
    from moot.workspace.workspace import Workspace

RULE = "X-03"


def covering(
    space: Workspace, writes: tuple[str, ...], actor: str, root: Path
) -> tuple[HeldReservation, ...]:
    """The executor's live reservations that cover what it declares; Refused if some is missing."""
    if not writes:
        return ()
    state: Presence = space.engine.state(STREAM)
    claims = [read_scope(scope, str(root)) for scope in writes]
    mine = [one for one in _live(space, actor) if one.worktree == str(root)]
    found = {claim.shown: _cover(claim, mine) for claim in claims}
    missing = [claim for claim in claims if found[claim.shown] is None]
    if missing:
        _refuse_others(space, state, missing, actor, root)
        if sorted_index.find_member(state, actor) is not None:
            raise _uncovered(missing, actor)
    held = ((scope, found[claim.shown]) for scope, claim in zip(writes, claims, strict=True))
    return tuple(HeldReservation(scope, one.fencing) for scope, one in held if one is not None)


def lost(space: Workspace, reserved: Iterable[HeldReservation], actor: str) -> list[str]:
    """Scopes whose reservation has ended or has another number by now."""
    live = {one.fencing for one in _live(space, actor)}
    return [one.scope for one in reserved if one.fencing not in live]


def held(space: Workspace, numbers: Iterable[int], actor: str) -> list[str]:
    """Scopes that this agent still holds under one of these numbers."""
    wanted = frozenset(numbers)
    return [one.scope for one in _live(space, actor) if one.fencing in wanted]


def _live(space: Workspace, actor: str) -> list[Reservation]:
    state: Presence = space.engine.state(STREAM)
    epoch, now = _epoch(space, actor), space.engine.clock()
    return [one for one in state.live if one.is_held_by(actor, epoch) and not one.has_ended(now)]


def _epoch(space: Workspace, actor: str) -> int:
    agent = space.engine.registry().agents.get(actor)
    return agent.epoch if agent is not None else 0


def _cover(claim: Scope, mine: list[Reservation]) -> Reservation | None:
    cover = (one for one in mine if one.key == claim.key or is_inside(claim.key, one.key))
    return next(cover, None)


def _refuse_others(
    space: Workspace, state: Presence, missing: list[Scope], actor: str, root: Path
) -> None:
    """What another holds: the attempt itself is on record, as any overlap is."""
    epoch = _epoch(space, actor)
    asker = overlap.Requester(actor, epoch, space.engine.clock(), {}, DEFAULT_STALE_MILLIS)
    conflicts = list(overlap.find_conflicts(state, missing, asker))
    if not conflicts:
        return
    scopes = tuple(dict.fromkeys(one.claim.shown for one in conflicts))
    attempt = Reserve(scopes=scopes, project_root=str(space.root), worktree=str(root), once=True)
    try:
        space.engine.execute(STREAM, attempt, actor)
    except Refused as refused:
        raise Refused(
            "held_by_another",
            f"nothing was run: {refused}",
            hint=refused.hint,
            findings=refused.findings,
        ) from None
    with suppress(Refused):  # it was given back in this very moment: nobody asked us to hold it
        release = Release(scopes=scopes, project_root=str(space.root), worktree=str(root))
        space.engine.execute(STREAM, release, actor)


def _uncovered(missing: list[Scope], actor: str) -> Refused:
    found = [
        Finding(
            rule=RULE,
            code="reservation_required",
            message=f"{claim.shown} is not reserved for {actor}",
            where=claim.shown,
            hint=f"`moot reserve {claim.shown} --agent {actor}`, then run it again",
        )
        for claim in missing
    ]
    return Refused.of(found)
