"""Refuse to run a command whose executor has not reserved what it writes (FLO-02, XPR-03).

The executor's live reservations must cover every declared scope. A scope without a reservation is
refused; one that another agent holds is refused and recorded as INCURSION. The fencing numbers of
the reservations are checked again after the start is recorded, and after the run: a reservation
that was taken over in the meantime has another number.

This applies to executors that take part in presence, and to scopes that any agent holds. Without
presence, only the trace's own policy applies.
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
    """Return the executor's live reservations for `writes`; Refused if a scope is not covered."""
    if not writes:
        return ()
    state = workspace.engine.state(PRESENCE, STREAM)
    claims = [read_scope(scope, str(root)) for scope in writes]
    own = [held for held in _live_reservations(workspace, actor) if held.worktree == str(root)]
    covers = {
        claim.shown: next(
            (held for held in own if held.key == claim.key or is_inside(claim.key, held.key)), None
        )
        for claim in claims
    }
    missing = [claim for claim in claims if covers[claim.shown] is None]
    if missing:
        _refuse_if_held_by_others(workspace, state, missing, actor, root)
        if model.find_member(state, actor) is not None:
            raise _reservation_required(missing, actor)
    covered = ((scope, covers[claim.shown]) for scope, claim in zip(writes, claims, strict=True))
    return tuple(HeldReservation(scope, own.fencing) for scope, own in covered if own is not None)


def lost_scopes(workspace: Workspace, reserved: Iterable[HeldReservation], actor: str) -> list[str]:
    """Return the scopes whose reservation has ended or now has another fencing number."""
    live = {reservation.fencing for reservation in _live_reservations(workspace, actor)}
    return [held.scope for held in reserved if held.fencing not in live]


def scopes_still_held(workspace: Workspace, numbers: Iterable[int], actor: str) -> list[str]:
    """Return the scopes that this agent still holds under one of these fencing numbers."""
    wanted = frozenset(numbers)
    live = _live_reservations(workspace, actor)
    return [reservation.scope for reservation in live if reservation.fencing in wanted]


def _live_reservations(workspace: Workspace, actor: str) -> list[Reservation]:
    state = workspace.engine.state(PRESENCE, STREAM)
    epoch, now = _current_epoch(workspace, actor), workspace.engine.clock()
    return [
        reservation
        for reservation in state.live
        if reservation.is_held_by(actor, epoch) and not reservation.has_ended(now)
    ]


def _current_epoch(workspace: Workspace, actor: str) -> int:
    agent = workspace.engine.registry().agents.get(actor)
    return agent.epoch if agent is not None else 0


def _refuse_if_held_by_others(
    workspace: Workspace, state: Presence, missing: list[Scope], actor: str, root: Path
) -> None:
    """Raise Refused if another agent holds one of these scopes; the attempt is recorded."""
    epoch = _current_epoch(workspace, actor)
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
    with suppress(Refused):  # released just now, so our attempt succeeded: give it back
        release = Release(scopes=scopes, project_root=str(workspace.root), worktree=str(root))
        workspace.engine.execute(STREAM, release, actor)


def _reservation_required(missing: list[Scope], actor: str) -> Refused:
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
