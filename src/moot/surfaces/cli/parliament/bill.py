"""The bill of a parliament and its four files: from drafters to the final document."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from moot.api.parliaments import bills, files
from moot.core.findings import select_errors
from moot.core.text import plural
from moot.surfaces.cli.parliament.session import lines_with_remarks
from moot.surfaces.terminal.answer import DONE, REFUSED, finding_line, visible
from moot.surfaces.terminal.derive import Values, derive
from moot.surfaces.terminal.shell import Shell


@derive("parliament.drafter", bills.choose_drafter, """
    DIR = folder
    [SEAT]
""")  # fmt: skip
def drafter(chosen: bills.ChosenDrafter) -> Iterable[str]:
    """Choose who drafts the bill: SEAT, else the one whose motives cover most issues.

    Examples:
      moot parliament drafter uploads
      moot parliament drafter uploads rep_2
    """
    lines = [f"{chosen.drafter} drafts the bill"]
    return lines_with_remarks(lines, chosen.findings)


def _without_empty(_shell: Shell, values: Values) -> Values:
    return {**values, "draft": values["draft"] or None}


@derive("parliament.incorporate", bills.incorporate, """
    DIR = folder
    AMENDMENT
    --text FILE|- = draft  For a modification: the new bill as JSON.
""", prepare=_without_empty)  # fmt: skip
def incorporate(done: bills.IncorporatedAmendment, amendment: str) -> Iterable[str]:
    """Add an amendment that has enough support to the bill, as its next version.

    Moot applies an addition, a replacement or a removal exactly; for a modification the drafter
    provides the new wording: a JSON object with the changed title, summary or sections.

    Examples:
      moot parliament incorporate uploads amend-001
      moot parliament incorporate uploads amend-002 --text new-wording.json
    """
    lines = [f"{amendment} is in the bill, version {done.bill_version}", *done.changes]
    return lines_with_remarks(lines, done.findings)


@derive("parliament.withdraw", bills.withdraw, """
    DIR = folder
    AMENDMENT
""")  # fmt: skip
def withdraw(done: bills.WithdrawnAmendment, amendment: str) -> Iterable[str]:
    """Withdraw an amendment; only its proposer may.

    Examples:
      moot parliament withdraw uploads amend-001
      moot --as rep_5 parliament withdraw uploads amend-002
    """
    lines = [f"{amendment} is withdrawn"]
    return lines_with_remarks(lines, done.findings)


@derive("parliament.conclude", bills.conclude, """
    DIR = folder
    AMENDMENT
    --vote  Call for everyone's position instead.
""")  # fmt: skip
def conclude(done: bills.ConcludedAmendment, amendment: str, vote: bool) -> Iterable[str]:
    """End the discussion of an amendment: it is rejected if more seats oppose than endorse it.

    Examples:
      moot parliament conclude uploads amend-001
      moot parliament conclude uploads amend-001 --vote
    """
    result = f"{amendment} is {done.amendment_status}"
    lines = [f"{amendment}: a vote is called" if vote else result]
    return lines_with_remarks(lines, done.findings)


@derive("parliament.tally", bills.tally, """
    DIR = folder
    --close  Do not wait for missing votes.
""")  # fmt: skip
def tally(counted: bills.CountedVotes) -> Iterable[str]:
    """Count the votes and announce the result.

    Examples:
      moot parliament tally uploads
      moot parliament tally uploads --close
    """
    return lines_with_remarks(_tally_lines(counted), counted.findings)


def _tally_lines(counted: bills.CountedVotes) -> Iterable[str]:
    tally, votes = counted.tally, counted.tally.tally
    result = "passed" if tally.passed else "failed"
    count = f"{votes.yes} yes, {votes.no} no of {votes.total} seats"
    yield f"version {tally.bill_version} {result}: {count}"
    yield from (f"{objection.sender}: {objection.concern}" for objection in tally.key_objections)
    yield f"next: {tally.next_action.replace('_', ' ')}"


@derive("parliament.decide", bills.decide, """
    DIR = folder
    approve|veto|amend_and_approve|opening_guidance = decision
    --reason TEXT          Why; kept on record.
    --guidance TEXT        What should change.
    --text FILE|- = draft  The amended bill as JSON.
    --extend-rounds N      With a veto: grant N more rounds.
    --sha256 HASH          Rule only if the bill that waits has this hash.
""", prepare=_without_empty)  # fmt: skip
def decide(ruling: bills.RecordedRuling) -> Iterable[str]:
    """Rule on the bill as the prime minister, with a person's key.

    A veto and opening guidance need --guidance; amend_and_approve needs --text: a JSON object
    with the changed title, summary or sections. If the session belongs to a decision, this is the
    same ruling as by `moot decide`: Moot records it in both, or in neither.

    Examples:
      moot parliament decide uploads approve --reason "It does what we need."
      moot parliament decide uploads veto --reason "Old clients break." --guidance "Say how."
    """
    return lines_with_remarks(_ruling_lines(ruling), ruling.findings)


def _ruling_lines(ruling: bills.RecordedRuling) -> Iterable[str]:
    """Who decided what, and the question of each decision, else the session's problem."""
    shorten = bills.shorten_question
    yield f"{ruling.decision} by {ruling.by}: {ruling.status}, in {ruling.parliament_id}"
    for argued in ruling.about:
        yield f"{argued.decision}: {shorten(argued.question)}"
    if not ruling.about:
        yield shorten(ruling.problem)


