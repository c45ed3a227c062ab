"""`moot explain`, `clean` and `uninstall`: explain codes, remove leftovers, remove hooks."""

from __future__ import annotations

from collections.abc import Iterator

from moot.api.hook_setup import uninstalling
from moot.api.workspace import explaining, leftovers
from moot.core.text import plural
from moot.surfaces.terminal.answer import Sentence, paint, table
from moot.surfaces.terminal.derive import derive


@derive("explain", explaining.explain, "CODE")
def explain(explained: explaining.ExplainedCode) -> Iterator[str]:
    """Explain CODE: its message, the reason, and what to do.

    CODE is the word in [brackets] after `error`, or the id of a rule. `…` is a placeholder.

    Examples:
      moot explain reservation_conflict
      moot explain OPR-071
    """
    for number, meaning in enumerate(explained.meanings):
        if number:
            yield ""
        rule = f" · {meaning.rule} of {meaning.protocol}" if meaning.rule else ""
        yield f"{paint(meaning.code, 'bold')}{rule} · {meaning.kind}"
        rows = [("says", meaning.sentence or "…"), ("why", meaning.why)]
        rows += [("what to do", meaning.what_to_do)] if meaning.what_to_do else []
        yield from table(rows)


@derive("clean", leftovers.clean, "--remove  Remove what is provably merged and clean.")
def clean(left: leftovers.Leftovers) -> Iterator[str]:
    """List worktrees and branches that agents left, and the reasons to keep each.

    Nothing is removed without --remove. With it, Moot removes only what loses no work: all commits
    are in the main checkout's HEAD, no file there is uncommitted or ignored, and no agent works
    there. `git branch NAME COMMIT` restores a removed branch.

    Examples:
      moot clean
      moot clean --remove
    """
    for each in left.leftovers:
        word = "removed" if each.removed else "stays" if each.keep else "can go"
        colour = "yellow" if each.keep else "green"
        branch = f"branch {each.branch}" if each.branch else "no branch"
        place = f"{each.worktree} ({branch})" if each.worktree else branch
        yield f"{paint(word, colour)}  {place} · {', '.join(each.agents)}"
        if each.removed and each.kind == "branch":
            yield f"  it was at {each.commit}"
        yield from (f"  {reason}" for reason in each.keep)
    if not left.leftovers:
        yield "agents left no worktree and no branch here"
    elif any(not each.keep and not each.removed for each in left.leftovers):
        yield "`moot clean --remove` removes what can go"


@derive("uninstall", uninstalling.uninstall)
def uninstall(done: uninstalling.Uninstalled) -> Iterator[str]:
    """Remove Moot's hooks from this project, in all its worktrees, for all tools.

    Files that were not changed since are restored byte for byte. The record, the keys and the
    settings stay; the answer lists where they are and how to remove them. Running it again changes
    nothing.

    For people only: Moot refuses agents, and programs that a coding tool or `moot run` started.

    Examples:
      moot uninstall
    """
    yield f"hooks removed from {plural(len(done.worktrees), 'worktree')}:"
    yield from (f"  {file}" for file in done.changed or ["nothing was installed"])
    yield "what stays:"
    for kept in done.kept:
        yield f"  {kept.where}"
        yield Sentence(f"    {kept.what}")
        yield Sentence(f"    to remove it: {kept.to_remove}")
