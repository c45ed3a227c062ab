"""Sessions whose program is gone from this machine are ended, and what they held is free.

The workspace itself signs that, with who observed it. It takes nothing from anybody: there is no
process left that could work, and nobody gets what it held. Where files in its scopes are not
committed, or nobody can tell, it keeps them until it is stale by time, as everybody does: that may
be all there is of its work, and it can still be adopted.
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


# Agents whose program is gone: ended, and with them at once what they owed and were owed.


def end_exited_agents(
    workspace: Workspace, observer: str | None, names: Iterable[str] | None = None
) -> tuple[UnfinishedSession, ...]:
    """End those of `names` (None: of everybody here) that are gone, and let their duties lapse;
    give back those that keep what they hold."""
    seen = end_exited_sessions(workspace, observer, names)
    if seen.ended:
        from moot.api.mail.lapsed_duties import lapse_duties

        lapse_duties(workspace)
    return seen.unfinished


# Holders whose program is gone: ended before somebody asks in vain, or explained.

CONFLICT_CODES: Final = ("reservation_conflict", "reservation_stale_found")


class ExitedHolder(msgspec.Struct, frozen=True):
    """A holder whose program is gone and whose work is not committed: what that is, from when on
    it may be taken over, and the command that continues it."""

    agent: str
    unfinished: Quoted
    stale_from: str | None
    adopt: str


def end_exited_holders(session: Session, holders: Iterable[str]) -> tuple[ExitedHolder, ...]:
    """End those of the holders that are gone; what is left are those that keep what they hold."""
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
    """A block that reserves: gone holders of what it asks for are ended before it; if it is refused
    for those that keep what they hold, the refusal says what can be done."""
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
            is_asked = len(kept) < len(set(others))  # the gone answer nobody
            refused.hint = "; ".join((*ways, refused.hint) if is_asked and refused.hint else ways)
            refused.findings = (*refused.findings, *map(_finding, kept))
        raise


def _scopes_in_the_way(
    session: Session, command: commands.Reserve | commands.TakeOver
) -> dict[str, str]:
    """What each holder has reserved of it: that is released, not the part that was asked for."""
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
    """Nobody living is taken over: a machine that slept gives no signs of life, and wakes up."""
    workspace = session.workspace
    state = read_presence(workspace)
    for owner in owners:
        member = model.find_member(state, owner)
        if member is None or not model.reservations_of(state, owner, member.epoch):
            continue  # what an earlier holder of the name has left is not its own
        evidence = find_run_evidence(workspace, owner, member.epoch)
        if evidence is not None and evidence.state == RUNNING:
            raise Refused(
                "agent_alive",
                f"{owner} gave no sign of life and is alive: {evidence.because}",
                hint="wait a minute, its next sign is due; if it hangs, end its program first",
            )


def _finding(holder: ExitedHolder) -> Finding:
    message = f"the program of {holder.agent} is gone: {holder.unfinished}"
    return Finding(
        rule="P-44",
        code="holder_gone",
        severity=Severity.INFO,
        message=message,
        where=holder.agent,
        hint=holder.adopt,
    )


def describe_exited_holder(holder: ExitedHolder, scope: str) -> str:
    """What can be done about it, for whoever was refused."""
    from moot.protocols.presence.paths import write_typed

    when = f"until {holder.stale_from}" if holder.stale_from else "until it is taken over"
    force = f"moot release {shell_word(write_typed(scope))} --force --reason TEXT"
    return (
        f"the program of {holder.agent} is gone ({holder.unfinished}); it is held {when}:"
        f" `{holder.adopt}` goes on with it, and a person may free it: `{force}`"
    )


# Is the program of an agent gone? The evidence is the lock that it inherited from its `moot run`:
# it is free when both have ended. It counts only on the same host, boot and process namespace, and
# on a disk of this machine; elsewhere time alone decides.

EXITED: Final = "gone"
RUNNING: Final = "running"
MOST_NOTE_BYTES: Final = 4_096


class RunNote(msgspec.Struct, frozen=True):
    """What a run says of itself in the file it has locked: which holder of the name, where and as
    which process it runs, since when."""

    epoch: int
    machine: MachineId
    pid: int
    started: str
    since: Millis


class RunEvidence(NamedTuple):
    """What is seen of a run from here: gone, running or (None) nothing that counts; and why."""

    state: str | None
    because: str


def note_run(workspace: Workspace, lock: NameLock, epoch: int) -> None:
    """Say in the locked file who holds it, so that others on this machine can tell if it is gone.

    A disk that takes no note takes no evidence either: the run goes on without.
    """
    pid = os.getpid()
    note = RunNote(epoch, read_machine_id(), pid, start_time_of(pid), workspace.engine.clock())
    lock.write_note(msgspec.json.encode(note))


def forget_run(workspace: Workspace, name: str) -> None:
    """Somebody works under the name without a run: the lock of an earlier one says nothing now."""
    folder, origin = workspace.folder, workspace.trust.origin
    lock = try_to_hold(folder, origin, name) if lock_file(folder, origin, name).exists() else None
    if lock is not None:
        lock.remove()


def find_run_evidence(workspace: Workspace, name: str, epoch: int) -> RunEvidence | None:
    """What the lock of this holder of a name says; None if it says nothing."""
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
        return RunEvidence(None, "its lock is free, seen from another machine, boot or namespace")
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


# Private keys that nobody may sign with any more are removed from the key folder; those of people,
# and revoked ones, are for people to look after.


def remove_ended_keys(workspace: Workspace) -> None:
    """Remove what is over of this ledger; keys that are not on record yet are left alone.

    Sessions that end at the same time may both try; a file that cannot be removed does no harm.
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
    """A session that is gone and keeps its scopes; `why` names the files that are not committed."""

    agent: str
    why: str


