"""What `moot debate` says to a person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import msgspec

from moot.core.findings import Finding
from moot.core.plural import plural
from moot.flows.debate.outcome import decided_by
from moot.surfaces.terminal.answer import finding_line, paint, table, visible
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.verdict import plain

if TYPE_CHECKING:
    from moot.protocols.debate.checker import CheckedSession
    from moot.protocols.debate.views import ConsensusView, EntryView, StatusWithLiveness

MOST_SAID = 160
_WORDS = {
    "not-started": "not started",
    "active": "going on",
    "entry-open": "an entry is being written",
    "waiting-human": "timed out; waits for its operator",
    "ended:consensus": "ended by consensus",
    "ended:deadlock": "ended in deadlock: everyone deferred",
    "ended:max-rounds": "ended after the last round",
    "ended:closed-by-operator": "closed by its operator",
}


def check(file: Path, checked: CheckedSession) -> Iterable[str]:
    word = paint("valid", "green") if checked.valid else paint("invalid", "red")
    yield f"{file}: {word}, {_entries(checked.entry_count)}"
    yield from map(finding_line, checked.findings)


def _entries(count: int) -> str:
    return plural(count, "entry", "entries")


def status(data: StatusWithLiveness) -> Iterable[str]:
    yield f"{paint(visible(data.title), 'bold')}: {_WORDS[data.state]}"
    if data.ended_at_round:
        yield f"ended in round {data.ended_at_round}"
    elif data.open_entry:
        yield f"{data.open_entry.author} is writing; time until {data.deadline}"
    else:
        names = [_with_liveness(name, data.liveness) for name in data.may_speak]
        who = ", ".join(names) or "nobody until the operator acts"
        late = ", which has passed" if data.timed_out else ""
        yield f"round {data.round} turn {data.turn}: {who}, until {data.deadline}{late}"
    yield from _positions(data.entries)
    yield _verdict(data.consensus)


def _with_liveness(name: str, liveness: dict[str, str]) -> str:
    """XPR-07: a name, and how alive it is unless it is active."""
    how = liveness.get(name, "active")
    return name if how == "active" else f"{name} ({paint(how, 'yellow')})"


def _positions(entries: Sequence[EntryView]) -> Iterable[str]:
    if entries:
        rows = [
            (f"{one.round}.{one.turn}", one.author, one.stance or "-", _sure(one), one.summary)
            for one in entries
        ]
        yield from listing(rows, ("TURN", "AUTHOR", "STANCE", "SURE", "IN SHORT"))


def in_short(text: str) -> str:
    """As much of it as a line can bear; the file has all of it."""
    return text if len(text) <= MOST_SAID else f"{text[: MOST_SAID - 1]}…"


def _sure(entry: EntryView) -> str:
    return "-" if entry.confidence is None else f"{entry.confidence:g}"


def _verdict(result: ConsensusView) -> str:
    where = f"round {result.round}" if result.round else "no round yet"
    kind = ", still running" if result.provisional and result.round else ""
    outcome = paint(result.outcome.value, "green" if result.reached else "yellow")
    return f"{outcome}: {decided_by(result)} ({where}{kind})"


def consensus(result: ConsensusView, file: Path) -> Iterable[str]:
    yield _verdict(result)
    for side in ("approvers", "rejecters", "neutral", "deferred", "missing"):
        if names := getattr(result, side):
            yield f"  {side}: {', '.join(names)}"
    if result.deferred and result.defer_in_denominator:
        yield "  those who deferred are counted as not approving"
    elif result.deferred:
        score = result.score_all_agents
        yield f"  with those who deferred counted: {'none' if score is None else f'{score:.4g}'}"
    if result.blocked:
        yield visible(f"  the file has errors: `moot debate check {quote(str(file))}`")
    yield from (f"  {finding.severity}: {finding.message}" for finding in result.findings)


def compared(old: Path, new: Path, found: Sequence[Finding]) -> Iterable[str]:
    if not found:
        yield f"{paint('ok', 'green')}: {new} is {old} with nothing changed, at most appended to"
    yield from map(finding_line, found)


def made(data: dict[str, Any]) -> Iterable[str]:
    first = data["agents"][0]
    yield f"{data['file']}: a session of {', '.join(data['agents'])}"
    if len(data["agents"]) == 1:
        yield "  note: one alone can only agree with itself; --agents A,B makes it a debate"
    yield f"  {paint('next:', 'bold')} moot debate add {data['file']} --author {first} --stance ..."


_RECORDED = {"signed": ", and signed it", "observed": "; recorded as observed", None: ""}


def added(data: dict[str, Any]) -> Iterable[str]:
    how = "; it stood there already" if data["again"] else _RECORDED[data["recorded"]]
    yield f"round {data['round']} turn {data['turn']}: {data['author']} has spoken{how}"
    yield f"{_WORDS[data['state']]}" + (f"; next: {data['next']}" if data["next"] else "")
    for finding in data["findings"]:
        yield f"  {finding['severity']} {finding['rule']}: {finding['message']}"


def moved(data: dict[str, Any], done: str = "written") -> Iterable[str]:
    yield f"{_entries(len(data['entries']))} {done}; {_WORDS[data['state']]}"
    if data["next"]:
        yield f"next: {data['next']}, until {data['deadline']}"


def verified(file: Path, data: dict[str, Any]) -> Iterable[str]:
    """One line that says it, what it rests on, and where it does not hold."""
    word, colour = _VERDICTS.get(data["verdict"], (data["verdict"].upper(), "red"))
    yield f"{paint(word, colour)}: {file}: {data['integrity']}"
    rows = [(name, plain(str(data[name]))) for name in ("authenticity", "completeness", "custody")]
    yield from table(rows)
    for found in data["findings"]:
        yield finding_line(msgspec.convert({**found, "hint": found["hint"] or ""}, Finding))


_VERDICTS = {
    "valid": ("INTACT", "green"),
    "unproven": ("UNPROVEN", "yellow"),
    "truncated": ("CUT SHORT", "red"),
    "tampered": ("CHANGED", "red"),
}


def heard(entry: EntryView) -> str:
    place, stance = f"{entry.round}.{entry.turn}", entry.stance or "-"
    return visible(f"{place}  {entry.author}  {stance}  {_sure(entry)}  {in_short(entry.summary)}")


def watched(data: dict[str, Any]) -> Iterable[str]:
    yield _WORDS[data["state"]] + (f"; next: {data['next']}" if data["next"] else "")
