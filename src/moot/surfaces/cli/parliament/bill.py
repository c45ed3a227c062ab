"""The bill of a parliament: drafters, amendments, ballots, and the prime minister's word."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from moot.api.parliaments import bills
from moot.surfaces.cli.parliament.group import folder_argument, json_source, lines_with_remarks
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.shell import Shell, command, text_argument

_AMENDMENT = click.argument("amendment", metavar="AMENDMENT")


@command(None, "drafter", "parliament.drafter")
@folder_argument
@click.argument("seat", required=False, metavar="[SEAT]")
def drafter(shell: Shell, folder: Path, seat: str | None) -> Answer:
    """Choose who drafts the bill: SEAT, else the one whose motives cover most issues.

    Examples:
      moot parliament drafter uploads
      moot parliament drafter uploads rep_2
    """
    chosen = bills.choose_drafter(shell.session, folder, seat)
    lines = [f"{chosen.drafter} drafts the bill"]
    return Answer(chosen, lambda: lines_with_remarks(lines, chosen.findings))


@command(None, "incorporate", "parliament.incorporate")
@folder_argument
@_AMENDMENT
@click.option("--text", metavar="FILE|-", help="The new bill as JSON, where words must be found.")
def incorporate(shell: Shell, folder: Path, amendment: str, text: str | None) -> Answer:
    """Work an amendment that has its support into the bill, as its next version.

    An addition, a replacement or a removal is carried out to the letter; for a modification the
    drafter brings the new wording: a JSON object with what changes of title, summary, sections.

    Examples:
      moot parliament incorporate uploads amend-001
      moot parliament incorporate uploads amend-002 --text new-wording.json
    """
    draft = json_source(text) if text else None
    done = bills.incorporate(shell.session, folder, amendment, draft=draft)
    lines = [f"{amendment} is in the bill, version {done.bill_version}", *done.changes]
    return Answer(done, lambda: lines_with_remarks(lines, done.findings))


@command(None, "withdraw", "parliament.withdraw")
@folder_argument
@_AMENDMENT
def withdraw(shell: Shell, folder: Path, amendment: str) -> Answer:
    """Take back an amendment; only who proposed it may.

    Examples:
      moot parliament withdraw uploads amend-001
      moot --as rep_5 parliament withdraw uploads amend-002
    """
    done = bills.withdraw(shell.session, folder, amendment)
    lines = [f"{amendment} is withdrawn"]
    return Answer(done, lambda: lines_with_remarks(lines, done.findings))


@command(None, "conclude", "parliament.conclude")
@folder_argument
@_AMENDMENT
@click.option("--vote", is_flag=True, help="Call for everyone's position instead.")
def conclude(shell: Shell, folder: Path, amendment: str, vote: bool) -> Answer:
    """End the discussion of an amendment: more against it than for it rejects it.

    Examples:
      moot parliament conclude uploads amend-001
      moot parliament conclude uploads amend-001 --vote
    """
    done = bills.conclude(shell.session, folder, amendment, vote=vote)
    result = f"{amendment} is {done.amendment_status}"
    lines = [f"{amendment}: a vote is called" if vote else result]
    return Answer(done, lambda: lines_with_remarks(lines, done.findings))


@command(None, "tally", "parliament.tally")
@folder_argument
@click.option("--close", is_flag=True, help="Wait no longer for votes that are missing.")
def tally(shell: Shell, folder: Path, close: bool) -> Answer:
    """Count the votes and announce the result.

    Examples:
      moot parliament tally uploads
      moot parliament tally uploads --close
    """
    counted = bills.tally(shell.session, folder, close=close)
    return Answer(counted, lambda: lines_with_remarks(_tally_lines(counted), counted.findings))


def _tally_lines(counted: bills.CountedVotes) -> Iterable[str]:
    tally, votes = counted.tally, counted.tally.tally
    result = "passed" if tally.passed else "failed"
    count = f"{votes.yes} yes, {votes.no} no of {votes.total} seats"
    yield f"version {tally.bill_version} {result}: {count}"
    yield from (f"{objection.sender}: {objection.concern}" for objection in tally.key_objections)
    yield f"next: {tally.next_action.replace('_', ' ')}"


@command(None, "decide", "parliament.decide")
@folder_argument
@click.argument(
    "decision",
    type=click.Choice(["approve", "veto", "amend_and_approve", "opening_guidance"]),
)
@click.option("--reason", required=True, metavar="TEXT", help="Why; kept on record.")
@click.option("--guidance", default="", metavar="TEXT", help="What should change.")
@click.option("--text", metavar="FILE|-", help="The amended bill as JSON.")
@click.option("--extend-rounds", type=int, default=0, metavar="N", help="A veto grants rounds.")
@click.option("--sha256", metavar="HASH", help="Only if this is the hash of the bill that waits.")
def decide(shell: Shell, folder: Path, decision: str, **options: Any) -> Answer:
    """The prime minister's word, signed with a person's key.

    A veto and opening guidance need --guidance; amend_and_approve needs --text: a JSON object
    with what changes of title, summary, sections. Where the session belongs to a decision, this is
    the same word as that of `moot decide`: it stands in both records, or in neither.

    Examples:
      moot parliament decide uploads approve --reason "It does what we need."
      moot parliament decide uploads veto --reason "Old clients break." --guidance "Say how."
    """
    ruling = bills.decide(
        shell.session,
        folder,
        decision,
        text_argument(options["reason"]),
        guidance=text_argument(options["guidance"]),
        draft=json_source(options["text"]) if options["text"] else None,
        extend_rounds=options["extend_rounds"],
        sha256=options["sha256"],
    )
    return Answer(ruling, lambda: lines_with_remarks(_ruling_lines(ruling), ruling.findings))


def _ruling_lines(ruling: bills.RecordedRuling) -> Iterable[str]:
    """Who decided what, and the question of each decision, else the session's problem."""
    shorten = bills.shorten_question
    yield f"{ruling.decision} by {ruling.by}: {ruling.status}, in {ruling.parliament_id}"
    for argued in ruling.about:
        yield f"{argued.decision}: {shorten(argued.question)}"
    if not ruling.about:
        yield shorten(ruling.problem)


@command(None, "history", "parliament.history")
@folder_argument
def history(shell: Shell, folder: Path) -> Answer:
    """Every version of the bill: whose it is, and what came and went with it.

    Examples:
      moot parliament history uploads
    """
    shown = bills.history(shell.session, folder)
    return Answer(shown, lambda: _history_lines(shown.versions))


def _history_lines(versions: tuple[bills.BillVersion, ...]) -> Iterable[str]:
    if not versions:
        yield "no bill yet"
    for row in versions:
        yield visible(f"version {row.version} by {row.by}, round {row.round}: {row.title}")
        yield from (f"  {visible(line)}" for line in row.changes)
