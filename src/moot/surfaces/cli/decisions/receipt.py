"""`moot receipt`: a decision as one file that proves itself, and as a record to read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from moot.api import decisions
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.output import output_option
from moot.surfaces.terminal.page import openable, require_form
from moot.surfaces.terminal.shell import Shell, command


@command(None, "receipt", "receipt")
@click.argument("decision", metavar="ID")
@output_option(
    "FILE.json proves itself; FILE.md and FILE.html are to be read, with FILE.json beside.",
    required=True,
    also=(".json", ".intoto.jsonl"),
    accept=require_form,
)
@click.option("--in-toto", is_flag=True, help="Also FILE.intoto.jsonl, for in-toto's tools.")
@click.option("--commit", metavar="REV", help="The statement is about this commit, too.")
@openable
def receipt(shell: Shell, decision: str, output: Path, in_toto: bool, commit: str | None) -> Answer:
    """Write the receipt of a decision: who voted what, who disagreed, and the proof of it.

    The JSON file holds everything that is said and the signed record it rests on; anyone can check
    it offline. The markdown is a decision record to keep in your repository, dissent included. The
    machine signs for what the receipt says, so this is written down once.

    --in-toto writes an in-toto Statement (v1) beside it, in a signed DSSE envelope, so that other
    tools can read it: about the files of the receipt, and about a commit if you name one.

    Examples:
      moot receipt q-7 -o docs/decisions/queue.md
      moot receipt q-7 -o queue.html
      moot receipt q-7 -o queue.json
      moot receipt q-7 -o queue.md --in-toto --commit HEAD
    """
    written = decisions.receipt(shell.session, decision, output, in_toto=in_toto, commit=commit)
    return Answer(written, lambda: _lines(written))


def _lines(written: decisions.WrittenReceipt) -> Iterable[str]:
    yield visible(f"{written.decision}: {written.stage}: {written.title}")
    dissent = ", ".join(written.dissent)
    yield f"dissent kept: {dissent}" if dissent else "nobody disagreed in the last vote"
    for caution in written.cautions:
        yield visible(f"note: {caution}")
    if written.file != written.proof:
        yield f"written to {written.file}"
    yield f"proof in {written.proof}, sha256 {written.sha256}"
    if written.in_toto is not None:
        yield f"in-toto statement in {written.in_toto}"
    yield f"check it with `moot verify {written.proof}`"
