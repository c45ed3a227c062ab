"""Check that the record is intact, signed by known keys, and complete; write nothing."""

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
_PAGE_ENDINGS: Final = (".md", ".html")


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
    """Check this workspace, one stream of it by its id, or an export by its file.

    A file needs no workspace. `trust` is a trust file to use instead of the one that the key folder
    remembers. `checkpoint` is a signed note that was kept elsewhere: everything it covers must be
    there. The verdict is true if every check passes.
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
        message = f"neither a file nor a stream is called {what}"
        raise NotFound("not_found", message, hint=error.hint) from None


def names_file(what: str) -> bool:
    """Return True if `what` is an existing file, or cannot be an id."""
    return Path(what).exists() or Path(what).suffix in _FILE_ENDINGS or not _ID.match(what)


def _require_export(file: Path) -> None:
    """Raise Unavailable for a file that is no export, so that it is not reported as damaged.

    The checker reports a file that cannot be read. A page may quote any part of a record, so pages
    are recognized by their file ending.
    """
    from moot.verify.receipt import CLAIMED_WITHIN, claims_to_be_ours

    if file.suffix in _PAGE_ENDINGS and file.is_file():
        raise Unavailable(
            "not_an_export",
            f"{file} is a page for reading and proves nothing by itself",
            hint="check its .json or .moot; for a debate's file `moot debate verify FILE`",
        )
    if file.is_fifo():  # reading it here would consume it
        return
    with suppress(OSError), file.open("rb") as stream:
        if not claims_to_be_ours(stream.read(CLAIMED_WITHIN)):
            raise Unavailable(
                "not_an_export",
                f"{file} is neither an export nor a receipt",
                hint="name a file that `moot ledger export` or `moot receipt` wrote",
            )


def _ledger_folder(session: Session, what: str | None) -> Path:
    """Return the workspace; if there is none, say that `what` is no file either."""
    from moot.workspace.find import require_ledger

    try:
        return require_ledger(session.workspace_folder)
    except Unavailable as error:
        if what is None or error.code != "no_workspace":
            raise
        raise Unavailable(
            "no_workspace",
            f"no file is called {what}, and there is {error}",
            hint="check the path; for an id, name the workspace with --home",
        ) from None