class ExitedSessions(NamedTuple):
    """Those whose program was seen to be gone: ended here and now, or kept."""

    ended: tuple[str, ...]
    unfinished: tuple[UnfinishedSession, ...]


def end_exited_sessions(
    workspace: Workspace, observer: str | None, names: Iterable[str] | None = None
) -> ExitedSessions:
    """End those of `names` (None: of everybody here) that are gone, unless they keep what they
    hold. Where only an agent's key is, its `moot run` ends them."""
    gone = list(_find_gone(workspace, names))
    if gone and workspace.folder.loan is not None:
        with suppress(Unavailable):  # then nobody ends them now
            workspace.let_runner_do(b"gone")
        gone = list(_find_gone(workspace, names))
        return ExitedSessions((), tuple(_describe_unfinished(workspace, each) for each, _ in gone))
    ends = [_end(workspace, member, seen, observer) for member, seen in gone]
    return ExitedSessions(
        tuple(end for end in ends if isinstance(end, str)),
        tuple(end for end in ends if isinstance(end, UnfinishedSession)),
    )


def _find_gone(
    workspace: Workspace, names: Iterable[str] | None
) -> Iterable[tuple[Member, RunEvidence]]:
    state = read_presence(workspace)
    asked = (member.name for member in state.members) if names is None else dict.fromkeys(names)
    for name in asked:
        member = model.find_member(state, name)
        if member is None or member.left:
            continue
        evidence = find_run_evidence(workspace, name, member.epoch)
        if evidence is not None and evidence.state == EXITED:
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
        because=seen.because,
        worktree=member.worktree or str(workspace.root),
        dirty=dirty,
        no_git=why,
    )


def _describe_unfinished(workspace: Workspace, member: Member) -> UnfinishedSession:
    """What the rule would say, asked where it cannot be applied."""
    seen = RunEvidence(EXITED, "")
    command = _end_command(workspace, member, seen, UNNAMED)
    engine, acting = workspace.engine, VerifiedActor(SYSTEM, 1, "", KeyClass.SYSTEM)
    context = Context(engine.clock(), acting, STREAM, workspace.trust.origin, {})
    findings = PRESENCE.decide(read_presence(workspace), command, context).findings
    why = "; ".join(finding.message for finding in findings)
    return UnfinishedSession(member.name, why or "it has not been ended yet")
