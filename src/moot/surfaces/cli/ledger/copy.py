"""`moot ledger checkpoint`, `export`, `backup`: copies that prove something elsewhere."""

from __future__ import annotations

from pathlib import Path

import click

from moot.api import ledger
from moot.core.plural import plural
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.output import STDOUT, OutputPath, output_option
from moot.surfaces.terminal.progress import progress
from moot.surfaces.terminal.shell import Shell, command


@command(None, "checkpoint", "ledger.checkpoint")
@output_option("Write the signed note to FILE; `-` prints it.", printable=True)
def checkpoint(shell: Shell, output: Path | None) -> Answer:
    """Put one signature over everything that is on record now.

    Kept on another machine, the note shows later whether anything was taken back since.

    Examples:
      moot ledger checkpoint
      moot ledger checkpoint -o ../elsewhere/checkpoint.txt
    """
    made = ledger.checkpoint(shell.session, file=None if output == STDOUT else output)
    if output == STDOUT:
        return Answer(made, made.note.splitlines)
    verb = "made" if made.made else "is still the newest:"
    lines = [f"checkpoint {made.number} {verb} {plural(made.events, 'event')}"]
    return Answer(made, lambda: lines if output is None else [*lines, f"written to {output}"])


@command(None, "export", "ledger.export")
@output_option("Where to.", required=True)
@click.argument("names", metavar="[ID]...", nargs=-1)
def export(shell: Shell, output: Path, names: tuple[str, ...]) -> Answer:
    """Write the record, or parts of it, to a file that anyone can check offline.

    The keys it rests on and all cited files are always in it. A checkpoint is made first if its
    key is here; otherwise nothing proves that the newest events are all there.

    Examples:
      moot ledger export -o record.moot
      moot ledger export -o decision.moot debate/auth-cache
    """
    with progress("exporting") as tell:
        made = ledger.export(shell.session, output, names, progress=tell)
    lines = [f"exported to {output}: {made.bytes} bytes, sha256 {made.sha256}"]
    if made.rolled_back:
        lines.append("it proves only what is left: events that were here before are gone")
    if not made.complete:
        lines.append(
            "no checkpoint could be made here, so its newest events are not proven complete"
        )
    return Answer(made, lambda: [*lines, f"check it with `moot verify {output}`"])


@command(None, "backup", "ledger.backup")
@click.argument("file", type=OutputPath(dir_okay=False))
def backup(shell: Shell, file: Path) -> Answer:
    """Copy the ledger file while others go on writing, and check the copy.

    An existing file is never overwritten. Files cited by the record are not in it: copy
    .moot/artifacts as well, or use `moot ledger export`.

    Examples:
      moot ledger backup ../backups/ledger-monday.db
    """
    made = ledger.backup(shell.session, file)
    copied = plural(made.events, "event")
    return Answer(made, lambda: [f"copied {copied} to {file}, and checked the copy"])


@command(None, "move", "ledger.move")
@click.argument("to", metavar="URL|file")
def move(shell: Shell, to: str) -> Answer:
    """Move the ledger into a PostgreSQL database, or back into a file.

    Everything is copied at once while nobody else writes; the old place refuses every further
    write and stays as it was. The address goes into your key folder, since it may hold a
    password: only whoever keeps the ledger opens the database; other machines join.

    Examples:
      moot ledger move postgresql://moot@db.example/ledgers
      moot ledger move file
    """
    from moot.api import ledger_moving

    moved = ledger_moving.move(shell.session, to)
    where = "a file" if moved.to == "file" else "the database"
    return Answer(moved, lambda: [f"{plural(moved.events, 'event')} now in {where}"])
