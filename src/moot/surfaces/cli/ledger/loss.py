"""`moot ledger accept-loss`, `witness`, `forget`: when there is more than one history, or none."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from moot.api import ledger, workspaces
from moot.core.plural import plural
from moot.surfaces.terminal.answer import DONE, REFUSED, Answer, paint
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.progress import progress
from moot.surfaces.terminal.shell import Shell, command, text_argument


@command(None, "accept-loss", "ledger.accept_loss")
@click.option("--reason", required=True, help="Why; kept on record for ever.")
def accept(shell: Shell, reason: str) -> Answer:
    """Go on from an older copy of the ledger, because the newest is lost for good.

    The missing checkpoint and the reason stay on record, and everyone can see them. If a person
    is registered here, one of them must unlock their key. Keys that were registered in the lost
    part are unknown from then on; a loss that leaves events resting on them is not accepted.

    Examples:
      moot ledger accept-loss --reason "the disk died; this is the backup of Monday"
    """
    made = ledger.accept_loss(shell.session, text_argument(reason))
    line = f"the loss is on record; checkpoint {made.checkpoint} goes on from here"
    return Answer(made, lambda: [line])


@command(None, "witness", "ledger.witness")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def testify(shell: Shell, file: Path) -> Answer:
    """Compare an export of another copy of this ledger with this one.

    Where both hold a different event for the same position, and the other one is signed by a key
    known here, it is kept as proof: `moot verify` says so from then on, and every export shows it.

    Examples:
      moot ledger witness their-record.moot
    """
    with progress("checking") as tell:
        seen = ledger.witness(shell.session, file, progress=tell)
    return Answer(seen, lambda: _lines(seen), DONE if seen.verdict == "agrees" else REFUSED)


@command(None, "forget", "ledger.forget")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), required=False)
def forget(shell: Shell, folder: Path | None) -> Answer:
    """Say that a workspace which is gone is not wanted back.

    Where a workspace of yours was and `.moot` is not there any more, hooks hold every edit back,
    for nothing can be checked. This ends that for FOLDER (default: this project). Nothing is
    removed: the keys stay where they are. For people only.

    Examples:
      moot ledger forget
      moot ledger forget /home/you/shop
    """
    gone = workspaces.forget(shell.session, folder)
    return Answer(gone, lambda: [f"no workspace is expected in {gone.folder} any more"])


def _lines(seen: ledger.Witnessed) -> Iterable[str]:
    word = paint("AGREES", "green") if seen.verdict == "agrees" else paint("FORKED", "red")
    counts = (
        f"{plural(seen.same, 'event')} alike, {seen.only_there} only there, {seen.differing} differ"
    )
    yield f"{word} · {counts}"
    if seen.forks:
        rows = [(fork.id, str(fork.seq), fork.kid[:8]) for fork in seen.forks]
        yield from listing(rows, ("ID", "EVENT", "SIGNED BY"))
        yield "kept as proof: the next `moot ledger export` carries it"
    elif seen.differing:
        yield "signed by keys unknown here: kept as nothing; ask whoever wrote the other copy"
