"""`moot ledger log`: what is on record."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click
import msgspec

from moot.core.errors import Malformed, NotFound
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.core.ledger import View
    from moot.core.record import Record


@command(None, "log", "ledger.log")
@click.argument("name", metavar="[ID]", required=False)
@click.option(
    "--limit",
    type=click.IntRange(0),
    default=100,
    show_default=True,
    help="Only the newest so many; 0 for all.",
)
@click.option("--type", "kind", metavar="TYPE", help="Only events of this type.")
def log(shell: Shell, name: str | None, limit: int, kind: str | None) -> Answer:
    """What is on record: a list of all debates, threads, lists, ..., or the events of one.

    Events are shown oldest first; the newest stands at the end.

    Examples:
      moot ledger log
      moot ledger log registry
      moot ledger log registry --type registry.key_added --limit 5
    """
    with shell.workspace.store.read() as view:
        if name is None:
            return _names(view, limit)
        return _events(view, name, limit, kind)


def _names(view: View, limit: int) -> Answer:
    heads = list(view.streams())
    shown = heads[-limit:] if limit else heads
    items = [
        {"id": name, "events": head.seq + 1, "last_at": _last_at(view, name, head.seq)}
        for name, head in shown
    ]
    rows = [(item["id"], str(item["events"]), item["last_at"] or "") for item in items]
    left = len(heads) - len(items)
    data = {"streams": items, "total": len(heads)}
    return Answer(data, lambda: [*_left(left), *listing(rows, ("ID", "EVENTS", "LAST"))])


def _last_at(view: View, name: str, seq: int) -> Any:
    record = next(view.records(name, after=seq - 1), None)
    return None if record is None else _shown(record)["at"]


def _events(view: View, name: str, limit: int, kind: str | None) -> Answer:
    head = view.head(name)
    if head is None:
        raise NotFound("not_found", f"no record of {name}", hint="`moot ledger log` lists all")
    events = [_shown(record) for record in _chosen(view, name, head.seq, limit, kind)]
    data = {"id": name, "events": events, "total": head.seq + 1}
    left = head.seq + 1 - len(events) if kind is None else 0
    return Answer(data, lambda: [*_left(left), *_lines(events)])


def _chosen(view: View, name: str, last: int, limit: int, kind: str | None) -> Iterable[Record]:
    if kind is None:
        return view.records(name, after=last - limit if limit else -1)
    found = (record for record in view.records(name) if _shown(record)["type"] == kind)
    return deque(found, maxlen=limit) if limit else found


def _shown(record: Record) -> dict[str, Any]:
    """A damaged event is shown as such: a log must not hide what is there."""
    base = {"seq": record.seq, "hash": record.hash.hex(), "kid": record.kid}
    try:
        body = record.body
    except Malformed as error:
        return {**base, "at": None, "type": None, "actor": None, "unreadable": str(error)}
    return {
        **base,
        "at": body.at,
        "type": body.type,
        "actor": body.actor.id,
        "role": body.actor.role,
        "cause": body.cause,
        "corr": body.corr,
        "data": body.data,
        "artifacts": msgspec.to_builtins(body.artifacts),
    }


def _lines(events: list[dict[str, Any]]) -> Iterable[str]:
    if not events:
        return ["no such events"]
    rows = [
        (
            str(event["seq"]),
            event["at"] or "",
            event["actor"] or "",
            event["type"] or "unreadable",
            event.get("unreadable") or " ".join(_pairs(event["data"])),
        )
        for event in events
    ]
    return listing(rows, ("#", "AT", "BY", "TYPE", "WHAT"))


def _pairs(data: dict[str, Any]) -> Iterator[str]:
    for key, value in data.items():
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        if value is not None:
            yield f"{key}={text}"


def _left(count: int) -> Iterator[str]:
    if count > 0:
        yield f"… {count} earlier; `--limit 0` shows all"
