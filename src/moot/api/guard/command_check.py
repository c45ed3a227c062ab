"""Before a shell command: whose work would it destroy that git does not have?

The command's text is read, git or the disk is asked what it would reach, and only if that is
something the ledger is opened, to ask who holds it (`command_verdict.py`). Reading is never
stopped, and what lies in no workspace is nobody's business.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from os.path import isdir
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moot.api.guard.commands import CommandVerdict
from moot.core.errors import Refused
from moot.flows.guard.guarded_paths import GuardedPaths, find_guarded_folder
from moot.flows.guard.input_files import read_script_file
from moot.flows.guard.off_limits import may_carry_hooks
from moot.flows.guard.shell.act import DestructiveAct, InputKind, Reach
from moot.flows.guard.shell.acts import UNREAD, destructive_acts
from moot.flows.guard.shell.script import Surroundings
from moot.workspace.find import FOLDER

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.flows.guard.destruction import ReachedFiles

# Acts that take a folder away with all that is in it.
_REMOVING: Final = frozenset({"rm", "mv", "trash", "find -delete", "git worktree remove"})


def check_command(session: Session, text: str, folder: str) -> CommandVerdict:
    """May this shell command run? The first act in it that may not decides; what the others would
    reach of somebody's is on record, too."""
    here = folder or str(session.folder)
    guarded = find_guarded_folder(Path(here), session.home)
    root = "" if guarded is None else str(guarded.worktree_root)
    acts = tuple(_all_acts(text, Surroundings(here, root, session.env)))
    if guarded is None:
        _require_none_gone(session, acts)
    refused: CommandVerdict | None = None
    others: dict[str, GuardedPaths] = {}
    for act in acts:
        from moot.flows.guard.destruction import find_reached

        if act is UNREAD and guarded is not None:
            _require_unnamed(guarded, text)
        if guarded is not None:
            _require_hooks_left(session, act, here, guarded, text)
        for reached in find_reached(act, Path(here), session.home):
            from moot.api.guard.command_verdict import judge_reached, note_attempt

            there = session.in_workspace(reached.guarded.workspace)
            if refused is not None:
                note_attempt(there, reached)
                continue
            _require_armed(reached)
            _require_hooks_kept(session, reached)
            verdict = judge_reached(there, reached)
            refused = None if verdict.allowed else verdict
            others[str(reached.guarded.worktree_root)] = reached.guarded
    if refused is None:
        _keep_elsewhere(session, text, (each for name, each in others.items() if name != root))
    return refused or CommandVerdict(allowed=True)


def _require_none_gone(session: Session, acts: Iterable[DestructiveAct]) -> None:
    """Refused as an edit is (`workspace_gone`) where a workspace was and nothing can be checked.

    What writes nothing there passes, and so does what puts `.moot` itself back.
    """
    from moot.flows.guard.gone_workspaces import require_none_gone

    written: list[str] = []
    for act in acts:
        if act.folder is None or act.reach in (Reach.NAMED, Reach.HEAD):
            continue
        files = [os.path.join(act.folder, word.text) for word in act.paths if word.is_known]
        taken = [word.text for word in act.copied]
        taken += act.read_from.members if act.read_from is not None else ()
        if not taken or not all(FOLDER in Path(each).parts for each in taken):
            written += files or [act.folder]
    require_none_gone(
        (file for file in written if FOLDER not in Path(file).parts), session.keys_path
    )


def _all_acts(text: str, around: Surroundings) -> Iterator[DestructiveAct]:
    """Those of the text, and of the files that it gives to a shell as commands."""
    for act in destructive_acts(text, around):
        if act.read_from is None or act.read_from.kind is not InputKind.SCRIPT:
            yield act
            continue
        script = read_script_file(act.read_from)
        if script is not None:
            inside = around._replace(folder=act.folder or around.folder)
            yield from destructive_acts(script, inside, nested=1)


def _keep_elsewhere(session: Session, text: str, reached: Iterable[GuardedPaths]) -> None:
    """Copies of what git lacks in other worktrees that the command reaches."""
    for guarded in reached:
        from moot.flows.guard.unsaved_work import keep_unsaved_work

        keep_unsaved_work(session, guarded, text)


def _require_unnamed(guarded: GuardedPaths, text: str) -> None:
    """Refused if a command that was not read to its end names the record or git's own files."""
    names = {guarded.workspace.name: "moot", ".git": "git"}
    for name, owner in names.items():
        if name in text:
            raise Refused(
                "not_for_agents",
                f"{UNREAD.name} names {name}, which only `{owner}` itself writes",
                hint="split it into several commands",
            )


def _require_hooks_left(
    session: Session, act: DestructiveAct, here: str, guarded: GuardedPaths, text: str
) -> None:
    """Refused if a file that carries our hooks would be written or removed, also outside of here:
    the user's own settings serve all of their projects. What an act reaches that cannot be told is
    taken for such a file if the text names one."""
    from moot.flows.guard.destruction import find_written

    if act.reach is Reach.NAMED:
        from moot.flows.tools.guard_files import require_unnamed

        require_unnamed(act.name, text, guarded, session.env)
        return
    is_removing = act.name in _REMOVING and not act.only_called
    _require_out_of_reach(session, act.name, find_written(act, here), is_removing, guarded)


def _require_hooks_kept(session: Session, reached: ReachedFiles) -> None:
    """The same for what a patch or an archive would write, what git would throw away, and what it
    would remove with a folder that it does not track."""
    act, root = reached.act, reached.guarded.worktree_root
    if act.reach.is_commit:
        return
    for is_removing in (False, True):
        paths = [str(root / path) for path in reached.paths if path.endswith("/") is is_removing]
        _require_out_of_reach(session, act.name, paths, is_removing, reached.guarded)


def _require_out_of_reach(
    session: Session, act: str, paths: Iterable[str], is_removing: bool, guarded: GuardedPaths
) -> None:
    """Files are looked into only where one of these may be meant, or a folder would go."""
    meant = [each for each in paths if may_carry_hooks(each) or (is_removing and isdir(each))]
    if meant:
        from moot.flows.tools.guard_files import require_out_of_reach

        require_out_of_reach(act, meant, is_removing, guarded, session.env)


def _require_armed(reached: ReachedFiles) -> None:
    """Refused if the record itself, or all of git's, would be written over or removed."""
    guarded, act = reached.guarded, reached.act
    kept = {str(guarded.workspace): "moot"}
    if (guarded.worktree_root / ".git").is_dir():  # a file in a linked worktree, which may go
        kept[str(guarded.worktree_root / ".git")] = "git"
    for path in () if act.reach.is_commit else reached.paths:
        full = os.path.normpath(guarded.worktree_root / path)
        for each, owner in kept.items():
            is_inside = full.startswith(f"{each}/") and owner == "moot"
            is_around = each.startswith(f"{full}/") and act.name in _REMOVING
            if full == each or is_inside or (is_around and not act.only_called):
                raise Refused(
                    "not_for_agents",
                    f"{act.name} would reach {each}, which only `{owner}` itself writes",
                    hint="leave it out: `-e .moot` for git clean, else name the files you mean",
                )
