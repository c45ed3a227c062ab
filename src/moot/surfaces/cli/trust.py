"""`moot trust ...`: what an outsider needs to check the record."""

from __future__ import annotations

from pathlib import Path

import click

from moot.core.errors import Refused
from moot.surfaces.cli.answer import Answer, table
from moot.surfaces.cli.page import write_file
from moot.surfaces.cli.shell import Shell, command


@click.group("trust", no_args_is_help=False)
def trust() -> None:
    """The two public keys that everything on record is checked against."""


@command(trust, "show", "trust.show")
def show(shell: Shell) -> Answer:
    """The fingerprint, to be read over the phone, and both public keys.

    Two people who read the same digits look at the same ledger, with the same keys.

    Examples:
      moot trust show
    """
    from moot.workspace.trust import fingerprint

    known = shell.workspace.trust
    data = {
        "fingerprint": fingerprint(known),
        "root": known.root.hex(),
        "checkpoint": known.checkpoint.hex(),
        "origin": known.origin,
    }
    rows = [
        ("fingerprint", data["fingerprint"]),
        ("root key", data["root"]),
        ("checkpoint key", data["checkpoint"]),
    ]
    return Answer(data, lambda: table(rows))


@command(trust, "export", "trust.export")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    required=True,
    help="Where to.",
)
@click.option("--minimum", is_flag=True, help="Accept nothing older than today's checkpoint.")
def export(shell: Shell, output: Path, minimum: bool) -> Answer:
    """Write the trust file with which others check exports of this record.

    Hand it over by another way than the exports, or compare the fingerprint over the phone.

    Examples:
      moot trust export -o trust.json
      moot trust export -o trust.json --minimum
    """
    from moot.engine.checkpoints import newest
    from moot.workspace import trust as trust_files

    space = shell.workspace
    number = None
    if minimum:
        with space.store.read() as view:
            last = newest(view, space.trust)
        if last is None:
            raise Refused(
                "no_checkpoint", "there is no checkpoint yet", hint="`moot ledger checkpoint`"
            )
        number = last.number
    write_file(output, trust_files.to_bytes(trust_files.of(space.trust, number)))
    digits = trust_files.fingerprint(space.trust)
    data = {"file": str(output), "minimum": number, "fingerprint": digits}
    return Answer(data, lambda: [f"written to {output}", f"fingerprint  {digits}"])
