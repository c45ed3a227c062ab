"""A coding tool waits for its person, who can be told outside of that terminal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from moot.api.session import Session

_MINUTE_MILLIS: Final = 60_000


def tell_permission(session: Session, tool: str, message: str) -> None:
    """Start the user's own program (`notify.command`) because `tool` waits for a permission.

    The same request within a minute is one. Outside of every workspace nobody is told.
    """
    from moot.flows.guard.guarded_paths import find_guarded_folder
    from moot.flows.person_notices import PersonMoment, notify_person

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        return
    who = session.acting or session.tool_session_name
    once = f"{who}\n{message}\n{session.clock() // _MINUTE_MILLIS}"
    sentence = f"{tool} waits for you: {message}"
    notify_person(guarded.workspace, session.env, PersonMoment.PERMISSION, once, sentence)


def own_settings_file(session: Session) -> str:
    """The settings file of whoever this session is for; a file that is empty if there is none."""
    from moot.workspace.settings_file import user_settings_file

    return str(user_settings_file(session.env) or os.devnull)
