"""A checked copy of the ledger file: whole or absent, and never over another file.

The copy holds every event; artifacts are files of their own and are copied as such.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import NamedTuple

from moot.core.errors import Refused, StoreFailed
from moot.core.ledger import Store, View
from moot.store.files import sync_folder
from moot.store.sqlite.reader import SqliteReader


class Backup(NamedTuple):
    size: int
    streams: int
    events: int


def back_up(store: Store, target: Path) -> Backup:
    """Copy the ledger while others write, compare the copy with it, then give it its name."""
    # LDG-073
    if target.exists():
        raise _file_exists(target)
    if not target.parent.is_dir():
        raise StoreFailed(
            "store_unreachable", f"{target.parent} is no folder", hint="make it first"
        )
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    try:
        store.backup(temporary)
        made = _require_same(store, temporary)
        os.link(temporary, target)
        sync_folder(target.parent)
    except FileExistsError:
        raise _file_exists(target) from None
    finally:
        temporary.unlink(missing_ok=True)
    return made


def _require_same(store: Store, copy: Path) -> Backup:
    with SqliteReader(copy, immutable=True) as reader, reader.read() as copied:
        problems = reader.integrity()
        with store.read() as live:
            wrong = problems or [
                name for name, _ in copied.streams() if not _same(live, copied, name)
            ]
        if wrong:
            raise StoreFailed(
                "backup_failed",
                f"the copy is not like the ledger: {wrong[0]}",
                hint="check the disk and try again; `moot ledger doctor` looks at the ledger",
            )
        streams, events = copied.count_streams_and_events()
    return Backup(copy.stat().st_size, streams, events)


def _same(live: View, copied: View, stream: str) -> bool:
    """Does the ledger, which may have moved on, hold the copy's newest event of this stream?"""
    head = copied.head(stream)
    assert head is not None
    record = next(live.records(stream, after=head.seq - 1), None)
    mine = next(copied.records(stream, after=head.seq - 1), None)
    return record is not None and record == mine and record.hash == head.hash


def _file_exists(target: Path) -> Refused:
    return Refused("file_exists", f"{target} exists already", hint="choose another name")
