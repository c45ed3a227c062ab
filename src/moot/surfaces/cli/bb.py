"""`bb` and `bb-init`: the names under which Operative's document knows these commands.

The same code and the same answers as `moot agent heartbeat` and `moot join`.
"""

from __future__ import annotations

from typing import NoReturn

import click

from moot import __version__
from moot.surfaces.cli.heartbeat import heartbeat
from moot.surfaces.cli.join import join_answer
from moot.surfaces.cli.main import main as moot_main
from moot.surfaces.cli.shell import command

_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group("bb", no_args_is_help=False, context_settings=_SETTINGS)
@click.version_option(__version__, prog_name="bb")
def bb() -> None:
    """Operative's own names for presence commands; `moot` has all of them and more."""


@bb.group("agent", no_args_is_help=False)
def agent() -> None:
    """Agents and their signs of life."""


agent.add_command(heartbeat)


bb_init = command(None, "bb-init", "join", context_settings=_SETTINGS)(join_answer)


def main() -> NoReturn:
    moot_main(bb)


def init_main() -> NoReturn:
    moot_main(bb_init)
