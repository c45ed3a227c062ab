"""`moot hook ...`: what coding tools call before and after they edit, and how it is installed.

The commands that tools call do not print an envelope: their answer is the tool's own JSON, and
`moot.surfaces.hooks.entry` gives it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from moot.core.errors import MootError, Unavailable
from moot.flows.tools import HOOK_TOOLS
from moot.surfaces.terminal.answer import Answer, finding_line
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.core.findings import Finding
    from moot.flows.guard.guarded_paths import Spot

TOOL = click.Choice([*HOOK_TOOLS, "git"])


SECTIONS = {
    "Set up": {
        "install": "let a coding tool ask before it edits",
        "uninstall": "take our hooks out, and put back what was there",
    },
    "Called by the tools": {
        **{tool: f"answer {tool}: its JSON in, ours out" for tool in HOOK_TOOLS},
        "git": "check what is staged",
    },
}


@click.command("hook", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def hook() -> None:
    """Stop an agent before it edits a file that another agent holds."""


@command(hook, "install", "hook.install")
@click.argument("tool", type=TOOL)
@click.option("--skill/--no-skill", default=True, help="Also write the agent's manual.")
@click.option("--trust", is_flag=True, help="Store your trust in these hooks (codex, gemini).")
def install(shell: Shell, tool: str, skill: bool, trust: bool) -> Answer:
    """Set up TOOL so that it asks before it edits. What is there stays; ours is added.

    Writes into the settings of this worktree. Doing it again changes nothing; `uninstall` puts
    back what was there. Codex and Gemini CLI run hooks only if you trust them: --trust stores
    that, and without it this command says what you must do.

    Examples:
      moot hook install claude
      moot hook install codex --trust
      moot hook install git
    """
    from moot.flows.tools import install as setup
    from moot.flows.tools import tool_trust as consent
    from moot.flows.tools.hook_health import live

    spot = _spot(shell)
    done = setup.install(tool, spot, skill)
    trusted = consent.store(tool, spot, shell.env) if trust else None
    remarks = live(Path.cwd(), shell.env, shell.home)
    data = {
        "tool": tool,
        "changed": [str(path) for path in done.changed],
        "trusted": trusted,
        "findings": msgspec.to_builtins(remarks),
    }
    return Answer(data, lambda: _lines("installed", data, remarks))


@command(hook, "uninstall", "hook.uninstall")
@click.argument("tool", type=TOOL)
def uninstall(shell: Shell, tool: str) -> Answer:
    """Take our hooks out of TOOL's settings and put back what was there.

    Files that nobody changed since are restored byte for byte; others keep their changes.

    Examples:
      moot hook uninstall claude
    """
    from moot.flows.tools import install as setup

    spot = _spot(shell)
    done = setup.uninstall(tool, spot)
    data = {"tool": tool, "changed": [str(path) for path in done.changed]}
    if done.changed and tool in HOOK_TOOLS:
        _nobody_watches(shell, tool, spot)
    return Answer(data, lambda: _lines("uninstalled", data, ()))


def _nobody_watches(shell: Shell, tool: str, spot: Spot) -> None:
    """From here on the tool's sessions are not seen; that is on record, and never in the way."""
    from moot.flows.observed.sessions import note_hook_removed

    with suppress(MootError):
        note_hook_removed(shell.workspace, tool, spot.root)


def _spot(shell: Shell) -> Spot:
    from moot.flows.guard.guarded_paths import session_spot

    spot = session_spot(str(Path.cwd()), shell.home)
    if spot is None:
        raise Unavailable(
            "no_workspace", f"no workspace for {Path.cwd()}", hint="run `moot init` first"
        )
    return spot


def _lines(verb: str, data: dict[str, Any], remarks: Iterable[Finding]) -> Iterable[str]:
    if not data["changed"]:
        yield f"{data['tool']}: nothing to do"
    for path in data["changed"]:
        yield f"{data['tool']} {verb}: {path}"
    if data.get("trusted"):
        yield data["trusted"]
    yield from map(finding_line, remarks)


def _answering(tool: str) -> click.Command:
    def invoke() -> None:
        from moot.surfaces.hooks.entry import main

        main(tool)

    text = f"Answer {tool}'s hook: its JSON on stdin, our answer on stdout. {tool} calls this."
    return click.Command(tool, callback=invoke, help=text)


for _tool in HOOK_TOOLS:
    hook.add_command(_answering(_tool))


@hook.command("git", help="Check what is staged. Our pre-commit hook calls this.")
@click.pass_obj
def git(shell: Shell) -> None:
    from moot.surfaces.hooks.commit import before_commit

    reply = before_commit(shell.env, str(Path.cwd()))
    if reply.err:
        click.echo(reply.err, err=True)
    click.get_current_context().exit(reply.code)
