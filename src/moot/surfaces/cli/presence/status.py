"""`moot status`: one screen."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import click
import msgspec

from moot.api.hosts.machines import SharedLedger
from moot.api.presence import status as screen
from moot.api.presence.status import count_changes
from moot.core.text import plural
from moot.surfaces.cli.presence.agenda import due_lines, with_ways
from moot.surfaces.terminal.answer import Answer, paint, print_line, visible
from moot.surfaces.terminal.listing import alive_word, listing, with_tool
from moot.surfaces.terminal.local_time import in_local_time, span_since
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.api.session import Session

MOST_AGENTS = 20  # of a crowd, on one screen
MOST_ROWS = 30  # of each other table
MOST_NAMES = 3
MOST_SCOPES = 4
MOST_SPANS = 3
MOST_USED = 8
# Words that should catch the eye.
COLOURS = {
    "Active": "green",
    "Gone quiet": "yellow",
    "Gone": "red",
    "unguarded": "red",
    "watched": "yellow",
}


@command(None, "status", "status")
@click.option("--watch", is_flag=True, help="Show it again whenever something changes.")
@click.option("--all", "ended", is_flag=True, help="Also show agents that have ended.")
def status(shell: Shell, watch: bool, ended: bool) -> Answer:
    """Show one screen: who is here, what is due, and the state of the record.

    Active agents come first; SEEN is the time since the last sign of life. If there are many, it
    shows those seen last and counts the others; --all shows everyone. With --watch it stays until
    Ctrl-C.

    Examples:
      moot status
      moot status --all
      moot status --watch
      moot status --json
    """
    if watch and shell.json:
        raise click.UsageError("--watch is for people; a program asks `agenda --wait`")
    seen = _look(shell, ended=ended)
    if watch:
        show_again(shell.session, lambda: _lines(_look(shell, ended=ended), shell.session.clock()))
        return Answer(seen, list)
    now = shell.session.clock()
    return Answer(seen, lambda: _lines(seen, now), says_if_old=True)


def _look(shell: Shell, *, ended: bool) -> screen.Status:
    most = screen.MOST_AGENTS if shell.json else MOST_AGENTS
    seen = screen.status(shell.session, ended=ended, most=most)
    return msgspec.structs.replace(seen, due=with_ways(shell, seen.due))


def _lines(seen: screen.Status, now: int) -> Iterable[str]:
    yield f"workspace  {seen.workspace}"
    yield f"record     {_record_line(seen.record)}"
    if seen.shared is not None:
        yield from _shared_lines(seen.shared)
    if seen.record.rolled_back:
        yield paint("rolled back", "red") + ": events that were here before are missing;"
        yield "Moot writes nothing until you do what `moot ledger doctor` says"
    yield ""
    yield from _agent_lines(seen, now)
    yield from map(_unguarded_line, seen.unguarded[-MOST_SPANS:])
    yield ""
    yield from _work_lines(seen)
    yield from _usage_lines(seen)
    yield from _mail_lines(seen.mail)
    yield from due_lines(seen.due[:MOST_ROWS])
    yield from _more_line(len(seen.due) - MOST_ROWS, "moot agenda")


def _shared_lines(shared: SharedLedger) -> Iterable[str]:
    """Say where the ledger is kept, for which machines, and whether this copy may be old."""
    version = f" · moot {shared.keeper_version}" if shared.keeper_version else ""
    live = [row for row in shared.machines if not row.is_revoked and not row.here]
    names = ", ".join(f"{row.name} ({row.version or 'never seen'})" for row in live)
    if shared.here is not None:
        others = f" · with {names}" if names else ""
        yield f"kept at    {shared.keeper}{version} · this machine is {shared.here}{others}"
    else:
        yield f"kept here  at {shared.keeper}{version} · {names or 'no machine has joined'}"
    if shared.is_kept_now is False:
        yield paint("no keeper", "yellow") + "  runs now: `moot keep` starts it"
    if shared.why_old is not None:
        yield paint("may be old", "yellow") + f" {shared.why_old}"


def _mail_lines(mail: screen.MailCounts) -> Iterable[str]:
    """Show unread mail and owed answers, if there are any."""
    lines = []
    if mail.unread:
        lines.append(f"new mail   {mail.unread}: `moot inbox`")
    if mail.owed:
        names = ", ".join(f"{name} {count}" for name, count in mail.owed.items())
        lines.append(f"answers    owed by {names}: `moot mail pending`")
    yield from [*lines, ""] if lines else ()


def _record_line(record: screen.RecordSummary) -> str:
    last = record.checkpoint
    pinned = "" if record.pinned else ", newer events wait for the next"
    checkpoint = f"checkpoint {last.number} of {last.at}{pinned}" if last else "no checkpoint"
    clock = " · test clock" if record.test_clock else ""
    events = plural(record.events, "event")
    return f"{events} · {record.bytes} bytes · {checkpoint}{clock}"


def _agent_lines(seen: screen.Status, now: int) -> Iterable[str]:
    """List agents that are here or have something to do, and count the others."""
    current = [view for view in seen.agents if view.status == screen.ACTIVE]
    ended = [view for view in seen.agents if view.status != screen.ACTIVE]
    busy = {seen.you, *seen.mail.owed, *(item.who for item in seen.due)}
    shown = [view for view in current if view.here or view.holds or view.agent in busy]
    if shown:
        shown.sort(key=lambda view: not view.here)  # who is here first, each part by name
        work_by_owner = _group_work_by_owner(seen)
        rows = [row for view in shown for row in _rows_of(view, work_by_owner, now)]
        yield from listing(rows, ("NAME", "ALIVE", "SEEN", "GUARD", "WORK", "HOLDS"), COLOURS)
    else:
        yield "nobody is here: `moot run -- COMMAND`, or `moot join`"
    yield from _unshown_lines(seen, shown, len(ended))
    if ended:
        yield ""
        rows = [(view.agent, view.label, span_since(view.ended_at, now)) for view in ended]
        yield from listing(rows, ("ENDED", "HOW", "AGO"))


def _unshown_lines(
    seen: screen.Status, shown: Sequence[screen.RegisteredAgentView], ended: int
) -> Iterable[str]:
    """Count the agents that are not shown: those that work, and the others."""
    working = sum(view.here or bool(view.holds) for view in shown)
    more = 0 if ended else seen.working_total - working
    if more:
        yield f"and {more} more, seen earlier: `moot agent list`"
    others = seen.agents_total - ended - len(shown) - more
    if others:
        yield f"{plural(others, 'other is', 'others are')} not here: `moot agent list`"


def _group_work_by_owner(seen: screen.Status) -> dict[str, dict[str, None]]:
    """Return for each owner the work items of its reservations, in the order of `scope list`."""
    work_by_owner: dict[str, dict[str, None]] = {}
    for view in seen.reservations:
        if view.work:
            work_by_owner.setdefault(view.owner, {})[view.work] = None
    return work_by_owner


def _rows_of(
    view: screen.RegisteredAgentView, work_by_owner: Mapping[str, Iterable[str]], now: int
) -> Iterable[tuple[str, ...]]:
    """Return the agent's row, then a row for each of its sub-agents."""
    theirs = {scope for sub_agent in view.sub_agents for scope in sub_agent.holds}
    own = [scope for scope in view.holds if scope not in theirs]
    guard, ago = view.guarded or "-", span_since(view.last_seen_at, now)
    name, alive = with_tool(view.agent, view.tool), alive_word(view.label, view.evidence)
    yield name, alive, ago, guard, _work_of(view, work_by_owner), _first_scopes(own)
    for sub_agent in view.sub_agents:
        holds, ago = _first_scopes(sub_agent.holds), span_since(sub_agent.last_seen_at, now)
        yield sub_agent.name, sub_agent.label, ago, guard, sub_agent.kind or "sub-agent", holds


