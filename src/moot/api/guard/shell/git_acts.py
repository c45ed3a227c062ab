"""What git's subcommands would destroy, by a table.

Git itself refuses much: a merge, a pull or a plain checkout of a branch never overwrites
uncommitted files. The table contains what git does without asking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from moot.api.guard.shell.act import (
    Arguments,
    DestructiveAct,
    Input,
    InputKind,
    Reach,
    Safer,
    read_arguments,
)
from moot.api.guard.shell.file_acts import acts_on_input, moved_acts
from moot.api.guard.shell.script import SimpleCommand, join_folder
from moot.api.guard.shell.values import Word

_GLOBAL_WITH_VALUE: Final = "C c --git-dir --work-tree --namespace --exec-path --config-env"
_ELSEWHERE: Final = ("--git-dir", "--work-tree")


class GitCall(NamedTuple):
    """A subcommand with its arguments, its folder, and the shell command it is part of."""

    subcommand: str
    words: tuple[Word, ...]
    folder: str | None
    options: tuple[str, ...] = ()
    command: SimpleCommand = SimpleCommand((), (), None)

    def act(self, reach: Reach, paths: tuple[Word, ...] = (), **more: object) -> DestructiveAct:
        """Return an act of this call; if a path is unknown, the whole folder counts."""
        known = all(word.is_known for word in paths)
        act = DestructiveAct(
            name=f"git {self.subcommand}",
            reach=reach,
            folder=self.folder,
            paths=paths if known else (Word("."),),
            git_options=self.options,
        )
        return act._replace(**more)  # type: ignore[arg-type]


def git_acts(
    words: tuple[Word, ...], folder: str | None, command: SimpleCommand | None = None
) -> Iterator[DestructiveAct]:
    """Yield what `git WORDS` would destroy; `command` tells what it reads on standard input."""
    call = read_git_call(words, folder)
    if call is not None and command is not None:
        call = call._replace(command=command._replace(folder=call.folder))
    look = _SUBCOMMANDS.get(call.subcommand) if call is not None else None
    if call is not None and look is not None:
        yield from look(call)


def read_git_call(words: tuple[Word, ...], folder: str | None) -> GitCall | None:
    """Return the subcommand after git's global options; None if it is unknown."""
    own = read_arguments(words, _GLOBAL_WITH_VALUE, stops_at_operand=True)
    if not own.operands or not own.operands[0].is_known:
        return None
    for place, word in enumerate(words[: len(words) - len(own.operands)]):
        if word.text == "-C":
            folder = _inside(folder, words[place + 1])
    options = tuple(f"{name}={own.values[name].text}" for name in _ELSEWHERE if name in own.values)
    return GitCall(own.operands[0].text, own.operands[1:], folder, options)


def texts_run_by_git(words: tuple[Word, ...]) -> Iterator[str]:
    """Yield the shell texts that git runs: in an alias, and in `git difftool -x`."""
    yield from (word.text.partition("=!")[2] for word in words if "=!" in word.text)
    call = read_git_call(words, None)
    if call is not None and call.subcommand == "config":
        yield from (word.text[1:] for word in call.words if word.text.startswith("!"))
    elif call is not None and call.subcommand == "difftool":
        values = read_arguments(call.words, "x --extcmd").values
        yield from (values[name].text for name in ("x", "--extcmd") if name in values)


def _inside(folder: str | None, word: Word) -> str | None:
    if not word.is_known or (folder is None and not word.text.startswith("/")):
        return None
    return join_folder(folder or "/", word.text)


def _checkout(call: GitCall) -> Iterator[DestructiveAct]:
    """Handle `checkout X`, a branch or a file. A branch name used as a path reaches nothing."""
    arguments = read_arguments(call.words, "b B --orphan --conflict --pathspec-from-file")
    if arguments.has("-p", "p", "--patch"):
        return
    if arguments.has("f", "--force"):
        yield call.act(Reach.CHANGED, safer=Safer.RESTORE, target=_target(arguments))
    if arguments.has("b", "B", "--orphan", "--detach") or _target(arguments):
        yield _moved_head(call, arguments, "b", "B", "--orphan")
    if arguments.has("b", "B", "--orphan", "--detach"):
        return
    if arguments.has("--pathspec-from-file"):
        yield call.act(Reach.CHANGED, safer=Safer.RESTORE)
    elif arguments.has_mark:
        reach = Reach.CHANGED if arguments.operands else Reach.UNSTAGED
        paths = arguments.marked
        if paths:
            yield call.act(reach, paths, safer=Safer.RESTORE)
    elif arguments.operands:
        is_from_commit = len(arguments.operands) > 1
        reach = Reach.CHANGED if is_from_commit else Reach.UNSTAGED
        if all(word.is_known for word in arguments.operands):
            paths = arguments.operands
            yield call.act(reach, paths, safer=Safer.RESTORE, may_be_branches=True)


