"""What a command gives back, and how it is printed: one envelope, or lines for a person."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, TextIO

import msgspec

from moot.core.errors import MootError
from moot.core.findings import Finding, Severity
from moot.core.text import escape_character
from moot.core.text import visible as visible
from moot.surfaces.terminal.local_time import in_local_time

DONE, REFUSED, USAGE, UNPROVEN, CANNOT_RUN = 0, 1, 2, 3, 4
# So many findings of one kind are shown each, of more only a few and how many there are.
MOST_ALIKE, SHOWN_ALIKE = 2, 4
# Scores and shares of a page are numbers in JSON, with all their digits.
_ENCODER = msgspec.json.Encoder(decimal_format="number")


class Sentence(str):
    """A line of an answer that may be broken between its words where the terminal ends. Others stay
    as they are: what one copies, and what others wrote."""

    __slots__ = ()


class Answer(msgspec.Struct, frozen=True):
    """`data` is the contract; `lines` says the same to a person; `exit_code` as in the contract.
    `says_if_old`: both tell whether the keeper of the ledger could be asked."""

    data: msgspec.Struct | dict[str, Any]
    lines: Callable[[], Iterable[str]]
    exit_code: int = DONE
    says_if_old: bool = False


class Problem(msgspec.Struct, frozen=True):
    """The `error` of an envelope."""

    code: str
    message: str
    hint: str
    findings: tuple[Finding, ...]


class Envelope(msgspec.Struct, frozen=True):
    """What `--json` prints, of every command; OPR-025 asks for these fields."""

    ok: bool
    command: str
    data: Any
    error: Problem | None


class Unheard(MootError):
    """Standard output takes no more. (A reader that has gone is a BrokenPipeError as ever.)"""

    exit_code = CANNOT_RUN

    def __init__(self, why: OSError, *, done: bool) -> None:
        hint = "what the command did is done; look before you do it again" if done else ""
        super().__init__(
            "answer_not_written",
            f"the answer could not be written: {why.strerror or why}",
            hint=hint or "check where standard output goes",
        )


def print_answer(command: str, answer: Answer, as_json: bool) -> None:
    if as_json:
        _print_json(Envelope(True, command, answer.data, None), done=True)
        return
    for line in answer.lines():
        for part in _broken(line) if isinstance(line, Sentence) else (in_local_time(line),):
            print_line(part)
    with _heard(done=True):
        sys.stdout.flush()  # a reader that has gone is noticed here, not when Python ends


def _broken(line: str) -> Iterable[str]:
    if not sys.stdout.isatty():
        return (line,)
    from moot.surfaces.terminal.listing import wrapped

    return wrapped(in_local_time(line), sys.stdout)


def print_line(line: str, *, at_once: bool = False) -> None:
    """A line of an answer."""
    with _heard(done=True):
        print(line, flush=at_once)  # noqa: T201 - this is the one place that prints


@contextmanager
def _heard(*, done: bool) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Unheard(error, done=done) from None


def silence(stream: TextIO) -> None:
    """Nobody hears it any more; keep the interpreter from complaining about it at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except OSError:  # it has no descriptor, or the machine has none left
        return


def say_aside(line: str) -> None:
    """On standard error while work goes on, which does not end because nobody hears it.

    The descriptor stays as it is: a program that was started may have more to say there.
    """
    try:
        for part in _fitting(line):
            print(part, file=sys.stderr, flush=True)  # noqa: T201
    except OSError:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - kept open


def print_error(command: str, error: MootError, as_json: bool) -> None:
    """As an envelope on standard output, which may raise Unheard; else on standard error."""
    if as_json:
        problem = Problem(error.code, str(error), error.hint, error.findings)
        _print_json(Envelope(False, command, None, problem), done=False)
        return
    try:
        for line in _error_lines(error):
            for part in _fitting(line):
                print(part, file=sys.stderr)  # noqa: T201
    except OSError:  # nobody is left to tell: the exit code says it
        silence(sys.stderr)