def _unguarded_line(span: screen.UnguardedSpan) -> str:
    until = f"to {span.until}" if span.until else "until now"
    word = paint("unguarded", "red" if span.until is None else "yellow")
    return f"{word}  {span.agent} ({span.tool}) from {span.since} {until}"


def _work_of(agent: screen.RegisteredAgentView, work_by_owner: Mapping[str, Iterable[str]]) -> str:
    """Return the work items of its reservations, else the one it joined for."""
    held = work_by_owner.get(agent.agent, ())
    return ", ".join(held) or agent.work or agent.branch or "-"


def _work_lines(seen: screen.Status) -> Iterable[str]:
    """Show the state of each work item."""
    if seen.work:
        shown = seen.work[:MOST_ROWS]
        rows = [(item.work, item.label, _first_names(item.agents)) for item in shown]
        yield from listing(rows, ("WORK", "STATE", "BY"))
        for item in shown:
            if item.close:
                done = f"{item.work} is released and committed; if it is done: `{item.close}`"
                yield visible(done)
        yield from _more_line(len(seen.work) - len(shown), "moot status --json")
        yield ""


def _more_line(count: int, command: str) -> Iterable[str]:
    if count > 0:
        yield f"and {count} more: `{command}`"


def _usage_lines(seen: screen.Status) -> Iterable[str]:
    """Show the usage that coding tools reported, the last few."""
    if seen.usage:
        shown = seen.usage[-MOST_USED:]
        rows = [(used.work or "-", _first_names(used.agents), used.usage.line) for used in shown]
        yield from listing(rows, ("WORK", "BY", "USED"))
        yield ""


def _first_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more or "-"


def _first_scopes(scopes: Sequence[str]) -> str:
    more = f" and {len(scopes) - MOST_SCOPES} more" if len(scopes) > MOST_SCOPES else ""
    return ", ".join(scopes[:MOST_SCOPES]) + more or "-"


AGAIN_SECONDS: Final = 5.0  # so that the times in the column SEEN stay true
LOOK_SECONDS: Final = 0.25
_TOP: Final = "\x1b[H\x1b[2J"


def show_again(session: Session, lines: Callable[[], Iterable[str]]) -> None:
    """Print the lines at each change until Ctrl-C, on a cleared screen if it can be cleared."""
    can_clear = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    try:
        while True:
            changes = count_changes(session)
            shown = [in_local_time(line) for line in lines()]
            print_line((_TOP if can_clear else "") + "\n".join(shown), at_once=True)
            until = time.monotonic() + AGAIN_SECONDS
            while time.monotonic() < until and count_changes(session) == changes:
                time.sleep(LOOK_SECONDS)
    except KeyboardInterrupt:
        return
