"""`moot config`: settings of the workspace that stand in its record."""

from __future__ import annotations

from collections.abc import Iterable

import click

from moot.api import config as api
from moot.surfaces.terminal.answer import Answer, table
from moot.surfaces.terminal.shell import Shell, command


@command(None, "config", "config")
@click.argument("name", metavar="[KEY", required=False)
@click.argument("value", metavar="[VALUE]]", required=False)
def config(shell: Shell, name: str | None, value: str | None) -> Answer:
    """Settings of this workspace: all, one, or a new value for one.

    A new value is a person's signed act in the record, so it needs your own key.
    BB_AGENT_STALE_MINUTES changes only what you are shown; what may be taken over goes by the
    workspace's setting as well.

    Examples:
      moot config
      moot config stale-minutes
      moot config stale-minutes 30
    """
    shown = api.config(shell.session, name, value)
    return Answer(shown, lambda: _lines(shown))


def _lines(shown: api.Config) -> Iterable[str]:
    if shown.changed_by is not None:
        (setting,) = shown.settings
        return [f"{setting.key} is {setting.value} from now on, by {shown.changed_by}"]
    return table((setting.key, f"{setting.value}  ({setting.about})") for setting in shown.settings)