@derive("parliament.history", bills.history, "DIR = folder")
def history(shown: bills.BillHistory) -> Iterable[str]:
    """List every version of the bill: its author, and what it changed.

    Examples:
      moot parliament history uploads
    """
    if not shown.versions:
        yield "no bill yet"
    for row in shown.versions:
        yield visible(f"version {row.version} by {row.by}, round {row.round}: {row.title}")
        yield from (f"  {visible(line)}" for line in row.changes)


@derive("parliament.check", files.check, """
    DIR = folder
    --since OLD_DIR  Earlier files: every message in them must still be there.
""", exits=lambda checked: DONE if checked.valid else REFUSED)  # fmt: skip
def check(checked: files.CheckedFiles) -> Iterator[str]:
    """Check the four files: every field, reference and tally, and every round's summary.

    Needs no workspace; in one that knows the session, every message must also match the record.
    Elsewhere it checks no signatures: that is what `moot verify` is for.

    Examples:
      moot parliament check uploads
      moot parliament check uploads --since yesterday/uploads --json
    """
    yield from map(finding_line, checked.findings)
    yield (
        "the files are sound" if checked.valid else f"{len(select_errors(checked.findings))} errors"
    )


def _read_binding(text: str) -> tuple[str, str]:
    seat, sign, agent = text.partition("=")
    if not sign:
        raise click.BadParameter(f"{text!r} is not SEAT=AGENT")
    return seat.strip(), agent.strip()


@derive("parliament.import", files.import_files, """
    DIR = folder
    --bind SEAT=AGENT = agents  AGENT signs for SEAT from now on; repeatable.
    --id ID = parliament_id     Use this id instead of the one in the files.
""", prepare=lambda _shell, values: {
    **values, "agents": dict(map(_read_binding, values["agents"]))
})  # fmt: skip
def import_files(imported: files.ImportedSession) -> Iterator[str]:
    """Continue a session from another ledger, from its four files.

    They must be valid, and their content must follow from their messages. The clerk signs what
    was imported, and every document of the session says so. Moot puts the files aside and replaces
    them by its own if the form differs.

    Examples:
      moot parliament import uploads
      moot parliament import uploads --bind rep_1=amber-otter
      moot parliament import uploads --id parl-20260210-007
    """
    messages = plural(imported.messages, "message")
    yield f"{imported.parliament_id} continues here: {imported.status}, {messages}"
    yield from (f"put aside: {name}" for name in imported.put_aside)


@derive("parliament.export", files.export, """
    DIR = folder
    --id ID = parliament_id  Export this session into the new folder DIR.
""")  # fmt: skip
def export(exported: files.ExportedFiles, folder: Path) -> Iterator[str]:
    """Write the four files again from the record; a changed file is put aside, not lost.

    Examples:
      moot parliament export uploads
      moot parliament export copy --id parl-20260210-001
    """
    yield from (f"put aside: {name}" for name in exported.put_aside)
    yield f"{visible(str(folder))} matches the record"


@derive("parliament.context", files.context, """
    DIR = folder
    --seat SEAT  Also show what this seat must know about itself.
""")  # fmt: skip
def context(given: files.TurnContext) -> Iterator[str]:
    """Show what a participant gets to read: recent rounds in full, older ones as summaries.

    Examples:
      moot parliament context uploads --seat rep_2 --json
    """
    session = given.session
    yield f"{session.parliament_id}: {session.status}, round {session.current_round}"
    for row in given.round_summaries:
        yield visible(f"round {row['round']}: {row['summary']}")
    for message in [*given.opening_statements, *given.messages]:
        yield visible(f"{message.id} {message.sender}: {message.type}")
    if own := given.you:
        yield visible(f"you are {own.name} ({own.archetype}): {', '.join(own.motives)}")
        yield f"answer in at most {own.response_budget} sentences"


@derive("parliament.summarize", files.summarize, """
    DIR = folder
    SUMMARY.json|- = summary(file)
""")  # fmt: skip
def summarize(renewed: files.RenewedSummary) -> Iterable[str]:
    """Replace the summary of a round that has ended.

    Examples:
      moot parliament summarize uploads round-1.json
    """
    lines = [f"round {renewed.summary['round']} has a new summary"]
    return lines_with_remarks(lines, renewed.findings)


@derive("parliament.final", files.final, """
    DIR = folder
    -o PAGE = file
""")  # fmt: skip
def final(final: files.FinalDocument, folder: Path) -> Iterator[str]:
    """Write the final document and close the session, once it is decided.

    DIR/final-bill.md has the bill, its history, every dissent and every vote; -o FILE.html is the
    same as one page, also while the session still runs.

    Examples:
      moot parliament final uploads
      moot parliament final uploads -o uploads.html
    """
    yield from (f"put aside: {name}" for name in final.put_aside)
    if not final.decided:
        command = f"moot parliament next {visible(shlex.quote(str(folder)))}"
        yield f"not decided: it is in {final.status}; `{command}` says what is due"
    yield from (f"written: {visible(name)}" for name in final.written)
