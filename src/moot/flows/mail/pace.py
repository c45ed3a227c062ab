"""How often an agent may write to others: a model in a loop must not fill everybody's inbox.

The times of its last messages are kept in a small file of the workspace, for all processes that act
as this agent. It is a brake, not a proof: whoever may write there can also remove it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from moot.core.clock import SECOND, Millis
from moot.core.errors import Refused
from moot.workspace.workspace import Workspace

MINUTE: Final[Millis] = 60 * SECOND
FOLDER: Final = "pace"


def require_pace(workspace: Workspace, name: str, most: int) -> None:
    """Refused (too_many) if `name` has sent `most` messages in the last minute; else one more."""
    now, file = workspace.engine.clock(), workspace.path / FOLDER / f"{name}.json"
    recent = [at for at in _read_times(file) if now - MINUTE < at <= now]
    if len(recent) >= most:
        seconds = (recent[-most] + MINUTE - now) // SECOND + 1
        raise Refused(
            "too_many",
            f"{name} has sent {most} messages and questions in the last minute",
            hint=f"wait {seconds} seconds, and say more in one message",
        )
    _write_times(file, [*recent, now])


def _read_times(file: Path) -> list[Millis]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=list[int])
    except (OSError, msgspec.DecodeError):
        return []


def _write_times(file: Path, times: list[Millis]) -> None:
    """Where it cannot be written nothing is held back: the record is what counts."""
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, exist_ok=True)
        fresh = file.with_name(f"{file.name}.{os.getpid()}")
        fresh.write_bytes(msgspec.json.encode(times))
        os.replace(fresh, file)
