"""The answer of a command, and how it is printed: one envelope, or lines for a person."""

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
# Up to MOST_ALIKE findings of one code are shown in full; of more, SHOWN_ALIKE are named in a line.
MOST_ALIKE, SHOWN_ALIKE = 2, 4
# Scores and shares of a page are numbers in JSON, with all their digits.
_ENCODER = msgspec.json.Encoder(decimal_format="number")


class Sentence(str):
    """A line of an answer that may be wrapped at the terminal's width.

    Plain `str` lines are not wrapped: a user copies them, or someone else wrote them.
    """

    __slots__ = ()


class Answer(msgspec.Struct, frozen=True):
    """What a command returns. `data` is for programs, `lines` says the same to a person.

    `says_if_old`: both already tell whether the keeper of the ledger answered.
    """

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
    """What `--json` prints for every command; OPR-025 demands these fields."""

    ok: bool
    command: str
    data: Any
    error: Problem | None


class OutputFailed(MootError):
    """Standard output cannot be written. (A reader that has closed it is a BrokenPipeError.)"""

    exit_code = CANNOT_RUN

    def __init__(self, why: OSError, *, done: bool) -> None:
        hint = "the command has done its work; look before you repeat it" if done else ""
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
        parts = _wrapped(line, sys.stdout) if isinstance(line, Sentence) else (in_local_time(line),)
        for part in parts:
            print_line(part)
    with _output_errors(done=True):
        sys.stdout.flush()  # notice a closed pipe here, not when Python ends


def _wrapped(line: str, stream: TextIO, indent: str = "  ") -> Iterable[str]:
    """Wrap a line if the stream is a terminal; `indent` begins all lines but the first."""
    if not stream.isatty():
        return (line,)
    from moot.surfaces.terminal.listing import wrapped

    return wrapped(in_local_time(line), stream, indent)


def print_line(line: str, *, at_once: bool = False) -> None:
    """Print a line of an answer."""
    with _output_errors(done=True):
        print(line, flush=at_once)  # noqa: T201 - this is the one place that prints


@contextmanager
def _output_errors(*, done: bool) -> Iterator[None]:
    """Raise OutputFailed for a full disk or a closed descriptor, with whether the work is done."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputFailed(error, done=done) from None


def silence(stream: TextIO) -> None:
    """Send a closed stream to the null device, so that Python does not complain at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except OSError:  # it has no descriptor, or the process has none left
        return


def say_aside(line: str) -> None:
    """Print a line on standard error; if that is closed, the work continues all the same.

    The descriptor stays as it is: a program that `moot run` started may still write to it.
    """
    try:
        for part in _wrapped(line, sys.stderr):
            print(part, file=sys.stderr, flush=True)  # noqa: T201
    except OSError:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - kept open


def print_error(command: str, error: MootError, as_json: bool) -> None:
    """Print an error: an envelope on standard output, or lines on standard error."""
    if as_json:
        problem = Problem(error.code, str(error), error.hint, error.findings)
        _print_json(Envelope(False, command, None, problem), done=False)
        return
    try:
        for line in _error_lines(error):
            for part in _wrapped(line, sys.stderr):
                print(part, file=sys.stderr)  # noqa: T201
    except OSError:  # the exit code still tells
        silence(sys.stderr)


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
    """Name further findings of the same code in one line, so that a refusal stays readable."""
    named = [visible(each.message.partition(": ")[0]) for each in alike[:SHOWN_ALIKE]]
    more = f"; and {len(alike) - SHOWN_ALIKE} more" if len(alike) > SHOWN_ALIKE else ""
    return f"also: {'; '.join(named)}{more} (`--json` has all)"


def finding_line(finding: Finding, stream: TextIO | None = None) -> Sentence:
    colour = {"error": "red", "warning": "yellow", "info": "dim"}[finding.severity]
    place = f" line {finding.line}" if finding.line else ""
    place += f" {finding.where}" if finding.where else ""
    hint = f" ({finding.hint})" if finding.hint else ""
    text = visible(f"{finding.rule}{place}: {finding.message}{hint}")
    return Sentence(f"{paint(finding.severity, colour, stream)} {text}")


def remarks(findings: Iterable[Finding]) -> list[str]:
    """Return a line for each finding that is more than a note."""
    return [finding_line(f) for f in findings if f.severity is not Severity.INFO]


# JSON leaves these raw inside of strings, and some readers treat them as line breaks.
_LINE_BREAKS = tuple(
    (mark.encode(), escape_character(mark).encode()) for mark in "\x85\u2028\u2029"
)


def encode_json(value: Any) -> bytes:
    """Encode an envelope, or a part of one, as JSON in one line."""
    try:
        raw = _ENCODER.encode(value)
    except UnicodeEncodeError:  # a local path that is not UTF-8
        import json

        plain = msgspec.to_builtins(value, builtin_types=(Decimal,))
        return json.dumps(plain, default=float).encode()
    for mark, escaped in _LINE_BREAKS:
        raw = raw.replace(mark, escaped)
    return raw


def _print_json(envelope: Envelope, *, done: bool) -> None:
    raw = encode_json(envelope)
    with _output_errors(done=done):
        sys.stdout.buffer.write(raw + b"\n")
        sys.stdout.buffer.flush()


_COLOURS = {"red": "31", "green": "32", "yellow": "33", "bold": "1", "dim": "2"}


def paint(text: str, colour: str, stream: TextIO | None = None) -> str:
    """Colour the text if `stream` (default: standard output) is a terminal and colour is wanted."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    if plain or not (stream or sys.stdout).isatty():
        return text
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def table(rows: Iterable[Sequence[str]]) -> Iterable[str]:
    """Lay out facts about one subject in columns; for lists see `listing.py`."""
    body = [list(map(visible, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*body, strict=True)]
    for row in body:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        line = "  ".join(cells).rstrip()
        last_column = sum(widths[:-1]) + 2 * len(widths[:-1])
        yield from _wrapped(line, sys.stdout, " " * last_column)
