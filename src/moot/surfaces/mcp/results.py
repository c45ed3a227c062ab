"""Replies: one envelope, with text of others marked, cut to a length that a model can read.

`quoted` lists the places of text that neither the caller nor Moot wrote, and of Moot's sentences
that may repeat such text: `due[].subject` is the subject of everything due. It is read from the
types (`Quoted`), never guessed from a value. A reply that is too long is cut, and `more` is the id
with which `record more` reads the rest.
"""

from __future__ import annotations

import inspect
import re
from collections import OrderedDict
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any, Final

import msgspec

from moot.core.errors import Malformed, MootError, NotFound
from moot.core.findings import Finding
from moot.core.text import Quoted
from moot.surfaces.terminal.answer import Problem, encode_json

MOST_CHARACTERS: Final = 20_000
PIECE: Final = 15_000  # characters of a long reply that one `record more` returns
_KEPT_ANSWERS: Final = 8
_KEPT_CHARACTERS: Final = 4_000_000
# How many rows of a list and characters of a text are shown, from generous to terse.
_CUTS: Final = ((100, 4_000), (40, 1_500), (15, 600), (5, 300), (2, 120), (1, 40))
_MARKED: Final = re.compile(r"\b(Quoted|Any)\b")
# Fields with Moot's sentences that may repeat names or texts of others.
_SENTENCES: Final = {Finding: ("message", "where", "hint"), Problem: ("message", "hint")}
# Types of protocol states and of the independent verifier, whose texts have the type `str`.
_OTHERS_WORDS: Final = {
    "VerdictFinding": ("message", "where", "hint"),
    "BundlePlace": ("stream",),
    "VerdictCheck": ("detail",),
    "FirstAnswer": ("answer", "why", "motives"),
    "DecisionMotion": ("text",),
    "ChamberVerdict": ("summary",),
}


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply of a tool. `ok`, `command`, `data` and `error` are those of the command line."""

    ok: bool
    command: str
    quoted: tuple[str, ...] = ()
    data: Any = None
    error: Problem | None = None
    more: str = ""


class Piece(msgspec.Struct, frozen=True):
    """A piece of a reply that was cut: JSON text, from character `start` of `characters`."""

    text: Quoted
    start: int
    characters: int
    more: str


def describe_error(error: MootError) -> Problem:
    return Problem(error.code, str(error), error.hint, error.findings)


def quoted_places(value: Any) -> tuple[str, ...]:
    """Return the places of others' text in a value, each once, in order."""
    return tuple(dict.fromkeys(_places(value, "")))


def _places(value: Any, place: str) -> Iterator[str]:
    if isinstance(value, msgspec.Struct):
        for name, shown, marked in _fields(type(value)):
            inner, here = getattr(value, name), f"{place}.{shown}" if place else shown
            if marked and inner is not None and inner is not msgspec.UNSET and inner != ():
                yield here
            elif not marked:
                yield from _places(inner, here)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _places(inner, f"{place}[]")
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _places(inner, f"{place}.*")


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, str, bool], ...]:
    """Return the fields of a Struct: name, name in JSON, and whether others wrote its text.

    Annotations are read as source text, so that nothing has to be imported for them.
    """
    written: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        written.update(inspect.get_annotations(base))
    sentences = _SENTENCES.get(kind, ()) or _OTHERS_WORDS.get(kind.__name__, ())
    return tuple(
        (
            field.name,
            field.encode_name,
            field.name in sentences or bool(_MARKED.search(str(written.get(field.name, "")))),
        )
        for field in msgspec.structs.fields(kind)
    )


def encode_reply(reply: Reply) -> str:
    """Encode the reply as JSON; lone surrogates, as in file names, are replaced."""
    text = encode_json(reply).decode()
    if "\\ud" not in text:
        return text
    import json

    whole = json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
    return whole.encode("utf-8", "replace").decode()


class Answers:
    """Makes replies, and keeps the newest long ones for `record more`."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, str] = OrderedDict()
        self._number = 0

    def done(self, command: str, data: Any) -> Reply:
        return self._bounded(Reply(True, command, quoted_places(data), data))

    def failed(self, command: str, error: MootError) -> Reply:
        problem = describe_error(error)
        places = tuple(f"error.{place}" for place in quoted_places(problem))
        return self._bounded(Reply(False, command, places, error=problem))

    def read_on(self, named: str) -> Piece:
        """Return the next piece of a long reply; `r-3:15000` begins at that character."""
        name, _, digits = named.partition(":")
        text = self._kept.get(name)
        if text is None:
            raise NotFound(
                "answer_gone",
                f"the long reply {name[:20]!r} is no longer kept",
                hint="make the call again",
            )
        if digits and not (digits.isascii() and digits.isdigit() and len(digits) < 10):
            raise Malformed(f"{named[:40]!r} is not a value of `more`", code="bad_arguments")
        start = int(digits or 0)
        end = start + PIECE
        more = f"{name}:{end}" if end < len(text) else ""
        return Piece(Quoted(text[start:end]), start, len(text), more)

    def _bounded(self, reply: Reply) -> Reply:
        whole = encode_json(reply).decode()
        if len(whole) <= MOST_CHARACTERS:
            return reply
        name = self._keep(whole)
        shown = msgspec.json.decode(whole)
        for rows, characters in _CUTS:
            cut = Reply(
                reply.ok,
                reply.command,
                reply.quoted,
                _cut(shown.get("data"), rows, characters),
                reply.error and _cut_problem(reply.error, rows, characters),
                name,
            )
            if len(encode_json(cut)) <= MOST_CHARACTERS:
                break
        else:
            cut = Reply(reply.ok, reply.command, reply.quoted, None, None, name)
        return cut

    def _keep(self, text: str) -> str:
        self._number += 1
        name = f"r-{self._number}"
        self._kept[name] = text[:_KEPT_CHARACTERS]
        while len(self._kept) > _KEPT_ANSWERS:
            self._kept.popitem(last=False)
        return name


def _cut(value: Any, rows: int, characters: int) -> Any:
    """Cut long lists and texts in a value; a mark with the full length shows where."""
    if isinstance(value, str) and len(value) > characters:
        return f"{value[:characters]}… ({len(value)} characters)"
    if isinstance(value, list):
        shown = [_cut(item, rows, characters) for item in value[:rows]]
        return [*shown, f"… ({len(value)} in all)"] if len(value) > rows else shown
    if isinstance(value, dict):
        named = {
            name: _cut(item, rows, characters)
            for name, item in islice(value.items(), max(24, rows))
        }
        if len(value) > len(named):
            named["…"] = f"{len(value)} in all"
        return named
    return value


def _cut_problem(problem: Problem, rows: int, characters: int) -> Problem:
    return Problem(
        problem.code,
        str(_cut(problem.message, rows, characters)),
        str(_cut(problem.hint, rows, characters)),
        tuple(_cut_finding(finding, characters) for finding in problem.findings[:rows]),
    )


def _cut_finding(finding: Finding, characters: int) -> Finding:
    return msgspec.structs.replace(
        finding,
        message=str(_cut(finding.message, 1, characters)),
        hint=str(_cut(finding.hint, 1, characters)),
    )
