"""Move a ledger between its file and a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from moot.api.operation import operation
from moot.core.errors import Refused

if TYPE_CHECKING:
    from moot.api.session import Session


class MovedLedger(msgspec.Struct, frozen=True):
    """Where the ledger is now: `database` or `file`, and how many events it has."""

    to: str
    events: int


@operation("ledger.move", writes=True)
def move(session: Session, to: str) -> MovedLedger:
    """Move this workspace's ledger into a PostgreSQL database, or with `file` back into a file.

    `to` is an address, postgresql://...; it is stored in the key folder, because it may contain a
    password. Everything is copied in one commit while no other process writes; the old place stays
    as it was and refuses every further write. Refused as `human_key_required` to an agent, as
    `kept_elsewhere` on a machine that has joined, and as `already_there` if it is there.
    """
    session.require_no_agent("moving the ledger")
    workspace = session.workspace
    path, origin, folder = workspace.path, workspace.trust.origin, workspace.folder
    if workspace.joined is not None:
        raise Refused(
            "kept_elsewhere",
            f"this ledger is kept at {workspace.joined.connection.address}",
            hint="run this on the machine that keeps it",
        )
    folder.require_own("the database's address")
    from moot.hosts.opening import move_to_database, move_to_file
    from moot.workspace.find import is_in_database

    if is_in_database(path) == (to != "file"):
        raise Refused(
            "already_there",
            f"the ledger is already in {'its file' if to == 'file' else 'a database'}",
            hint="nothing to do" if to == "file" else "`moot ledger move file` moves it back",
        )
    workspace.engine.checkpoint()  # an agent without the ledger's key may have written since
    session.close()
    if to == "file":
        return MovedLedger("file", move_to_file(path, folder, origin))
    return MovedLedger("database", move_to_database(path, folder, origin, to))
