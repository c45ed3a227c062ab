"""The lines that MOOT_DEBUG=1 prints: one for each thing opened, locked, decided or committed.

Nothing below the surfaces reads the environment or prints. A surface passes in a `DebugLog`
(`system/debug.py` makes one that prints); without it, no line is even formatted. The first text is
one of a few fixed verbs. The second names files, streams, positions and event types: never content
that somebody wrote, and never a secret.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

DebugLog = Callable[[str, str], None]


class DecisionLine(NamedTuple):
    """The debug line of a decision, parsed: stream, command and result.

    `refusal` is the error code, None if the command was accepted; `events` are event types.
    """

    stream: str
    command: str
    refusal: str | None
    events: tuple[str, ...]


def write_decision(stream: str, command: str, refusal: str | None, events: Sequence[str]) -> str:
    """Format `presence Reserve: presence.scope_reserved`, with `refused, CODE` before the events of
    a refusal."""
    result = [*(("refused", refusal) if refusal is not None else ()), *events]
    return f"{stream} {command}: {', '.join(result) or 'nothing to record'}"


def read_decision(detail: str) -> DecisionLine:
    """Parse a line that `write_decision` wrote."""
    place, _, result = detail.partition(": ")
    stream, _, command = place.rpartition(" ")
    words = [] if result == "nothing to record" else result.split(", ")
    refusal = words[1] if len(words) > 1 and words[0] == "refused" else None
    return DecisionLine(stream, command, refusal, tuple(words[2 if refusal is not None else 0 :]))
