"""After a call: find out what it changed, who changed held files, and note each file's version.

Only proved changes are recorded as an agent's act; all others are mailed to the holder. What an
agent wrote is noted with a copy, for `moot undo`; a change by someone unknown is copied without an
author. Errors here never reach the tool.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from moot.api.guard.checks import note_incursions
from moot.api.guard.copies import MOST_FILES_AT_ONCE, Copies, Editor
from moot.api.guard.guarded_paths import GuardedPaths, find_guarded_paths
from moot.api.guard.holders import LineNotice
from moot.api.observed.sessions import ignoring_errors
from moot.api.session import read_presence

if TYPE_CHECKING:
    from moot.api.guard.held_changes import CommandBeginning, Evidence, FoundChanges, HeldChange
    from moot.api.session import Session
    from moot.core.findings import Finding
    from moot.protocols.presence.model import Reservation
    from moot.workspace.call_journal import Call, Look


class CallChanges(msgspec.Struct, frozen=True):
    """`noted` are INCURSIONs that are new on record, `files` what the call changed in its own
    worktree and no other agent can have changed. `shared` are functions in which another agent has
    uncommitted lines too."""

    noted: tuple[Finding, ...]
    files: tuple[str, ...]
    shared: tuple[LineNotice, ...] = ()


class Inspector(NamedTuple):
    """Who inspects: its editor, its name (amber-otter/2 for a sub-agent), the reservations of
    others that refuse its edits, and its own."""

    editor: Editor
    who: str
    others: tuple[Reservation, ...]
    own: tuple[Reservation, ...]


class EndedCommand(NamedTuple):
    """A shell command that has ended: its text, its folder, how it began, and its journal entry."""

    text: str
    folder: str
    beginning: CommandBeginning
    call: Call


def inspect_edit(
    session: Session, paths: Iterable[str], root: Path, inspector: Inspector, call_id: str
) -> CallChanges:
    """Note an edit. Edits are checked beforehand; if one changed a held file anyway, record it: the
    tool itself reports that it wrote the file."""
    from moot.api.guard.held_changes import index_by_key, reservations_around

    places = find_guarded_paths(paths, session.folder, session.home)
    files, slipped, shared = list[str](), list[str](), list[LineNotice]()
    held = index_by_key(inspector.others)
    for guarded in places:
        written = guarded.scopes
        with ignoring_errors():
            written = tuple(_note_edit(session, guarded, inspector, call_id, shared))
        if guarded.worktree_root == root:
            files += guarded.scopes
            slipped += [path for path in written if reservations_around(path, held)]
    name = inspector.editor.agent
    noted = note_incursions(session, tuple(slipped), root, name) if slipped else ()
    return CallChanges(noted, tuple(files), tuple(shared))


def _note_edit(
    session: Session,
    guarded: GuardedPaths,
    inspector: Inspector,
    call_id: str,
    shared: list[LineNotice],
) -> Iterator[str]:
    """End an edit in the journal, note its result, and yield the files that it wrote. Functions in
    which another agent has lines too are added to `shared`.

    Files that differ from what it announced, and are not surely its own, have an unknown author.
    """
    from moot.api.guard.call_journaling import copy_unreported_edits

    root, editor = guarded.worktree_root, inspector.editor
    with Copies(guarded.workspace, root) as copies:
        copy_unreported_edits(guarded.workspace, copies, editor.at)
        journal, looked_ns = copies.versions.journal, time.time_ns()
        call = journal.find_begun(editor.session, call_id, editor.why)
        read = {path: copies.read(path) for path in guarded.scopes}
        present = {path: file.blob for path, file in read.items() if file is not None}
        if call is None:
            copies.note_left(guarded.scopes, editor)
            journal.note_looks(str(root), present, looked_ns)
            yield from guarded.scopes
            return
        known = {file.path: file for file in call.files if file.worktree == str(root)}
        changed = {
            path: blob
            for path, blob in present.items()
            if path not in known or known[path].before != blob
        }
        doubtful = [
            path
            for path, blob in changed.items()
            if path in known and not known[path].leads_to(blob)
        ]
        if doubtful:
            unknown = _report_doubtful(session, copies, inspector, call, doubtful)
            changed = {path: blob for path, blob in changed.items() if path not in unknown}
        copies.note_left(changed, editor, changed)
        journal.note_looks(str(root), present, looked_ns)
        shared += _note_lines(session, copies, guarded, present, call)
        after = {(str(root), path): blob for path, blob in present.items()}
        journal.end(call, after, at_ns=looked_ns)
        yield from changed


def _note_lines(
    session: Session, copies: Copies, guarded: GuardedPaths, paths: Iterable[str], call: Call
) -> list[LineNotice]:
    """Store whose lines an edit wrote, while it is still open in the journal.

    Return the functions in which another agent has uncommitted lines too.
    """
    from moot.workspace.settings import holds_lines

    if not holds_lines(copies.root, session.env):
        return []
    from moot.api.guard.line_edits import claim_shared_units
    from moot.api.guard.line_state import label_of_call, load_lines

    presence = read_presence(session.workspace)
    loaded = [load_lines(copies, path, presence, call) for path in paths]
    label = label_of_call(presence, call)
    return [
        notice
        for file in loaded
        if file is not None
        for notice in claim_shared_units(session, guarded.workspace, file, label)
    ]


def _report_doubtful(
    session: Session, copies: Copies, inspector: Inspector, call: Call, paths: Iterable[str]
) -> set[str]:
    """Return the files that someone else may have changed during the edit, and mail their
    holder."""
    from moot.api.guard import held_changes
    from moot.api.guard.holder_mail import notify_holders
    from moot.api.guard.who_changed import FileChange

    evidence = held_changes.Evidence(session.workspace, copies, call.began_ns)
    root, own = str(copies.root), held_changes.index_by_key(inspector.own)
    before = {file.path: file.before for file in call.files}
    unknown, untold = set[str](), list[held_changes.HeldChange]()
    for path in paths:
        present = copies.read(path)
        after = None if present is None else present.blob
        until = held_changes.latest_change_time(f"{root}/{path}")
        change = FileChange(root, path, before[path], after, call.began_ns, until)
        verdict = evidence.explain(change, inspector.who)
        if verdict.who != inspector.who:
            unknown.add(path)
            around = held_changes.reservations_around(path, own)
            untold += [held_changes.HeldChange(change, held, verdict) for held in around[-1:]]
    copies.keep(unknown, Editor("", "", inspector.editor.at, held_changes.CHANGED_UNKNOWN))
    notify_holders(session.workspace, untold)
    return unknown


def explain_own_changes(
    session: Session,
    copies: Copies,
    looks: Mapping[str, Look],
    present: Mapping[str, str],
    before_ns: int,
) -> dict[str, str]:
    """Explain changes of files, before their holder edits them, since they were last explained.

    `before_ns` is when the edit began. Changes by others are mailed to the holder. Return the
    versions that are explained now.
    """
    from moot.api.guard import held_changes
    from moot.api.guard.holder_mail import notify_holders
    from moot.api.guard.who_changed import FileChange

    root, name = str(copies.root), session.actor()
    state = read_presence(session.workspace)
    own = held_changes.index_by_key(held for held in state.live if held.owner == name)
    evidence = held_changes.Evidence(
        session.workspace, copies, min(look.at_ns for look in looks.values())
    )
    at, untold = session.workspace.engine.clock(), list[held_changes.HeldChange]()
    for path, look in looks.items():
        held = next(reversed(held_changes.reservations_around(path, own)), None)
        if held is None or look.at_ns // 1_000_000 < held.since:
            continue  # it was free meanwhile
        until = min(held_changes.latest_change_time(f"{root}/{path}"), before_ns)
        change = FileChange(root, path, look.blob, present[path], look.at_ns, until)
        verdict = evidence.explain(change, held.holder)
        if verdict.who == held.holder:
            left_by = Editor(name, evidence.find_session(change, verdict.who), at)
            copies.note_left([path], left_by, present)
        else:
            copies.keep([path], Editor("", "", at, held_changes.CHANGED_UNKNOWN))
            untold.append(held_changes.HeldChange(change, held, verdict))
    not_sent = notify_holders(session.workspace, untold)
    return {path: present[path] for path in looks if path not in not_sent}


def inspect_command(
    session: Session, command: EndedCommand, guarded: GuardedPaths, inspector: Inspector
) -> CallChanges:
    """Compare held files, and others that the command may have changed, with their earlier
    versions.

    A command that only reads changed nothing, whatever others did meanwhile.
    """
    from moot.api.guard.call_journaling import copy_unreported_edits, find_background_processes
    from moot.api.guard.line_edits import release_committed
    from moot.api.guard.shell.first_look import only_reads
    from moot.api.guard.stale_reads import note_printed
    from moot.workspace.settings import holds_lines

    editor, root = inspector.editor, guarded.worktree_root
    noted, files, looked_ns = list["Finding"](), list[str](), time.time_ns()
    with ignoring_errors(), Copies(guarded.workspace, root) as copies:
        copy_unreported_edits(guarded.workspace, copies, editor.at)
        if not only_reads(command.text):
            proved, files = _find_own_changes(session, command, copies, inspector, looked_ns)
            noted += _note_proved(session, proved, editor.agent)
        note_printed(copies, command.text, command.folder, editor)
        if holds_lines(root, session.env):
            release_committed(session, guarded)
        left = find_background_processes(command.call, (str(root), command.folder))
        copies.versions.journal.end(command.call, processes=left, at_ns=looked_ns)
    return CallChanges(tuple(noted), tuple(files))


def _find_own_changes(
    session: Session, command: EndedCommand, copies: Copies, inspector: Inspector, looked_ns: int
) -> tuple[list[HeldChange], list[str]]:
    """Return the changes of others' files that are proved to be this agent's, and its own files."""
    from moot.api.guard.git_changes import list_changed_or_empty
    from moot.api.guard.held_changes import Evidence, find_changes, find_changes_elsewhere

    beginning, root = command.beginning, copies.root
    changed = list_changed_or_empty(root)
    held = (*inspector.others, *inspector.own)
    found = find_changes(copies, held, beginning, changed)
    elsewhere = list(
        find_changes_elsewhere(session.workspace.path, root, inspector.others, beginning)
    )
    changes = [
        change for each in (found, *(there for _, there in elsewhere)) for change in each.changes
    ]
    since = [change.since_ns for change, _held in changes]
    since_ns = min([*since, beginning.began_ns or looked_ns])
    evidence = Evidence(session.workspace, copies, since_ns, own=command.call)
    proved, left = _explain_found(session, copies, evidence, inspector, found, looked_ns)
    for other, there in elsewhere:
        with Copies(session.workspace.path, other) as others:
            proved += _explain_found(session, others, evidence, inspector, there, looked_ns)[0]
    left += _note_unheld(copies, command, evidence, inspector, changed)
    evidence.close_finished()
    return proved, [path for path in left if path in frozenset(changed)]


def _explain_found(
    session: Session,
    copies: Copies,
    evidence: Evidence,
    inspector: Inspector,
    found: FoundChanges,
    looked_ns: int,
) -> tuple[list[HeldChange], list[str]]:
    """Explain changes of held files, note their authors, and mail the holders of the rest."""
    from moot.api.guard.held_changes import CHANGED_UNKNOWN, HeldChange
    from moot.api.guard.holder_mail import notify_holders

    explained = [
        HeldChange(change, held, evidence.explain(change, held.holder))
        for change, held in found.changes
    ]
    own, at = list[str](), inspector.editor.at
    for each in explained:
        change, who = each.change, each.verdict.who
        if change.after is None:
            continue
        if each.is_own or each.is_proved:
            editor = inspector.editor
            if who != inspector.who:
                editor = Editor(who.partition("/")[0], evidence.find_session(change, who), at)
            copies.note_left([change.path], editor, {change.path: change.after})
            own += [change.path] if who == inspector.who else []
        else:
            copies.keep([change.path], Editor("", "", at, CHANGED_UNKNOWN))
    proved = [each for each in explained if each.is_proved and each.verdict.who == inspector.who]
    proved = [each for each in proved if not each.is_own]
    others = (each for each in explained if not each.is_own and each not in proved)
    not_sent = notify_holders(session.workspace, others)
    told = {path: blob for path, blob in found.present.items() if path not in not_sent}
    copies.versions.journal.note_looks(str(copies.root), told, looked_ns)
    return proved, own


def _note_unheld(
    copies: Copies,
    command: EndedCommand,
    evidence: Evidence,
    inspector: Inspector,
    changed: Iterable[str],
) -> list[str]:
    """Return unheld files that changed since the command began, if no other call can have changed
    them; copy the others without an author."""
    from moot.api.guard import held_changes
    from moot.api.guard.who_changed import FileChange

    root, began_ns = str(copies.root), command.beginning.began_ns
    if began_ns is None:
        return []
    held = held_changes.index_by_key((*inspector.others, *inspector.own))
    own, unknown = list[str](), list[str]()
    for path in dict.fromkeys(
        held_changes.list_candidates(copies, command.beginning, tuple(changed))
    ):
        file = f"{root}/{path}"
        if held_changes.reservations_around(path, held) or not held_changes.was_touched(
            file, began_ns
        ):
            continue
        change = FileChange(root, path, None, None, began_ns, held_changes.latest_change_time(file))
        verdict = evidence.explain(change, inspector.who, only_calls=True)
        (own if verdict.who == inspector.who else unknown).append(path)
    editor = inspector.editor
    copies.note_left(own[:MOST_FILES_AT_ONCE], editor)
    no_author = Editor("", editor.session, editor.at, held_changes.CHANGED_UNKNOWN)
    copies.keep(unknown[:MOST_FILES_AT_ONCE], no_author)
    return own


def _note_proved(session: Session, changes: Iterable[HeldChange], name: str) -> Iterator[Finding]:
    """Record one INCURSION for each reservation, with both versions of its first file."""
    first: dict[int, HeldChange] = {}
    for each in changes:
        first.setdefault(each.held.fencing, each)
    for change in (each.change for each in first.values()):
        blobs = None
        if change.before is not None and change.after is not None:
            blobs = change.before, change.after
        yield from note_incursions(session, (change.path,), Path(change.worktree), name, blobs)
