"""Private keys that nobody may sign with any more are removed from the key folder.

A session that has retired cannot be adopted, and of one that was adopted only the new key counts.
What such keys have signed stays proved by their public halves, which are on record. Keys of people,
and those that were revoked, are for people to look after.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from moot.core.machine import KeyClass
from moot.core.registry.model import KeyEnding

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace


def remove_ended_keys(workspace: Workspace) -> None:
    """Remove what is over of this ledger; keys that are not on record yet are left alone.

    Sessions that end at the same time may both try; a file that cannot be removed does no harm.
    """
    folder, origin = workspace.folder, workspace.trust.origin
    keys = workspace.engine.registry().keys
    for name, kid in folder.list_keys(origin):
        key = keys.get(kid)
        if key is None or key.kind is not KeyClass.AGENT or key.name != name:
            continue
        if key.ending in (KeyEnding.RETIRED, KeyEnding.ROTATED):
            with suppress(OSError):
                folder.remove_key(origin, name, kid)
