"""How a ledger is shared with other machines, for those who look at its standing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from moot.api.machines import MachineRow, list_machines
from moot.core.version import VERSION

if TYPE_CHECKING:
    from moot.api.session import Session


class SharedLedger(msgspec.Struct, frozen=True):
    """`keeper` is where the ledger is kept; `here` what this machine is called there, None if it is
    kept on this one. `machines` are those that share it: only those that are known here, if the
    keeper could not be asked. `why_old` says why what is shown may be old: the keeper did not
    answer, or shows another history, or this machine has left. `is_kept_now` is whether a keeper
    runs; None where this machine does not keep the ledger."""

    keeper: str
    here: str | None
    keeper_version: str | None
    machines: tuple[MachineRow, ...]
    why_old: str | None
    is_kept_now: bool | None = None


def describe_sharing(session: Session) -> SharedLedger | None:
    """None if the ledger is on this machine alone."""
    workspace = session.workspace
    joined = workspace.joined
    if joined is None and workspace.left is None and not (workspace.path / "keeper").exists():
        return None
    listed = list_machines(session)
    if listed.keeper is None:
        return None
    why = session.why_old()
    return SharedLedger(
        listed.keeper,
        listed.here,
        (None if workspace.left else VERSION) if joined is None else joined.line.keepers_version,
        listed.machines,
        None if why is None else str(why),
        listed.is_kept_now,
    )
