"""How often an agent may write to others: a model in a loop must not fill everybody's inbox.

The times of its last messages are kept in a small file of the workspace, for all processes that act
as this agent, with a mark of those that have a key: a repeat is sent once, so it is counted once.
It is a brake, not a proof: whoever may write there can also remove it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from moot.core.clock import SECOND, Millis
from moot.core.errors import Refused
from moot.core.sha256 import sha256
from moot.workspace.workspace import Workspace

MINUTE: Final[Millis] = 60 * SECOND
FOLDER: Final = "pace"
MARKS_KEPT: Final = 50  # of messages with a key, however long ago


class CountedMessage(msgspec.Struct, frozen=True, array_like=True):
    """When a message was counted; `mark` is the same for each repeat, and empty without a key."""

    at: Millis
    mark: str = ""


def require_pace(
    workspace: Workspace, name: str, most: int, key: str | None, words: tuple[object, ...]
) -> None:
    """Refused (too_many) if `name` has sent `most` messages in the last minute; else one more.

    A message with the same key and the same words is a repeat, and neither counted nor refused.
    """
    now, file = workspace.engine.clock(), workspace.path / FOLDER / f"{name}.json"
    counted, mark = _read_counted(file), _mark_of(key, words)
    if mark and any(message.mark == mark for message in counted):
        return
    recent = [message for message in counted if now - MINUTE < message.at <= now]
    if len(recent) >= most:
        seconds = (recent[-most].at + MINUTE - now) // SECOND + 1
        raise Refused(
            "too_many",
            f"{name} has sent {most} messages and questions in the last minute",
            hint=f"wait {seconds} seconds, and say more in one message",
        )
    marked = [message for message in counted if message.mark and message not in recent]
    _write_counted(file, [*marked[-MARKS_KEPT:], *recent, CountedMessage(now, mark)])


def _mark_of(key: str | None, words: tuple[object, ...]) -> str:
    return "" if key is None else sha256(repr((key, words)).encode()).hexdigest()[:16]


def _read_counted(file: Path) -> list[CountedMessage]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=list[CountedMessage])
    except (OSError, msgspec.DecodeError):
        return []


def _write_counted(file: Path, messages: list[CountedMessage]) -> None:
    """Where it cannot be written nothing is held back: the record is what counts."""
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, exist_ok=True)
        fresh = file.with_name(f"{file.name}.{os.getpid()}")
        fresh.write_bytes(msgspec.json.encode(messages))
        os.replace(fresh, file)
