"""Agents whose program is gone: ended, and with them at once what they owed and were owed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.flows.presence.gone_sessions import UnfinishedSession
    from moot.workspace.workspace import Workspace


def end_gone_agents(
    workspace: Workspace, observer: str | None, names: Iterable[str] | None = None
) -> tuple[UnfinishedSession, ...]:
    """End those of `names` (None: of everybody here) that are gone, and let their duties lapse;
    give back those that keep what they hold."""
    from moot.flows.presence.gone_sessions import end_gone_sessions

    seen = end_gone_sessions(workspace, observer, names)
    if seen.ended:
        from moot.flows.mail.lapsed_duties import lapse_duties

        lapse_duties(workspace)
    return seen.unfinished
