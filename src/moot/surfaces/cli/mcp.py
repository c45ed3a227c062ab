"""`moot mcp`: the same for models, over the Model Context Protocol. Started by a coding tool."""

from __future__ import annotations

import click

from moot.surfaces.terminal.shell import Shell


@click.command("mcp")
@click.pass_obj
def mcp(shell: Shell) -> None:
    """Serve eight tools to a model, on standard input and output.

    A coding tool starts this and ends it; docs/mcp.md says how to tell it to. Under MOOT_AGENT
    (`moot run` sets it) the model acts as that agent, else an agent of its own joins with the
    first call and leaves at the end.

    \b
    Examples:
      claude mcp add moot -- moot mcp
    """
    from moot.surfaces.mcp.server import serve

    named = {"MOOT_AGENT": shell.acting, "MOOT_HOME": shell.home and str(shell.home.absolute())}
    serve({**shell.env, **{name: text for name, text in named.items() if text}}, shell.cwd)
