"""End sessions whose process has exited on this machine, and free what they held.

The workspace signs this and records who observed it. If files in the session's scopes are
uncommitted, or git cannot tell, the session keeps its scopes until it is stale by time: another
session can still adopt that work.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.api.session import read_presence
from moot.core.clock import Millis, to_text
from moot.core.errors import MootError, Refused, Unavailable
from moot.core.findings import Finding, Severity
from moot.core.machine import Context, KeyClass, VerifiedActor
from moot.core.names import REGISTRY, SYSTEM
from moot.core.registry.model import KeyEnding, RetireAgent
from moot.core.text import Quoted, shell_word
from moot.engine.job import Job
from moot.keys.running_names import is_held, lock_file, try_to_hold
from moot.protocols.presence import STREAM, commands, model
from moot.protocols.presence.commands import EndGone
from moot.protocols.presence.machine import MACHINE as PRESENCE
from moot.system.this_host import MachineId, network_disk_of, read_machine_id, start_time_of

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.keys.running_names import NameLock
    from moot.protocols.presence.model import Member
    from moot.workspace.workspace import Workspace


def end_exited_agents(
    workspace: Workspace, observer: str | None, names: Iterable[str] | None = None
) -> tuple[UnfinishedSession, ...]:
    """End those of `names` (None: all agents here) whose process has exited, and cancel the duties
    they owed or were owed. Return those that keep what they hold."""
    exited = end_exited_sessions(workspace, observer, names)
    if exited.ended:
        from moot.api.mail.lapsed_duties import lapse_duties

        lapse_duties(workspace)
    return exited.unfinished


# Reserving: end exited holders of the wanted scopes first, or explain why they keep them.

CONFLICT_CODES: Final = ("reservation_conflict", "reservation_stale_found")


class ExitedHolder(msgspec.Struct, frozen=True):
    """A holder whose process has exited and left uncommitted work: which files, from when on they
    may be taken over, and the command that continues the work."""

    agent: str
    unfinished: Quoted
    stale_from: str | None
    adopt: str


def end_exited_holders(session: Session, holders: Iterable[str]) -> tuple[ExitedHolder, ...]:
    """End those holders whose process has exited; return those that keep what they hold."""
    workspace = session.workspace
    kept = end_exited_agents(workspace, session.acting, holders)
    if not kept:
        return ()
    from moot.api.observed.guards import find_tools
    from moot.api.presence.agents import stale_from

    tools = find_tools(workspace, (each.agent for each in kept))
    return tuple(
        ExitedHolder(
            each.agent,
            Quoted(each.why),
            stale_from(session, each.agent),
            f"moot run --adopt {each.agent} -- "
            + (tools[each.agent].resume_line if each.agent in tools else "COMMAND"),
        )
        for each in kept
    )


@contextmanager
def explaining_exited_holders(
    session: Session, command: commands.Reserve | commands.TakeOver, name: str
) -> Iterator[None]:
    """Wrap a reservation: end exited holders of its scopes first. If the reservation is refused
    because such a holder keeps them, add to the refusal what the caller can do."""
    owners = PRESENCE.needs_signs_of(read_presence(session.workspace), command)
    others = [owner for owner in owners if owner != name]
    kept = end_exited_holders(session, others) if others else ()
    if others and isinstance(command, commands.TakeOver):
        _require_none_running(session, others)
    try:
        yield
    except Refused as refused:
        if kept and refused.code in CONFLICT_CODES:
            scopes = _scopes_in_the_way(session, command)
            ways = [
                describe_exited_holder(holder, scopes.get(holder.agent, "SCOPE")) for holder in kept
            ]
            # The usual hint, to ask the holder, helps only if some holder still runs.
            can_ask = len(kept) < len(set(others))
            refused.hint = "; ".join((*ways, refused.hint) if can_ask and refused.hint else ways)
            refused.findings = (*refused.findings, *map(_finding, kept))
        raise


def _scopes_in_the_way(
    session: Session, command: commands.Reserve | commands.TakeOver
) -> dict[str, str]:
    """Return the reserved scope of each holder: that is what must be released, which may be wider
    than what the command asked for."""
    from moot.protocols.presence.paths import read_scope

    state = read_presence(session.workspace)
    return {
        reservation.owner: reservation.scope
        for text in command.scopes
        for reservation in model.overlapping_reservations(
            state, read_scope(text, command.worktree).key
        )
    }


def _require_none_running(session: Session, owners: Iterable[str]) -> None:
    """Refuse to take over an owner whose process still runs.

    A suspended computer sends no signs of life, so its agents look stale although they will go on.
    """
    workspace = session.workspace
    state = read_presence(workspace)
    for owner in owners:
        member = model.find_member(state, owner)
        if member is None or not model.reservations_of(state, owner, member.epoch):
            continue  # its reservations belong to an earlier holder of the name
        evidence = find_run_evidence(workspace, owner, member.epoch)
        if evidence is not None and evidence.state == RUNNING:
            raise Refused(
                "agent_alive",
                f"{owner} sent no sign of life but still runs: {evidence.because}",
                hint="wait a minute for its next sign of life; if it hangs, end its program first",
            )


def _finding(holder: ExitedHolder) -> Finding:
    message = f"the program of {holder.agent} has exited: {holder.unfinished}"
    return Finding(
        rule="P-44",
        code="holder_gone",
        severity=Severity.INFO,
        message=message,
        where=holder.agent,
        hint=holder.adopt,
    )


def describe_exited_holder(holder: ExitedHolder, scope: str) -> str:
    """Tell the agent that was refused what it and a person can do about this holder."""
    from moot.protocols.presence.paths import write_typed

    until = holder.stale_from or "it is taken over"
    force = f"moot release {shell_word(write_typed(scope))} --force --reason TEXT"
    return (
        f"the program of {holder.agent} has exited ({holder.unfinished}); it holds this until"
        f" {until}: `{holder.adopt}` continues its work; a person may free it: `{force}`"
    )


# Has the process of an agent exited? The evidence is the file lock that it inherited from its
# `moot run`: it is free when both have ended. It counts only on the same host, boot and process
# namespace, and on a local disk; elsewhere time alone decides.

EXITED: Final = "gone"  # the value in `--json`
RUNNING: Final = "running"
MOST_NOTE_BYTES: Final = 4_096


class RunNote(msgspec.Struct, frozen=True):
    """What a run writes into the file it has locked: which holder of the name it is, on which host
    and as which process it runs, and since when."""

    epoch: int
    machine: MachineId
    pid: int
    started: str
    since: Millis


class RunEvidence(NamedTuple):
    """What the lock of a run shows from here: exited, running or (None) nothing that counts."""

    state: str | None
    because: str


def note_run(workspace: Workspace, lock: NameLock, epoch: int) -> None:
    """Write into the locked file who holds it, so that others on this host can tell if it exited.

    If the disk refuses the note, the run continues without it.
    """
    pid = os.getpid()
    note = RunNote(epoch, read_machine_id(), pid, start_time_of(pid), workspace.engine.clock())
    lock.write_note(msgspec.json.encode(note))


def forget_run(workspace: Workspace, name: str) -> None:
    """Remove the lock of an earlier run: an agent now works under the name without a run."""
    folder, origin = workspace.folder, workspace.trust.origin
    lock = try_to_hold(folder, origin, name) if lock_file(folder, origin, name).exists() else None
    if lock is not None:
        lock.remove()


def find_run_evidence(workspace: Workspace, name: str, epoch: int) -> RunEvidence | None:
    """Return what the lock of this holder of a name shows; None if it shows nothing."""
    path = lock_file(workspace.folder, workspace.trust.origin, name)
    try:
        if is_held(path):
            return RunEvidence(RUNNING, "its `moot run`, or its program, holds its lock")
        note = _read_note(path.read_bytes()[:MOST_NOTE_BYTES])
    except OSError:
        return None
    if note is None or note.epoch != epoch:
        return None
    here = read_machine_id()
    if not here.is_known or note.machine != here:
        return RunEvidence(None, "its lock is free, but on another machine, boot or namespace")
    disk = network_disk_of(path)
    if disk:
        return RunEvidence(None, f"its lock is on a network disk ({disk}), where it proves nothing")
    started = f"process {note.pid}, since {to_text(note.since)}"
    return RunEvidence(EXITED, f"its `moot run` ({started}) and its program have ended")


def _read_note(data: bytes) -> RunNote | None:
    try:
        return msgspec.json.decode(data, type=RunNote)
    except msgspec.DecodeError:
        return None


def remove_ended_keys(workspace: Workspace) -> None:
    """Remove retired and rotated private keys of agents from the key folder.

    Keys of people, revoked keys and unregistered keys stay: people decide about those. Two sessions
    may try at the same time; a file that cannot be removed does no harm.
    """
    folder, origin = workspace.folder, workspace.trust.origin
    keys = workspace.engine.registry().keys
    for name, kid in folder.list_keys(origin):
        key = keys.get(kid)
        if key is None or key.kind is not KeyClass.AGENT or key.name != name:
            continue
        if key.ending in (KeyEnding.RETIRED, KeyEnding.ROTATED):
            with suppress(OSError):
                folder.remove_key(origin, name, kid)


UNNAMED: Final = "somebody without a name"


class UnfinishedSession(NamedTuple):
    """A session that has exited and keeps its scopes; `why` names the uncommitted files."""

    agent: str
    why: str


class ExitedSessions(NamedTuple):
    """Sessions whose process has exited: those that were ended now, and those that keep scopes."""

    ended: tuple[str, ...]
    unfinished: tuple[UnfinishedSession, ...]


def end_exited_sessions(
    workspace: Workspace, observer: str | None, names: Iterable[str] | None = None
) -> ExitedSessions:
    """End those of `names` (None: all agents here) whose process has exited, unless they keep what
    they hold. A process that has only an agent's key asks its `moot run` to do it."""
    exited = list(_find_exited(workspace, names))
    if exited and workspace.folder.loan is not None:
        with suppress(Unavailable):  # the next look ends them
            workspace.ask_runner_to(b"gone")
        exited = list(_find_exited(workspace, names))
        unfinished = tuple(_describe_unfinished(workspace, member) for member, _ in exited)
        return ExitedSessions((), unfinished)
    ends = [_end_session(workspace, member, evidence, observer) for member, evidence in exited]
    return ExitedSessions(
        tuple(end for end in ends if isinstance(end, str)),
        tuple(end for end in ends if isinstance(end, UnfinishedSession)),
    )


