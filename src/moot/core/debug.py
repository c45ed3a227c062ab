"""What MOOT_DEBUG=1 is told: one call for each thing opened, locked, decided or committed.

Nothing below the surfaces reads the environment or prints. A surface hands in a function of this
shape (`system/debug.py` makes one that prints); where there is none, nobody is told and nothing is
put into words. The first text is one of a few fixed verbs, the second names files, streams,
positions and types of events: never what somebody wrote, and never a secret.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

DebugLog = Callable[[str, str], None]


class DecisionLine(NamedTuple):
    """What is told of a decision: which command was decided where, and what came of it.

    `refusal` is the code of a refusal, None if it was accepted; `events` are types of events.
    """

    stream: str
    command: str
    refusal: str | None
    events: tuple[str, ...]


def write_decision(stream: str, command: str, refusal: str | None, events: Sequence[str]) -> str:
    """`presence Reserve: presence.scope_reserved`, or with `refused, CODE` before the events."""
    said = [*(("refused", refusal) if refusal is not None else ()), *events]
    return f"{stream} {command}: {', '.join(said) or 'nothing to record'}"


def read_decision(detail: str) -> DecisionLine:
    """The same from its line."""
    place, _, result = detail.partition(": ")
    stream, _, command = place.rpartition(" ")
    words = [] if result == "nothing to record" else result.split(", ")
    refusal = words[1] if len(words) > 1 and words[0] == "refused" else None
    return DecisionLine(stream, command, refusal, tuple(words[2 if refusal is not None else 0 :]))
