"""`moot receipt`: a decision as one file that proves itself, and as a record to read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from moot.core.errors import Refused
from moot.core.names import STREAM
from moot.store.named_files import write_file
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.output import output_option
from moot.surfaces.terminal.page import require_form, write_page
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.flows.decisions.receipt import Receipt


@command(None, "receipt", "receipt")
@click.argument("decision", metavar="ID")
@output_option(
    "FILE.json proves itself; FILE.md and FILE.html are to be read, with FILE.json beside.",
    required=True,
    accept=require_form,
)
def receipt(shell: Shell, decision: str, output: Path) -> Answer:
    """Write the receipt of a decision: who voted what, who disagreed, and the proof of it.

    The JSON file holds everything that is said and the signed record it rests on; anyone can check
    it offline. The markdown is a decision record to keep in your repository, dissent included. The
    machine signs for what the receipt says, so this is written down once.

    Examples:
      moot receipt q-7 -o docs/decisions/queue.md
      moot receipt q-7 -o queue.html
      moot receipt q-7 -o queue.json
    """
    from moot.flows.decisions.receipt import make
    from moot.flows.decisions.receipt_page import report

    made = make(shell.workspace, _named(decision))
    proof = output.with_suffix(".json")
    write_file(proof, made.data)
    if output != proof:
        write_page(output, report(made, proof.name))
    said = made.says
    data = {
        "decision": said["decision"],
        "stage": said["stage"],
        "file": str(output),
        "proof": str(proof),
        "sha256": made.sha256,
        "cautions": said["cautions"],
        "dissent": [voice["agent"] for voice in said["argument"]["dissent"]],
    }
    return Answer(data, lambda: _lines(made, output, proof))


def _named(decision: str) -> str:
    """`q-7`, or `decision/q-7`; other records have reports and exports, no receipts."""
    from moot.flows.decisions.questions import id_of

    name = id_of(decision)
    if "/" in name or not STREAM.match(f"decision/{name}"):
        raise Refused(
            "not_a_decision",
            f"{decision} is not a decision, and only decisions have receipts",
            hint="`moot report ID` shows anything; `moot ledger export -o FILE ID` proves it",
        )
    return name


def _lines(made: Receipt, output: Path, proof: Path) -> Iterable[str]:
    from moot.protocols.decision.views import shorten_question

    said = made.says
    dissent = ", ".join(voice["agent"] for voice in said["argument"]["dissent"])
    yield visible(f"{said['decision']}: {said['stage']}: {shorten_question(said['question'])}")
    yield f"dissent kept: {dissent}" if dissent else "nobody disagreed in the last vote"
    for caution in said["cautions"]:
        yield visible(f"note: {caution}")
    if output != proof:
        yield f"written to {output}"
    yield f"proof in {proof}, sha256 {made.sha256}"
    yield f"check it with `moot verify {proof}`"
