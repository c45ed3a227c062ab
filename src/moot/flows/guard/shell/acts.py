"""The destructive acts of a shell command's text: all that it would do to files, as far as told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moot.flows.guard.shell.act import DestructiveAct
from moot.flows.guard.shell.code_acts import code_acts, is_interpreter
from moot.flows.guard.shell.file_acts import program_acts, redirect_acts
from moot.flows.guard.shell.git_acts import added_before_commit, git_acts, read_git_call
from moot.flows.guard.shell.listed_files import find_acts, xargs_command
from moot.flows.guard.shell.script import SimpleCommand, Surroundings, read_script
from moot.flows.guard.shell.values import UNKNOWN
from moot.flows.guard.shell.wrappers import program_name, unwrap

_SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash"})
_PRINTING: Final = frozenset({"echo", "printf"})
_MOST_NESTED: Final = 6


def destructive_acts(text: str, around: Surroundings, nested: int = 0) -> list[DestructiveAct]:
    """Everything in `text` that would write over, remove, put back or commit files."""
    acts: list[DestructiveAct] = []
    added: list[DestructiveAct] = []
    for command in read_script(text, around) if nested <= _MOST_NESTED else ():
        acts += redirect_acts(command)
        for act in acts_of(command, around, nested):
            if act.reach.is_commit:
                acts += added
            acts.append(act)
        added += _added(command)
    return acts


def acts_of(
    command: SimpleCommand, around: Surroundings, nested: int = 0
) -> Iterator[DestructiveAct]:
    """What one simple command would do, without its redirects."""
    command = unwrap(command)
    if not command.words:
        return
    name, words = program_name(command.words[0]), command.words[1:]
    if name == "git":
        yield from git_acts(words, command.folder)
    elif name in _SHELLS or name == "eval":
        folder = command.folder
        for text in _scripts(name, command):
            inner = around._replace(folder=folder if folder is not None else UNKNOWN)
            yield from destructive_acts(text, inner, nested + 1)
    elif name == "xargs":
        inner_command, mark = xargs_command(command)
        if inner_command is not None:
            yield from (mark(act) for act in acts_of(inner_command, around, nested + 1))
    elif name == "find":
        yield from find_acts(command, lambda inner: acts_of(inner, around, nested + 1))
    else:
        yield from program_acts(name, words, command.folder)
        if is_interpreter(name):
            yield from code_acts(name, command)


def _added(command: SimpleCommand) -> list[DestructiveAct]:
    inner = unwrap(command)
    if not inner.words or program_name(inner.words[0]) != "git":
        return []
    call = read_git_call(inner.words[1:], inner.folder)
    act = added_before_commit(call) if call is not None else None
    return [] if act is None else [act]


def _scripts(name: str, command: SimpleCommand) -> Iterator[str]:
    """The texts that a shell is given: behind `-c`, as a heredoc, through a pipe, to `eval`."""
    words = command.words[1:]
    if name == "eval":
        yield " ".join(word.text for word in words)
        return
    for place, word in enumerate(words[:-1]):
        if word.text.startswith("-") and not word.text.startswith("--") and "c" in word.text:
            yield words[place + 1].text
            return
    yield from (
        redirect.body or redirect.target.text
        for redirect in command.redirects
        if redirect.operator in ("<<", "<<-", "<<<")
    )
    for source in command.fed_by[:1]:
        if source.words and program_name(source.words[0]) in _PRINTING:
            yield " ".join(word.text for word in source.words[1:])
        yield from (redirect.body for redirect in source.redirects if redirect.body)
