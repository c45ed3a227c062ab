"""Write each call into the journal (`workspace/call_journal.py`) before it runs.

Some edits have no end that a hook reports: Codex applies a patch in a shell command itself. The
next hook of any agent copies the result. If the bytes are what the edit announced, the edit made
them.

A hook asks this before every call, so start-up time matters.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.api.guard.copies import Copies, Editor
from moot.workspace.call_journal import REMOVED, Call, CallFile, CallKind, ProcessMark

if TYPE_CHECKING:
    from moot.api.guard.guarded_paths import GuardedPaths
    from moot.api.guard.who_changed import Announced
    from moot.api.guard.worktree_before import WorktreeBefore
    from moot.api.session import Session
    from moot.core.clock import Millis

UNREPORTED_EDIT: Final = "after a patch in a shell command"


class Caller(msgspec.Struct, frozen=True):
    """Who calls: session, agent and sub-agent (empty: unknown, or the main agent)."""

    session: str
    agent: str
    sub_agent: str = ""


def caller_of(session: Session, agent: str) -> Caller:
    """Return who calls in a session."""
    sub_agent = session.sub_agent if isinstance(session.sub_agent, str) else ""
    return Caller(session.tool_session_name, agent, sub_agent)


class JournaledEdit(NamedTuple):
    """The number of an edit in the journal, and git's ids of what its files contain now."""

    number: int
    present: Mapping[str, str]


def journal_command(
    copies: Copies,
    caller: Caller,
    call: tuple[str, str],
    text: str,
    folder: str,
    worktree: WorktreeBefore | None,
) -> None:
    """Write down a shell command: tool and id, text, folder, and the state of its worktree."""
    from moot.api.guard.shell.first_look import only_reads
    from moot.system.background_processes import read_last_number

    tool, call_id = call
    reads = bool(text) and only_reads(text)
    copies.versions.journal.begin(
        Call(
            session=caller.session,
            agent=caller.agent,
            sub_agent=caller.sub_agent,
            call_id=call_id,
            tool=tool,
            kind=CallKind.READING if reads else CallKind.COMMAND,
            worktree=str(copies.root),
            folder=folder,
            text=text,
            last_process=0 if reads else read_last_number(),
            state=b"" if worktree is None else msgspec.msgpack.encode(worktree),
        )
    )


def journal_edit(
    copies: Copies,
    guarded: GuardedPaths,
    caller: Caller,
    call: tuple[str, str],
    announced: Mapping[str, Announced],
    *,
    tells_end: bool,
) -> JournaledEdit:
    """Write down an edit; return its number, and git's ids of its files now. `announced` is by
    path."""
    tool, call_id = call
    files = tuple(_describe_files(copies, guarded, announced))
    number = copies.versions.journal.begin(
        Call(
            session=caller.session,
            agent=caller.agent,
            sub_agent=caller.sub_agent,
            call_id=call_id,
            tool=tool,
            kind=CallKind.EDIT,
            worktree=str(copies.root),
            tells_end=tells_end,
            files=files,
        )
    )
    present = {file.path: file.before for file in files if file.before is not None}
    return JournaledEdit(number, present)


def _describe_files(
    copies: Copies, guarded: GuardedPaths, announced: Mapping[str, Announced]
) -> Iterator[CallFile]:
    by_file = {os.path.realpath(path): each for path, each in announced.items()}
    root = str(guarded.worktree_root)
    for scope in guarded.scopes:
        present = copies.read(scope)
        before = None if present is None else present.blob
        says = by_file.get(os.path.realpath(f"{root}/{scope}")) if by_file else None
        if says is None or present is None or (present.blob and present.data is None):
            yield CallFile(root, scope, before)
            continue
        from moot.api.guard.who_changed import identify_words, predict_content

        results = predict_content(says, present.data if present.blob else None)
        blobs = [REMOVED if each is None else copies.identify(each) for each in results]
        blobs += [identify_words(each) for each in results if each is not None]
        edit = b"" if says.whole is not None or says.removed else msgspec.json.encode(says)
        yield CallFile(root, scope, before, tuple(blobs), edit)


def find_background_processes(call: Call, folders: tuple[str, ...]) -> list[ProcessMark]:
    """Return the processes that a command seems to have left running."""
    from moot.system.background_processes import find_left_processes

    return [ProcessMark(*each) for each in find_left_processes(call.last_process, folders)]


def copy_unreported_edits(workspace: Path, versions_of: Copies, now: Millis) -> None:
    """Copy the results of edits whose end no hook reports, and name the author if proved."""
    journal = versions_of.versions.journal
    for call in journal.list_untold():
        after = dict[tuple[str, str], str | None]()
        is_proved, has_changed = True, True
        for root in dict.fromkeys(file.worktree for file in call.files):
            with Copies(workspace, Path(root)) as copies:
                for file in (each for each in call.files if each.worktree == root):
                    present = copies.read(file.path)
                    if present is None or present.blob == file.before:
                        has_changed = is_proved = False
                        continue
                    after[root, file.path] = present.blob
                    if file.leads_to(present.blob):
                        editor = Editor(call.agent, call.session, now, UNREPORTED_EDIT)
                        copies.note_left([file.path], editor, {file.path: present.blob})
                        journal.note_looks(root, {file.path: present.blob}, time.time_ns())
                    else:
                        is_proved = False
                        copies.keep([file.path], Editor("", "", now, UNREPORTED_EDIT))
        if has_changed:
            journal.end_by_files(call, after, is_over=is_proved)
