"""The papers of a session: check them, write them again, give a window, print the final bill."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from moot.core.errors import NotFound, Refused
from moot.core.plural import plural
from moot.store.named_files import write_own_file
from moot.surfaces.cli.parliament.group import (
    answer,
    folder_argument,
    official,
    parliament,
    room_at,
    standing,
)
from moot.surfaces.terminal.answer import (
    DONE,
    REFUSED,
    Answer,
    finding_line,
    findings_json,
    visible,
)
from moot.surfaces.terminal.page import page_option, write_page
from moot.surfaces.terminal.shell import Shell, command, text_argument

if TYPE_CHECKING:
    from moot.core.findings import Finding
    from moot.pages import Proof
    from moot.protocols.parliament.documents.turn_context import TurnContext


@command(parliament, "check", "parliament.check")
@folder_argument
@click.option(
    "--since",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="OLD_DIR",
    help="Earlier files: every message in them must still stand.",
)
def check(shell: Shell, folder: Path, since: Path | None) -> Answer:
    """Are the four files sound? Every field, every reference, every tally.

    Needs no workspace; in one that knows the session, every message must also be the one on
    record. Elsewhere nobody's signature is checked: that is what `moot verify` is for.

    Examples:
      moot parliament check uploads
      moot parliament check uploads --since yesterday/uploads --json
    """
    from moot.core.findings import errors
    from moot.flows.parliament.cabinet import read_or_none
    from moot.flows.parliament.chamber import no_session, unrecorded
    from moot.protocols.parliament.files.file_shapes import FILES, LEDGER_FILE
    from moot.protocols.parliament.files.inspection import inspect_files

    files = {name: read_or_none(folder / name) for name in FILES}
    if not any(files.values()):
        raise no_session(folder)
    found = list(inspect_files(files))
    if since is not None:
        found += _since(since, files[LEDGER_FILE])
    space = shell.session.workspace_or_none
    if space is not None:
        found += unrecorded(space, files[LEDGER_FILE])
    valid = not errors(found)
    data = {"valid": valid, "findings": findings_json(found)}
    lines = [finding_line(finding) for finding in found]
    said = "the files are sound" if valid else f"{len(errors(found))} errors"
    return Answer(data, lambda: [*lines, said], DONE if valid else REFUSED)


def _since(folder: Path, ledger: bytes | None) -> tuple[Finding, ...]:
    """What became of the messages of an earlier ledger file, which must be there."""
    from moot.flows.parliament.cabinet import read_or_none
    from moot.flows.parliament.chamber import no_session
    from moot.protocols.parliament.files.file_shapes import LEDGER_FILE
    from moot.protocols.parliament.files.inspection import find_lost_messages

    before = read_or_none(folder / LEDGER_FILE)
    if before is None:
        raise no_session(folder)
    return find_lost_messages(before, ledger or b"")


@command(parliament, "import", "parliament.import")
@folder_argument
@click.option("--bind", "binds", multiple=True, metavar="SEAT=AGENT", help="Repeat it.")
@click.option("--id", "parliament_id", metavar="ID", help="Under this id, not that of the files.")
def import_files(
    shell: Shell, folder: Path, binds: tuple[str, ...], parliament_id: str | None
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
    from moot.flows.parliament.convening import take

    official(shell)  # what is read from files becomes the clerk's word, not an agent's
    named = dict(_bind(text) for text in binds)
    room, aside = take(shell.workspace, folder, named, parliament_id)
    state = room.state
    data = {
        **standing(state),
        "messages": state.next_message_id - 1,
        "put_aside": list(aside),
        "seats": {seat.id: seat.agent for seat in state.seats_in_order()},
    }
    many = plural(state.next_message_id - 1, "message")
    said = f"{state.parliament_id} goes on here: {state.status}, {many}"
    return Answer(data, lambda: [said, *(f"put aside: {name}" for name in aside)])


def _bind(text: str) -> tuple[str, str]:
    seat, sign, agent = text.partition("=")
    if not sign:
        raise click.BadParameter(f"{text!r} is not SEAT=AGENT")
    return seat.strip(), agent.strip()


@command(parliament, "export", "parliament.export")
@folder_argument
@click.option("--id", "parliament_id", metavar="ID", help="This session, into a folder of its own.")
def export(shell: Shell, folder: Path, parliament_id: str | None) -> Answer:
    """Write the four files again from the record; a changed file is put aside, not lost.

    Examples:
      moot parliament export uploads
      moot parliament export copy --id parl-20260210-001
    """
    from moot.flows.parliament.chamber import Room, id_in, id_of
    from moot.flows.parliament.convening import make_folder

    space = shell.workspace
    named = parliament_id or id_of(space, folder) or id_in(folder)
    room = Room.known(space, folder, named)
    make_folder(folder)
    aside = room.cabinet.restore()
    data = {**standing(room.state), "put_aside": list(aside)}
    said = [f"put aside: {name}" for name in aside]
    return Answer(data, lambda: [*said, f"{visible(str(folder))} is as the record has it"])


@command(parliament, "context", "parliament.context")
@folder_argument
@click.option("--seat", metavar="SEAT", help="For this seat: also what it must know of itself.")
def context(shell: Shell, folder: Path, seat: str | None) -> Answer:
    """What a participant is given to read: near rounds in full, far ones as summaries.

    Examples:
      moot parliament context uploads --seat rep_2 --json
    """
    from moot.protocols.parliament.documents.turn_context import make_turn_context

    record = room_at(shell, folder).proceedings()
    if seat is not None and seat not in record.state.seats:
        raise NotFound(
            "unknown_seat",
            f"{seat} has no seat in this session",
            hint=f"seats: {', '.join(record.state.order)}",
        )
    view = make_turn_context(record.state, record.messages, record.summaries, seat)
    return Answer(msgspec.to_builtins(view), lambda: _window_lines(view))


def _window_lines(view: TurnContext) -> Iterable[str]:
    session = view.session
    yield f"{session.parliament_id}: {session.status}, round {session.current_round}"
    for row in view.round_summaries:
        yield visible(f"round {row['round']}: {row['summary']}")
    for message in [*view.opening_statements, *view.messages]:
        yield visible(f"{message.id} {message.sender}: {message.type}")
    if you := view.you:
        yield visible(f"you are {you.name} ({you.archetype}): {', '.join(you.motives)}")
        yield f"answer in at most {you.response_budget} sentences"


@command(parliament, "history", "parliament.history")
@folder_argument
def history(shell: Shell, folder: Path) -> Answer:
    """Every version of the bill: whose it is, and what came and went with it.

    Examples:
      moot parliament history uploads
    """
    from moot.protocols.parliament.documents.difference import compare_sections, describe_edits
    from moot.protocols.parliament.documents.proceedings import list_bill_versions

    record = room_at(shell, folder).proceedings()
    told: list[dict[str, Any]] = []
    before = None
    for one in list_bill_versions(record):
        changes = list(describe_edits(compare_sections(before, one.draft.sections)))
        said = {"version": one.draft.bill_version, "by": one.by, "round": one.round}
        told.append({**said, "title": one.draft.title, "changes": changes})
        before = one.draft.sections
    data = {**standing(record.state), "versions": told}
    return Answer(data, lambda: _history_lines(told))


def _history_lines(told: list[dict[str, Any]]) -> Iterable[str]:
    if not told:
        yield "no bill yet"
    for one in told:
        yield visible(
            f"version {one['version']} by {one['by']}, round {one['round']}: {one['title']}"
        )
        yield from (f"  {visible(line)}" for line in one["changes"])


@command(parliament, "summarize", "parliament.summarize")
@folder_argument
@click.argument("file", metavar="SUMMARY.json|-")
def summarize(shell: Shell, folder: Path, file: str) -> Answer:
    """Replace the summary of a round that has ended by a better told one.

    Examples:
      moot parliament summarize uploads round-1.json
    """
    from moot.protocols.parliament.commands import Summarize
    from moot.protocols.parliament.files.summary_shape import MAX_SUMMARY
    from moot.protocols.parliament.messages.shapes import read_json

    told = file if file == "-" or file.startswith("@") else f"@{file}"
    room = room_at(shell, folder)
    summary = read_json(text_argument(told), MAX_SUMMARY)
    done = room.run(Summarize(summary=summary), official(shell))
    return answer(done, [f"round {summary['round']} is told anew"], summary=summary)


@command(parliament, "final", "parliament.final")
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
    from moot.flows.parliament.cabinet import read_or_none
    from moot.flows.parliament.chamber import finish
    from moot.flows.parliament.voices import scripted
    from moot.protocols.parliament.documents.final_document import FINAL_FILE
    from moot.protocols.parliament.documents.report import make_report

    room = room_at(shell, folder)
    room.cabinet.require_ours()  # the page will cite the ledger file
    decided = room.state.outcome is not None
    if not decided and output is None:
        raise Refused(
            "not_decided",
            f"the session is in {room.state.status}; there is no final document yet",
            hint="`moot parliament next DIR` says what is due; -o FILE.html shows it as it stands",
        )
    written, aside = [], []
    if decided:
        if room.state.status == "synthesis":
            official(shell)  # closing the session is the clerk's
        document, there = finish(room).encode(), read_or_none(folder / FINAL_FILE)
        if there not in (None, document):
            aside.append(room.cabinet.put_aside(FINAL_FILE))
        write_own_file(folder / FINAL_FILE, document)
        written.append(str(folder / FINAL_FILE))
    if output is not None:
        write_page(output, make_report(room.proceedings(), _proof(folder), scripted(room)))
        written.append(str(output))
    data = {**standing(room.state), "decided": decided, "written": written, "put_aside": aside}
    said = [f"put aside: {name}" for name in aside]
    if not decided:
        due = f"`moot parliament next {visible(shlex.quote(str(folder)))}` says what is due"
        said.append(f"not decided: it is in {room.state.status}; {due}")
    return Answer(data, lambda: [*said, *(f"written: {visible(name)}" for name in written)])


def _proof(folder: Path) -> Proof | None:
    """The ledger file, as it is now, and the command that checks it."""
    from moot.flows.parliament.cabinet import read_or_none
    from moot.pages import Proof
    from moot.protocols.parliament.files.file_shapes import LEDGER_FILE

    ledger = read_or_none(folder / LEDGER_FILE)
    if ledger is None:
        return None
    digest = hashlib.sha256(ledger).hexdigest()
    return Proof(LEDGER_FILE, digest, f"moot parliament check {shlex.quote(str(folder))}")
