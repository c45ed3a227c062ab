"""What `moot debate` says to a person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import msgspec

from moot.core.findings import Finding
from moot.core.plural import plural
from moot.surfaces.terminal.answer import finding_line, paint, table, visible
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.verdict import plain

if TYPE_CHECKING:
    from moot.api.debates.proof import DebateVerdict, WatchedDebate
    from moot.api.debates.reading import (
        CheckView,
        Comparison,
        ConsensusView,
        EntryView,
        StatusWithLiveness,
    )
    from moot.api.debates.writing import AddedEntry, DebateProgress, NewDebate

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


_AFTER_DEADLOCK = {
    "human": "waits for its operator: `moot debate close FILE --reason ...` says what is decided",
    "default-action": "`moot debate tick FILE` applies the default action",
    "timeout-skip": "the policy timeout-skip has no turn left to skip; begin a new session",
}


def check(file: Path, checked: CheckView) -> Iterable[str]:
    word = paint("valid", "green") if checked.valid else paint("invalid", "red")
    yield f"{file}: {word}, {_entries(checked.entries)}"
    yield from map(finding_line, checked.findings)


def _entries(count: int) -> str:
    return plural(count, "entry", "entries")


def status(data: StatusWithLiveness, file: Path) -> Iterable[str]:
    yield f"{paint(visible(data.title), 'bold')}: {_WORDS[data.state]}"
    if data.ended_at_round:
        yield f"ended in round {data.ended_at_round}"
        if data.deadlock_policy is not None:
            yield _AFTER_DEADLOCK[data.deadlock_policy].replace("FILE", quote(str(file)))
    elif data.open_entry:
        yield f"{data.open_entry.author} is writing; time until {data.deadline}"
    else:
        names = [_with_liveness(name, data.liveness) for name in data.may_speak]
        who = ", ".join(names) or "nobody until the operator acts"
        late = ", which has passed" if data.timed_out else ""
        yield f"round {data.round} turn {data.turn}: {who}, until {data.deadline}{late}"
    yield from _positions(data.entries)
    yield from map(finding_line, data.findings)
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
    from moot.api.debates.reading import explain_tally

    where = f"round {result.round}" if result.round else "no round yet"
    kind = ", still running" if result.provisional and result.round else ""
    outcome = paint(result.outcome.value, "green" if result.reached else "yellow")
    return f"{outcome}: {explain_tally(result)} ({where}{kind})"


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


def compared(old: Path, new: Path, comparison: Comparison) -> Iterable[str]:
    if comparison.append_only:
        yield f"{paint('ok', 'green')}: {new} is {old} with nothing changed, at most appended to"
    yield from map(finding_line, comparison.findings)


def made(debate: NewDebate) -> Iterable[str]:
    first = debate.agents[0]
    yield f"{debate.file}: a session of {', '.join(debate.agents)}"
    if len(debate.agents) == 1:
        yield "  note: one alone can only agree with itself; --agents A,B makes it a debate"
    yield from (f"  {one.severity}: {one.message}; {one.hint}" for one in debate.findings)
    if debate.escalation == "human":
        time, file = _seconds(debate.turn_timeout), quote(debate.file)
        yield f"  note: after {time} without an entry the session waits for its operator"
        yield f"  (`moot debate resume {file} --late`); --turn-timeout sets it, people get a day"
    yield f"  {paint('next:', 'bold')} moot debate add {debate.file} --author {first} --stance ..."


def _seconds(count: int) -> str:
    """A time limit in words: `a day`, `5 minutes`, `90 seconds`."""
    if count == 86_400:
        return "a day"
    return plural(count // 60, "minute") if count % 60 == 0 else plural(count, "second")


_RECORDED = {"signed": ", and signed it", "observed": "; recorded as observed", None: ""}


def added(entry: AddedEntry) -> Iterable[str]:
    how = "; it stood there already" if entry.again else _RECORDED[entry.recorded]
    yield f"round {entry.round} turn {entry.turn}: {entry.author} has spoken{how}"
    yield f"{_WORDS[entry.state]}" + (f"; next: {entry.next}" if entry.next else "")
    for finding in entry.findings:
        yield f"  {finding.severity} {finding.rule}: {finding.message} ({finding.hint})"


def moved(progress: DebateProgress, done: str = "written") -> Iterable[str]:
    yield f"{_entries(len(progress.entries))} {done}; {_WORDS[progress.state]}"
    if progress.next:
        yield f"next: {progress.next}, until {progress.deadline}"


def verified(file: Path, verdict: DebateVerdict) -> Iterable[str]:
    """One line that says it, what it rests on, and where it does not hold."""
    word, colour = _VERDICTS.get(verdict.verdict, (verdict.verdict.upper(), "red"))
    yield f"{paint(word, colour)}: {file}: {verdict.integrity}"
    rows = [
        (name, plain(getattr(verdict, name)))
        for name in ("authenticity", "completeness", "custody")
    ]
    yield from table(rows)
    for finding in verdict.findings:
        yield finding_line(msgspec.convert({**finding, "hint": finding["hint"] or ""}, Finding))


_VERDICTS = {
    "valid": ("INTACT", "green"),
    "unproven": ("UNPROVEN", "yellow"),
    "truncated": ("CUT SHORT", "red"),
    "tampered": ("CHANGED", "red"),
}


def watched(debate: WatchedDebate) -> Iterable[str]:
    yield _WORDS[debate.state] + (f"; next: {debate.next}" if debate.next else "")


def restored(file: str, lost: str) -> str:
    """What had become of a file that was put back from its record."""
    return f"{file} was {lost.replace('-', ' ')}: it was put back from the record"


def standing(after: dict[str, Any]) -> str:
    """Where a session stands after a run, in one line."""
    score = "no score" if after["score"] is None else f"score {after['score']:.2f}"
    sides = ", ".join(
        f"{name}: {', '.join(after[key])}"
        for key, name in (("approvers", "approve"), ("rejecters", "reject"), ("neutral", "neutral"))
        if after[key]
    )
    return f"round {after['round']}, {after['state']}, {score}{f' ({sides})' if sides else ''}"
