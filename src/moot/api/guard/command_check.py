"""Before a shell command: whose work would it destroy that git does not have?

The command's text is read, git or the disk is asked what it would reach, and only if that is
something the ledger is opened, to ask who holds it (`command_verdict.py`). Reading is never
stopped, and what lies in no workspace is nobody's business.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from moot.api.guard.checks import CommandVerdict
from moot.core.errors import Refused
from moot.flows.guard.destruction import ReachedFiles, find_reached
from moot.flows.guard.guarded_paths import find_guarded_folder
from moot.flows.guard.shell.acts import destructive_acts
from moot.flows.guard.shell.script import Surroundings

if TYPE_CHECKING:
    from moot.api.session import Session


def check_command(session: Session, text: str, folder: str) -> CommandVerdict:
    """May this shell command run? The first act in it that may not decides."""
    here = folder or str(session.folder)
    guarded = find_guarded_folder(Path(here), session.home)
    root = "" if guarded is None else str(guarded.worktree_root)
    for act in destructive_acts(text, Surroundings(here, root, session.env)):
        for reached in find_reached(act, Path(here), session.home):
            _require_armed(reached)
            from moot.api.guard.command_verdict import judge_reached

            verdict = judge_reached(session.in_workspace(reached.guarded.workspace), reached)
            if not verdict.allowed:
                return verdict
    return CommandVerdict(allowed=True)


def _require_armed(reached: ReachedFiles) -> None:
    """Refused if the record itself, or all of git's, would be written over or removed."""
    guarded = reached.guarded
    if reached.act.reach.is_commit:
        return
    kept = (str(guarded.workspace), str(guarded.worktree_root / ".git"))
    for path in reached.paths:
        full = str(guarded.worktree_root / path).rstrip("/")
        for each, owner in zip(kept, ("moot", "git"), strict=True):
            is_inside = full.startswith(f"{each}/") and owner == "moot"
            if full == each or each.startswith(f"{full}/") or is_inside:
                raise Refused(
                    "not_for_agents",
                    f"{reached.act.name} would reach {each}, which only `{owner}` itself writes",
                    hint="leave it out: `-e .moot` for git clean, else name the files you mean",
                )
