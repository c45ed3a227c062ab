"""The program behind one that starts another: `env`, `sudo`, `timeout`, `uv run` and the like."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from moot.flows.guard.shell.options import read_arguments
from moot.flows.guard.shell.script import SimpleCommand
from moot.flows.guard.shell.values import Word

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_MOST_NESTED: Final = 8


class _Wrapper(NamedTuple):
    """Its options with a value, how many operands of its own it takes, and its word for "run"."""

    with_value: str = ""
    operands: int = 0
    verb: str = ""


_WRAPPERS: Final[Mapping[str, _Wrapper]] = {
    "env": _Wrapper("u C S --unset --chdir"),
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
    "uv": _Wrapper("p --python --with", verb="run"),
    "poetry": _Wrapper(verb="run"),
    "rtk": _Wrapper(),
}


def unwrap(command: SimpleCommand) -> SimpleCommand:
    """The command that really runs, without what starts it; its program without its folder."""
    for _ in range(_MOST_NESTED):
        if not command.words:
            return command
        name = program_name(command.words[0])
        wrapper = _WRAPPERS.get(name)
        inner = None if wrapper is None else _inner(command, wrapper)
        if inner is None:
            return command
        command = inner
    return command


def program_name(word: Word) -> str:
    return os.path.basename(word.text).removesuffix(".exe")


def _inner(command: SimpleCommand, wrapper: _Wrapper) -> SimpleCommand | None:
    arguments = read_arguments(command.words[1:], wrapper.with_value, stops_at_operand=True)
    words = list(arguments.all_operands)
    if wrapper.verb:
        if not words or words.pop(0).text != wrapper.verb:
            return None
        rest = read_arguments(words, wrapper.with_value, stops_at_operand=True)
        words = list(rest.all_operands)
    words = words[wrapper.operands :]
    while words and _ASSIGNMENT.match(words[0].text):
        words.pop(0)
    folder = command.folder
    chosen = next(
        (arguments.values[name] for name in ("C", "--chdir", "D") if name in arguments.values), None
    )
    if chosen is not None and program_name(command.words[0]) in ("env", "sudo"):
        folder = (
            os.path.normpath(os.path.join(folder or "/", chosen.text)) if chosen.is_known else None
        )
    return command._replace(words=tuple(words), folder=folder) if words else None
