"""Check whether others hold paths (`moot guard check`, git's commit hooks), and record
INCURSIONs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.operation import operation
from moot.api.session import read_presence
from moot.core.errors import MootError, Refused
from moot.core.text import Quoted, quote_optional

if TYPE_CHECKING:
    from pathlib import Path

    from moot.api.session import Session
    from moot.core.findings import Finding
    from moot.protocols.presence.overlap import OverlapConflict

MOST_NOTED: Final = 200


class HeldPath(msgspec.Struct, frozen=True, rename={"overlap": "class"}):
    """A path that another agent holds, as `scope`: exactly (`overlap` exact) or partly (partial).

    `message` says all of this in one sentence. `holder` is the owner, or the alias of its
    sub-agent.
    """

    path: Quoted
    scope: Quoted
    overlap: str
    owner: str
    liveness: str
    last_seen_at: str | None
    work: Quoted | None
    since: str
    automatic: bool
    message: Quoted
    holder: str


class GuardCheck(msgspec.Struct, frozen=True):
    """`paths` are the scopes that were checked: all names that the files have here."""

    allowed: bool
    agent: str | None
    paths: list[str]
    held: list[HeldPath]


class CommitVerdict(msgspec.Struct, frozen=True):
    """What is staged and held by others. `agent` is None for a person, who may commit it.

    `is_too_late`: git has already done it and cannot be stopped.
    """

    agent: str | None = None
    held: tuple[HeldPath, ...] = ()
    is_too_late: bool = False


@operation("guard.check")
def check(session: Session, paths: Sequence[str], *, agent: str | None = None) -> GuardCheck:
    """Check whether an agent may write to these paths; writes and reserves nothing.

    Paths are relative to the worktree root, like all scopes, or absolute; a named resource
    (`port:3000`) is allowed too. Refused as `named_from_the_root` if a path may mean another file
    in the session's folder, as `scope_outside` if it is outside of this project. `agent` is who
    would write (default: the acting agent); without one, every holder counts.
    """
    from moot.api.guard.asked_paths import ambiguous_path, read_asked_paths
    from moot.api.guard.guarded_paths import require_allowed

    name, place = agent or session.acting, session.place
    asked = read_asked_paths(paths, session)
    scopes = list(dict.fromkeys(scope for each in asked for scope in each.names))
    require_allowed(_files_among(scopes), place.worktree, session.workspace.path)
    conflicts = _conflicts_of_all_names(session, scopes, name)
    for each in asked if not conflicts else ():
        for conflict in _conflicts_of_all_names(session, each.from_folder, name):
            if each.is_met_by(conflict.held.key):
                why = f"where it is free; in your folder {conflict.sentence}"
                raise ambiguous_path(each, why)
    held = [_held_path(conflict) for conflict in conflicts]
    return GuardCheck(not held, name, scopes, held)


def _conflicts_of_all_names(
    session: Session, scopes: Sequence[str], name: str | None
) -> tuple[OverlapConflict, ...]:
    """Return the reservations of the scopes, or of the same files under other names."""
    from moot.api.guard.aliases import find_aliases, names_in_held_folders
    from moot.api.guard.holders import find_blockers
    from moot.protocols.presence.paths import read_path_or_resource as read

    root = session.place.worktree
    state, files = read_presence(session.workspace), _files_among(scopes)
    others = tuple(held for held in state.live if held.owner != name)
    links = names_in_held_folders(files, root, others)
    names = (*scopes, *(held.key for held in find_aliases(state, files, root)), *links)
    conflicts = find_blockers(session, names, root, name, read)
    # Report a reservation that overlaps the path's own name only once.
    keys = {read(scope, str(root)).key for scope in scopes}
    by_own_name = {conflict.held.fencing for conflict in conflicts if conflict.claim.key in keys}
    return tuple(
        conflict
        for conflict in conflicts
        if conflict.claim.key in keys or conflict.held.fencing not in by_own_name
    )


def _files_among(scopes: Sequence[str]) -> list[str]:
    """Return the scopes without named resources, which are not files."""
    from moot.protocols.presence.model import is_resource

    return [scope for scope in scopes if not is_resource(scope)]


def _held_path(conflict: OverlapConflict) -> HeldPath:
    from moot.core.clock import to_text

    held, verdict = conflict.held, conflict.verdict
    seen = verdict.last_seen_at
    return HeldPath(
        path=Quoted(conflict.claim.shown),
        scope=Quoted(held.scope),
        overlap=str(conflict.kind),
        owner=held.owner,
        liveness=str(verdict.liveness),
        last_seen_at=None if seen is None else to_text(seen),
        work=quote_optional(held.work),
        since=to_text(held.since),
        automatic=held.automatic,
        message=Quoted(conflict.sentence),
        holder=held.holder,
    )


@operation("hook.before_commit", writes=True)
def before_commit(
    session: Session, hook: str = "pre-commit", arguments: Sequence[str] = ()
) -> CommitVerdict:
    """Return what is about to be committed in the session's worktree and held by others.

    `hook` is the git hook that asks, with its arguments: merges, cherry-picks, reverts and rebases
    are checked too. If an agent would commit it, an INCURSION is recorded once for each holder; the
    caller decides whether to stop the commit. Raises only if it cannot be checked (`git_failed`).
    """
    from moot.api.guard.git_changes import TOO_LATE, list_files_to_change
    from moot.api.guard.guarded_paths import find_guarded_folder

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        from moot.api.guard.guarded_paths import require_no_missing_workspace

        require_no_missing_workspace((session.folder,), session.keys_path)
        return CommitVerdict()
    paths = list_files_to_change(guarded.worktree_root, hook, arguments)
    if not paths:
        return CommitVerdict()
    from moot.api.guard.holders import find_blockers

    there, root = session.in_workspace(guarded.workspace), guarded.worktree_root
    name = there.known_actor()
    conflicts = find_blockers(there, paths, root, name)
    if conflicts and name is not None:
        touched = dict.fromkeys(conflict.claim.key for conflict in conflicts)
        is_stopped = hook not in TOO_LATE
        paths_noted = tuple(touched)[:MOST_NOTED]
        note_incursions(there, paths_noted, root, name, was_refused=is_stopped)
    held = tuple(_held_path(conflict) for conflict in conflicts)
    return CommitVerdict(name, held, is_too_late=hook in TOO_LATE)


def require_free_output(session: Session, files: Iterable[Path]) -> None:
    """Refuse to write output of Moot into git's files, or over a file that another agent holds.

    Raises `not_for_agents` and `reservation_conflict`. Files outside of every workspace are
    allowed.
    """
    from moot.api.guard.guarded_paths import find_guarded_paths
    from moot.api.guard.holders import find_blockers

    for file in files:
        path = os.path.join(session.folder, file)
        names = (os.path.normpath(path), os.path.realpath(path))
        if any(".git" in name.lower().split(os.sep) for name in names):
            raise Refused(
                "not_for_agents",
                f"cannot write {file}: only `git` itself writes its own files",
                hint="name a file outside of .git",
            )
        if not os.path.lexists(path):
            continue  # nothing can be lost, so do not open a ledger
        for guarded in find_guarded_paths((path,), session.folder, session.home):
            there, root = session.in_workspace(guarded.workspace), guarded.worktree_root
            conflicts: tuple[OverlapConflict, ...] = ()
            with suppress(MootError):  # a damaged ledger can still be verified, with a report
                conflicts = find_blockers(there, guarded.scopes, root, there.known_actor())
            for conflict in conflicts:
                raise Refused(
                    "reservation_conflict",
                    f"cannot write {file}: {conflict.held.owner} holds {conflict.held.scope}"
                    f" ({conflict.verdict.liveness})",
                    hint="name a file that no agent holds",
                )


def may_be_guarded(session: Session) -> bool:
    """True if a workspace guards the session's folder, or did, or if that is unknown."""
    from moot.api.guard.guarded_paths import find_guarded_folder, require_no_missing_workspace

    try:
        if find_guarded_folder(session.folder, session.home) is not None:
            return True
        require_no_missing_workspace((session.folder,), session.keys_path)
    except MootError:
        return True
    return False


