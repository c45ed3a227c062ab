"""The four files of a parliament: check them, take them in, write them again; the final bill."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

import click

from moot.api.parliaments import files
from moot.core.findings import select_errors
from moot.core.plural import plural
from moot.surfaces.cli.parliament.group import folder_argument, json_source, lines_with_remarks
from moot.surfaces.terminal.answer import DONE, REFUSED, Answer, finding_line, visible
from moot.surfaces.terminal.page import page_option
from moot.surfaces.terminal.shell import Shell, command


@command(None, "check", "parliament.check")
@folder_argument
@click.option(
    "--since",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="OLD_DIR",
    help="Earlier files: every message in them must still stand.",
)
def check(shell: Shell, folder: Path, since: Path | None) -> Answer:
    """Are the four files sound? Every field, reference and tally, and every round's summary.

    Needs no workspace; in one that knows the session, every message must also be the one on
    record. Elsewhere nobody's signature is checked: that is what `moot verify` is for.

    Examples:
      moot parliament check uploads
      moot parliament check uploads --since yesterday/uploads --json
    """
    checked = files.check(shell.session, folder, since=since)
    return Answer(checked, lambda: _check_lines(checked), DONE if checked.valid else REFUSED)


def _check_lines(checked: files.CheckedFiles) -> Iterable[str]:
    yield from map(finding_line, checked.findings)
    yield (
        "the files are sound" if checked.valid else f"{len(select_errors(checked.findings))} errors"
    )


@command(None, "import", "parliament.import")
@folder_argument
@click.option("--bind", "agents", multiple=True, metavar="SEAT=AGENT", help="Repeat it.")
@click.option("--id", "parliament_id", metavar="ID", help="Under this id, not that of the files.")
def import_files(
    shell: Shell, folder: Path, agents: tuple[str, ...], parliament_id: str | None
) -> Answer:
    """Go on with a session from elsewhere, from its four files.

    They must be sound, and what they show must follow from their messages. What was imported is
    signed by the clerk, and every document of the session says so; the files are kept, and
    replaced by ours where the form differs.

    Examples:
      moot parliament import uploads
      moot parliament import uploads --bind rep_1=amber-otter
      moot parliament import uploads --id parl-20260210-007
    """
    imported = files.import_files(
        shell.session,
        folder,
        agents=dict(_read_binding(text) for text in agents),
        parliament_id=parliament_id,
    )
    return Answer(imported, lambda: _import_lines(imported))


def _read_binding(text: str) -> tuple[str, str]:
    seat, sign, agent = text.partition("=")
    if not sign:
        raise click.BadParameter(f"{text!r} is not SEAT=AGENT")
    return seat.strip(), agent.strip()


def _import_lines(imported: files.ImportedSession) -> Iterable[str]:
    messages = plural(imported.messages, "message")
    yield f"{imported.parliament_id} goes on here: {imported.status}, {messages}"
    yield from (f"put aside: {name}" for name in imported.put_aside)


@command(None, "export", "parliament.export")
@folder_argument
@click.option("--id", "parliament_id", metavar="ID", help="This session, into a folder of its own.")
def export(shell: Shell, folder: Path, parliament_id: str | None) -> Answer:
    """Write the four files again from the record; a changed file is put aside, not lost.

    Examples:
      moot parliament export uploads
      moot parliament export copy --id parl-20260210-001
    """
    exported = files.export(shell.session, folder, parliament_id=parliament_id)
    lines = [
        *(f"put aside: {name}" for name in exported.put_aside),
        f"{visible(str(folder))} is as the record has it",
    ]
    return Answer(exported, lambda: lines)


@command(None, "context", "parliament.context")
@folder_argument
@click.option("--seat", metavar="SEAT", help="For this seat: also what it must know of itself.")
def context(shell: Shell, folder: Path, seat: str | None) -> Answer:
    """What a participant is given to read: near rounds in full, far ones as summaries.

    Examples:
      moot parliament context uploads --seat rep_2 --json
    """
    given = files.context(shell.session, folder, seat=seat)
    return Answer(given, lambda: _context_lines(given))


def _context_lines(given: files.TurnContext) -> Iterable[str]:
    session = given.session
    yield f"{session.parliament_id}: {session.status}, round {session.current_round}"
    for row in given.round_summaries:
        yield visible(f"round {row['round']}: {row['summary']}")
    for message in [*given.opening_statements, *given.messages]:
        yield visible(f"{message.id} {message.sender}: {message.type}")
    if own := given.you:
        yield visible(f"you are {own.name} ({own.archetype}): {', '.join(own.motives)}")
        yield f"answer in at most {own.response_budget} sentences"


@command(None, "summarize", "parliament.summarize")
@folder_argument
@click.argument("file", metavar="SUMMARY.json|-")
def summarize(shell: Shell, folder: Path, file: str) -> Answer:
    """Replace the summary of a round that has ended by a better told one.

    Examples:
      moot parliament summarize uploads round-1.json
    """
    renewed = files.summarize(shell.session, folder, json_source(file))
    lines = [f"round {renewed.summary['round']} is told anew"]
    return Answer(renewed, lambda: lines_with_remarks(lines, renewed.findings))


@command(None, "final", "parliament.final")
@folder_argument
@page_option
def final(shell: Shell, folder: Path, output: Path | None) -> Answer:
    """Write the final document and close the session, once it is decided.

    DIR/final-bill.md has the bill, how it came about, every dissent and every vote; -o FILE.html
    is the same as one page, also while the session still runs.

    Examples:
      moot parliament final uploads
      moot parliament final uploads -o uploads.html
    """
    written = files.final(shell.session, folder, file=output)
    return Answer(written, lambda: _final_lines(folder, written))


def _final_lines(folder: Path, final: files.FinalDocument) -> Iterable[str]:
    yield from (f"put aside: {name}" for name in final.put_aside)
    if not final.decided:
        command = f"moot parliament next {visible(shlex.quote(str(folder)))}"
        yield f"not decided: it is in {final.status}; `{command}` says what is due"
    yield from (f"written: {visible(name)}" for name in final.written)
