"""A few numbers for the prompt of a shell: fast, and empty outside a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from moot.api.operation import operation
from moot.api.session import read_presence

if TYPE_CHECKING:
    from moot.api.session import Session


class Prompt(msgspec.Struct, frozen=True):
    """How many agents are here, how much is due, how much is new for `you`; `unguarded` counts
    agents whose edits no hook checks. `may_be_old`: the ledger's keeper could not be reached."""

    you: str | None = None
    here: int = 0
    due: int = 0
    unread: int = 0
    unguarded: int = 0
    may_be_old: bool = False


@operation("prompt")
def prompt(session: Session) -> Prompt:
    """Return what a prompt shows; outside a workspace all counts are 0, without an error."""
    workspace = session.workspace_or_none
    if workspace is None:
        return Prompt()
    from moot.api.observed.guards import count_unguarded
    from moot.api.presence.agenda import list_due
    from moot.api.presence.status import count_unread

    members = read_presence(workspace).members
    due = [item for item in list_due(workspace, session.acting) if item.what != "read mail"]
    return Prompt(
        you=session.acting,
        here=sum(not member.left for member in members),
        due=len(due),
        unread=count_unread(session),
        unguarded=count_unguarded(workspace),
        may_be_old=session.why_old() is not None,
    )
