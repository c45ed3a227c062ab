"""A process that keeps adding to one session, and says each id once it was acknowledged.

    python -m tests.debate.speaker FILE AUTHOR COUNT [DIE_AT]

DIE_AT names a moment of the first append at which the process ends, as if it had been killed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from moot.core.errors import Refused
from moot.flows.debate import file as sessionfile
from moot.flows.debate import locked_session as sessionlocked
from moot.flows.debate import record as sessionrecord
from moot.flows.debate import session
from moot.protocols.debate.drafts import EntryDraft
from moot.workspace.workspace import Workspace, key_folder

BODY = "Words about it, at some length. " * 40


def draft(author: str, number: int) -> EntryDraft:
    said = f"Point {number} of {author}."
    return EntryDraft(author=author, stance="reject", confidence="0.5", summary=said, body=BODY)


def main(file: Path, author: str, count: int, die_at: str = "") -> None:
    if die_at:
        DEATHS[die_at]()
    with Workspace(file.parent / ".moot", key_folder(os.environ)) as space:
        for number in range(count):
            try:
                done = session.add(file, draft(author, number), space.engine.clock, space)
            except Refused as refused:
                if refused.code in ("session_ended", "wrong_speaker"):  # nothing left to say
                    return
                raise
            sys.stdout.write(f"{done.entries[0]}\n")
            sys.stdout.flush()


# Moments to die ----------------------------------------------------------------------------------


def _die(*_: Any) -> Any:
    os._exit(9)


def _before(name: str) -> None:
    setattr(sessionfile.os, name, _die)


def _half_written() -> None:
    write = os.write

    def half(descriptor: int, data: bytes) -> int:
        write(descriptor, data[: len(data) // 2])
        os._exit(9)

    sessionfile.os.write = half


def _head_torn() -> None:
    write = os.write

    def torn(descriptor: int, data: bytes) -> int:
        write(descriptor, data[:9])
        os._exit(9)

    sessionfile.os.write = torn


def _not_committed() -> None:
    append: Callable[..., None] = sessionfile.append

    def then_die(*args: Any) -> None:
        append(*args)
        os._exit(9)

    sessionlocked.append = then_die  # type: ignore[attr-defined]


def _not_acknowledged() -> None:
    run = sessionrecord.SessionRecord.run

    def then_die(self: Any, commands: Any, write: Any = None) -> Any:
        done = run(self, commands, write)
        if write is not None:
            os._exit(9)
        return done

    sessionrecord.SessionRecord.run = then_die  # type: ignore[method-assign]


DEATHS: dict[str, Callable[[], None]] = {
    "before the file is written": lambda: _before("write"),
    "with a head half written": _head_torn,
    "with an entry half written": _half_written,
    "before the file is durable": lambda: _before("fsync"),
    "before the commit": _not_committed,
    "before it is acknowledged": _not_acknowledged,
}


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
