"""Scopes: files and folders that one agent at a time works on.

A scope is a path relative to the root of the worktree: `src/auth`, or `src/*` for the folder and
all in it. Other resources have a kind and a name: `port:3000`, `db:test`, `task:T-9`. One agent at
a time holds each, and no path overlaps it.
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


def spell_scopes(scopes: Iterable[str], root: Path) -> tuple[str, ...]:
    """Return the scopes as the disk spells them, relative to `root`.

    On a disk that ignores case, two agents could otherwise reserve one file in two spellings.
    """
    return tuple([_spell(scope, str(root)) for scope in scopes])


def _spell(scope: str, root: str) -> str:
    if is_resource(scope):
        return scope
    try:
        path = paths.strip_wildcard(scope, root)
    except Malformed:
        return scope  # the rules refuse it
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
    """A scope taken from a stale or evicted `owner`: `status` is taken_over or expired."""

    scope: Quoted
    owner: str
    status: str


class Reserved(msgspec.Struct, frozen=True):
    """What `agent` reserved; `reserved` is empty if it held all of it already."""

    agent: str
    reserved: list[ReservedScope]
    taken_over: list[LostScope]
    findings: list[Finding]


class Released(msgspec.Struct, frozen=True):
    """What `agent` released."""

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
    can. `agent` is who acts (default: the acting agent).

    A holder whose process has exited on this machine is ended first. If it left uncommitted files,
    the refusal says what can be done.
    """
    scopes = [*scopes, _require_task(work)] if exclusive else scopes
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
    """Release scopes, named exactly as they were reserved, or `everything` the agent holds.

    If another agent holds one of them, or no agent does, all stay as they are. With `force` a
    person releases what others hold, with a `reason` and a key that was unlocked by hand; it is
    free then.
    """
    name = session.person("releasing what another holds") if force else session.actor(agent)
    workspace, worktree = session.workspace, session.place.worktree
    paths_and_roots: dict[str, Any] = {
        "scopes": spell_scopes(scopes, worktree),
        "project_root": str(workspace.root),
        "worktree": str(worktree),
    }
    command: commands.Release | commands.FreeScopes
    if force:
        command = commands.FreeScopes(**paths_and_roots, reason=reason)
    else:
        command = commands.Release(**paths_and_roots, all=everything)
    outcome = workspace.engine.execute(STREAM, command, name, key=key)
    _settle_messages(session, name, outcome)
    kind = events.ScopeFreed if force else events.ScopeReleased
    released = [each.event.scope for each in outcome.recorded if isinstance(each.event, kind)]
    return Released(name, released, list(outcome.findings))


def _settle_messages(session: Session, name: str, outcome: JobOutcome) -> None:
    """Settle requests for scopes that are free now, and the messages about them."""
    from moot.api.mail.lapsed_duties import settle_after

    settle_after(session.workspace, name, outcome)


@operation("scope.list")
def list_reservations(session: Session, *, agent: str | None = None) -> ReservationList:
    """List who holds what, how alive they are, and since when; `agent`: only this holder."""
    from moot.api.presence.observation import observe

    workspace = session.workspace
    observation = observe(workspace, stale_millis=session.stale_millis)
    state = read_presence(workspace)
    return ReservationList(views.view_reservations(state, observation, agent))


@operation("scope.compare")
def compare(session: Session, first: str, second: str) -> ScopeComparison:
    """Compare two scopes: exact, partial or disjoint. Needs no workspace."""
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
    """Return the command that reserves `scopes` in the session's worktree."""
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
    """Return the holders of `scopes` that a person could retire from here.

    Only an agent's own key releases what it holds, so its key must be here; and no running
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


def _require_task(work: str | None) -> str:
    """Return the resource of the task; the branch, which is the default for `work`, is no task."""
    if work is None:
        hint = "name it: `moot reserve --work ID --exclusive`"
        raise Malformed("no task is named", code="no_task", hint=hint)
    return task_resource(work)


def _reserved_scope(event: events.ScopeReserved) -> ReservedScope:
    expires_at = None if event.expires_at is None else to_text(event.expires_at)
    return ReservedScope(event.scope, event.fencing, event.work, expires_at)


def _is_loss(event: Event) -> TypeGuard[events.ScopeTakenOver | events.ScopeExpired]:
    is_evicted = isinstance(event, events.ScopeExpired) and event.why == "evicted"
    return is_evicted or isinstance(event, events.ScopeTakenOver)


def _lost_scope(event: events.ScopeTakenOver | events.ScopeExpired) -> LostScope:
    status = "taken_over" if isinstance(event, events.ScopeTakenOver) else "expired"
    return LostScope(Quoted(event.scope), event.owner, status)


def _symlink_warnings(session: Session, scopes: Iterable[str]) -> Iterable[Finding]:
    """Warn where a symbolic link leads: scopes compare names and do not follow links (B-12)."""
    worktree = session.place.worktree
    root = os.path.realpath(worktree)
    for text in (text for text in scopes if not is_resource(text)):
        real = os.path.realpath(worktree / paths.read_scope(text, str(worktree)).key)
        warning = paths.warn_of_symlink(text, real, root)
        if warning is not None:
            yield warning
