"""A parliament's session: call it, submit messages, see its state and who is next."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click

from moot.api.parliaments import sessions
from moot.api.parliaments.sessions import LedgerMessage, SeatView
from moot.core.findings import Finding
from moot.surfaces.cli.presence.agenda import WAYS
from moot.surfaces.terminal.answer import Answer, remarks, visible
from moot.surfaces.terminal.derive import derive
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command, text_argument


def folder_argument(function: Callable[..., Answer]) -> Callable[..., Answer]:
    """DIR: the session's folder, or its id."""
    return click.argument(
        "folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR"
    )(function)


def lines_with_remarks(lines: Iterable[str], findings: Iterable[Finding]) -> list[str]:
    """Return the lines, then the findings."""
    return [*map(visible, lines), *remarks(findings)]


@command(None, "new", "parliament.new")
@folder_argument
@click.option("--problem", required=True, metavar="TEXT", help="The question to be answered.")
@click.option("--issue", "issues", multiple=True, required=True, metavar="TEXT", help="Repeatable.")
@click.option(
    "--rep",
    "seats",
    multiple=True,
    required=True,
    metavar="Rep. Name:motive,motive[@AGENT]",
    help="A representative and its motives; repeatable.",
)
@click.option(
    "--max-rounds",
    type=int,
    default=6,
    show_default=True,
    metavar="N",
    help="Rounds before the vote.",
)
def new(
    shell: Shell,
    folder: Path,
    problem: str,
    issues: tuple[str, ...],
    seats: tuple[str, ...],
    max_rounds: int,
) -> Answer:
    """Call a parliament on a problem and ask for the opening statements.

    Every issue must be among the motives of some representative. AGENT signs for a seat with
    @AGENT; any other seat gets a new agent with its own key.

    Examples:
      moot parliament new uploads --problem "Large uploads fail." --issue speed --issue cost \\
        --rep "Rep. Swift:speed" --rep "Rep. Thrift:cost@amber-otter"
    """
    called = sessions.new(
        shell.session, folder, text_argument(problem), issues, seats, max_rounds=max_rounds
    )
    return Answer(called, lambda: _new_lines(called))


def _new_lines(called: sessions.CalledParliament) -> Iterable[str]:
    yield f"{called.parliament_id} is in session: {called.status}"
    rows = [(seat.id, seat.name, ", ".join(seat.satisfaction)) for seat in called.seats]
    yield from listing(rows, ("SEAT", "NAME", "MOTIVES"))
    yield visible(f"next: moot parliament next {shlex.quote(called.folder)}")


def _message_source(file: str) -> Path | bytes:
    """Return the file, or standard input up to one byte too many: the rules refuse that length."""
    if file == "-":
        return sys.stdin.buffer.read(sessions.MAX_MESSAGE + 1)
    return Path(file.removeprefix("@"))


@derive("parliament.submit", sessions.submit, """
    DIR = folder
    MESSAGE.json|-:raw = message(file)
""", prepare=lambda _shell, values: {
    **values, "message": _message_source(values["message"])
})  # fmt: skip
def submit(submitted: sessions.SubmittedMessage) -> Iterable[str]:
    """Submit one message in the Agent Response Format: no id, round or timestamp.

    `moot parliament template TYPE` prints one to fill in. A seat's agent signs its messages, the
    session those of the speaker, a person those of the prime minister. A refused message changes
    nothing, except that a malformed one counts against its seat: the second in a row expels it.

    Examples:
      moot parliament submit uploads question.json
      cat answer.json | moot parliament submit uploads -
    """
    return lines_with_remarks(map(message_line, submitted.messages), submitted.findings)


def message_line(message: LedgerMessage) -> str:
    to = f" to {message.to}" if message.to else ""
    action = getattr(message.content, "action", "")
    kind = f"{message.type} {action}" if message.type == "SPEAKER_RULING" else message.type
    return f"{message.id} {kind} by {message.sender}{to}, round {message.round}"


@derive("parliament.template", sessions.template, "TYPE = kind")
def template(made: sessions.Template) -> Iterable[str]:
    """Print a message of a type, to be filled in and submitted. Needs no session.

    TYPE is OPENING_STATEMENT, BILL_DRAFT, QUESTION, ANSWER, AMENDMENT, MOTION, VOTE,
    SPEAKER_RULING, VOTE_TALLY or PM_DECISION.

    Examples:
      moot parliament template QUESTION > question.json
      moot parliament template vote
    """
    return json.dumps(made.message, indent=2).splitlines()


@derive("parliament.status", sessions.status, "DIR = folder")
def status(shown: sessions.ParliamentStatus) -> Iterator[str]:
    """Show a session: phase, round, clock, bill, seats, amendments, votes.

    Examples:
      moot parliament status uploads
      moot parliament status uploads --json
    """
    outcome = f", {shown.outcome}" if shown.outcome else ""
    exchanges = f"{shown.exchanges} of {shown.max_exchanges} exchanges"
    rounds = f"round {shown.round} of {shown.max_rounds}"
    yield f"{shown.parliament_id}: {shown.status}{outcome}, {rounds}, {exchanges}"
    if shown.bill_title:
        title = visible(shown.bill_title)
        yield f"bill: {title}, version {shown.bill_version}, drafted by {shown.drafter}"
    rows = [(seat.id, seat.name, _motives(seat), _manner(seat)) for seat in shown.seats]
    yield from listing(rows, ("SEAT", "NAME", "MOTIVES", ""))
    for amendment in shown.amendments:
        yield visible(f"{amendment.id} ({amendment.status}): {amendment.description}")
    for vote in shown.vote_history:
        result = "passed" if vote.passed else "failed"
        yield f"vote in round {vote.round}: {vote.yes} of {vote.total} for it, {result}"
    yield from remarks(shown.findings)


def _motives(seat: SeatView) -> str:
    return ", ".join(f"{name} {score or '-'}" for name, score in seat.satisfaction.items())


def _manner(seat: SeatView) -> str:
    return "expelled" if seat.expelled else "quiet" if seat.quiet else ""


@derive("parliament.next", sessions.next_steps, "DIR = folder")
def next_steps(steps: sessions.NextSteps) -> Iterator[str]:
    """Show who must do what, and which motives still delay a vote.

    Examples:
      moot parliament next uploads
    """
    yield f"{steps.parliament_id}: {steps.status}, round {steps.round}"
    rows = [(due.seat or due.who, due.what, due.subject) for due in steps.due]
    if rows:
        yield from listing(rows, ("WHO", "WHAT", "ABOUT"))
    else:
        yield "nothing is due"
    low = [f"{score.motive} of {score.seat}" for score in steps.underserved]
    if low and steps.status == "debate":
        yield visible(f"below 3: {', '.join(low)}")
    folder = shlex.quote(steps.folder)
    ways = dict.fromkeys(WAYS[due.what] for due in steps.due if due.what in WAYS)
    yield from (visible(f"try: moot parliament {way.replace('DIR', folder)}") for way in ways)
