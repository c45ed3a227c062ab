"""`moot agenda` and `moot tick`: what is due, for whom, by when; and what happens when it is late.

What is due comes from the library; how it is done is a command to type, which is said here.
"""

from __future__ import annotations

from collections.abc import Iterable

import click
import msgspec

from moot.api import agenda as dues
from moot.surfaces.cli.presence.due_ways import way_to_do
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command


@command(None, "agenda", "agenda")
@click.option("--agent", metavar="NAME", help="Only what waits for NAME (default: whoever acts).")
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="If nothing is due, wait up to so long until something is.",
)
def agenda(shell: Shell, agent: str | None, wait: float | None) -> Answer:
    """What is due, for whom, and by when.

    Examples:
      moot agenda
      moot agenda --agent amber-otter --wait 300 --json
    """
    found = dues.agenda(shell.session, agent, wait_seconds=wait or 0.0)
    items = with_ways(shell, found.due)
    return Answer(dues.Agenda(items), lambda: due_lines(items))


@command(None, "tick", "tick")
@click.argument("name", metavar="[ID]", required=False)
def tick(shell: Shell, name: str | None) -> Answer:
    """Let every time limit that has passed take effect now, on ID or on everything that is open.

    Examples:
      moot tick
    """
    done = dues.tick(shell.session, name)
    rows = [(limit.id, str(limit.seq), limit.type) for limit in done.applied]
    head = ("ID", "EVENT", "TYPE")
    return Answer(done, lambda: listing(rows, head) if rows else ["nothing was due"])


def with_ways(shell: Shell, items: Iterable[dues.DueItem]) -> tuple[dues.DueItem, ...]:
    """The same, each with the command that does it."""
    items = tuple(items)
    people = not items or shell.session.has_people()
    return tuple(msgspec.structs.replace(one, hint=way_to_do(one, people=people)) for one in items)


_HEAD = ("WHO", "WHAT", "SUBJECT", "BY", "ID")


def due_lines(items: tuple[dues.DueItem, ...]) -> Iterable[str]:
    if not items:
        return ["nothing is due"]
    rows = [(item.who, item.what, item.subject, _limit(item), item.id) for item in items]
    return [*listing(rows, _HEAD, {"overdue": "red"}), "how:", *_way_lines(items)]


def _way_lines(items: Iterable[dues.DueItem]) -> Iterable[str]:
    """Below the table, for a command is copied and never cut: each once, with all whose it is."""
    whose: dict[str, dict[str, None]] = {}
    for item in items:
        whose.setdefault(item.hint, {})[item.who] = None
    return [visible(f"  {', '.join(names)}: {hint}") for hint, names in whose.items()]


def _limit(item: dues.DueItem) -> str:
    text = item.by or "-"
    return f"{text} overdue" if item.overdue else text
