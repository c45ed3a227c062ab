"""What a question leaves open is filled in from the user's own settings.

A repository's file cannot name participants: they run commands, and it comes with what one clones.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from moot.core.errors import Malformed
from moot.flows.decisions.questions import Question
from moot.workspace.find import worktree_root
from moot.workspace.settings import read_settings
from moot.workspace.settings_file import FILE, user_settings_file

MOST_FREQUENT: Final = "most-frequent"


def fill_from_settings(question: Question, folder: Path, env: Mapping[str, str]) -> Question:
    """The question with participants and rules (DEC-040); Malformed if nobody is named anywhere."""
    own = read_settings(worktree_root(folder) or folder, user_settings_file(env)).ask
    named = question.participants or ((own.participants,) if own.participants else ())
    if not named:
        raise Malformed(
            "nobody is named who could be asked",
            code="nobody_named",
            hint=f'--with SPEC,SPEC; or ask.participants = "SPEC,SPEC" in your own {FILE}',
        )
    # A parliament ranks no answers, so a default for that does not concern it.
    choose = own.choose if question.chamber == "debate" else MOST_FREQUENT
    chosen = question.choose or choose
    return replace(
        question,
        participants=named,
        rule=question.rule or own.rule,
        choose="" if chosen == MOST_FREQUENT else chosen,
    )
