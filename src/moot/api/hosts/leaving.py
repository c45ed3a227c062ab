"""A machine leaves the ledger that it shared, by itself."""

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
    """What this machine was called at `keeper`. `retired` are its agents, which have ended now;
    `people` those whose key stays here and valid; `still_holds` is what no key was here to give
    back."""

    machine: str
    keeper: str
    retired: tuple[str, ...]
    people: tuple[str, ...]
    still_holds: tuple[Quoted, ...]


@operation("machine.leave", writes=True)
def leave_machine(session: Session) -> LeftMachine:
    """Leave the ledger that another machine keeps.

    This machine's living agents are retired and what they hold is released; the keeper takes it
    off; its secret is removed. Its copy stays, to be read, exported and verified; nothing is
    recorded there until it joins again. Refused to agents, as `kept_here` where the ledger is kept,
    and, with nothing changed, if the keeper does not answer or is too old to know the question. One
    that was taken off before just forgets its secret. Broken off in between, a repeat goes on.
    """
    session.require_no_agent("leaving the ledger")
    workspace = session.workspace
    if workspace.left is not None:
        raise workspace.left
    joined = workspace.joined
    if joined is None:
        raise Refused(
            "kept_here",
            "the ledger is kept on this machine, which cannot leave it",
            hint="`moot machine revoke NAME` takes another machine off",
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
        session.workspace.engine.checkpoint()  # the copy is proved as a whole
        membership.leave(joined.connection)
    return LeftMachine(joined.machine, joined.connection.address, retired, people, held)


def _living_keys(session: Session) -> list[RegisteredKey]:
    """The keys that sign and are in this machine's hands, the oldest first."""
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
