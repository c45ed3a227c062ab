"""`bb` and `bb-init`: the names under which Operative's document knows these commands (OPR-091).

The same code and the same answers as `moot agent heartbeat` and `moot join`; a heartbeat does not
load what only a start needs.
"""

from __future__ import annotations

from typing import NoReturn

import click

from moot.core.version import VERSION
from moot.surfaces.cli.main import main as moot_main
from moot.surfaces.cli.presence.heartbeat import heartbeat

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group("bb", no_args_is_help=False, context_settings=SETTINGS)
@click.version_option(VERSION, prog_name="bb")
def bb() -> None:
    """Operative's own names for presence commands; `moot` has all of them and more."""


@bb.group("agent", no_args_is_help=False)
def agent() -> None:
    """Agents and their signs of life."""


agent.add_command(heartbeat)


def main() -> NoReturn:
    moot_main(bb)


def init_main() -> NoReturn:
    from moot.surfaces.cli.bb_init import bb_init

    moot_main(bb_init)
