"""Before a shell command: check whether it destroys the work of others, and copy unsaved work.

A hook asks before every command, and most commands only read. Those are recognized quickly; only
the others load `command_check.py`.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from moot.api.guard.holders import Holder
from moot.api.operation import operation
from moot.core.errors import MootError
from moot.core.text import Quoted

if TYPE_CHECKING:
    from moot.api.guard.worktree_before import WorktreeBefore
    from moot.api.session import Session


class EndangeredFiles(msgspec.Struct, frozen=True):
    """Files of one owner that a command would destroy, the first few of `count`.

    `holder` is None if no agent holds them: they are a person's, or their author is unknown.
    """

    files: tuple[Quoted, ...]
    count: int
    holder: Holder | None = None


class CommandVerdict(msgspec.Struct, frozen=True):
    """Whether a shell command may run; if not, which part (`act`) would destroy whose files.

    `is_understood` False: Moot only knows that the command names them. `is_commit`: they would be
    committed, not destroyed. `is_hidden`: git would ignore their changes. `safer` is the beginning
    of a command for the agent's `own` files only. `changed_since`: files that the agent holds were
    changed by someone else since; it is refused once. `also_here`: HEAD would move under these
    agents, who work in the same worktree.
    """

    allowed: bool
    agent: str | None = None
    act: str = ""
    endangered: tuple[EndangeredFiles, ...] = ()
    is_understood: bool = True
    is_commit: bool = False
    safer: str = ""
    own: tuple[Quoted, ...] = ()
    changed_since: bool = False
    is_hidden: bool = False
    also_here: tuple[str, ...] = ()


@operation("hook.before_command", writes=True)
def before_command(
    session: Session, call_id: str = "", command: str = "", folder: str = "", tool: str = ""
) -> CommandVerdict:
    """Check whether this shell command would destroy others' work that git does not have.

    `command` is its text, `folder` where it runs. Moot refuses it if it would discard, overwrite,
    remove or commit files of others, or a person's edits that the agent has not seen; an attempt on
    held files is recorded once as an INCURSION. Refused as `not_for_agents` if it would reach the
    record itself or all of git's files. Before any command that may write, all uncommitted work in
    the worktree is copied; `copy_failed` if there is no room. The command is written into the call
    journal under `tool` and `call_id`, which `after_call` must repeat. A repeat changes nothing, so
    it needs no key.
    """
    from moot.api.guard.shell.first_look import only_reads

    verdict, worktree = CommandVerdict(allowed=True), None
    may_write = bool(command) and not only_reads(command)
    if may_write:
        from moot.api.guard.command_check import check_command

        verdict = check_command(session, command, folder)
    if verdict.allowed and may_write:
        worktree = _keep_unsaved(session, command, folder)
    if verdict.allowed:
        with suppress(MootError, OSError):
            _journal_command(session, (tool, call_id), command, folder, worktree)
    return verdict


def _journal_command(
    session: Session,
    call: tuple[str, str],
    text: str,
    folder: str,
    worktree: WorktreeBefore | None,
) -> None:
    """Write the command into the journal; without it less can be explained later."""
    from moot.api.guard.call_journaling import caller_of, copy_unreported_edits, journal_command
    from moot.api.guard.copies import Copies
    from moot.api.guard.guarded_paths import find_guarded_folder

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        return
    caller = caller_of(session, session.acting or "")
    with Copies(guarded.workspace, guarded.worktree_root) as copies:
        copy_unreported_edits(guarded.workspace, copies, session.clock())
        journal_command(copies, caller, call, text, folder or str(session.folder), worktree)


def _keep_unsaved(session: Session, command: str, folder: str) -> WorktreeBefore | None:
    """Copy unsaved work and return the state of the worktree; None outside of a workspace."""
    from moot.api.guard.guarded_paths import find_guarded_folder

    try:
        guarded = find_guarded_folder(Path(folder or session.folder), session.home)
    except MootError:
        return None
    if guarded is None:
        return None
    from moot.api.guard.unsaved_work import keep_unsaved_work

    return keep_unsaved_work(session.clock, guarded, command)
