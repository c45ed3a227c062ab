"""`moot verify` (also `moot ledger verify`): is the record intact and complete?"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from moot.api import verification
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.page import page_option, write_page
from moot.surfaces.terminal.progress import progress
from moot.surfaces.terminal.shell import Shell, command, document_bytes
from moot.surfaces.terminal.verdict import verdict_answer, verdict_page

if TYPE_CHECKING:
    from moot.pages import ProofFile


@click.argument("what", metavar="[ID|FILE]", required=False)
@click.option(
    "--trust",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Believe this trust file (default: the one your key folder remembers).",
)
@click.option(
    "--checkpoint",
    "kept",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="NOTE",
    help="Demand all that this checkpoint pinned, which was kept elsewhere; `-` reads it.",
)
@click.option("--jobs", type=click.IntRange(1, 64), default=1, help="Processes to check with.")
@page_option
def check(
    shell: Shell,
    what: str | None,
    trust: Path | None,
    kept: Path | None,
    jobs: int,
    output: Path | None,
) -> Answer:
    """Is the record intact, signed by known keys, and complete?

    Without an argument: this workspace, as it is now. With an ID: one decision, debate, thread,
    trace, ... of it. With a FILE: an export, which needs no workspace. Nothing is ever written
    by checking. The exit code is 0 if all holds, 1 if not, 3 if nothing proves that the end is
    not missing, 4 if the file is neither an export nor a receipt.

    Whoever kept a checkpoint (`moot ledger checkpoint -o NOTE`) sees by it whether history was
    taken back since. It is compared by its number, by how many events and histories it counts,
    and, where number or events are the same, by its root. That a newer checkpoint goes on from it
    and was not signed over another history, only an export kept from then can show.

    Examples:
      moot verify
      moot verify q-1
      moot verify decision.moot --trust trust.json
      moot verify decision.moot --trust trust.json --checkpoint checkpoint.txt
      moot verify decision.moot -o verdict.html
      moot ledger verify --jobs 4
    """
    with progress("checking") as tell:
        note = None if kept is None else document_bytes(str(kept))
        verdict = verification.verify(
            shell.session, what, trust=trust, checkpoint=note, jobs=jobs, progress=tell
        )
    if output is not None:
        title = Path(what).name if what else "The record of this workspace"
        write_page(output, verdict_page(verdict, title, _proof(what)))
    return verdict_answer(verdict)


verify = command(None, "verify", "verify")(check)
ledger_verify = command(None, "verify", "ledger.verify")(check)


def _proof(what: str | None) -> ProofFile | None:
    """The export that was checked; a live workspace leaves no file to check again."""
    from moot.pages import ProofFile

    if what is None or not verification.names_file(what):
        return None
    with open(what, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return ProofFile(Path(what).name, digest, f"moot verify {Path(what).name} --trust trust.json")
