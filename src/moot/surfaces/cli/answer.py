"""What a command gives back, and how it is printed: one envelope, or lines for a person."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from moot.core.errors import MootError
from moot.core.findings import Finding, Severity

DONE, REFUSED, USAGE, UNPROVEN, CANNOT_RUN = 0, 1, 2, 3, 4


class Answer(NamedTuple):
    """`data` is the contract; `lines` says the same to a person; `exit_code` as in the contract."""

    data: dict[str, Any]
    lines: Callable[[], Iterable[str]]
    exit_code: int = DONE


class Problem(msgspec.Struct, frozen=True):
    """The `error` of an envelope."""

    code: str
    message: str
    hint: str
    findings: tuple[Finding, ...]


class Envelope(msgspec.Struct, frozen=True):
    ok: bool
    command: str
    data: Any
    error: Problem | None


def print_answer(command: str, answer: Answer, as_json: bool) -> None:
    if as_json:
        _print_json(Envelope(True, command, answer.data, None))
    else:
        for line in answer.lines():
            print(line)  # noqa: T201 - this is the one place that prints
        sys.stdout.flush()  # a reader that has gone is noticed here, not when Python ends


def silence_stdout() -> None:
    """The reader has gone; keep the interpreter from complaining about it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_error(command: str, error: MootError, as_json: bool) -> None:
    if as_json:
        problem = Problem(error.code, str(error), error.hint, error.findings)
        _print_json(Envelope(False, command, None, problem))
        return
    for line in _error_lines(error):
        print(line, file=sys.stderr)  # noqa: T201


def _error_lines(error: MootError) -> Iterable[str]:
    yield f"{paint('error', 'red')} [{error.code}] {visible(str(error))}"
    for finding in error.findings:
        if finding.message != str(error) or finding.line:
            yield f"  {finding_line(finding)}"
    if error.hint:
        yield f"  {paint('try:', 'bold')} {visible(error.hint)}"


def finding_line(finding: Finding) -> str:
    colour = {"error": "red", "warning": "yellow", "info": "dim"}[finding.severity]
    place = f" line {finding.line}" if finding.line else ""
    place += f" {finding.where}" if finding.where else ""
    hint = f" ({finding.hint})" if finding.hint else ""
    said = visible(f"{finding.rule}{place}: {finding.message}{hint}")
    return f"{paint(finding.severity, colour)} {said}"


def remarks(findings: Iterable[Finding]) -> list[str]:
    return [finding_line(f) for f in findings if f.severity is not Severity.INFO]


def _print_json(envelope: Envelope) -> None:
    try:
        raw = msgspec.json.encode(envelope)
    except UnicodeEncodeError:  # a path of this machine that is not UTF-8
        import json

        raw = json.dumps(msgspec.to_builtins(envelope)).encode()
    sys.stdout.buffer.write(raw + b"\n")
    sys.stdout.buffer.flush()


_COLOURS = {"red": "31", "green": "32", "yellow": "33", "bold": "1", "dim": "2"}


def paint(text: str, colour: str) -> str:
    """Colour only for a person at a terminal who has not asked for none."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def table(rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> Iterable[str]:
    """Left-aligned columns, as narrow as their content."""
    body = [list(map(visible, row)) for row in rows]
    everything = ([list(head)] if head else []) + body
    widths = [max(map(len, column)) for column in zip(*everything, strict=True)]
    for number, row in enumerate(everything):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        line = "  ".join(cells).rstrip()
        yield paint(line, "bold") if head and number == 0 else line


def visible(text: str) -> str:
    """Another's text on our terminal: control characters are shown, never obeyed."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)