def _fitting(line: str) -> Iterable[str]:
    """A line for standard error, broken where its terminal ends."""
    if not sys.stderr.isatty():
        return (line,)
    from moot.surfaces.terminal.listing import wrapped

    return wrapped(in_local_time(line), sys.stderr)


def _error_lines(error: MootError) -> Iterable[str]:
    yield f"{paint('error', 'red', sys.stderr)} [{error.code}] {visible(str(error))}"
    others = [each for each in error.findings if each.message != str(error) or each.line]
    alike = [each for each in others if each.code == error.code and not each.line]
    if len(alike) > MOST_ALIKE:
        yield f"  {_also_line(alike)}"
        others = [each for each in others if each not in alike]
    for finding in others:
        yield f"  {finding_line(finding, sys.stderr)}"
    if error.hint:
        yield f"  {paint('try:', 'bold', sys.stderr)} {visible(error.hint)}"


def _also_line(alike: Sequence[Finding]) -> str:
    """One refusal is one refusal, however many are in the way: the same once more is only named."""
    named = [visible(each.message.partition(": ")[0]) for each in alike[:SHOWN_ALIKE]]
    more = f"; and {len(alike) - SHOWN_ALIKE} more" if len(alike) > SHOWN_ALIKE else ""
    return f"also: {'; '.join(named)}{more} (`--json` has all)"


def finding_line(finding: Finding, stream: TextIO | None = None) -> Sentence:
    colour = {"error": "red", "warning": "yellow", "info": "dim"}[finding.severity]
    place = f" line {finding.line}" if finding.line else ""
    place += f" {finding.where}" if finding.where else ""
    hint = f" ({finding.hint})" if finding.hint else ""
    said = visible(f"{finding.rule}{place}: {finding.message}{hint}")
    return Sentence(f"{paint(finding.severity, colour, stream)} {said}")


def remarks(findings: Iterable[Finding]) -> list[str]:
    return [finding_line(f) for f in findings if f.severity is not Severity.INFO]


# JSON leaves these raw inside of strings, and some readers take them for the end of a line.
_LINE_BREAKS = tuple(
    (mark.encode(), escape_character(mark).encode()) for mark in "\x85\u2028\u2029"
)


def encode_json(value: Any) -> bytes:
    """An envelope, or what stands in it, as JSON in one line."""
    try:
        raw = _ENCODER.encode(value)
    except UnicodeEncodeError:  # a path of this machine that is not UTF-8
        import json

        plain = msgspec.to_builtins(value, builtin_types=(Decimal,))
        return json.dumps(plain, default=float).encode()
    for mark, escaped in _LINE_BREAKS:
        raw = raw.replace(mark, escaped)
    return raw


def _print_json(envelope: Envelope, *, done: bool) -> None:
    raw = encode_json(envelope)
    with _heard(done=done):
        sys.stdout.buffer.write(raw + b"\n")
        sys.stdout.buffer.flush()


_COLOURS = {"red": "31", "green": "32", "yellow": "33", "bold": "1", "dim": "2"}


def paint(text: str, colour: str, stream: TextIO | None = None) -> str:
    """Colour only for a person at a terminal who has not asked for none.

    `stream` is where the text goes, if not to standard output.
    """
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    if plain or not (stream or sys.stdout).isatty():
        return text
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def table(rows: Iterable[Sequence[str]]) -> Iterable[str]:
    """The facts about one thing, in columns as narrow as they are; for many see `listing.py`."""
    body = [list(map(visible, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*body, strict=True)]
    for row in body:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        line = "  ".join(cells).rstrip()
        yield from _below_last(line, sum(widths[:-1]) + 2 * len(widths[:-1]))


def _below_last(line: str, column: int) -> Iterable[str]:
    """A line of a table, whose last cell goes on below itself where the terminal ends."""
    if not sys.stdout.isatty():
        return (line,)
    from moot.surfaces.terminal.listing import wrapped

    return wrapped(line, sys.stdout, " " * column)
