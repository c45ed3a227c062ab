"""`moot artifact ...`: files that the record cites by their hash."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from moot.api import artifacts
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.output import output_option
from moot.surfaces.terminal.shell import Shell, command, text_argument

SECTIONS = {
    "Commands": {
        "show": "a stored file, checked against its hash",
        "erase": "remove a stored file for good",
    },
}


@click.command("artifact", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def artifact() -> None:
    """Files that the record cites by their hash: outputs, evidence, long texts."""


@command(artifact, "show", "artifact.show")
@click.argument("sha")
@output_option("Write its bytes to FILE.")
def show(shell: Shell, sha: str, output: Path | None) -> Answer:
    """Show a stored file, checked against its hash. 8 digits of it are enough if they are unique.

    Examples:
      moot artifact show 3f786850
      moot artifact show 3f786850 -o output.txt
    """
    shown = artifacts.show(shell.session, sha, file=output)
    return Answer(shown, lambda: _lines(shown))


@command(artifact, "erase", "artifact.erase")
@click.argument("sha")
@click.option("--reason", required=True, help="Why; kept on record.")
def erase(shell: Shell, sha: str, reason: str) -> Answer:
    """Remove a stored file for good. Its hash and the reason stay on record.

    Erasing again changes nothing. Copies elsewhere (backups, exports) are not reached.

    Examples:
      moot artifact erase 3f786850 --reason "held an access token"
    """
    erased = artifacts.erase(shell.session, sha, text_argument(reason))
    outcome = (
        "erased" if erased.recorded else "was recorded as erased before; nothing is left of it"
    )
    return Answer(erased, lambda: [f"{erased.sha256[:12]}… {outcome}"])


def _lines(shown: artifacts.StoredArtifact) -> Iterable[str]:
    if shown.file is not None:
        return [f"{shown.size} bytes written to {shown.file}"]
    if not isinstance(shown.text, str):
        return [f"{shown.size} bytes, not a short text: `-o FILE` writes them"]
    return [visible(line) for line in shown.text.splitlines()]
