"""What machines ask about machines: who shares the ledger, to be let go, and where a session is at
home. Both sides of it."""

from __future__ import annotations

from typing import Final

from moot.core.errors import Malformed, MootError, Refused
from moot.engine.engine import Engine
from moot.keeper import questions as ask
from moot.keeper.copying import KeeperLine
from moot.keeper.homes import move_home
from moot.keeper.members import Member, MemberFile

# What a keeper says to a machine that it knows no more.
GONE: Final = frozenset({"machine_left", "machine_revoked", "machine_unknown"})


AboutMachines = ask.WhoShares | ask.Leave | ask.MoveHome


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
        case ask.MoveHome(streams=streams, to=to):
            return ask.HomeMoved(move_home(engine, members.read(), member, streams, to))


def describe_member(member: Member) -> ask.SharingMachine:
    """What every machine may know of another: nothing of its secret."""
    return ask.SharingMachine(
        member.name,
        member.custodian,
        member.joined_at,
        member.last_seen,
        member.version,
        member.revoked_at,
        member.left,
    )


def ask_who_shares(line: KeeperLine) -> tuple[ask.SharingMachine, ...]:
    """A machine's side: those that share the ledger; Refused if the keeper is too old to tell."""
    try:
        return line.ask(ask.WhoShares(), ask.Sharing).machines
    except Malformed as error:
        raise _too_old(
            error, "who shares the ledger", "`moot machine list` there shows it"
        ) from None


def ask_to_leave(line: KeeperLine, machine: str) -> bool:
    """Would the keeper let this machine go? False: it is none of its machines any more. Refused if
    it is too old to know the question."""
    try:
        line.ask(ask.Leave(now=False), ask.Done)
    except Malformed as error:
        way = f"`moot machine revoke {machine}` there takes it off"
        raise _too_old(error, "that a machine leaves", way) from None
    except Refused as error:
        if error.code not in GONE:
            raise
        return False
    return True


def leave(line: KeeperLine) -> None:
    """Be let go. If the answer was lost and the keeper knows us no more, it was done."""
    try:
        line.ask(ask.Leave(now=True), ask.Done)
    except Refused as error:
        if error.code not in GONE:
            raise


def ask_to_move(line: KeeperLine, streams: tuple[str, ...], to: str | None) -> tuple[str, ...]:
    """Let a session be at home on the machine `to`, None: here; what moved."""
    try:
        return line.ask(ask.MoveHome(streams, to), ask.HomeMoved).streams
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
