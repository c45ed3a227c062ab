"""`moot ledger checkpoint`, `export`, `backup`: copies that prove something elsewhere."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moot.core.errors import Refused, Tampered
from moot.core.plural import plural
from moot.store.named_files import unwritable, write_file, write_pieces
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.output import STDOUT, output_option
from moot.surfaces.terminal.progress import counted, progress
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.core.note import Checkpoint
    from moot.workspace.workspace import Workspace

_FILE = click.Path(path_type=Path, dir_okay=False)


@command(None, "checkpoint", "ledger.checkpoint")
@output_option("Write the signed note to FILE; `-` prints it.", printable=True)
def checkpoint(shell: Shell, output: Path | None) -> Answer:
    """Put one signature over everything that is on record now.

    Kept on another machine, the note shows later whether anything was taken back since.

    Examples:
      moot ledger checkpoint
      moot ledger checkpoint -o ../elsewhere/checkpoint.txt
    """
    space = shell.workspace
    made = space.engine.checkpoint()
    note, newest = _newest(space)
    assert newest is not None, "a ledger has an event from its first moment"
    if output not in (None, STDOUT):
        write_file(output, note.encode())
    data = {"made": made is not None, "file": str(output) if output else None, "note": note}
    data |= _facts(newest)
    if output == STDOUT:
        return Answer(data, note.splitlines)
    verb = "made" if made else "is still the newest:"
    said = [f"checkpoint {newest.number} {verb} {plural(newest.events, 'event')}"]
    return Answer(data, lambda: said if output is None else [*said, f"written to {output}"])


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
    from moot.engine.export import bundle

    space = shell.workspace
    pinned = _pin(space)
    with space.store.read() as view, progress("exporting") as tell:
        lines = bundle(view, space.trust, space.artifacts, names or None)
        sha256, size = write_pieces(output, counted(lines, tell, _promised))
        unpinned = len(view.stale_heads())
    _, newest = _newest(space)
    data: dict[str, Any] = {"file": str(output), "sha256": sha256, "bytes": size}
    data |= {"complete": unpinned == 0, "checkpoint": newest.number if newest else None}
    data["rolled_back"] = space.rolled_back is not None
    said = [f"exported to {output}: {size} bytes, sha256 {sha256}"]
    if space.rolled_back is not None:
        said.append(f"it proves only what is left: {space.rolled_back}")
    if not pinned and unpinned:
        said.append(
            "no checkpoint could be made here, so its newest events are not proven complete"
        )
    return Answer(data, lambda: [*said, f"check it with `moot verify {output}`"])


@command(None, "backup", "ledger.backup")
@click.argument("file", type=_FILE)
def backup(shell: Shell, file: Path) -> Answer:
    """Copy the ledger file while others go on writing, and check the copy.

    An existing file is never overwritten. Files cited by the record are not in it: copy
    .moot/artifacts as well, or use `moot ledger export`.

    Examples:
      moot ledger backup ../backups/ledger-monday.db
    """
    from moot.workspace.backup import back_up

    try:
        made = back_up(shell.workspace.store, file)
    except OSError as error:
        raise unwritable(file, error) from None
    data = {"file": str(file), "bytes": made.size, "events": made.events}
    copied = plural(made.events, "event")
    return Answer(data, lambda: [f"copied {copied} to {file}, and checked the copy"])


def _pin(space: Workspace) -> bool:
    """A checkpoint if one can be made: the key may be elsewhere, the ledger may be an old copy,
    or nothing may be written."""
    if space.rolled_back is not None or space.read_only is not None:
        return False
    try:
        space.engine.checkpoint()
    except (Refused, Tampered):
        return False
    return True


def _newest(space: Workspace) -> tuple[str, Checkpoint | None]:
    """The newest checkpoint, as a note and as data; a damaged one is none."""
    from moot.engine.checkpoints import newest

    with space.store.read() as view, suppress(Tampered):
        return view.note() or "", newest(view, space.trust)
    return "", None


def _facts(newest: Checkpoint) -> dict[str, Any]:
    return {"number": newest.number, "events": newest.events, "at": newest.at}


def _promised(header: bytes) -> int:
    import msgspec

    lines: int = msgspec.json.decode(header)["lines"]
    return lines + 1
