"""`moot hook ...`: what coding tools call before and after they edit, and how it is installed.

The commands that tools call do not print an envelope: their answer is the tool's own JSON, and
`moot.surfaces.hooks.entry` gives it.
"""

from __future__ import annotations

from pathlib import Path

import click

from moot.api import tool_checks, tools
from moot.surfaces.cli.guard.hook_lines import (
    changed_lines,
    installed_lines,
    status_lines,
    test_lines,
)
from moot.surfaces.terminal.answer import DONE, REFUSED, Answer
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.shell import Shell, command

TOOL = click.Choice(tools.TOOLS)


SECTIONS = {
    "Set up": {
        "install": "let a coding tool ask before it edits",
        "uninstall": "take our hooks out, and put back what was there",
        "status": "is each tool set up, trusted and heard of, in each worktree?",
        "test": "send an edit through a tool's hook that must be refused",
    },
    "Called by the tools": {
        **{tool: f"answer {tool}: its JSON in, ours out" for tool in tools.CODING_TOOLS},
        "git": "check what is staged",
    },
}


@click.command("hook", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def hook() -> None:
    """Stop an agent before it edits a file that another agent holds."""


@command(hook, "install", "hook.install")
@click.argument("tool", type=TOOL)
@click.option("--skill/--no-skill", default=True, help="Also write the agent's manual.")
@click.option("--trust", is_flag=True, help="Store your trust in hooks and server.")
@click.option("--share", is_flag=True, help="Write lines that are meant to be committed.")
@click.option("--mcp/--no-mcp", default=True, help="Also let TOOL start `moot mcp`.")
def install(shell: Shell, tool: str, skill: bool, trust: bool, share: bool, mcp: bool) -> Answer:
    """Set up TOOL so that it asks before it edits. What is there stays; ours is added.

    Writes for you alone: into the tool's local settings, or into files that git ignores from then
    on in this clone. With --share it writes lines to be committed, which do nothing for colleagues
    who have no moot. Doing it again changes nothing; `uninstall` puts back what was there. Codex
    and Gemini CLI run hooks only if you trust them: --trust stores that, and without it this
    command says what you must do. The tool also learns to start `moot mcp`, which gives its model
    tools of moot (docs/mcp.md); --trust lets it start them unasked where that is its to say.

    Examples:
      moot hook install claude
      moot hook install codex --trust
      moot hook install gemini --no-mcp
      moot hook install git
    """
    installed = tools.install(shell.session, tool, skill=skill, trust=trust, share=share, mcp=mcp)
    return Answer(installed, lambda: installed_lines(installed))


@command(hook, "uninstall", "hook.uninstall")
@click.argument("tool", type=TOOL, required=False)
@click.option("--all", "everywhere", is_flag=True, help="In all worktrees; all tools if none named")
def uninstall(shell: Shell, tool: str | None, everywhere: bool) -> Answer:
    """Take our hooks out of TOOL's settings and put back what was there.

    Files that nobody changed since are restored byte for byte; others keep their changes. Where
    other worktrees share the same hooks, this is refused and says which; --all takes them out of
    every worktree, and without TOOL everything of every tool.

    Only people do this: it is refused to agents, and below a coding tool or `moot run`.

    Examples:
      moot hook uninstall claude
      moot hook uninstall codex --all
      moot hook uninstall --all
    """
    removed = tools.uninstall(shell.session, tool, everywhere=everywhere)
    return Answer(removed, lambda: changed_lines("uninstalled", removed.tool, removed.changed))


@command(hook, "status", "hook.status")
def status(shell: Shell) -> Answer:
    """Each tool in each worktree: set up, trusted, last heard of; what is wrong, and what to type.

    Tools that are neither set up nor on PATH are only in --json.

    Examples:
      moot hook status
      moot hook status --json
    """
    found = tool_checks.status(shell.session)
    return Answer(found, lambda: status_lines(found))


@command(hook, "test", "hook.test")
@click.argument("tool", type=click.Choice(tools.CODING_TOOLS))
def test(shell: Shell, tool: str) -> Answer:
    """Send an edit through TOOL's installed hook, exactly as the tool would: it must be refused.

    The file is one that no agent may write. Nothing is written, and nothing goes on record. Where
    TOOL is told to start `moot mcp`, that is started, too, and must offer its tools. The exit code
    is 1 if the answer is not the refusal, or the server does not answer.

    Examples:
      moot hook test claude
    """
    tried = tool_checks.try_hooks(shell.session, tool)
    return Answer(tried, lambda: test_lines(tried), DONE if tried.whole else REFUSED)


def _answering(tool: str) -> click.Command:
    def invoke() -> None:
        from moot.surfaces.hooks.entry import main

        main(tool)

    text = f"Answer {tool}'s hook: its JSON on stdin, our answer on stdout. {tool} calls this."
    return click.Command(tool, callback=invoke, help=text)


for _tool in tools.CODING_TOOLS:
    hook.add_command(_answering(_tool))


@hook.command("git", help="Check what is staged, or merged. Our git hooks call this.")
@click.argument("name", default="pre-commit")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def git(shell: Shell, name: str, arguments: tuple[str, ...]) -> None:
    from moot.surfaces.hooks.entry import check_commit

    reply = check_commit(shell.env, str(Path.cwd()), name, arguments)
    if reply.err:
        click.echo(reply.err, err=True)
    click.get_current_context().exit(reply.code)
