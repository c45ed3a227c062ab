"""`moot log`, also `moot ledger log`: what is on record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import click
import msgspec

from moot.api import ledger
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command


@click.argument("name", metavar="[ID]", required=False)
@click.option(
    "--limit",
    type=click.IntRange(0),
    default=100,
    show_default=True,
    help="Only the newest so many; 0 for all.",
)
@click.option("--type", "kind", metavar="TYPE", help="Only events of this type.")
def show_log(shell: Shell, name: str | None, limit: int, kind: str | None) -> Answer:
    """What is on record: a list of all debates, threads, lists, ..., or the events of one.

    Events are shown oldest first; the newest stands at the end.

    Examples:
      moot log
      moot log presence
      moot ledger log registry --type registry.key_added --limit 5
    """
    shown = ledger.log(shell.session, name, limit=limit, kind=kind)
    if isinstance(shown, ledger.StreamList):
        return Answer(shown, lambda: _stream_lines(shown))
    return Answer(shown, lambda: _event_lines(shown, kind))


# The same command under two names.
log = command(None, "log", "log")(show_log)
ledger_log = command(None, "log", "ledger.log")(show_log)


def _stream_lines(shown: ledger.StreamList) -> Iterable[str]:
    rows = [(line.id, str(line.events), line.last_at or "") for line in shown.streams]
    yield from _left_out(shown.total - len(rows))
    yield from listing(rows, ("ID", "EVENTS", "LAST"))


def _event_lines(shown: ledger.EventList, kind: str | None) -> Iterable[str]:
    yield from _left_out(shown.total - len(shown.events) if kind is None else 0)
    if not shown.events:
        yield "no such events"
        return
    rows = [
        (
            str(event.seq),
            event.at or "",
            event.actor or "",
            event.type or "unreadable",
            event.unreadable or " ".join((*_mark(event), *_pairs(event.data))),
        )
        for event in shown.events
    ]
    yield from listing(rows, ("#", "AT", "BY", "TYPE", "WHAT"))


def _mark(event: ledger.LogEvent) -> Iterator[str]:
    if event.withdrawn is not msgspec.UNSET:
        yield f"[{event.withdrawn}]"


def _pairs(data: dict[str, Any] | msgspec.UnsetType) -> Iterator[str]:
    for key, value in (data or {}).items():
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        if value is not None:
            yield f"{key}={text}"


def _left_out(count: int) -> Iterator[str]:
    if count > 0:
        yield f"… {count} earlier; `--limit 0` shows all"
