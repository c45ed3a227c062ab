"""`moot verify` (also `moot ledger verify`): is the record intact and complete?"""

from __future__ import annotations

import hashlib
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from moot.core.errors import NotFound, Unavailable
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.page import page_option, write_page
from moot.surfaces.terminal.progress import progress
from moot.surfaces.terminal.shell import Shell, command
from moot.surfaces.terminal.verdict import verdict_answer, verdict_page

if TYPE_CHECKING:
    from moot.pages import Proof
    from moot.verify import Verdict
    from moot.workspace.check import How

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+~-]*(/[A-Za-z0-9._:@+~-]+)?\Z")
_ENDINGS = (".moot", ".json", ".jsonl", ".md", ".html")
_DRAWN = (".md", ".html")
_MAX_NOTE = 65_536


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
    from moot.workspace.check import How

    with progress("checking") as tell:
        note = None if kept is None else _note(kept)
        verdict = _judge(shell, what, How(shell.folder, trust, jobs, tell, note=note))
    if output is not None:
        title = Path(what).name if what else "The record of this workspace"
        write_page(output, verdict_page(verdict, title, _proof(what)))
    return verdict_answer(verdict)


verify = command(None, "verify", "verify")(check)
ledger_verify = command(None, "verify", "ledger.verify")(check)


def _judge(shell: Shell, what: str | None, how: How) -> Verdict:
    from moot.workspace.check import check_file, check_live

    if what is not None and _is_file(what):
        _require_export(Path(what))
        return check_file(Path(what), how)
    try:
        return check_live(_place(shell, what), how, what)
    except NotFound as error:
        if error.code != "not_found":
            raise
        message = f"no file is called {what}, and there is no record of it here"
        raise NotFound("not_found", message, hint=error.hint) from None


def _require_export(file: Path) -> None:
    """A wrong file is called so, and not damaged; one that cannot be read is the checker's to tell.

    What was drawn from a record may quote any of it: it is known by its name.
    """
    from moot.verify.claim import CLAIMED_WITHIN, claimed

    if file.suffix in _DRAWN and file.is_file():
        raise Unavailable(
            "not_an_export",
            f"{file} is for reading: it proves nothing by itself",
            hint="check its .json or .moot; a debate's file: `moot debate verify FILE`",
        )
    if file.is_fifo():  # what is read of it here is gone
        return
    with suppress(OSError), file.open("rb") as opened:
        if not claimed(opened.read(CLAIMED_WITHIN)):
            raise Unavailable(
                "not_an_export",
                f"{file} is neither an export nor a receipt",
                hint="check what `moot ledger export` or `moot receipt` wrote",
            )


def _place(shell: Shell, what: str | None) -> Path:
    """The workspace; whoever named something is told that it is no file either."""
    try:
        return shell.place
    except Unavailable as error:
        if what is None or error.code != "no_workspace":
            raise
        raise Unavailable(
            "no_workspace",
            f"no file is called {what}, and there is {error}",
            hint="check the path; an id is looked up in a workspace, which --home names",
        ) from None


def _note(file: Path) -> bytes:
    """Its bytes as they are: a line end that was changed on the way is not what was signed."""
    try:
        if file == Path("-"):
            return sys.stdin.buffer.read(_MAX_NOTE)
        with file.open("rb") as opened:
            return opened.read(_MAX_NOTE)
    except OSError as error:
        raise Unavailable(
            "unreadable_file", f"{file}: {error.strerror or error}", hint="check the path"
        ) from None


def _is_file(what: str) -> bool:
    """A file that is there, or a name that can be nothing else."""
    return Path(what).exists() or Path(what).suffix in _ENDINGS or not _ID.match(what)


def _proof(what: str | None) -> Proof | None:
    """The export that was checked; a live workspace leaves no file to check again."""
    from moot.pages import Proof

    if what is None or not _is_file(what):
        return None
    with open(what, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Proof(Path(what).name, digest, f"moot verify {Path(what).name} --trust trust.json")
