"""What an agent owes: of the threads in its inbox, those that are open are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moot.flows.mail.inbox import Box, threads_in
from moot.flows.mail.lapsed_duties import find_settled
from moot.protocols.mail.machine import MACHINE
from moot.protocols.mail.views import list_owed_by

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace


def list_owed(workspace: Workspace, box: Box) -> list[str]:
    """Every message that this holder of a name owes an answer to, read or not."""
    engine = workspace.engine
    with engine.store.read() as view:
        received = threads_in(view, box)
    settled = find_settled(workspace)
    waiting = (stream for stream in engine.open_streams() if stream in received)
    return [
        message
        for stream in waiting
        for message in list_owed_by(engine.state(MACHINE, stream), box.name, box.epoch, settled)
    ]
