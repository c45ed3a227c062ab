"""What machines ask about machines: who shares the ledger, to leave it, and to move a session.
Both sides of it."""

from __future__ import annotations

from typing import Final

from moot.core.errors import Malformed, MootError, Refused
from moot.core.machine import fill_from
from moot.engine.engine import Engine
from moot.hosts import messages as ask
from moot.hosts.members import Member, MemberFile
from moot.hosts.replica import KeeperConnection
from moot.hosts.session_owner import move_session

# What a keeper says to a machine that it knows no more.
GONE: Final = frozenset({"machine_left", "machine_revoked", "machine_unknown"})


AboutMachines = ask.WhoShares | ask.Leave | ask.MoveSession


def answer_about_machines(
    engine: Engine, members: MemberFile, member: Member, question: AboutMachines
) -> ask.AnyAnswer:
    """The keeper's answer to `member`."""
    match question:
        case ask.WhoShares():
            return ask.Sharing(tuple(map(describe_member, members.read().machines)))
        case ask.Leave(now=is_meant):
            if is_meant:
                members.let_go(member, engine.clock())
            return ask.Done()
        case ask.MoveSession(streams=streams, to=to):
            return ask.SessionMoved(move_session(engine, members.read(), member, streams, to))


def describe_member(member: Member) -> ask.SharingMachine:
    """What every machine may know of another: nothing of its secret."""
    return fill_from(ask.SharingMachine, member, gone_at=member.revoked_at, has_left=member.left)


def ask_who_shares(connection: KeeperConnection) -> tuple[ask.SharingMachine, ...]:
    """A machine's side: those that share the ledger; Refused if the keeper is too old to tell."""
    try:
        return connection.ask(ask.WhoShares(), ask.Sharing).machines
    except Malformed as error:
        raise _too_old(
            error, "who shares the ledger", "`moot machine list` there shows it"
        ) from None


def ask_to_leave(connection: KeeperConnection, machine: str) -> bool:
    """Would the keeper let this machine go? False: it is none of its machines any more. Refused if
    it is too old to know the question."""
    try:
        connection.ask(ask.Leave(now=False), ask.Done)
    except Malformed as error:
        way = f"`moot machine revoke {machine}` there takes it off"
        raise _too_old(error, "that a machine leaves", way) from None
    except Refused as error:
        if error.code not in GONE:
            raise
        return False
    return True


def leave(connection: KeeperConnection) -> None:
    """Be let go. If the answer was lost and the keeper knows us no more, it was done."""
    try:
        connection.ask(ask.Leave(now=True), ask.Done)
    except Refused as error:
        if error.code not in GONE:
            raise


def ask_to_move(
    connection: KeeperConnection, streams: tuple[str, ...], to: str | None
) -> tuple[str, ...]:
    """Let the machine `to`, None: this one, own a session; return what moved."""
    try:
        return connection.ask(ask.MoveSession(streams, to), ask.SessionMoved).streams
    except Malformed as error:
        way = "until then it stays where it began"
        raise _too_old(error, "that a session moves", way) from None


def _too_old(error: MootError, what: str, way: str) -> MootError:
    if error.code != "bad_request":
        return error
    return Refused(
        "another_version",
        f"the keeper's moot is older than this machine's and does not know {what}",
        hint=f"update moot where the ledger is kept; {way}",
    )
