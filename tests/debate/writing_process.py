"""A process that keeps adding to one session, and says each id once it was acknowledged.

    python -m tests.debate.writing_process FILE AUTHOR COUNT [DIE_AT]

DIE_AT names a moment of the first append at which the process ends, as if it had been killed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from moot.api.debates import locked_session, session
from moot.api.debates.record import SessionRecord
from moot.api.debates.session_file import append
from moot.core.errors import Refused
from moot.core.machine import Command
from moot.engine.job import NO_LINK, JobOutcome, Link
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


def _instead_of(name: str, moment: Callable[..., object]) -> None:
    """Let this process do `moment` where it would call the system."""
    setattr(os, name, moment)


def _half_written() -> None:
    write = os.write

    def half(descriptor: int, data: bytes) -> int:
        write(descriptor, data[: len(data) // 2])
        os._exit(9)

    _instead_of("write", half)


def _head_torn() -> None:
    write = os.write

    def torn(descriptor: int, data: bytes) -> int:
        write(descriptor, data[:9])
        os._exit(9)

    _instead_of("write", torn)


def _not_committed() -> None:
    def then_die(path: Path, data: bytes, keep: int | None = None) -> None:
        append(path, data, keep)
        os._exit(9)

    setattr(locked_session, append.__name__, then_die)


def _not_acknowledged() -> None:
    run = SessionRecord.run

    def then_die(
        self: SessionRecord,
        commands: Iterable[tuple[Command, str]],
        write: Callable[[], None] | None = None,
        link: Link = NO_LINK,
    ) -> list[JobOutcome]:
        done = run(self, commands, write, link)
        if write is not None:
            os._exit(9)
        return done

    SessionRecord.run = then_die  # type: ignore[method-assign]


DEATHS: dict[str, Callable[[], None]] = {
    "before the file is written": lambda: _instead_of("write", _die),
    "with a head half written": _head_torn,
    "with an entry half written": _half_written,
    "before the file is durable": lambda: _instead_of("fsync", _die),
    "before the commit": _not_committed,
    "before it is acknowledged": _not_acknowledged,
}


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
