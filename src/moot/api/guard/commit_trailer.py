"""After the check of a commit: its message may lead to the record, where that is wanted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.api.session import Session


def add_commit_trailer(session: Session, message: str) -> str | None:
    """Let the message in this file name the newest event of whoever acts; what was added.

    None for a person, outside of a workspace, and for an agent that no hook has seen at work.
    """
    from moot.flows.guard.commit_trailer import write_trailer
    from moot.flows.guard.guarded_paths import find_guarded_folder
    from moot.flows.observed.session_records import describe_newest_event

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        return None
    there = session.in_workspace(guarded.workspace)
    name = there.known_actor()
    text = None if name is None else describe_newest_event(there.workspace, name)
    if text is None or not write_trailer(session.folder / Path(message), text, session.folder):
        return None
    return text
