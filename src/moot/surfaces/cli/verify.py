"""`moot verify` (also `moot ledger verify`): is the record intact and complete?"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from moot.core.errors import NotFound, Unavailable
from moot.surfaces.cli.answer import Answer
from moot.surfaces.cli.page import page_option, write_page
from moot.surfaces.cli.progress import progress
from moot.surfaces.cli.shell import Shell, command
from moot.surfaces.cli.verdict import verdict_answer, verdict_page

if TYPE_CHECKING:
    from moot.core.report import Proof
    from moot.verify import Verdict
    from moot.workspace.check import How

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+~-]*(/[A-Za-z0-9._:@+~-]+)?\Z")
_ENDINGS = (".moot", ".json", ".jsonl", ".md", ".html")
_DRAWN = (".md", ".html")


@click.argument("what", metavar="[ID|FILE]", required=False)
@click.option(
    "--trust",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Believe this trust file (default: the one your key folder remembers).",
)
@click.option("--jobs", type=click.IntRange(1, 64), default=1, help="Processes to check with.")
@page_option
def check(
    shell: Shell, what: str | None, trust: Path | None, jobs: int, output: Path | None
) -> Answer:
    """Is the record intact, signed by known keys, and complete?

    Without an argument: this workspace, as it is now. With an ID: one decision, debate, thread,
    trace, ... of it. With a FILE: an export, which needs no workspace. Nothing is ever written
    by checking. The exit code is 0 if all holds, 1 if not, 3 if nothing proves that the end is
    not missing.

    Examples:
      moot verify
      moot verify q-1
      moot verify decision.moot --trust trust.json
      moot verify decision.moot -o verdict.html
      moot ledger verify --jobs 4
    """
    from moot.workspace.check import How

    with progress("checking") as tell:
        verdict = _judge(shell, what, How(shell.folder, trust, jobs, tell))
    if output is not None:
        title = Path(what).name if what else "The record of this workspace"
        write_page(output, verdict_page(verdict, title, _proof(what)))
    return verdict_answer(verdict)


verify = command(None, "verify", "verify")(check)
ledger_verify = command(None, "verify", "ledger.verify")(check)


def _judge(shell: Shell, what: str | None, how: How) -> Verdict:
    from moot.workspace.check import check_file, check_live

    if what is not None and _is_file(what):
        if Path(what).suffix in _DRAWN and Path(what).is_file():
            raise Unavailable(
                "not_an_export",
                f"{what} is for reading: it proves nothing by itself",
                hint="check its .json or .moot; a debate's file: `moot debate verify FILE`",
            )
        return check_file(Path(what), how)
    try:
        return check_live(shell.place, how, what)
    except NotFound as error:
        if error.code != "not_found":
            raise
        message = f"no file is called {what}, and there is no record of it here"
        raise NotFound("not_found", message, hint=error.hint) from None


def _is_file(what: str) -> bool:
    """A file that is there, or a name that can be nothing else."""
    return Path(what).exists() or Path(what).suffix in _ENDINGS or not _ID.match(what)


def _proof(what: str | None) -> Proof | None:
    """The export that was checked; a live workspace leaves no file to check again."""
    from moot.core.report import Proof

    if what is None or not _is_file(what):
        return None
    with open(what, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Proof(Path(what).name, digest, f"moot verify {Path(what).name} --trust trust.json")
