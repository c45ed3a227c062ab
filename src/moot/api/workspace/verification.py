"""Is the record intact, signed by known keys, and complete? Nothing is ever written by asking."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moot.api.operation import operation
from moot.core.errors import NotFound, Unavailable

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.verify import BundleVerdict

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+~-]*(/[A-Za-z0-9._:@+~-]+)?\Z")
_FILE_ENDINGS: Final = (".moot", ".json", ".jsonl", ".md", ".html")
_DRAWN_ENDINGS: Final = (".md", ".html")


@operation("ledger.verify", also="verify")
def verify(
    session: Session,
    what: str | None = None,
    *,
    trust: Path | None = None,
    checkpoint: bytes | None = None,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> BundleVerdict:
    """Check this workspace as it is now, one history of it by its id, or an export by its file.

    A file needs no workspace. `trust` is a trust file to believe instead of the one that the key
    folder remembers. `checkpoint` is a signed note that was kept elsewhere: all that it pinned must
    be there. The verdict is true if everything holds.
    """
    from moot.workspace.integrity_check import CheckOptions, check_file, check_workspace

    how = CheckOptions(session.keys, trust, jobs, progress, note=checkpoint)
    if what is not None and names_file(what):
        _require_export(Path(what))
        return check_file(Path(what), how)
    try:
        return check_workspace(_ledger_folder(session, what), how, what)
    except NotFound as error:
        if error.code != "not_found":
            raise
        message = f"no file is called {what}, and there is no record of it here"
        raise NotFound("not_found", message, hint=error.hint) from None


def names_file(what: str) -> bool:
    """True if `what` is a file that is there, or a name that can be nothing else."""
    return Path(what).exists() or Path(what).suffix in _FILE_ENDINGS or not _ID.match(what)


def _require_export(file: Path) -> None:
    """A wrong file is called so, and not damaged; one that cannot be read is the checker's to tell.

    A page drawn from a record may quote any of it, so it is told by its name.
    """
    from moot.verify.receipt import CLAIMED_WITHIN, claims_to_be_ours

    if file.suffix in _DRAWN_ENDINGS and file.is_file():
        raise Unavailable(
            "not_an_export",
            f"{file} is for reading: it proves nothing by itself",
            hint="check its .json or .moot; a debate's file: `moot debate verify FILE`",
        )
    if file.is_fifo():  # what is read of it here is gone
        return
    with suppress(OSError), file.open("rb") as stream:
        if not claims_to_be_ours(stream.read(CLAIMED_WITHIN)):
            raise Unavailable(
                "not_an_export",
                f"{file} is neither an export nor a receipt",
                hint="check what `moot ledger export` or `moot receipt` wrote",
            )


def _ledger_folder(session: Session, what: str | None) -> Path:
    """The workspace; whoever named something is told that it is no file either."""
    from moot.workspace.find import require_ledger

    try:
        return require_ledger(session.workspace_folder)
    except Unavailable as error:
        if what is None or error.code != "no_workspace":
            raise
        raise Unavailable(
            "no_workspace",
            f"no file is called {what}, and there is {error}",
            hint="check the path; an id is looked up in a workspace, which --home names",
        ) from None
