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
from shlex import quote
from typing import TYPE_CHECKING

from moot.core.errors import Refused
from moot.core.findings import Finding
from moot.protocols.presence import STREAM, model, overlap
from moot.protocols.presence.commands import Release, Reserve
from moot.protocols.presence.machine import MACHINE as PRESENCE
from moot.protocols.presence.model import DEFAULT_STALE_MILLIS
from moot.protocols.presence.paths import Scope, is_inside, read_scope, write_typed
from moot.protocols.trace.model import HeldReservation

if TYPE_CHECKING:
    from moot.protocols.presence.model import Reservation
    from moot.protocols.presence.model import State as Presence
    from moot.workspace.workspace import Workspace

RULE = "X-03"


def require_reservations(
    workspace: Workspace, writes: tuple[str, ...], actor: str, root: Path
) -> tuple[HeldReservation, ...]:
    """The executor's live reservations that cover what it declares; Refused if some is missing."""
    if not writes:
        return ()
    state = workspace.engine.state(PRESENCE, STREAM)
    claims = [read_scope(scope, str(root)) for scope in writes]
    own = [held for held in _live(workspace, actor) if held.worktree == str(root)]
    covers = {
        claim.shown: next(
            (held for held in own if held.key == claim.key or is_inside(claim.key, held.key)), None
        )
        for claim in claims
    }
    missing = [claim for claim in claims if covers[claim.shown] is None]
    if missing:
        _refuse_others(workspace, state, missing, actor, root)
        if model.find_member(state, actor) is not None:
            raise _uncovered(missing, actor)
    covered = ((scope, covers[claim.shown]) for scope, claim in zip(writes, claims, strict=True))
    return tuple(HeldReservation(scope, own.fencing) for scope, own in covered if own is not None)


def lost_scopes(workspace: Workspace, reserved: Iterable[HeldReservation], actor: str) -> list[str]:
    """Scopes whose reservation has ended or has another number by now."""
    live = {reservation.fencing for reservation in _live(workspace, actor)}
    return [held.scope for held in reserved if held.fencing not in live]


def scopes_still_held(workspace: Workspace, numbers: Iterable[int], actor: str) -> list[str]:
    """Scopes that this agent still holds under one of these numbers."""
    wanted = frozenset(numbers)
    live = _live(workspace, actor)
    return [reservation.scope for reservation in live if reservation.fencing in wanted]


def _live(workspace: Workspace, actor: str) -> list[Reservation]:
    state = workspace.engine.state(PRESENCE, STREAM)
    epoch, now = _epoch(workspace, actor), workspace.engine.clock()
    return [
        reservation
        for reservation in state.live
        if reservation.is_held_by(actor, epoch) and not reservation.has_ended(now)
    ]


def _epoch(workspace: Workspace, actor: str) -> int:
    agent = workspace.engine.registry().agents.get(actor)
    return agent.epoch if agent is not None else 0


def _refuse_others(
    workspace: Workspace, state: Presence, missing: list[Scope], actor: str, root: Path
) -> None:
    """What another holds: the attempt itself is on record, as any overlap is."""
    epoch = _epoch(workspace, actor)
    requester = overlap.Requester(actor, epoch, workspace.engine.clock(), {}, DEFAULT_STALE_MILLIS)
    conflicts = list(overlap.find_conflicts(state, missing, requester))
    if not conflicts:
        return
    scopes = tuple(dict.fromkeys(conflict.claim.shown for conflict in conflicts))
    attempt = Reserve(
        scopes=scopes, project_root=str(workspace.root), worktree=str(root), once=True
    )
    try:
        workspace.engine.execute(STREAM, attempt, actor)
    except Refused as refused:
        raise Refused(
            "held_by_another",
            f"nothing was run: {refused}",
            hint=refused.hint,
            findings=refused.findings,
        ) from None
    with suppress(Refused):  # it was given back in this very moment: nobody asked us to hold it
        release = Release(scopes=scopes, project_root=str(workspace.root), worktree=str(root))
        workspace.engine.execute(STREAM, release, actor)


def _uncovered(missing: list[Scope], actor: str) -> Refused:
    findings = [
        Finding(
            rule=RULE,
            code="reservation_required",
            message=f"{claim.shown} is not reserved for {actor}",
            where=claim.shown,
            hint=f"`moot reserve {quote(write_typed(claim.shown))} --agent {actor}`, then run it"
            " again",
        )
        for claim in missing
    ]
    return Refused.of(findings)
