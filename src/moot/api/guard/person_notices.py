"""Run the user's notification program when something waits for them.

The program is `notify.command` in the user's own `moot.toml`, never in a repository's. Its last
argument is one sentence; MOOT_MOMENT contains the reason. No shell is involved. Each notice is sent
once.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from moot.api.session import Session


VARIABLE: Final = "MOOT_MOMENT"
MOST_CHARACTERS: Final = 300


class PersonMoment(StrEnum):
    """Why a person is notified."""

    BLOCKED = "blocked"
    DECISION = "decision"
    INCURSION = "incursion"
    UNGUARDED = "unguarded"
    PERMISSION = "permission"


def notify_person(
    workspace: Path, env: Mapping[str, str], moment: PersonMoment, once: str, sentence: str
) -> bool:
    """Start the user's program, if there is one and this notice (`once`) was not sent before.

    If the settings file cannot be read, nothing is sent; `moot doctor` reports the problem.
    """
    from moot.core.errors import Malformed
    from moot.workspace.settings import read_user_settings

    try:
        command = read_user_settings(env).notify.command
    except Malformed:
        return False
    if not command:
        return False
    import shlex

    from moot.api.guard.notices import claim_notice
    from moot.system.programs import start_detached

    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if not words or not claim_notice(workspace, "notify", moment, once):
        return False
    said = " ".join("".join(c if c.isprintable() else " " for c in sentence).split())
    return start_detached([*words, f"moot: {said[:MOST_CHARACTERS]}"], {VARIABLE: moment})


_MINUTE_MILLIS: Final = 60_000


def tell_permission(session: Session, tool: str, message: str) -> None:
    """Notify the user that `tool` waits for a permission; once a minute for the same request."""
    from moot.api.guard.guarded_paths import find_guarded_folder

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        return
    who = session.acting or session.tool_session_name
    once = f"{who}\n{message}\n{session.clock() // _MINUTE_MILLIS}"
    sentence = f"{tool} waits for you: {message}"
    notify_person(guarded.workspace, session.env, PersonMoment.PERMISSION, once, sentence)


def own_settings_file(session: Session) -> str:
    """Return the user's settings file; an empty file if there is none."""
    from moot.workspace.user_folders import user_settings_file

    return str(user_settings_file(session.env) or os.devnull)
