"""`bb` and `bb-init`: the names under which Operative's document knows these commands.

The same code and the same answers as `moot agent heartbeat` and (later) `moot join`.
"""

from __future__ import annotations

from typing import NoReturn

import click

from moot import __version__
from moot.core.errors import Unavailable
from moot.surfaces.cli.answer import Answer
from moot.surfaces.cli.heartbeat import heartbeat
from moot.surfaces.cli.main import main as moot_main
from moot.surfaces.cli.shell import Shell, command

_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group("bb", no_args_is_help=False, context_settings=_SETTINGS)
@click.version_option(__version__, prog_name="bb")
def bb() -> None:
    """Operative's own names for presence commands; `moot` has all of them and more."""


@bb.group("agent", no_args_is_help=False)
def agent() -> None:
    """Agents and their signs of life."""


agent.add_command(heartbeat)


@command(None, "bb-init", "join", context_settings=_SETTINGS)
@click.option("--non-interactive", is_flag=True, help="Never ask; choose a name.")
@click.option("--adopt", metavar="NAME", help="Go on as this agent.")
@click.option("--register", metavar="NAME", help="Register this name.")
def bb_init(
    _shell: Shell, non_interactive: bool, adopt: str | None, register: str | None
) -> Answer:
    """Join the work in this repository. NOT AVAILABLE YET: it comes with the presence protocol.

    Until then it changes nothing and says so; `moot agent register NAME` registers an agent.

    Examples:
      bb-init --non-interactive --json
      bb-init --register amber-otter
    """
    del non_interactive
    name = register or adopt or "NAME"
    raise Unavailable(
        "not_available_yet",
        "joining comes with the presence protocol, which this version does not have yet",
        hint=f"`moot agent register {name}` registers an agent; nothing was changed",
    )


def main() -> NoReturn:
    moot_main(bb)


def init_main() -> NoReturn:
    moot_main(bb_init)
