"""What an outsider needs to check the record: the ledger's public keys and their fingerprint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from moot.api.operation import operation
from moot.core.errors import Refused

if TYPE_CHECKING:
    from moot.api.session import Session


class TrustedKeys(msgspec.Struct, frozen=True):
    """Both public keys in hex. Equal fingerprints mean equal keys."""

    fingerprint: str
    root: str
    checkpoint: str
    origin: str


class ExportedTrust(msgspec.Struct, frozen=True):
    """`minimum`: a check with this file accepts no state older than this checkpoint."""

    file: str
    minimum: int | None
    fingerprint: str


@operation("trust.show")
def show(session: Session, file: Path | None = None) -> TrustedKeys:
    """Show the keys of this ledger, or those of a trust `file`."""
    from moot.workspace.trust import fingerprint, read_trust_file

    trust = session.workspace.trust if file is None else read_trust_file(file).trust()
    return TrustedKeys(fingerprint(trust), trust.root.hex(), trust.checkpoint.hex(), trust.origin)


@operation("trust.export")
def export(session: Session, file: Path, *, minimum: bool = False) -> ExportedTrust:
    """Write the trust file with which others check exports of this record.

    With `minimum` it accepts nothing older than the newest checkpoint. Send it over another channel
    than the exports, or compare the fingerprint.
    """
    from moot.store.files import write_file
    from moot.workspace.trust import fingerprint

    data, number = trust_file(session, minimum=minimum)
    write_file(file, data)
    return ExportedTrust(str(file), number, fingerprint(session.workspace.trust))


def trust_file(session: Session, *, minimum: bool = False) -> tuple[bytes, int | None]:
    """Return the bytes of the trust file, and the oldest checkpoint that it accepts."""
    from moot.workspace import trust as trust_files

    number = _newest_number(session) if minimum else None
    return trust_files.trust_file_bytes(
        trust_files.trust_file_of(session.workspace.trust, number)
    ), number


def _newest_number(session: Session) -> int:
    from moot.engine.checkpoints import newest_checkpoint

    workspace = session.workspace
    if workspace.rollback is not None:
        raise workspace.rollback
    with workspace.store.read() as view:
        last = newest_checkpoint(view, workspace.trust)
    if last is None:
        raise Refused(
            "no_checkpoint", "there is no checkpoint yet", hint="`moot ledger checkpoint`"
        )
    return last.number
