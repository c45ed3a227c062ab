"""Holders whose program is gone: ended before somebody asks in vain, or explained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import msgspec

from moot.core.errors import Refused
from moot.core.findings import Finding, Severity
from moot.core.quoted import Quoted
from moot.protocols.presence import STREAM, commands, sorted_index
from moot.protocols.presence.machine import MACHINE as PRESENCE

if TYPE_CHECKING:
    from moot.api.session import Session

IN_THE_WAY: Final = ("reservation_conflict", "reservation_stale_found")


class GoneHolder(msgspec.Struct, frozen=True):
    """A holder whose program is gone and whose work is not committed: what that is, from when on
    it may be taken over, and the command that continues it."""

    agent: str
    unfinished: Quoted
    stale_from: str | None
    adopt: str


def free_from_gone(session: Session, holders: Iterable[str]) -> tuple[GoneHolder, ...]:
    """End those of the holders that are gone; what is left are those that keep what they hold."""
    from moot.api.gone_agents import end_gone_agents

    workspace = session.workspace
    kept = end_gone_agents(workspace, session.acting, holders)
    if not kept:
        return ()
    from moot.api.agents import stale_from
    from moot.flows.observed.agent_tools import find_tools

    tools = find_tools(workspace, (each.agent for each in kept))
    return tuple(
        GoneHolder(
            each.agent,
            Quoted(each.why),
            stale_from(session, each.agent),
            f"moot run --adopt {each.agent} -- "
            + (tools[each.agent].resume_line if each.agent in tools else "COMMAND"),
        )
        for each in kept
    )


@contextmanager
def explaining_gone_holders(
    session: Session, command: commands.Reserve | commands.TakeOver, name: str
) -> Iterator[None]:
    """A block that reserves: gone holders of what it asks for are ended before it; if it is refused
    for those that keep what they hold, the refusal says what can be done."""
    engine = session.workspace.engine
    owners = PRESENCE.needs_signs_of(engine.state(PRESENCE, STREAM), command)
    others = [owner for owner in owners if owner != name]
    kept = free_from_gone(session, others) if others else ()
    if others and isinstance(command, commands.TakeOver):
        _require_none_running(session, others)
    try:
        yield
    except Refused as refused:
        if kept and refused.code in IN_THE_WAY:
            scopes = _scopes_in_the_way(session, command)
            ways = [explain_gone(holder, scopes.get(holder.agent, "SCOPE")) for holder in kept]
            is_asked = len(kept) < len(set(others))  # the gone answer nobody
            refused.hint = "; ".join((*ways, refused.hint) if is_asked and refused.hint else ways)
            refused.findings = (*refused.findings, *map(_finding, kept))
        raise


def _scopes_in_the_way(
    session: Session, command: commands.Reserve | commands.TakeOver
) -> dict[str, str]:
    """What each holder has reserved of it: that is released, not the part that was asked for."""
    from moot.protocols.presence.paths import read_scope

    state = session.workspace.engine.state(PRESENCE, STREAM)
    return {
        reservation.owner: reservation.scope
        for text in command.scopes
        for reservation in sorted_index.overlapping_reservations(
            state, read_scope(text, command.worktree).key
        )
    }


def _require_none_running(session: Session, owners: Iterable[str]) -> None:
    """Nobody living is taken over: a machine that slept gives no signs of life, and wakes up."""
    from moot.flows.presence.run_evidence import RUNNING, look_at_run

    workspace = session.workspace
    state = workspace.engine.state(PRESENCE, STREAM)
    for owner in owners:
        member = sorted_index.find_member(state, owner)
        if member is None or not sorted_index.reservations_of(state, owner, member.epoch):
            continue  # what an earlier holder of the name has left is not its own
        evidence = look_at_run(workspace, owner, member.epoch)
        if evidence is not None and evidence.state == RUNNING:
            raise Refused(
                "agent_alive",
                f"{owner} gave no sign of life and is alive: {evidence.because}",
                hint="wait a minute, its next sign is due; if it hangs, end its program first",
            )


def _finding(holder: GoneHolder) -> Finding:
    message = f"the program of {holder.agent} is gone: {holder.unfinished}"
    return Finding(
        rule="P-44",
        code="holder_gone",
        severity=Severity.INFO,
        message=message,
        where=holder.agent,
        hint=holder.adopt,
    )


def explain_gone(holder: GoneHolder, scope: str) -> str:
    """What can be done about it, for whoever was refused."""
    from moot.core.quoted import shell_word
    from moot.protocols.presence.paths import write_typed

    when = f"until {holder.stale_from}" if holder.stale_from else "until it is taken over"
    force = f"moot release {shell_word(write_typed(scope))} --force --reason TEXT"
    return (
        f"the program of {holder.agent} is gone ({holder.unfinished}); it is held {when}:"
        f" `{holder.adopt}` goes on with it, and a person may free it: `{force}`"
    )
