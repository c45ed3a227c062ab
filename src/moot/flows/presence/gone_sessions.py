"""Sessions whose program is gone from this machine are ended, and what they held is free.

The workspace itself signs that, with who observed it. It takes nothing from anybody: there is no
process left that could work, and nobody gets what it held. Where files in its scopes are not
committed, or nobody can tell, it keeps them until it is stale by time, as everybody does: that may
be all there is of its work, and it can still be adopted.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.core.errors import MootError, Refused, Unavailable
from moot.core.names import REGISTRY, SYSTEM
from moot.core.registry.commands import RetireAgent
from moot.engine.job import Job
from moot.flows.presence.ended_keys import remove_ended_keys
from moot.flows.presence.run_evidence import GONE, RunEvidence, look_at_run
from moot.keys.running_names import try_to_hold
from moot.protocols.presence import STREAM, sorted_index
from moot.protocols.presence.commands import EndGone
from moot.protocols.presence.machine import MACHINE
from moot.system import git

if TYPE_CHECKING:
    from moot.protocols.presence.model import Member
    from moot.workspace.workspace import Workspace

UNNAMED: Final = "somebody without a name"


class UnfinishedSession(NamedTuple):
    """A session that is gone and keeps its scopes; `why` names the files that are not committed."""

    agent: str
    why: str


class GoneSessions(NamedTuple):
    """Those whose program was seen to be gone: ended here and now, or kept."""

    ended: tuple[str, ...]
    unfinished: tuple[UnfinishedSession, ...]


def end_gone_sessions(
    workspace: Workspace, observer: str | None, names: Iterable[str] | None = None
) -> GoneSessions:
    """End those of `names` (None: of everybody here) that are gone, unless they keep what they
    hold. Where only an agent's key is, its `moot run` ends them."""
    gone = list(_find_gone(workspace, names))
    if gone and workspace.folder.loan is not None:
        with suppress(Unavailable):  # then nobody ends them now
            workspace.let_runner_do(b"gone")
        gone = list(_find_gone(workspace, names))
        return GoneSessions((), tuple(_describe_unfinished(workspace, each) for each, _ in gone))
    ends = [_end(workspace, member, seen, observer) for member, seen in gone]
    return GoneSessions(
        tuple(end for end in ends if isinstance(end, str)),
        tuple(end for end in ends if isinstance(end, UnfinishedSession)),
    )


def _find_gone(
    workspace: Workspace, names: Iterable[str] | None
) -> Iterable[tuple[Member, RunEvidence]]:
    state = workspace.engine.state(MACHINE, STREAM)
    asked = (member.name for member in state.members) if names is None else dict.fromkeys(names)
    for name in asked:
        member = sorted_index.find_member(state, name)
        if member is None or member.left:
            continue
        evidence = look_at_run(workspace, name, member.epoch)
        if evidence is not None and evidence.state == GONE:
            yield member, evidence


def _end(
    workspace: Workspace, member: Member, seen: RunEvidence, observer: str | None
) -> str | UnfinishedSession | None:
    """Its name if it has ended now. With its lock in our hands, so that nobody starts under the
    name meanwhile."""
    lock = try_to_hold(workspace.folder, workspace.trust.origin, member.name)
    if lock is None:
        return None
    command = _end_command(workspace, member, seen, observer or UNNAMED)
    retire = RetireAgent(name=member.name, reason=f"gone, observed by {command.observer}")
    try:
        workspace.engine.execute_chain(
            Job(STREAM, command, SYSTEM), lambda _: Job(REGISTRY, retire, SYSTEM)
        )
    except MootError as error:
        lock.release()
        if isinstance(error, Refused) and error.code == "work_unfinished":
            return UnfinishedSession(member.name, str(error))
        return None  # this look is nobody's errand: what stands in its way is told elsewhere
    lock.remove()
    remove_ended_keys(workspace)
    return member.name


def _end_command(workspace: Workspace, member: Member, seen: RunEvidence, observer: str) -> EndGone:
    state = workspace.engine.state(MACHINE, STREAM)
    held = sorted_index.reservations_of(state, member.name, member.epoch)
    worktrees = dict.fromkeys(
        (*(lease.worktree for lease in held if lease.worktree), member.worktree)
    )
    dirty: tuple[str, ...] | None = ()
    why = ""
    for worktree in worktrees if held else ():
        files = git.find_dirty_files(Path(worktree))
        dirty = None if dirty is None or files.paths is None else (*dirty, *files.paths)
        why = why or files.why
    return EndGone(
        agent=member.name,
        agent_epoch=member.epoch,
        observer=observer,
        because=seen.because,
        worktree=member.worktree or str(workspace.root),
        dirty=dirty,
        no_git=why,
    )


def _describe_unfinished(workspace: Workspace, member: Member) -> UnfinishedSession:
    """What the rule would say, asked where it cannot be applied."""
    from moot.core.machine import Context, KeyClass, VerifiedActor

    seen = RunEvidence(GONE, "")
    command = _end_command(workspace, member, seen, UNNAMED)
    engine, acting = workspace.engine, VerifiedActor(SYSTEM, 1, "", KeyClass.SYSTEM)
    context = Context(engine.clock(), acting, STREAM, workspace.trust.origin, {})
    findings = MACHINE.decide(engine.state(MACHINE, STREAM), command, context).findings
    why = "; ".join(finding.message for finding in findings)
    return UnfinishedSession(member.name, why or "it has not been ended yet")
