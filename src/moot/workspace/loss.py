"""When the ledger is older than what was kept of it: saying so, and a person going on from there.

Nothing is forgotten: the missing checkpoint stands in the registry for ever, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from moot.core.errors import Refused
from moot.core.ledger import View
from moot.core.names import REGISTRY, SYSTEM
from moot.core.registry.commands import AcceptHistory
from moot.core.registry.proofs import endorse, history_statement
from moot.core.signing import Signer
from moot.engine.checkpoints import Kept, newest, require_in_order
from moot.engine.evidence import holds
from moot.engine.machines import Machines
from moot.engine.replay import Replay
from moot.workspace.workspace import Workspace


def lost_heads(view: View, kept: dict[str, tuple[int, bytes]]) -> Iterator[tuple[str, int]]:
    """Positions that were seen before and are not there, or are another event now."""
    for stream, (seq, head) in kept.items():
        if not holds(view, stream, seq, head):
            yield stream, seq


def has_lost(space: Workspace) -> bool:
    with space.store.read() as view:
        lost = any(lost_heads(view, space.kept.heads(space.trust.origin)))
    return lost or space.rolled_back is not None


def accept_loss(space: Workspace, reason: str, person: Signer | None) -> Kept:
    """Go on from what is there. If anyone has a person's key here, `person` must sign for it."""
    origin = space.trust.origin
    kept = space.kept.newest(origin)
    if kept is None or not has_lost(space):
        raise Refused(
            "nothing_lost",
            "nothing that was kept is missing here",
            hint="`moot verify` says how the record stands",
        )
    with space.store.read() as view:
        # Tampered here, before anything is recorded: no checkpoint could follow.
        newest(view, space.trust)
        require_in_order(view.counts()[0], view.streams())
        _require_chains(view, Replay(space.trust, Machines()))
    said = history_statement(origin=origin, lost=kept.note, reason=reason)
    command = AcceptHistory(
        lost=kept.note, reason=reason, endorsement=endorse(person, said) if person else None
    )
    engine = space.engine_despite_loss()
    engine.execute(REGISTRY, command, SYSTEM)
    made = engine.checkpoint(beyond=kept.number)
    assert made is not None, "the event above moved a head"
    with space.store.read() as view:
        space.kept.start_over(origin, made.checkpoint.number, made.note, view.note_heads())
    return made


def _require_chains(view: View, replay: Replay) -> None:
    """Tampered at the first event that does not follow from the one before it, or at a head."""
    for stream, _ in view.streams():
        if replay.runs(stream):
            for _ in replay.walk(view, stream):
                pass
