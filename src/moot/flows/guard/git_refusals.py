"""What git itself refuses to do, so that nobody has to be held back from it.

`git reset --merge` does all or nothing: if a staged file was changed again since, or if there is
another one in the place of a file whose removal is staged, it does nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

from moot.flows.guard.git_changes import ask_what_changed, changed_files
from moot.flows.guard.shell.act import DestructiveAct


def is_refused_by_git(act: DestructiveAct, folder: str, root: Path) -> bool:
    """Would git refuse this act as a whole? False if that cannot be told."""
    if not act.is_all_or_nothing:
        return False
    if any(not word.is_known or word.text.startswith(":") for word in act.staged_before):
        return False
    # What the same command stages before is then staged as it is.
    others = (":(top)", *(f":(exclude){word.text}" for word in act.staged_before))
    letters = changed_files(folder, others, git_options=act.git_options)
    return any(
        (state[0] in "MAT" and state[1] in "MT")
        or (state[0] == "D" and os.path.lexists(root / path))
        for path, state in letters.items()
    )


def leads_elsewhere(act: DestructiveAct, folder: str) -> bool:
    """Would HEAD be at another branch or commit afterwards?

    `act.may_be_branches`: the branch stays and only its commit moves, as with `git reset`. Back to
    one of its own earlier commits, or forward to one that follows, leaves others on their branch.
    """
    name = act.target

    def ask(*words: str) -> str:
        return (ask_what_changed(folder, (*act.git_options, *words)) or "").strip()

    head = ask("rev-parse", "--verify", "--quiet", "HEAD")
    commit = ask("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    if act.may_be_branches:
        return bool(commit) and ask("merge-base", commit, head) not in (commit, head)
    branch = ask("symbolic-ref", "--quiet", "--short", "HEAD")
    if name in (branch, "HEAD", "@"):
        return False
    if commit or act.name == "git symbolic-ref":  # which does not ask whether it is there
        return True
    return bool(ask("for-each-ref", "--count=1", "--format=1", f"refs/remotes/*/{name}"))