def _target(arguments: Arguments) -> str:
    """Return the commit, if exactly one operand and no path is given."""
    if len(arguments.operands) != 1 or arguments.has_mark or not arguments.operands[0].is_known:
        return ""
    name = arguments.operands[0].text
    return "@{-1}" if name == "-" else name


def _restore(call: GitCall) -> Iterator[DestructiveAct]:
    arguments = read_arguments(call.words, "s --source --conflict --pathspec-from-file")
    only_index = arguments.has("S", "--staged") and not arguments.has("W", "--worktree")
    if only_index or arguments.has("p", "--patch"):
        return
    from_commit = arguments.has("s", "--source", "S", "--staged")
    reach = Reach.CHANGED if from_commit else Reach.UNSTAGED
    if arguments.all_operands or arguments.has("--pathspec-from-file"):
        yield call.act(reach, arguments.all_operands, safer=Safer.RESTORE)


def _reset(call: GitCall) -> Iterator[DestructiveAct]:
    arguments = read_arguments(call.words, "--pathspec-from-file")
    if arguments.has("--hard"):
        yield call.act(Reach.CHANGED, safer=Safer.RESTORE, target=_target(arguments))
    elif arguments.has("--merge"):
        yield call.act(Reach.STAGED, safer=Safer.RESTORE, is_all_or_nothing=True)
    if _target(arguments) and not arguments.has("p", "--patch"):
        yield _moved_head(call, arguments)._replace(may_be_branches=True)


def _moved_head(call: GitCall, arguments: Arguments, *new: str) -> DestructiveAct:
    """Return an act that moves HEAD. `target` is empty if HEAD surely changes."""
    makes_one = arguments.has(*new) or arguments.has("--detach", "d")
    target = "" if makes_one else _target(arguments)
    return call.act(Reach.HEAD, safer=Safer.WORKTREE, target=target)


def _switch(call: GitCall) -> Iterator[DestructiveAct]:
    arguments = read_arguments(call.words, "c C --create --force-create --orphan --conflict")
    if arguments.has("f", "--force", "--discard-changes"):
        yield call.act(Reach.CHANGED, safer=Safer.RESTORE, target=_target(arguments))
    yield _moved_head(call, arguments, "c", "C", "--create", "--force-create", "--orphan")


def _stash(call: GitCall) -> Iterator[DestructiveAct]:
    """Handle `git stash`: git keeps the content, but removes it from where its holder works."""
    verb = call.words[0].text if call.words else "push"
    if verb in ("pop", "apply"):
        yield from _unstash(call)
    if verb == "branch":
        yield call.act(Reach.HEAD, safer=Safer.WORKTREE)
    is_bare = verb.startswith("-")
    if not (is_bare or verb in ("push", "save")):
        return
    words = call.words if is_bare else call.words[1:]
    arguments = read_arguments(words, "m --message --pathspec-from-file")
    if arguments.has("p", "--patch"):
        return
    reach = Reach.STAGED if arguments.has("S", "--staged") else Reach.CHANGED
    paths = (
        () if verb == "save" or arguments.has("--pathspec-from-file") else arguments.all_operands
    )
    yield call.act(
        reach,
        paths,
        safer=Safer.STASH,
        also_untracked=arguments.has("u", "--include-untracked", "a", "--all"),
        also_ignored=arguments.has("a", "--all"),
    )


def _unstash(call: GitCall) -> Iterator[DestructiveAct]:
    """Handle `git stash pop`: git refuses to overwrite uncommitted files, and writes the others."""
    operands = read_arguments(call.words[1:]).all_operands
    name = operands[0].text if operands else "0"
    stash = f"stash@{{{name}}}" if name.isdecimal() else name
    yield call.act(Reach.WRITTEN, keeps_content=True, read_from=Input(InputKind.STASH, Word(stash)))


