"""The texts that a command hands to another shell: by `-c`, as a heredoc, by a pipe, to `eval`,
`trap`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moot.flows.guard.shell.script import SimpleCommand, Surroundings, read_script
from moot.flows.guard.shell.values import UNKNOWN
from moot.flows.guard.shell.words import Steps, TooComplex
from moot.flows.guard.shell.wrappers import program_name, unwrap

SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash"})
_PRINTING: Final = frozenset({"echo", "printf"})
_MOST_NESTED: Final = 6


def all_commands(
    text: str, around: Surroundings, steps: Steps | None = None, nested: int = 0
) -> Iterator[SimpleCommand]:
    """Every simple command of a text, and of the texts it hands to other shells.

    A command that starts another program is given back as that program's. TooComplex beyond the
    bounds of what is read.
    """
    if nested > _MOST_NESTED:
        raise TooComplex
    steps = steps or Steps()
    for command in read_script(text, around, steps):
        inner = unwrap(command)
        yield inner
        folder = UNKNOWN if inner.folder is None else inner.folder
        for script in inner_scripts(inner):
            yield from all_commands(script, around._replace(folder=folder), steps, nested + 1)


def inner_scripts(command: SimpleCommand) -> Iterator[str]:
    """The texts that this command, if it is a shell, reads as commands."""
    name = program_name(command.words[0]) if command.words else ""
    words = command.words[1:]
    if name == "eval":
        yield " ".join(word.text for word in words)
    if name == "trap":
        yield from (word.text for word in words[:1] if not word.text.startswith("-"))
    if name not in SHELLS:
        return
    for place, word in enumerate(words[:-1]):
        if word.text.startswith("-") and not word.text.startswith("--") and "c" in word.text:
            is_marked = words[place + 1].text == "--" and place + 2 < len(words)
            yield words[place + 2 if is_marked else place + 1].text
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
