"""A new key for a name: kept before anyone relies on it, forgotten if the registry refuses it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from moot.core.machine import KeyClass

if TYPE_CHECKING:
    from moot.core.signing import Signer
    from moot.keys.folder import KeyFolder
    from moot.workspace.workspace import Workspace


@contextmanager
def new_key(
    workspace: Workspace,
    name: str,
    folder: KeyFolder,
    kind: KeyClass = KeyClass.AGENT,
    passphrase: str | None = None,
) -> Iterator[Signer]:
    """Make a key in `folder` and register it in the block; if that raises, the key is removed.

    A key on record whose file was never written could sign nothing for ever; a file without its
    record does no harm.
    """
    origin = workspace.trust.origin
    signer = folder.add_key(origin, name, kind, passphrase=passphrase)
    try:
        yield signer
    except BaseException:
        folder.remove_key(origin, name, signer.kid)
        raise
    workspace.pin_trust(folder)
