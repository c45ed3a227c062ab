"""Before a shell command: would it destroy others' work? What is unsaved is kept before it runs.

A hook asks this before every command, and many only read: the others are read closely
(`command_check.py`). Each import counts.
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

    `holder` is None if nobody holds them: they are a person's, or nobody knows whose.
    """

    files: tuple[Quoted, ...]
    count: int
    holder: Holder | None = None


class CommandVerdict(msgspec.Struct, frozen=True):
    """May a shell command run? If not: what in it (`act`) would destroy which files of whom.

    `is_understood` False: it is only known that it names them. `is_commit`: they would not be
    destroyed, but committed. `safer` is how a command begins that reaches the agent's `own` files
    alone. `changed_since`: what the agent holds itself was changed by somebody else since; this is
    said once. `is_hidden`: git would be told not to look at them. `also_here`: no file is meant,
    but HEAD would be moved under these agents, who work in the same worktree.
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
    """May this shell command run, or would it destroy others' work that git does not have?

    `command` is its text, `folder` where it runs. Held back is what would throw away, write over,
    remove or commit files of others, or a person's edits that the agent has not seen; the attempt
    on what others hold is on record once as an INCURSION. Refused as `not_for_agents` if it would
    reach the record itself, or all of git's own files. Before anything that does more than read, a
    copy is kept of all work in the worktree that git lacks; `copy_failed` if there is no room. It
    is written into the journal of calls under `tool` and `call_id`, which `after_call` is told too.
    A repeat changes nothing, so it needs no key.
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
    """Write the command down before it runs. Best effort: without it, less can be explained."""
    from moot.api.guard.call_journaling import Caller, copy_unreported_edits, journal_command
    from moot.api.guard.copies import Copies
    from moot.api.guard.guarded_paths import find_guarded_folder

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        return
    sub_agent = session.sub_agent if isinstance(session.sub_agent, str) else ""
    caller = Caller(session.tool_session_name, session.acting or "", sub_agent)
    with Copies(guarded.workspace, guarded.worktree_root) as copies:
        copy_unreported_edits(guarded.workspace, copies, session.clock())
        journal_command(copies, caller, call, text, folder or str(session.folder), worktree)


def _keep_unsaved(session: Session, command: str, folder: str) -> WorktreeBefore | None:
    """How the worktree is now. Where no workspace can be found, nothing is guarded either."""
    from moot.api.guard.guarded_paths import find_guarded_folder

    try:
        guarded = find_guarded_folder(Path(folder or session.folder), session.home)
    except MootError:
        return None
    if guarded is None:
        return None
    from moot.api.guard.unsaved_work import keep_unsaved_work

    return keep_unsaved_work(session, guarded, command)
