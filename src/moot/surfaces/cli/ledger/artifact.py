"""`moot artifact ...`: files that the record cites by their hash."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moot.core.errors import Malformed, NotFound, Refused
from moot.core.names import SYSTEM
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.output import output_option, write_pieces
from moot.surfaces.terminal.shell import Shell, command, text_argument

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace

_PREFIX = re.compile(r"[0-9a-f]{8,64}\Z")
_SHOWN_BYTES = 1 << 20


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
    space = shell.workspace
    sha256 = _find(space, sha)
    data: dict[str, Any] = {"sha256": sha256, "file": str(output) if output else None}
    if output is not None:
        data["size"] = _copy(space, sha256, output)
        return Answer(data, lambda: [f"{data['size']} bytes written to {output}"])
    data |= {"size": space.artifacts.size(sha256), "text": _text(space, sha256)}
    return Answer(data, lambda: _lines(data))


@command(artifact, "erase", "artifact.erase")
@click.argument("sha")
@click.option("--reason", required=True, help="Why; kept on record.")
def erase(shell: Shell, sha: str, reason: str) -> Answer:
    """Remove a stored file for good. Its hash and the reason stay on record.

    Erasing again changes nothing. Copies elsewhere (backups, exports) are not reached.

    Examples:
      moot artifact erase 3f786850 --reason "held an access token"
    """
    from moot.engine.erasing import erase as remove

    space = shell.workspace
    sha256 = _find(space, sha)
    by = shell.acting or SYSTEM
    recorded = remove(space.engine, space.artifacts, sha256, text_argument(reason), by)
    data = {
        "sha256": sha256,
        "recorded": recorded,
        "reason": space.engine.registry().erased[sha256],
    }
    said = "erased" if recorded else "was recorded as erased before; nothing is left of it"
    return Answer(data, lambda: [f"{sha256[:12]}… {said}"])


def _find(space: Workspace, prefix: str) -> str:
    """The one stored or erased file whose hash begins so."""
    if not _PREFIX.match(prefix):
        raise Malformed(
            "a file is named by 8 to 64 lower-case hex digits of its hash",
            code="bad_hash",
            hint="`moot ledger log ID --json` shows what its events cite",
        )
    erased = space.engine.registry().erased
    found = {sha for sha in (*space.artifacts.all(), *erased) if sha.startswith(prefix)}
    if not found:
        raise NotFound(
            "artifact_not_found",
            f"no stored file begins with {prefix}",
            hint="`moot ledger log ID --json` shows what its events cite",
        )
    if len(found) > 1:
        raise Refused(
            "ambiguous_hash", f"{len(found)} files begin with {prefix}", hint="give more digits"
        )
    return found.pop()


def _require_stored(space: Workspace, sha256: str) -> None:
    reason = space.engine.registry().erased.get(sha256)
    if reason is not None and not space.artifacts.has(sha256):
        raise NotFound(
            "artifact_erased",
            f"this file was erased: {visible(reason)}",
            hint="`moot ledger log registry` shows when and by whom",
        )


def _copy(space: Workspace, sha256: str, output: Path) -> int:
    _require_stored(space, sha256)
    return write_pieces(output, space.artifacts.chunks(sha256))[1]


def _text(space: Workspace, sha256: str) -> str | None:
    """Its text if it is one and not too long to show."""
    _require_stored(space, sha256)
    if (space.artifacts.size(sha256) or 0) > _SHOWN_BYTES:
        return None
    try:
        return b"".join(space.artifacts.chunks(sha256)).decode()
    except UnicodeDecodeError:
        return None


def _lines(data: dict[str, Any]) -> Iterable[str]:
    if data["text"] is None:
        return [f"{data['size']} bytes, not a short text: `-o FILE` writes them"]
    return [visible(line) for line in data["text"].splitlines()]
