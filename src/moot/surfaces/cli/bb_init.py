"""`bb-init`: the name under which Operative's document knows `moot join`.

The document counts scopes from the root of the project, and so does this command (B-11).
"""

from __future__ import annotations

from typing import Any

from moot.surfaces.cli.bb import SETTINGS
from moot.surfaces.cli.presence.from_root import hints_from_root, remark_on_misread
from moot.surfaces.cli.presence.join import answer_join, join_options
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.shell import Shell, command


@command(None, "bb-init", "join", context_settings=SETTINGS)
@join_options
def bb_init(shell: Shell, scopes: tuple[str, ...], **ways: Any) -> Answer:
    """Join the work in this repository under a name of your own.

    Without options: a made-up name if nothing unfinished could be continued; else you choose.
    Adopting is possible only if files in that agent's scope are uncommitted, or it owns a work
    item in progress. A SCOPE is named from the root of the worktree, wherever you stand.

    Examples:
      bb-init --non-interactive --json
      bb-init --register amber-otter --scope src/auth
      bb-init --adopt amber-otter
    """
    session = shell.session
    with hints_from_root(session, scopes):
        return answer_join(shell, scopes, lambda: remark_on_misread(scopes, session.place), **ways)
