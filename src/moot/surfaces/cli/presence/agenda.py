"""`moot agenda` and `moot tick`: what is due, for whom, by when; and what happens when it is late.

The library says what is due. This module adds the command to type: the hint that the protocol
gives, or a row of these tables if it gives none.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.presence import agenda as dues
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.derive import derive, options
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.api.presence.agenda import DueItem


@command(None, "agenda", "agenda")
@options("""
    --agent NAME        Only what waits for NAME (default: you).
    --wait SECONDS:0..  If nothing is due, wait up to this long until something is.
""")
def agenda(shell: Shell, agent: str | None = None, wait: float | None = None) -> Answer:
    """Show what is due, for whom, and by when.

    Examples:
      moot agenda
      moot agenda --agent amber-otter --wait 300 --json
    """
    found = dues.agenda(shell.session, agent, wait_seconds=wait or 0.0)
    items = with_ways(shell, found.due)
    return Answer(dues.Agenda(items), lambda: due_lines(items))


@derive("tick", dues.tick, "[ID] = name")
def tick(done: dues.AppliedLimits) -> Iterable[str]:
    """Apply every time limit that has passed: of ID, or of everything that is open.

    Examples:
      moot tick
    """
    rows = [(limit.id, str(limit.seq), limit.type) for limit in done.applied]
    head = ("ID", "EVENT", "TYPE")
    return listing(rows, head) if rows else ["nothing was due"]


def with_ways(shell: Shell, items: Iterable[dues.DueItem]) -> tuple[dues.DueItem, ...]:
    """Add to each item the command that does it."""
    items = tuple(items)
    people = not items or shell.session.has_people()
    return tuple(
        msgspec.structs.replace(item, hint=way_to_do(item, people=people)) for item in items
    )


_HEAD = ("WHO", "WHAT", "SUBJECT", "BY", "ID")


def due_lines(items: tuple[dues.DueItem, ...]) -> Iterable[str]:
    if not items:
        return ["nothing is due"]
    rows = [(item.who, item.what, item.subject, _limit(item), item.id) for item in items]
    return [*listing(rows, _HEAD, {"overdue": "red"}), "how:", *_way_lines(items)]


def _way_lines(items: Iterable[dues.DueItem]) -> Iterable[str]:
    """List each command once, with the names it is for; below the table, so it is never cut."""
    whose: dict[str, dict[str, None]] = {}
    for item in items:
        whose.setdefault(item.hint, {})[item.who] = None
    return [visible(f"  {', '.join(names)}: {hint}") for hint, names in whose.items()]


def _limit(item: dues.DueItem) -> str:
    text = item.by or "-"
    return f"{text} overdue" if item.overdue else text


# Parts in a parliament that no agent plays: their acts are the session's own, or a person's.
_PARTS: Final = {
    "clerk": "the user who runs the session: ",
    "speaker": "the user who runs the session: ",
    "prime-minister": "a person: ",
}
_REGISTER: Final = "`moot agent register operator --human` first; then "


def way_to_do(item: DueItem, *, people: bool = True) -> str:
    """Return the command for a due item. Without `people`, registering a person comes first."""
    protocol = item.id.partition("/")[0]
    command = _WAYS.get(protocol, _as_hinted)(item) or _way_without_hint(item)
    first = _REGISTER if item.what == "decide" and not people else ""
    return first + command


def _as_hinted(item: DueItem) -> str:
    return item.hint


def _way_in_decision(item: DueItem) -> str:
    again = f"moot ask --resume {item.id.partition('/')[2]}"
    return item.hint or (again if item.what == "answer" else "")


def _way_in_parliament(item: DueItem) -> str:
    if item.hint.startswith("moot ") and " DIR " not in item.hint:  # its folder is known
        return _PARTS.get(item.who, "") + item.hint
    command = f"{_PARTS.get(item.who, '')}moot parliament {WAYS.get(item.what, 'next DIR')}"
    remark = f"{item.hint}; " if item.hint and not item.hint.startswith("moot ") else ""
    return f"{command} ({remark}DIR is the session's folder)"


_WAYS: Final[dict[str, Callable[[DueItem], str]]] = {
    "decision": _way_in_decision,
    "parliament": _way_in_parliament,
}


def _way_without_hint(item: DueItem) -> str:
    if item.by is not None:
        return "the next command that writes there does it, or `moot tick`"
    return f"`moot ledger log {item.id}` shows what it is about"


def decide_ways(folder: Path | str) -> str:
    """Return the command by which the prime minister decides, and its variants."""
    others = "or veto --guidance TEXT, or amend_and_approve --text FILE"
    return f'decide {shlex.quote(str(folder))} approve --reason "..." ({others})'


_ASK: Final = 'ask DIR SEAT "..." --from SEAT'

WAYS: Final = {
    "make an opening statement": 'statement DIR --approach "..." --principle "..." --from SEAT',
    "choose the drafter": "drafter DIR",
    "choose another drafter": "drafter DIR",
    "draft the bill": 'draft DIR --title "..." --problem "..." --solution "..." --from SEAT',
    "answer": 'answer DIR "..." --score MOTIVE=N --from SEAT',
    "ask": _ASK,
    "be heard": _ASK,
    "speak": _ASK,
    "start the round": "rule DIR round_start",
    "start a round or call a vote": "rule DIR round_start (or call_vote)",
    "give the floor or end the round": "rule DIR next_speaker --target SEAT (or round_end)",
    "call a vote or end the round": "rule DIR call_vote (or round_end)",
    "call the vote": "rule DIR call_vote",
    "rule on a motion": "rule DIR progress_note --target SEAT (or call_vote, round_end, redirect)",
    "incorporate": "incorporate DIR AMENDMENT",
    "vote": 'vote DIR YES --reason "..." --from SEAT (or NO, with --condition "...")',
    "count the votes": "tally DIR",
    "decide": decide_ways("DIR"),
    "write the final document": "final DIR",
}