def _apply(call: GitCall) -> Iterator[DestructiveAct]:
    """Handle `git apply` and `git am`: the patch names the files."""
    arguments = read_arguments(call.words, "p C --directory --exclude --include --whitespace")
    if arguments.has(
        "--check", "--stat", "--numstat", "--summary", "--cached", "--abort", "--continue"
    ) or arguments.has("--skip", "--quit", "--show-current-patch"):
        return
    strip = arguments.values.get("p")
    source = Input(
        InputKind.PATCH, strip=int(strip.text) if strip and strip.text.isdecimal() else 1
    )
    into = arguments.values.get("--directory")
    for given in arguments.all_operands or (None,):
        yield from acts_on_input(f"git {call.subcommand}", call.command, source, given, into)


def _am(call: GitCall) -> Iterator[DestructiveAct]:
    yield from _integrate(call)
    yield from _apply(call)


def _update_index(call: GitCall) -> Iterator[DestructiveAct]:
    """Handle options that make git ignore changes of a file, so that `git status` hides them."""
    arguments = read_arguments(call.words, "--cacheinfo --chmod")
    if arguments.has("--assume-unchanged", "--skip-worktree") and arguments.all_operands:
        yield call.act(Reach.HIDDEN, arguments.all_operands, name="git update-index")


def _symbolic_ref(call: GitCall) -> Iterator[DestructiveAct]:
    operands = read_arguments(call.words, "m").all_operands
    if len(operands) > 1 and operands[0].text == "HEAD":
        target = operands[1].text.removeprefix("refs/heads/")
        yield call.act(Reach.HEAD, safer=Safer.WORKTREE, target=target)


def _update_ref(call: GitCall) -> Iterator[DestructiveAct]:
    operands = read_arguments(call.words, "m").all_operands
    if len(operands) > 1 and operands[0].text == "HEAD" and operands[1].is_known:
        target = operands[1].text
        yield call.act(Reach.HEAD, safer=Safer.WORKTREE, target=target, may_be_branches=True)


def _rebase(call: GitCall) -> Iterator[DestructiveAct]:
    """Handle `git rebase UPSTREAM BRANCH`, which first switches to that branch."""
    yield from _integrate(call)
    arguments = read_arguments(call.words, "s X x C --onto --strategy --exec")
    if len(arguments.operands) == 2 and arguments.operands[1].is_known:
        target = arguments.operands[1].text
        yield call.act(Reach.HEAD, safer=Safer.WORKTREE, target=target)


def _bisect(call: GitCall) -> Iterator[DestructiveAct]:
    if call.words and call.words[0].text not in ("log", "view", "visualize", "help", "terms"):
        yield call.act(Reach.HEAD, safer=Safer.WORKTREE)


def _written_by_output(call: GitCall) -> Iterator[DestructiveAct]:
    """Handle `git diff --output=FILE` and `git archive -o FILE`."""
    arguments = read_arguments(call.words, "o S G --output")
    names = ("--output", "o") if call.subcommand == "archive" else ("--output",)
    paths = tuple(arguments.values[name] for name in names if name in arguments.values)
    if paths:
        yield call.act(Reach.WRITTEN, paths[:1])


def _clean(call: GitCall) -> Iterator[DestructiveAct]:
    arguments = read_arguments(call.words, "e --exclude")
    if arguments.has("n", "--dry-run", "i", "--interactive"):
        return
    if not arguments.has("f", "--force") and not call.options:
        return  # git refuses it
    yield call.act(
        Reach.UNTRACKED,
        _without_excluded(arguments),
        safer=Safer.CLEAN,
        also_folders=arguments.has("d") or bool(arguments.all_operands),
        also_ignored=arguments.has("x", "X"),
    )


def _without_excluded(arguments: Arguments) -> tuple[Word, ...]:
    """Return the operands, with the last `-e` as a pathspec that excludes it."""
    given = [arguments.values[name] for name in ("e", "--exclude") if name in arguments.values]
    excluded = tuple(
        Word(f":(exclude,glob)**/{word.text.strip('/')}{rest}")
        for word in given
        for rest in ("", "/**")
        if word.is_known
    )
    return (arguments.all_operands or ((Word("."),) if excluded else ())) + excluded


