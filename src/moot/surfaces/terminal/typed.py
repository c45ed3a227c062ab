"""A hint speaks of what was typed: `moot trace status TRACE` names the trace that was meant.

A word in capitals means what the command's own usage means by it, if it stands for something that
is there. NAME or TEXT often stand for what is yet to be chosen.
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


# Commands of a hint that somebody must be named for: they fail without.
_ACTING: Final = re.compile(r"`moot (?=(?:blocked|handoff|inbox|reserve|send)\b)")


@contextmanager
def hints_naming(
    parameters: Iterable[click.Parameter], values: Mapping[str, Any], actor: str = ""
) -> Iterator[None]:
    """Whatever is refused inside, its hints speak of what was typed. `actor` is who acts if only
    --as says so: a command that is typed next needs that as well."""
    try:
        yield
    except MootError as error:
        known = typed(parameters, values)
        error.hint = fill_hint(error.hint, known)
        if actor:
            error.hint = _ACTING.sub(f"`moot --as {quote(actor)} ", error.hint)
        error.findings = fill_hints(error.findings, known)
        raise


# What Operative's own programs call a command of `moot`.
_OPERATIVE_NAMES: Final = (
    (re.compile(r"\bmoot --as (\S+) join\b"), r"bb-init --adopt \1"),
    (re.compile(r"\bmoot (?:join|init)\b"), "bb-init"),
    (re.compile(r"\bleave --as away\b"), "leave --agent or --from away"),
    (re.compile(r"\bmoot agent (?=(?:list|heartbeat)\b)"), "bb agent "),
    (re.compile(r"\bmoot agent show (?=[^`\s-])"), "bb agent show --agent "),
    (re.compile(r"\bmoot agent register (?=[^`\s-])"), "bb agent register --name "),
)


def name_as_operative(text: str) -> str:
    """A hint with the commands of `bb` and `bb-init` instead of those of `moot`."""
    for pattern, name in _OPERATIVE_NAMES:
        text = pattern.sub(name, text)
    return text


def typed(parameters: Iterable[click.Parameter], values: Mapping[str, Any]) -> HintWords:
    """What the arguments of a command were given as, by the words of its usage."""
    asked = [one for one in parameters if isinstance(one, click.Argument) and one.nargs == 1]
    given = {one: values.get(one.name or "") for one in asked}
    known = {_word(one, str(value)): str(value) for one, value in given.items() if value}
    return {word: value for word, value in known.items() if word in _THINGS}


def _word(parameter: click.Argument, value: str) -> str:
    """Of `FILE|SESSION` the first if there is such a file, else the other."""
    words = (parameter.metavar or (parameter.name or "").upper()).strip("[]").split("|")
    files = [word for word in words if word in ("FILE", "DIR")]
    others = [word for word in words if word not in files]
    if not files or not others:
        return words[0]
    return files[0] if _is_there(value) else others[0]


def _is_there(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # nothing can be called so
        return False
