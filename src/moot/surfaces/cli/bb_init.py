"""`bb-init`: the name under which Operative's document knows `moot join`."""

from __future__ import annotations

from moot.surfaces.cli.bb import SETTINGS
from moot.surfaces.cli.presence.join import join_answer
from moot.surfaces.terminal.shell import command

bb_init = command(None, "bb-init", "join", context_settings=SETTINGS)(join_answer)
