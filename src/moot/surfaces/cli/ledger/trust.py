"""`moot trust ...`: what an outsider needs to check the record."""

from __future__ import annotations

from pathlib import Path

import click

from moot.api import trust as trusted
from moot.surfaces.terminal.answer import Answer, table
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.output import STDOUT, output_option
from moot.surfaces.terminal.shell import Shell, command

SECTIONS = {
    "Commands": {
        "show": "the fingerprint, to be read over the phone, and the keys",
        "export": "the file with which others check this record",
    },
}


@click.command("trust", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def trust() -> None:
    """The two public keys that everything on record is checked against."""


@command(trust, "show", "trust.show")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), required=False)
def show(shell: Shell, file: Path | None) -> Answer:
    """The fingerprint, to be read over the phone, and both public keys.

    Two people who read the same digits look at the same ledger, with the same keys. With a FILE:
    those of a trust file that was handed over; no workspace is needed.

    Examples:
      moot trust show
      moot trust show trust.json
    """
    keys = trusted.show(shell.session, file)
    rows = [
        ("fingerprint", keys.fingerprint),
        ("root key", keys.root),
        ("checkpoint key", keys.checkpoint),
    ]
    return Answer(keys, lambda: table(rows))


@command(trust, "export", "trust.export")
@output_option("Where to; `-` prints it.", required=True, printable=True)
@click.option("--minimum", is_flag=True, help="Accept nothing older than today's checkpoint.")
def export(shell: Shell, output: Path, minimum: bool) -> Answer:
    """Write the trust file with which others check exports of this record.

    Hand it over by another way than the exports, or compare the fingerprint over the phone.

    Examples:
      moot trust export -o trust.json
      moot trust export -o trust.json --minimum
    """
    if output == STDOUT:
        text, number = trusted.trust_file(shell.session, minimum=minimum)
        fingerprint = trusted.show(shell.session).fingerprint
        shown = trusted.ExportedTrust(str(STDOUT), number, fingerprint)
        return Answer(shown, text.decode().splitlines)
    made = trusted.export(shell.session, output, minimum=minimum)
    return Answer(made, lambda: [f"written to {output}", f"fingerprint  {made.fingerprint}"])
