"""Moving a ledger between its file and a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from moot.api.operation import operation
from moot.core.errors import Refused

if TYPE_CHECKING:
    from moot.api.session import Session


class MovedLedger(msgspec.Struct, frozen=True):
    """Where the ledger lies now: `database` or `file`, and how many events it holds."""

    to: str
    events: int


@operation("ledger.move", writes=True)
def move(session: Session, to: str) -> MovedLedger:
    """Move this workspace's ledger into a PostgreSQL database, or with `file` back into a file.

    `to` is an address, postgresql://...; it is kept in the key folder, since it may hold a
    password. Everything is copied in one commit while nobody else writes; the old place refuses
    every further write and stays as it was. Refused as `human_key_required` to an agent, as
    `kept_elsewhere` on a machine that has joined, and as `already_there` if it lies there.
    """
    session.require_no_agent("moving the ledger")
    workspace = session.workspace
    path, origin, folder = workspace.path, workspace.trust.origin, workspace.folder
    if workspace.joined is not None:
        raise Refused(
            "kept_elsewhere",
            f"this ledger is kept at {workspace.joined.connection.address}",
            hint="do this on the machine that keeps it",
        )
    folder.require_own("the database's address")
    from moot.hosts.opening import move_to_database, move_to_file
    from moot.workspace.find import is_in_database

    if is_in_database(path) == (to != "file"):
        raise Refused(
            "already_there",
            "the ledger lies in a database already" if to != "file" else "it lies in its file",
            hint="`moot ledger move file` brings it back" if to != "file" else "nothing to do",
        )
    workspace.engine.checkpoint()  # an agent in a lent key folder may have written without one
    session.close()
    if to == "file":
        return MovedLedger("file", move_to_file(path, folder, origin))
    return MovedLedger("database", move_to_database(path, folder, origin, to))
