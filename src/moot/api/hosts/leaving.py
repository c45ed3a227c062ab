"""Leave the ledger that this machine shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from moot.api.operation import operation
from moot.api.presence.agents import retire
from moot.core.errors import Refused
from moot.core.machine import KeyClass
from moot.core.text import Quoted

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.registry.model import RegisteredKey
    from moot.hosts.opening import JoinedLedger


class LeftMachine(msgspec.Struct, frozen=True):
    """The name that this machine had at `keeper`. `retired` are its agents, which have ended now;
    `people` those whose valid keys stay here; `still_holds` is what agents could not release,
    because their key was not here."""

    machine: str
    keeper: str
    retired: tuple[str, ...]
    people: tuple[str, ...]
    still_holds: tuple[Quoted, ...]


@operation("machine.leave", writes=True)
def leave_machine(session: Session) -> LeftMachine:
    """Leave the ledger that another machine keeps.

    This machine's agents are retired and what they hold is released; the keeper removes the
    machine, and its secret is removed here. Its copy can still be read, exported and verified;
    nothing is recorded in it until it joins again. Refused to agents, as `kept_here` on the machine
    that keeps the ledger, and, with nothing changed, if the keeper does not answer or is too old to
    support this. A machine that was revoked before only forgets its secret. After an interruption
    a repeat continues.
    """
    session.require_no_agent("leaving the ledger")
    workspace = session.workspace
    if workspace.left is not None:
        raise workspace.left
    joined = workspace.joined
    if joined is None:
        raise Refused(
            "kept_here",
            "this machine keeps the ledger and cannot leave it",
            hint="to remove another machine: `moot machine revoke NAME`",
        )
    left = _leave_keeper(session, joined)
    _forget(session)
    return left


def _leave_keeper(session: Session, joined: JoinedLedger) -> LeftMachine:
    from moot.hosts import membership

    keys = _living_keys(session)
    people = tuple(key.name for key in keys if key.kind is KeyClass.HUMAN)
    retired: tuple[str, ...] = ()
    held: tuple[Quoted, ...] = ()
    if membership.can_leave(joined.connection, joined.machine):
        joined.sync()
        retired = tuple(key.name for key in _living_keys(session) if key.kind is KeyClass.AGENT)
        for name in retired:
            held += tuple(retire(session, name, reason=f"{joined.machine} leaves").still_holds)
        session.workspace.engine.checkpoint()  # so that one signature covers the whole copy
        membership.leave(joined.connection)
    return LeftMachine(joined.machine, joined.connection.address, retired, people, held)


def _living_keys(session: Session) -> list[RegisteredKey]:
    """Return the valid keys of this machine's key folder, the oldest first."""
    registry = session.workspace.engine.registry()
    own = session.workspace.folder.user_folder.custodian
    keys = (registry.keys[agent.kid] for agent in registry.agents.values())
    living = (key for key in keys if key.custodian == own and key.ending is None)
    return sorted(living, key=lambda key: key.added)


def _forget(session: Session) -> None:
    from moot.hosts.opening import forget_membership

    workspace = session.workspace
    place, folder, origin = workspace.path, workspace.folder, workspace.trust.origin
    now = workspace.engine.clock()
    session.close(checkpoint=False)
    forget_membership(place, folder, origin, now)
