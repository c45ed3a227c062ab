"""Put the typed arguments into hints: `moot trace status TRACE` becomes `moot trace status t1`.

A word in capitals is replaced if the command's own usage has it and it names something that exists
(_THINGS). NAME and TEXT are not replaced: they are often still to be chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Any, Final

import click

from moot.core.errors import MootError
from moot.core.findings import HintWords, fill_hint, fill_hints

_THINGS: Final = frozenset(
    {"AMENDMENT", "CLAIM", "DIR", "FILE", "ID", "INTENT", "MESSAGE", "PROPOSAL", "ROLE"}
    | {"THREAD", "TRACE"}
)


# Commands in hints that fail without an acting agent.
_ACTING: Final = re.compile(r"`moot (?=(?:blocked|handoff|inbox|reserve|send)\b)")


@contextmanager
def hints_naming(
    parameters: Iterable[click.Parameter], values: Mapping[str, Any], actor: str = ""
) -> Iterator[None]:
    """Put the typed arguments into the hints of an error raised inside.

    `actor` is who acts if only --as says so: the next command needs --as as well.
    """
    try:
        yield
    except MootError as error:
        known = typed(parameters, values)
        error.hint = fill_hint(error.hint, known)
        if actor:
            error.hint = _ACTING.sub(f"`moot --as {quote(actor)} ", error.hint)
        error.findings = fill_hints(error.findings, known)
        raise


# Commands of `moot`, and their names in Operative's own programs.
_OPERATIVE_NAMES: Final = (
    (re.compile(r"\bmoot --as (\S+) join\b"), r"bb-init --adopt \1"),
    (re.compile(r"\bmoot (?:join|init)\b"), "bb-init"),
    (re.compile(r"\bomit --as\b"), "omit --agent or --from"),
    (re.compile(r"\bmoot agent (?=(?:list|heartbeat)\b)"), "bb agent "),
    (re.compile(r"\bmoot agent show (?=[^`\s-])"), "bb agent show --agent "),
    (re.compile(r"\bmoot agent register (?=[^`\s-])"), "bb agent register --name "),
)


def name_as_operative(text: str) -> str:
    """Replace commands of `moot` in a hint by those of `bb` and `bb-init`."""
    for pattern, name in _OPERATIVE_NAMES:
        text = pattern.sub(name, text)
    return text


def typed(parameters: Iterable[click.Parameter], values: Mapping[str, Any]) -> HintWords:
    """Return the typed arguments of a command, by their words in its usage."""
    arguments = [
        parameter
        for parameter in parameters
        if isinstance(parameter, click.Argument) and parameter.nargs == 1
    ]
    given = {argument: values.get(argument.name or "") for argument in arguments}
    known = {_word(argument, str(value)): str(value) for argument, value in given.items() if value}
    return {word: value for word, value in known.items() if word in _THINGS}


def _word(parameter: click.Argument, value: str) -> str:
    """Return the argument's word: for `FILE|SESSION` FILE if that file exists, else SESSION."""
    words = (parameter.metavar or (parameter.name or "").upper()).strip("[]").split("|")
    files = [word for word in words if word in ("FILE", "DIR")]
    others = [word for word in words if word not in files]
    if not files or not others:
        return words[0]
    return files[0] if _file_exists(value) else others[0]


def _file_exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # not a valid file name
        return False
