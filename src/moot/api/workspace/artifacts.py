"""Files that the record cites by their hash: outputs, evidence, long texts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.operation import operation
from moot.core.errors import Malformed, NotFound, Refused
from moot.core.names import SYSTEM
from moot.core.text import Quoted

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.workspace.workspace import Workspace

_HASH_PREFIX: Final = re.compile(r"[0-9a-f]{8,64}\Z")
MOST_SHOWN_BYTES: Final = 1 << 20


class StoredArtifact(msgspec.Struct, frozen=True):
    """A stored file. `text` is None if it is not text, or too long to show.

    If its bytes were written to `file`, `text` is unset.
    """

    sha256: str
    file: str | None
    size: int | None
    text: Quoted | msgspec.UnsetType | None = msgspec.UNSET


class ErasedArtifact(msgspec.Struct, frozen=True):
    """`recorded` is False if it was erased before: then this changed nothing."""

    sha256: str
    recorded: bool
    reason: Quoted


@operation("artifact.show")
def show(session: Session, sha256: str, *, file: Path | None = None) -> StoredArtifact:
    """Show a stored file, checked against its hash. Eight digits are enough if they are unique.

    With `file` its bytes are written there instead of being returned as text.
    """
    workspace = session.workspace
    sha256 = _find_one(workspace, sha256)
    _require_stored(workspace, sha256)
    if file is not None:
        from moot.store.files import write_pieces

        _, size = write_pieces(file, workspace.artifacts.chunks(sha256))
        return StoredArtifact(sha256, str(file), size)
    size_stored = workspace.artifacts.size(sha256)
    return StoredArtifact(sha256, None, size_stored, _short_text(workspace, sha256))


@operation("artifact.erase", writes=True)
def erase(session: Session, sha256: str, reason: str) -> ErasedArtifact:
    """Remove a stored file for good. Its hash and the reason stay in the record.

    A repeat changes nothing, so it needs no key. Copies elsewhere (backups, exports) remain.
    """
    from moot.engine.registry_commands import erase_artifact as erase_recorded

    workspace = session.workspace
    sha256 = _find_one(workspace, sha256)
    by = session.acting or SYSTEM
    recorded = erase_recorded(workspace.engine, workspace.artifacts, sha256, reason, by)
    return ErasedArtifact(sha256, recorded, Quoted(workspace.engine.registry().erased[sha256]))


def _find_one(workspace: Workspace, prefix: str) -> str:
    """Return the hash of the only stored or erased file that begins with `prefix`."""
    if not _HASH_PREFIX.match(prefix):
        raise Malformed(
            "a file is named by 8 to 64 lower-case hex digits of its hash",
            code="bad_hash",
            hint="`moot ledger log ID --json` shows what its events cite",
        )
    erased = workspace.engine.registry().erased
    matches = {
        sha for sha in (*workspace.artifacts.all_hashes(), *erased) if sha.startswith(prefix)
    }
    if not matches:
        raise NotFound(
            "artifact_not_found",
            f"no stored file begins with {prefix}",
            hint="`moot ledger log ID --json` shows what its events cite",
        )
    if len(matches) > 1:
        raise Refused(
            "ambiguous_hash", f"{len(matches)} files begin with {prefix}", hint="give more digits"
        )
    return matches.pop()


def _require_stored(workspace: Workspace, sha256: str) -> None:
    reason = workspace.engine.registry().erased.get(sha256)
    if reason is not None and not workspace.artifacts.has(sha256):
        raise NotFound(
            "artifact_erased",
            f"this file was erased: {reason}",
            hint="`moot ledger log registry` shows when and by whom",
        )


def _short_text(workspace: Workspace, sha256: str) -> Quoted | None:
    if (workspace.artifacts.size(sha256) or 0) > MOST_SHOWN_BYTES:
        return None
    try:
        return Quoted(b"".join(workspace.artifacts.chunks(sha256)).decode())
    except UnicodeDecodeError:
        return None
