"""`moot debate check` to `report`: the commands that only read the file. Needs no workspace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from moot.api.debates import reading
from moot.api.debates.reading import ConsensusView, EntryView, explain_tally
from moot.surfaces.cli.debate import lines
from moot.surfaces.cli.debate.lines import read_share
from moot.surfaces.terminal.answer import DONE, REFUSED, Answer, finding_line, paint, visible
from moot.surfaces.terminal.derive import derive
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.page import page_option
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.pages import Report


_AFTER_DEADLOCK = {
    "human": "waits for its operator: `moot debate close FILE --reason ...` says what is decided",
    "default-action": "`moot debate tick FILE` applies the default action",
    "timeout-skip": "the policy timeout-skip has no turn left to skip; begin a new session",
}


@derive("debate.check", reading.check, """
    FILE:path
    --strict-uuid  Ids must be UUIDs of version 4.
    --lenient      Agents may have other names than the schema's.
""", exits=lambda checked: DONE if checked.valid else REFUSED)  # fmt: skip
def check(checked: reading.CheckView, file: Path) -> Iterator[str]:
    """Check a session file against every rule of the protocol.

    Exit 1 if it has errors; warnings and notes are shown and leave it valid. In a workspace a
    second file with the same session id is reported too.

    Examples:
      moot debate check api-design.md
      moot debate check api-design.md --strict-uuid --json
    """
    word = paint("valid", "green") if checked.valid else paint("invalid", "red")
    yield f"{file}: {word}, {lines.count_entries(checked.entries)}"
    yield from map(finding_line, checked.findings)


@derive("debate.status", reading.status, "FILE:path")
def status(standing: reading.StatusWithLiveness, file: Path) -> Iterator[str]:
    """Show a session: whose turn it is, until when, each position, how it ended.

    In a workspace it also shows whether the agents whose turn it is are active.

    Examples:
      moot debate status api-design.md
    """
    yield f"{paint(visible(standing.title), 'bold')}: {lines.STATES[standing.state]}"
    if standing.ended_at_round:
        yield f"ended in round {standing.ended_at_round}"
        if standing.deadlock_policy is not None:
            yield _AFTER_DEADLOCK[standing.deadlock_policy].replace("FILE", quote(str(file)))
    elif standing.open_entry:
        yield f"{standing.open_entry.author} is writing; time until {standing.deadline}"
    else:
        names = [_with_liveness(name, standing.liveness) for name in standing.may_speak]
        who = ", ".join(names) or "nobody until the operator acts"
        late = ", which has passed" if standing.timed_out else ""
        yield f"round {standing.round} turn {standing.turn}: {who}, until {standing.deadline}{late}"
    yield from _positions(standing.entries)
    yield from map(finding_line, standing.findings)
    yield _verdict(standing.consensus)


@derive("debate.consensus", reading.consensus, f"""
    FILE:path
    --round 1.. = round_number  Another round.
    --mode {"|".join(reading.ConsensusMode)}  As if the session had this mode.
    --threshold NUMBER          As if the session had this threshold.
    --defer-in-denominator/--defer-left-out  As if agents who defer counted as not approving, or \
        did not count.
""", types={"threshold": read_share})  # fmt: skip
def consensus(result: reading.ConsensusView, file: Path) -> Iterator[str]:
    """Say whether a round agrees, and how surely; recompute it under any other rule.

    Examples:
      moot debate consensus api-design.md
      moot debate consensus api-design.md --round 1 --mode weighted --threshold 0.6
      moot debate consensus api-design.md --defer-in-denominator
    """
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


@derive("debate.compare", reading.compare, """
    OLD:path
    NEW:path
""", exits=lambda compared: DONE if compared.append_only else REFUSED)  # fmt: skip
def compare(compared: reading.Comparison, old: Path, new: Path) -> Iterator[str]:
    """Check that NEW is OLD with something appended: nothing changed, removed or inserted.

    Examples:
      moot debate compare yesterday.md api-design.md
    """
    if compared.append_only:
        yield f"{paint('ok', 'green')}: {new} is {old} with nothing changed, at most appended to"
    yield from map(finding_line, compared.findings)


@derive("debate.summary", reading.summary, "FILE:path")
def summary(short: reading.Summary) -> Iterable[str]:
    """Print a session in short, as markdown: the verdict, the positions, who said what.

    Examples:
      moot debate summary api-design.md
    """
    return short.markdown.splitlines()


@command(None, "report", "debate.report")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@page_option
def report(shell: Shell, file: Path, output: Path | None) -> Answer:
    """Report on a debate: each position, who changed it and after what, every dissent in full.

    Also shows the result under other rules. Without -o it is printed as markdown.

    Examples:
      moot debate report api-design.md
      moot debate report api-design.md -o api-design.html
    """
    from moot.pages import to_markdown

    pages: list[Report] = []
    made = reading.report(shell.session, file, output=output, receive=pages.append)
    if output is not None:
        return Answer(made, lambda: [f"{output}: {pages[0].verdict.label}"])
    return Answer(made, lambda: to_markdown(pages[0]).splitlines())


def _with_liveness(name: str, liveness: dict[str, str]) -> str:
    """Return the name, with its liveness unless it is active (XPR-07)."""
    how = liveness.get(name, "active")
    return name if how == "active" else f"{name} ({paint(how, 'yellow')})"


def _positions(entries: Sequence[EntryView]) -> Iterable[str]:
    if entries:
        rows = [
            (f"{row.round}.{row.turn}", row.author, row.stance or "-", _sure(row), row.summary)
            for row in entries
        ]
        yield from listing(rows, ("TURN", "AUTHOR", "STANCE", "SURE", "IN SHORT"))


def _sure(entry: EntryView) -> str:
    return "-" if entry.confidence is None else f"{entry.confidence:g}"


def _verdict(result: ConsensusView) -> str:
    where = f"round {result.round}" if result.round else "no round yet"
    kind = ", still running" if result.provisional and result.round else ""
    outcome = paint(result.outcome.value, "green" if result.reached else "yellow")
    return f"{outcome}: {explain_tally(result)} ({where}{kind})"
