"""Scopes: files and folders that one agent at a time works on.

A scope is a text relative to the root of the worktree, wherever the session stands: `src/auth`, or
`src/*` for the folder and all in it. Things that are not files are named by a kind and a name:
`port:3000`, `db:test`, `task:T-9`; one agent at a time holds each, and no path overlaps it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import msgspec

from moot.api.operation import operation
from moot.api.presence.exited_agents import explaining_exited_holders
from moot.api.session import read_presence
from moot.core.clock import to_text
from moot.core.errors import Malformed
from moot.core.findings import Finding
from moot.core.machine import Event, KeyClass
from moot.core.text import Quoted
from moot.keys.running_names import is_running
from moot.protocols.presence import STREAM, commands, events, model, paths, views
from moot.protocols.presence.model import is_resource, key_of_file, task_resource
from moot.workspace.find import spell_as_listed, worktree_root

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.engine.job import JobOutcome


# Scopes spelled as the disk spells them: where it ignores case, two spellings are one scope.


def spell_scopes(scopes: Iterable[str], root: Path) -> tuple[str, ...]:
    """The scopes, named from `root`, each with the names that the disk has for it."""
    return tuple([_spell(scope, str(root)) for scope in scopes])


def _spell(scope: str, root: str) -> str:
    if is_resource(scope):
        return scope
    try:
        path = paths.strip_wildcard(scope, root)
    except Malformed:
        return scope  # which the rules refuse
    written = paths.resolve_path(path, root)
    spelled = spell_as_listed(written)
    if spelled == written:
        return scope
    name = key_of_file(os.path.relpath(spelled, spell_as_listed(root)))
    return f"{name}/*" if scope.endswith("/*") else name


class ReservedScope(msgspec.Struct, frozen=True):
    """A scope that was reserved just now. Each new lease has a higher number, `fencing`."""

    scope: str
    fencing: int
    work: str | None
    expires_at: str | None


class LostScope(msgspec.Struct, frozen=True):
    """What was taken from an `owner` who had gone quiet: `status` is taken_over or expired."""

    scope: Quoted
    owner: str
    status: str


class Reserved(msgspec.Struct, frozen=True):
    """What `agent` reserved; nothing is in `reserved` if it held all of it already."""

    agent: str
    reserved: list[ReservedScope]
    taken_over: list[LostScope]
    findings: list[Finding]


class Released(msgspec.Struct, frozen=True):
    """What `agent` gave back."""

    agent: str
    released: list[str]
    findings: list[Finding]


class ReservationList(msgspec.Struct, frozen=True):
    """Who holds what, by path."""

    reservations: tuple[views.ReservationView, ...]


class ScopeComparison(msgspec.Struct, frozen=True, rename={"kind": "class"}):
    """How two scopes relate: exact, partial or disjoint. `a` and `b` are absolute paths, or named
    resources."""

    kind: str
    a: str
    b: str


@operation("scope.reserve", writes=True, also="reserve")
def reserve(
    session: Session,
    scopes: Sequence[str],
    *,
    work: str | None = None,
    ttl_minutes: int | None = None,
    take_stale: bool = False,
    exclusive: bool = False,
    agent: str | None = None,
    key: str | None = None,
) -> Reserved:
    """Reserve files, folders or named resources such as `port:3000`, all or none.

    Refused as `reservation_conflict`, with the holder's name, if another agent holds any of it.
    What active agents hold is never taken; what stale or evicted ones hold only with `take_stale`.
    `work` is the work item (default: the branch); with `ttl_minutes`, 5 to 1440, the reservation
    ends by itself. `exclusive` reserves the task `work` too, as `task:WORK`: then no other agent
    can. `agent` is who acts (default: whoever the session acts as).

    A holder whose program is gone from this machine, and that left nothing uncommitted, is ended
    first; of one that did, the refusal says what can be done.
    """
    scopes = [*scopes, _task_of(work)] if exclusive else scopes
    engine, name = session.workspace.engine, session.actor(agent)
    command = reserve_command(session, scopes, work, ttl_minutes, take_stale=take_stale)
    with explaining_exited_holders(session, command, name):
        outcome = engine.execute(STREAM, command, name, key=key)
    _settle_messages(session, name, outcome)
    recorded = [each.event for each in outcome.recorded]
    return Reserved(
        name,
        [_reserved_scope(event) for event in recorded if isinstance(event, events.ScopeReserved)],
        [_lost_scope(event) for event in recorded if _is_loss(event)],
        [*outcome.findings, *session.remarks, *_symlink_warnings(session, scopes)],
    )


@operation("scope.release", writes=True, also="release")
def release(
    session: Session,
    scopes: Sequence[str] = (),
    *,
    everything: bool = False,
    force: bool = False,
    reason: str = "",
    agent: str | None = None,
    key: str | None = None,
) -> Released:
    """Give back scopes, named exactly as they were reserved, or `everything` the agent holds.

    Refused if one of them is another's, or not held at all; then none is given back. With `force`
    a person releases what others hold, with a `reason`, by a key that was unlocked by hand: it is
    archived so, and nobody gets it.
    """
    name = session.person("releasing what another holds") if force else session.actor(agent)
    workspace, worktree = session.workspace, session.place.worktree
    where: dict[str, Any] = {
        "scopes": spell_scopes(scopes, worktree),
        "project_root": str(workspace.root),
        "worktree": str(worktree),
    }
    command: commands.Release | commands.FreeScopes = commands.Release(**where, all=everything)
    if force:
        command = commands.FreeScopes(**where, reason=reason)
    outcome = workspace.engine.execute(STREAM, command, name, key=key)
    _settle_messages(session, name, outcome)
    given_back = events.ScopeFreed if force else events.ScopeReleased
    released = [each.event.scope for each in outcome.recorded if isinstance(each.event, given_back)]
    return Released(name, released, list(outcome.findings))


def _settle_messages(session: Session, name: str, outcome: JobOutcome) -> None:
    """A request for what is free now is over, and so is the message about it."""
    from moot.api.mail.lapsed_duties import settle_after

    settle_after(session.workspace, name, outcome)


@operation("scope.list")
def list_reservations(session: Session, *, agent: str | None = None) -> ReservationList:
    """Who holds what, how alive they are, and since when; `agent` narrows it to one holder."""
    from moot.api.presence.observation import observe

    workspace = session.workspace
    observation = observe(workspace, stale_millis=session.stale_millis)
    state = read_presence(workspace)
    return ReservationList(views.view_reservations(state, observation, agent))


@operation("scope.compare")
def compare(session: Session, first: str, second: str) -> ScopeComparison:
    """How two scopes relate to each other. Needs no workspace."""
    root = worktree_root(session.folder) or session.folder
    comparison = paths.compare_scopes(first, second, str(root))
    return ScopeComparison(str(comparison.kind), comparison.a, comparison.b)


def reserve_command(
    session: Session,
    scopes: Sequence[str],
    work: str | None = None,
    ttl_minutes: int | None = None,
    *,
    take_stale: bool = False,
) -> commands.Reserve | commands.TakeOver:
    """The command that reserves `scopes` from where the session stands."""
    kind = commands.TakeOver if take_stale else commands.Reserve
    place = session.place
    return kind(
        scopes=spell_scopes(scopes, place.worktree),
        project_root=str(session.workspace.root),
        worktree=str(place.worktree),
        branch=place.branch,
        work=work or place.branch,
        ttl_minutes=ttl_minutes,
        stale_millis=session.stale_millis,
    )


def find_retirable_holders(session: Session, scopes: Iterable[str]) -> list[str]:
    """Agents in the way of `scopes` whom a person could end from here, should they be dead.

    Only an agent's own key gives back what it holds, so its key must be here; and no live
    `moot run` may work under its name.
    """
    workspace, root = session.workspace, str(session.place.worktree)
    folder, origin = workspace.folder, workspace.trust.origin
    agents, keys = workspace.engine.registry().agents, set(folder.names_with_keys(origin))
    state = read_presence(workspace)
    owners = dict.fromkeys(
        reservation.owner
        for text in scopes
        for reservation in model.overlapping_reservations(state, paths.read_scope(text, root).key)
    )
    return [
        name
        for name in owners
        if name in keys
        and name != session.acting
        and agents[name].kind is KeyClass.AGENT
        and not is_running(folder, origin, name)
    ]


def _task_of(work: str | None) -> str:
    """The resource that is the task; a branch that is only the default for `work` is none."""
    if work is None:
        raise Malformed(
            "no task is named", code="no_task", hint="name it: `moot reserve --work ID --exclusive`"
        )
    return task_resource(work)


def _reserved_scope(event: events.ScopeReserved) -> ReservedScope:
    expires_at = None if event.expires_at is None else to_text(event.expires_at)
    return ReservedScope(event.scope, event.fencing, event.work, expires_at)


def _is_loss(event: Event) -> TypeGuard[events.ScopeTakenOver | events.ScopeExpired]:
    expired = isinstance(event, events.ScopeExpired) and event.why == "evicted"
    return expired or isinstance(event, events.ScopeTakenOver)


def _lost_scope(event: events.ScopeTakenOver | events.ScopeExpired) -> LostScope:
    status = "taken_over" if isinstance(event, events.ScopeTakenOver) else "expired"
    return LostScope(Quoted(event.scope), event.owner, status)


def _symlink_warnings(session: Session, scopes: Iterable[str]) -> Iterable[Finding]:
    """B-12: names are compared and links are not followed, so say where a link really leads."""
    worktree = session.place.worktree
    root = os.path.realpath(worktree)
    for text in (text for text in scopes if not is_resource(text)):
        real = os.path.realpath(worktree / paths.read_scope(text, str(worktree)).key)
        warning = paths.warn_of_symlink(text, real, root)
        if warning is not None:
            yield warning
