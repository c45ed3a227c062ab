"""Unwrap programs that start another one, and find texts for inner shells (`-c`, heredoc,
`eval`)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from moot.api.guard.shell.act import read_arguments
from moot.api.guard.shell.script import SimpleCommand, Surroundings, read_script
from moot.api.guard.shell.values import UNKNOWN, Word
from moot.core.shell_words import Steps, TooComplex

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_MOST_NESTED: Final = 8


class _Wrapper(NamedTuple):
    """Options with a value, the number of its own operands, and its verbs for "run".

    `own`: any first word that is not one of these is the program itself.
    """

    with_value: str = ""
    operands: int = 0
    verbs: tuple[str, ...] = ()
    own: frozenset[str] | None = None


_PACKAGE_VERBS: Final = (
    "add install i ci remove rm uninstall un up update upgrade link unlink init create test t start"
    " build run publish pack audit outdated why list ls root config set get cache store import"
    " rebuild prune dedupe version login logout whoami info view search help"
)
_OF_PACKAGES: Final = frozenset(_PACKAGE_VERBS.split())
_WRAPPERS: Final[Mapping[str, _Wrapper]] = {
    "env": _Wrapper("u C S --unset --chdir --split-string"),
    "sudo": _Wrapper("u g h p C D R T --user --group --chdir"),
    "doas": _Wrapper("u C"),
    "timeout": _Wrapper("k s --kill-after --signal", operands=1),
    "nice": _Wrapper("n --adjustment"),
    "ionice": _Wrapper("c n p"),
    "nohup": _Wrapper(),
    "time": _Wrapper("f o --format --output"),
    "stdbuf": _Wrapper("i o e --input --output --error"),
    "setsid": _Wrapper(),
    "command": _Wrapper(),
    "builtin": _Wrapper(),
    "exec": _Wrapper("a"),
    "busybox": _Wrapper(),
    "chronic": _Wrapper(),
    "flock": _Wrapper("w E --wait --timeout", operands=1),
    "strace": _Wrapper("o e p s u E a b I O P S X"),
    "rtk": _Wrapper(),
    "corepack": _Wrapper(),
    "npx": _Wrapper("p c --package --call --registry"),
    "npm": _Wrapper("p c --package --call --prefix", verbs=("exec", "x")),
    "bunx": _Wrapper("p --package"),
    "bun": _Wrapper("p --package --cwd", verbs=("x",)),
    "pnpm": _Wrapper("C F --dir --filter --package", verbs=("dlx", "exec"), own=_OF_PACKAGES),
    "yarn": _Wrapper("p --package --cwd", verbs=("dlx", "exec", "run"), own=_OF_PACKAGES),
    "uvx": _Wrapper("p --from --python --with"),
    "uv": _Wrapper("p --python --with --from --directory --project", verbs=("run", "tool run")),
    "pipx": _Wrapper("--spec --python --pip-args", verbs=("run",)),
    "poetry": _Wrapper("C P --directory --project", verbs=("run",)),
    "hatch": _Wrapper("e p --env --project", verbs=("run",)),
    "pdm": _Wrapper("p --project", verbs=("run",)),
    "rye": _Wrapper(verbs=("run",)),
    "pipenv": _Wrapper(verbs=("run",)),
    "conda": _Wrapper("n p --name --prefix", verbs=("run",)),
    "bundle": _Wrapper(verbs=("exec",)),
    "mise": _Wrapper("C", verbs=("exec", "x")),
}
# `prettier@3`, `ruff==0.5`
_VERSION: Final = re.compile(r"(?<=.)@[\w.^~<>=*-]*$|(?<=\w)==[\w.]+$")
_PYTHON: Final = re.compile(r"(?:python|pypy)[\d.]*")


def unwrap(command: SimpleCommand) -> SimpleCommand:
    """Return the command that really runs, without its wrappers."""
    for _ in range(_MOST_NESTED):
        if not command.words:
            return command
        name = program_name(command.words[0])
        wrapper = _WRAPPERS.get(name)
        if _PYTHON.fullmatch(name):
            inner = _module(command)
        else:
            inner = None if wrapper is None else _inner(name, command, wrapper)
        if inner is None:
            return command
        command = inner
    return command


def program_name(word: Word) -> str:
    return _VERSION.sub("", os.path.basename(word.text)).removesuffix(".exe")


def _module(command: SimpleCommand) -> SimpleCommand | None:
    """Return `black` for `python -m black`."""
    for place, word in enumerate(command.words[1:], 1):
        if word.text == "-m" and place + 1 < len(command.words):
            return command._replace(words=command.words[place + 1 :])
        if not word.text.startswith("-"):
            break
    return None


def _inner(name: str, command: SimpleCommand, wrapper: _Wrapper) -> SimpleCommand | None:
    arguments = read_arguments(command.words[1:], wrapper.with_value, stops_at_operand=True)
    words = list(arguments.all_operands)
    if wrapper.verbs:
        words = _behind_verb(words, wrapper)
    words = words[wrapper.operands :]
    split = arguments.values.get("S") or arguments.values.get("--split-string")
    if split is not None and name == "env":
        words = [*(Word(text) for text in _split(split.text)), *words]
    while words and _ASSIGNMENT.match(words[0].text):
        words.pop(0)
    if words and name == "hatch":
        words[0] = Word(words[0].text.rpartition(":")[2])  # `hatch run ENV:PROGRAM`
    folder = command.folder
    chosen = next(
        (arguments.values[name] for name in ("C", "--chdir", "D") if name in arguments.values), None
    )
    if chosen is not None and name in ("env", "sudo"):
        folder = (
            os.path.normpath(os.path.join(folder or "/", chosen.text)) if chosen.is_known else None
        )
    return command._replace(words=tuple(words), folder=folder) if words else None


def _behind_verb(words: list[Word], wrapper: _Wrapper) -> list[Word]:
    """Return the program with its arguments; nothing if the wrapper does something else."""
    for verb in wrapper.verbs:
        parts = verb.split()
        if [word.text for word in words[: len(parts)]] == parts:
            rest = words[len(parts) :]
            return list(
                read_arguments(rest, wrapper.with_value, stops_at_operand=True).all_operands
            )
    if wrapper.own is None or not words or words[0].text in wrapper.own:
        return []
    return words


def _split(text: str) -> list[str]:
    import shlex

    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash"})
_PRINTING: Final = frozenset({"echo", "printf"})
_MOST_INNER_SCRIPTS: Final = 6


def all_commands(
    text: str, around: Surroundings, steps: Steps | None = None, nested: int = 0
) -> Iterator[SimpleCommand]:
    """Yield every simple command of a text, unwrapped, and of the texts it hands to other shells.

    Raises TooComplex at a limit.
    """
    if nested > _MOST_INNER_SCRIPTS:
        raise TooComplex
    steps = steps or Steps()
    for command in read_script(text, around, steps):
        inner = unwrap(command)
        yield inner
        folder = UNKNOWN if inner.folder is None else inner.folder
        for script in inner_scripts(inner):
            yield from all_commands(script, around._replace(folder=folder), steps, nested + 1)


def inner_scripts(command: SimpleCommand) -> Iterator[str]:
    """Yield the texts that this command, if it is a shell, runs as commands."""
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