def _find_exited(
    workspace: Workspace, names: Iterable[str] | None
) -> Iterable[tuple[Member, RunEvidence]]:
    state = read_presence(workspace)
    everyone = (member.name for member in state.members)
    for name in everyone if names is None else dict.fromkeys(names):
        member = model.find_member(state, name)
        if member is None or member.left:
            continue
        evidence = find_run_evidence(workspace, name, member.epoch)
        if evidence is not None and evidence.state == EXITED:
            yield member, evidence


def _end_session(
    workspace: Workspace, member: Member, evidence: RunEvidence, observer: str | None
) -> str | UnfinishedSession | None:
    """End the session and return its name; None if that is not possible now.

    This holds the name's lock meanwhile, so that no run can start under the name.
    """
    lock = try_to_hold(workspace.folder, workspace.trust.origin, member.name)
    if lock is None:
        return None
    command = _end_command(workspace, member, evidence.because, observer or UNNAMED)
    retire = RetireAgent(name=member.name, reason=f"gone, observed by {command.observer}")
    try:
        workspace.engine.execute_chain(
            Job(STREAM, command, SYSTEM), lambda _: Job(REGISTRY, retire, SYSTEM)
        )
    except MootError as error:
        lock.release()
        if isinstance(error, Refused) and error.code == "work_unfinished":
            return UnfinishedSession(member.name, str(error))
        return None  # the caller asked for something else; other commands report this error
    lock.remove()
    remove_ended_keys(workspace)
    return member.name