def _worktree(call: GitCall) -> Iterator[DestructiveAct]:
    """Handle `git worktree remove`: an agent may work there; with force, uncommitted work is lost
    too."""
    arguments = read_arguments(call.words)
    operands = arguments.all_operands
    if len(operands) < 2 or operands[0].text != "remove" or not operands[1].is_known:
        return
    name = "git worktree remove"
    # Without force, git itself refuses if there are uncommitted changes.
    yield DestructiveAct(name, Reach.WRITTEN, call.folder, operands[1:2], keeps_content=True)
    if arguments.has("f", "--force"):
        folder = _inside(call.folder, operands[1])
        yield DestructiveAct(name, Reach.CHANGED, folder, also_untracked=True)


def _commit(call: GitCall) -> Iterator[DestructiveAct]:
    """Handle `git commit`: what is staged; with `-a` all tracked changes; with paths only these."""
    arguments = read_arguments(
        call.words,
        "m F C c t u S --message --file --author --date --reuse-message --reedit-message --fixup"
        " --squash --template --cleanup --trailer --pathspec-from-file",
    )
    if arguments.has("--dry-run", "p", "--patch", "--interactive"):
        return
    paths = arguments.all_operands
    is_all = arguments.has("a", "--all") or bool(paths)
    yield call.act(Reach.COMMITTED if is_all else Reach.COMMITTED_INDEX, paths, safer=Safer.COMMIT)


def added_before_commit(call: GitCall) -> DestructiveAct | None:
    """Return what `git add` stages for a `git commit` later in the same text."""
    arguments = read_arguments(call.words, "--chmod --pathspec-from-file")
    if call.subcommand not in ("add", "stage") or arguments.has("n", "--dry-run", "p", "i"):
        return None
    return call.act(
        Reach.COMMITTED,
        arguments.all_operands,
        name="git add, and then git commit",
        safer=Safer.COMMIT,
        also_untracked=not arguments.has("u", "--update"),
    )


def _rm(call: GitCall) -> Iterator[DestructiveAct]:
    arguments = read_arguments(call.words, "--pathspec-from-file")
    if not arguments.has("--cached", "n", "--dry-run"):
        yield call.act(Reach.WRITTEN, arguments.all_operands)


def _mv(call: GitCall) -> Iterator[DestructiveAct]:
    arguments = read_arguments(call.words)
    if not arguments.has("n", "--dry-run"):
        yield from moved_acts("git mv", arguments, call.folder)


def _read_tree(call: GitCall) -> Iterator[DestructiveAct]:
    arguments = read_arguments(call.words, "--prefix --index-output")
    if arguments.has("u") and arguments.has("--reset"):
        yield call.act(Reach.CHANGED, safer=Safer.RESTORE, target=_target(arguments))


def _checkout_index(call: GitCall) -> Iterator[DestructiveAct]:
    arguments = read_arguments(call.words, "--prefix --stage")
    if arguments.has("f", "--force") and not arguments.has("--prefix"):
        paths = () if arguments.has("a", "--all") else arguments.all_operands
        if paths or arguments.has("a", "--all"):
            yield call.act(Reach.UNSTAGED, paths, safer=Safer.RESTORE)


def _integrate(call: GitCall) -> Iterator[DestructiveAct]:
    """Handle merge, pull and the like: git keeps uncommitted work, except with autostash or an
    abort."""
    arguments = read_arguments(call.words)
    if arguments.has("--autostash"):
        yield call.act(Reach.CHANGED, safer=Safer.STASH)
    elif arguments.has("--abort", "--skip"):
        is_hard = call.subcommand in ("rebase", "am")
        yield call.act(Reach.CHANGED if is_hard else Reach.STAGED)


_SUBCOMMANDS: Final[Mapping[str, Callable[[GitCall], Iterator[DestructiveAct]]]] = {
    "checkout": _checkout,
    "co": _checkout,  # what many call it
    "ci": _commit,
    "restore": _restore,
    "reset": _reset,
    "switch": _switch,
    "stash": _stash,
    "clean": _clean,
    "worktree": _worktree,
    "commit": _commit,
    "rm": _rm,
    "mv": _mv,
    "read-tree": _read_tree,
    "checkout-index": _checkout_index,
    "merge": _integrate,
    "rebase": _rebase,
    "pull": _integrate,
    "cherry-pick": _integrate,
    "revert": _integrate,
    "am": _am,
    "apply": _apply,
    "update-index": _update_index,
    "symbolic-ref": _symbolic_ref,
    "update-ref": _update_ref,
    "bisect": _bisect,
    "diff": _written_by_output,
    "log": _written_by_output,
    "show": _written_by_output,
    "archive": _written_by_output,
}
