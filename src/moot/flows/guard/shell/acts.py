"""The destructive acts of a shell command's text: all that it would do to files, as far as told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from moot.flows.guard.shell.act import DestructiveAct, Reach
from moot.flows.guard.shell.code_acts import code_acts, is_interpreter
from moot.flows.guard.shell.file_acts import program_acts, redirect_acts
from moot.flows.guard.shell.git_acts import added_before_commit, git_acts, read_git_call
from moot.flows.guard.shell.inner_scripts import all_commands
from moot.flows.guard.shell.listed_files import find_acts, xargs_command
from moot.flows.guard.shell.script import SimpleCommand, Surroundings
from moot.flows.guard.shell.words import Steps, TooComplex
from moot.flows.guard.shell.wrappers import program_name, unwrap

_MOST_NESTED: Final = 6
# Each may start git to learn what it reaches.
MOST_ACTS: Final = 200
# What is not known of a command beyond the bounds: it may reach whatever others hold.
UNREAD: Final = DestructiveAct(
    "a command too long or too deeply nested to be checked",
    Reach.WRITTEN,
    None,
    is_understood=False,
)


def destructive_acts(
    text: str, around: Surroundings, steps: Steps | None = None
) -> list[DestructiveAct]:
    """Everything in `text` that would write over, remove, put back or commit files.

    The last one is UNREAD if the text is beyond the bounds of what is read, or does too much.
    """
    acts: dict[DestructiveAct, None] = {}
    steps = steps or Steps()
    try:
        for act in _all_acts(all_commands(text, around, steps)):
            steps.take(1 + len(act.paths) + len(act.copied))
            if len(acts) >= MOST_ACTS:
                raise TooComplex
            acts[act] = None
    except TooComplex:
        acts[UNREAD] = None
    return list(acts)


def _all_acts(commands: Iterable[SimpleCommand]) -> Iterator[DestructiveAct]:
    added: dict[DestructiveAct, None] = {}
    for command in commands:
        yield from redirect_acts(command)
        for act in _acts_of(command):
            if act.reach.is_commit:
                yield from added
            yield from _after_adding(act, list(added)) if act.reach is Reach.STAGED else (act,)
        added.update(dict.fromkeys(_added(command)))


def _after_adding(act: DestructiveAct, added: list[DestructiveAct]) -> Iterator[DestructiveAct]:
    """What throws away staged files, also on those that the same command stages before. Where
    these are all files, or in another folder, nothing is said of what git would refuse."""
    is_plain = all(each.paths and each.folder == act.folder for each in added)
    informed = act._replace(
        is_all_or_nothing=act.is_all_or_nothing and is_plain,
        staged_before=tuple(word for each in added for word in each.paths),
    )
    for each in added:
        yield informed._replace(
            reach=Reach.CHANGED,
            folder=each.folder,
            paths=each.paths,
            also_untracked=each.also_untracked,
            git_options=each.git_options,
        )
    yield informed


def _acts_of(command: SimpleCommand, nested: int = 0) -> Iterator[DestructiveAct]:
    """What one simple command would do, without its redirects."""
    command = unwrap(command)
    if nested > _MOST_NESTED:
        raise TooComplex
    if not command.words:
        return
    name, words = program_name(command.words[0]), command.words[1:]
    if name == "git":
        yield from git_acts(words, command.folder)
    elif name == "xargs":
        inner, mark = xargs_command(command)
        if inner is not None:
            yield from (mark(act) for act in _acts_of(inner, nested + 1))
    elif name == "find":
        yield from find_acts(command, lambda inner: _acts_of(inner, nested + 1))
    else:
        yield from program_acts(name, words, command.folder)
        if is_interpreter(name):
            yield from code_acts(name, command)


def _added(command: SimpleCommand) -> list[DestructiveAct]:
    if not command.words or program_name(command.words[0]) != "git":
        return []
    call = read_git_call(command.words[1:], command.folder)
    act = added_before_commit(call) if call is not None else None
    return [] if act is None else [act]