def _end_command(workspace: Workspace, member: Member, because: str, observer: str) -> EndGone:
    state = read_presence(workspace)
    held = model.reservations_of(state, member.name, member.epoch)
    worktrees = dict.fromkeys(
        (*(lease.worktree for lease in held if lease.worktree), member.worktree)
    )
    dirty: tuple[str, ...] | None = ()
    why = ""
    for worktree in worktrees if held else ():
        from moot.system import git_status  # starts git

        files = git_status.find_dirty_files(Path(worktree))
        dirty = None if dirty is None or files.paths is None else (*dirty, *files.paths)
        why = why or files.why
    return EndGone(
        agent=member.name,
        agent_epoch=member.epoch,
        observer=observer,
        because=because,
        worktree=member.worktree or str(workspace.root),
        dirty=dirty,
        no_git=why,
    )


def _describe_unfinished(workspace: Workspace, member: Member) -> UnfinishedSession:
    """Return what the rule would say; it cannot be applied with an agent's key alone."""
    command = _end_command(workspace, member, "", UNNAMED)
    engine, acting = workspace.engine, VerifiedActor(SYSTEM, 1, "", KeyClass.SYSTEM)
    context = Context(engine.clock(), acting, STREAM, workspace.trust.origin, {})
    findings = PRESENCE.decide(read_presence(workspace), command, context).findings
    why = "; ".join(finding.message for finding in findings)
    return UnfinishedSession(member.name, why or "it has not been ended yet")
