"""Questions about machines: list them, leave the ledger, move a session. Both sides."""

from __future__ import annotations

from typing import Final

from moot.core.errors import Malformed, MootError, Refused
from moot.core.machine import fill_from
from moot.engine.engine import Engine
from moot.hosts import messages as wire
from moot.hosts.members import Member, MemberFile
from moot.hosts.replica import KeeperConnection
from moot.hosts.session_owner import move_session

# The keeper's error codes for a machine that is no longer a member.
GONE: Final = frozenset({"machine_left", "machine_revoked", "machine_unknown"})


MembershipQuestion = wire.ListMembers | wire.Leave | wire.MoveSession


def answer_membership_question(
    engine: Engine, members: MemberFile, member: Member, question: MembershipQuestion
) -> wire.AnyAnswer:
    """Answer a question of `member`, at the keeper."""
    match question:
        case wire.ListMembers():
            return wire.MemberList(tuple(map(describe_member, members.read().machines)))
        case wire.Leave(now=now):
            if now:
                members.mark_left(member, engine.clock())
            return wire.Done()
        case wire.MoveSession(streams=streams, to=to):
            return wire.SessionMoved(move_session(engine, members.read(), member, streams, to))


def describe_member(member: Member) -> wire.MemberInfo:
    """Return what every machine may know about another; nothing about its secret."""
    return fill_from(wire.MemberInfo, member, gone_at=member.revoked_at, has_left=member.left)


def list_members(connection: KeeperConnection) -> tuple[wire.MemberInfo, ...]:
    """Ask the keeper which machines share the ledger; Refused if the keeper is too old."""
    try:
        return connection.ask(wire.ListMembers(), wire.MemberList).machines
    except Malformed as error:
        raise _too_old(
            error, "how to list the machines", "until then run `moot machine list` there"
        ) from None


def can_leave(connection: KeeperConnection, machine: str) -> bool:
    """Ask whether the keeper can remove this machine; False if it is no member any more.

    Refused if the keeper is too old to know the question.
    """
    try:
        connection.ask(wire.Leave(now=False), wire.Done)
    except Malformed as error:
        way = f"or run `moot machine revoke {machine}` there"
        raise _too_old(error, "how a machine leaves", way) from None
    except Refused as error:
        if error.code not in GONE:
            raise
        return False
    return True


def leave(connection: KeeperConnection) -> None:
    """Leave the ledger. If the keeper does not know us, an earlier request has succeeded."""
    try:
        connection.ask(wire.Leave(now=True), wire.Done)
    except Refused as error:
        if error.code not in GONE:
            raise


def move_session_here_or_to(
    connection: KeeperConnection, streams: tuple[str, ...], to: str | None
) -> tuple[str, ...]:
    """Make the machine `to` (None: this one) the owner of a session; return what moved."""
    try:
        return connection.ask(wire.MoveSession(streams, to), wire.SessionMoved).streams
    except Malformed as error:
        way = "until then it stays where it began"
        raise _too_old(error, "how to move a session", way) from None


def _too_old(error: MootError, what: str, way: str) -> MootError:
    if error.code != "bad_request":
        return error
    return Refused(
        "another_version",
        f"the keeper's moot is older than this machine's and does not know {what}",
        hint=f"update moot on the machine that keeps the ledger; {way}",
    )
