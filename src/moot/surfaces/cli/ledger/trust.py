"""`moot trust ...`: what an outsider needs to check the record."""

from __future__ import annotations

from pathlib import Path

import click

from moot.core.errors import Refused
from moot.store.named_files import write_file
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
    from moot.workspace.trust import fingerprint, read

    known = shell.workspace.trust if file is None else read(file).trust()
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
@output_option("Where to; `-` prints it.", required=True, printable=True)
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
    if minimum and space.rolled_back is not None:
        raise space.rolled_back
    if minimum:
        with space.store.read() as view:
            last = newest(view, space.trust)
        if last is None:
            raise Refused(
                "no_checkpoint", "there is no checkpoint yet", hint="`moot ledger checkpoint`"
            )
        number = last.number
    made = trust_files.to_bytes(trust_files.of(space.trust, number))
    if output != STDOUT:
        write_file(output, made)
    digits = trust_files.fingerprint(space.trust)
    data = {"file": str(output), "minimum": number, "fingerprint": digits}
    said = [f"written to {output}", f"fingerprint  {digits}"]
    return Answer(data, made.decode().splitlines if output == STDOUT else lambda: said)
