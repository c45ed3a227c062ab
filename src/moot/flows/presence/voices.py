"""Who only answers questions: participants of decisions that never joined the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from moot.protocols.decision import VOICES
from moot.protocols.presence import STREAM, sorted_index
from moot.protocols.presence.machine import MACHINE as PRESENCE

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace

_PAGE: Final = 1_000


def list_voices(workspace: Workspace) -> frozenset[str]:
    """Everyone who was asked a question and never joined the work."""
    names: set[str] = set()
    after = ""
    while True:
        with workspace.store.read() as view:
            rows = view.rows(VOICES, "", after, _PAGE)
        names.update(row.key for row in rows)
        if len(rows) < _PAGE:
            break
        after = rows[-1].key
    state = workspace.engine.state(PRESENCE, STREAM)
    return frozenset(n for n in names if sorted_index.find_member(state, n) is None)
