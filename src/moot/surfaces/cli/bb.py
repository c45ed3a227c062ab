"""`bb` and `bb-init`: the names under which Operative's document knows these commands (OPR-091).

The same code and the same answers as the commands of `moot`; a heartbeat does not load what only
the others need. Hints name the command as it was typed, and exit codes are 0, 1 and 2 (B-34).
"""

from __future__ import annotations

from typing import NoReturn

import click

from moot.core.version import VERSION
from moot.surfaces.cli.main import main as moot_main
from moot.surfaces.cli.presence.agents import heartbeat
from moot.surfaces.terminal.lazy import Entry, LazyGroup
from moot.surfaces.terminal.shell import Shell

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_HERE = "moot.surfaces.cli.bb_commands"
SECTIONS: dict[str, dict[str, Entry | str]] = {
    "Who": {
        "register": Entry(f"{_HERE}:register", "a new name with a key of its own"),
        "list": Entry(f"{_HERE}:list_agents", "who is registered here, active ones first"),
        "show": Entry(f"{_HERE}:show", "one agent: liveness, what it holds, its keys"),
        "heartbeat": "report that an agent is alive",
        "status": Entry(f"{_HERE}:status", "who is here, who holds what, what is due"),
    },
    "Who works where": {
        "reserve": Entry(f"{_HERE}:reserve", "reserve files or a folder"),
        "release": Entry(f"{_HERE}:release", "release what you hold"),
    },
    "Messages": {
        "send": Entry(f"{_HERE}:send", "pass work on, say what you need, tell something"),
        "inbox": Entry(f"{_HERE}:inbox", "what is new for an agent"),
        "read": Entry(f"{_HERE}:read", "read one message, or mark an event as seen"),
        "ack": Entry(f"{_HERE}:ack", "accept what was passed on; acknowledge a message"),
    },
}


@click.group("bb", no_args_is_help=False, context_settings=SETTINGS)
@click.version_option(VERSION, prog_name="bb")
@click.pass_obj
def bb(shell: Shell) -> None:
    """Operative's own names for presence commands; `moot` has all of them and more."""
    shell.is_operative = True


@bb.group("agent", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def agent() -> None:
    """Agents: signs of life, reservations, messages."""


agent.add_command(heartbeat)


def main() -> NoReturn:
    moot_main(bb)


def init_main() -> NoReturn:
    from moot.surfaces.cli.bb_commands import bb_init

    moot_main(bb_init)