def note_incursions(
    session: Session,
    paths: tuple[str, ...],
    root: Path,
    name: str,
    blobs: tuple[str, str] | None = None,
    *,
    was_refused: bool = False,
) -> tuple[Finding, ...]:
    """Record that `name` touched what others hold, or tried to (`was_refused`); return new
    findings.

    It is recorded once for each agent and reservation. If the change was seen, `blobs` are git's
    ids of the one file before and after, and it is recorded every time.
    """
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.commands import NoteIncursion

    command = NoteIncursion(
        paths=paths,
        project_root=str(session.workspace.root),
        worktree=str(root),
        stale_millis=session.stale_millis,
        sub_agent=session.sub_agent,
        sub_agent_kind=session.sub_agent_kind,
        once=blobs is None,
        blob_before=None if blobs is None else blobs[0],
        blob_after=None if blobs is None else blobs[1],
        was_refused=was_refused,
    )
    outcome = session.workspace.engine.execute(STREAM, command, name)
    if not outcome.recorded:
        return ()
    act = "was refused" if was_refused else "changed"
    _tell_person(session, f"{name} {act}", outcome.findings)
    return outcome.findings


def _tell_person(session: Session, act: str, findings: tuple[Finding, ...]) -> None:
    from moot.api.guard.person_notices import PersonMoment, notify_person

    for finding in findings[:1]:
        sentence = f"{act} what another holds: {finding.message}"
        once = f"{act}\n{finding.message}"
        notify_person(session.workspace.path, session.env, PersonMoment.INCURSION, once, sentence)


TRAILER: Final = "Moot-Event"
_TRAILER_SECONDS: Final = 5.0


def add_commit_trailer(session: Session, message: str) -> str | None:
    """Add a trailer to the commit message that names the agent's newest event; return its value.

    `Moot-Event: STREAM:NUMBER sha256:HASH` is a pointer and no proof: anyone can type it, and it
    counts only if the record has that event. git adds it once, where its tools look for trailers.
    None for a person, outside of a workspace, and for an agent that no hook has seen.
    """
    import subprocess

    from moot.api.guard.guarded_paths import find_guarded_folder
    from moot.api.observed.sessions import describe_newest_event

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        return None
    there = session.in_workspace(guarded.workspace)
    name = there.known_actor()
    text = None if name is None else describe_newest_event(there.workspace, name)
    if text is None:
        return None
    words = ("interpret-trailers", "--in-place", "--if-exists", "replace", "--trailer")
    try:
        done = subprocess.run(
            ["git", *words, f"{TRAILER}: {text}", str(session.folder / message)],
            cwd=session.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TRAILER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return text if done.returncode == 0 else None
