"""`moot hook ...` and `moot mcp`: what coding tools call, and how it is installed.

The commands that tools call do not print an envelope: their answer is the tool's own JSON, and
`moot.surfaces.hooks.entry` gives it. Status and test wrap at 80 columns, but never a command.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import click

from moot.api.hook_setup import tool_checks, tools
from moot.api.hook_setup.tool_checks import HookStatus, ToolHooks, TriedHooks
from moot.api.hook_setup.tools import InstalledHooks, McpSetUp
from moot.surfaces.terminal.answer import DONE, REFUSED, finding_line, paint, visible
from moot.surfaces.terminal.derive import derive
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.shell import Shell

TOOL = "|".join(tools.TOOLS)
CODING_TOOL = "|".join(tools.CODING_TOOLS)


SECTIONS = {
    "Set up": {
        "install": "make a coding tool ask before it edits",
        "uninstall": "remove our hooks, and restore what was there",
        "status": "is each tool set up and trusted, in each worktree?",
        "test": "send an edit through a tool's hook that must be refused",
    },
    "Called by the tools": {
        **{tool: f"answer {tool}: its JSON in, ours out" for tool in tools.CODING_TOOLS},
        "git": "check what is staged",
    },
}


@click.command("hook", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def hook() -> None:
    """Refuse an agent's edits of files that another agent holds."""


@derive("hook.install", tools.install, f"""
    {TOOL} = tool
    --skill/--no-skill  Also write the agent's manual.
    --trust             Store your trust in hooks and server.
    --share             Write settings that are meant to be committed.
    --mcp/--no-mcp      Also let TOOL start `moot mcp`.
""", group=hook)  # fmt: skip
def install(installed: tools.InstalledHooks) -> Iterable[str]:
    """Set up TOOL so that it asks before it edits. Keeps what is there, and adds ours.

    Writes for you alone: into the tool's local settings, or into files that git then ignores in
    this clone. With --share it writes settings to commit; they do nothing for colleagues without
    moot. Running it again changes nothing; `uninstall` restores what was there. Codex and Gemini
    CLI run hooks only if you trust them: --trust stores that; without it this command prints what
    you must do. The tool also starts `moot mcp`, which gives its model moot's tools
    (docs/how-to/use-mcp.md); with --trust it starts them without asking, if the tool allows that.

    Examples:
      moot hook install claude
      moot hook install codex --trust
      moot hook install gemini --no-mcp
      moot hook install git
    """
    return installed_lines(installed)


@derive("hook.uninstall", tools.uninstall, f"""
    {TOOL} = tool
    --all = everywhere  In all worktrees; without TOOL, for all tools.
""", group=hook)  # fmt: skip
def uninstall(removed: tools.UninstalledHooks) -> Iterable[str]:
    """Remove our hooks from TOOL's settings and restore what was there.

    Files that were not changed since are restored byte for byte; others keep their changes. If
    other worktrees share the same hooks, Moot refuses and names them; --all removes the hooks from
    every worktree, and without TOOL those of every tool.

    For people only: Moot refuses agents, and programs that a coding tool or `moot run` started.

    Examples:
      moot hook uninstall claude
      moot hook uninstall codex --all
      moot hook uninstall --all
    """
    return changed_lines("uninstalled", removed.tool, removed.changed)


@derive("hook.status", tool_checks.status, group=hook)
def status(found: tool_checks.HookStatus) -> Iterable[str]:
    """Show each tool in each worktree: set up, trusted, last call; what is wrong, and the fix.

    Tools that are neither set up nor on PATH are only in --json.

    Examples:
      moot hook status
      moot hook status --json
    """
    return status_lines(found)


@derive("hook.test", tool_checks.try_hooks, f"""
    {CODING_TOOL} = tool
""", group=hook, exits=lambda tried: DONE if tried.whole else REFUSED)  # fmt: skip
def test(tried: tool_checks.TriedHooks) -> Iterable[str]:
    """Send an edit through TOOL's installed hook, exactly as the tool would: it must be refused.

    The file is one that no agent may write. Nothing is written, and nothing goes on record. If TOOL
    is set up to start `moot mcp`, the server is started too, and must offer its tools. The exit
    code is 1 if the edit is not refused, or the server does not answer.

    Examples:
      moot hook test claude
    """
    return test_lines(tried)


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


WIDTH: Final = 80
_READING: Final = {
    "silent": "no notices on reading",
    "outdated": "notices on reading need a reinstall",
}
_INDENT: Final = " " * 16


def installed_lines(installed: InstalledHooks) -> Iterator[str]:
    yield from changed_lines("installed", installed.tool, installed.changed)
    if installed.trusted:
        yield installed.trusted
    yield from map(finding_line, installed.findings)
    if installed.mcp is not None:
        yield from _mcp_lines(installed.tool, installed.mcp)


def _mcp_lines(tool: str, mcp: McpSetUp) -> Iterator[str]:
    if mcp.why_not is not None:
        yield finding_line(mcp.why_not)
    if mcp.file is not None:
        yield f"{tool} starts `moot mcp` for its model; it asks {mcp.asks}"
    if mcp.consent is not None:
        yield mcp.consent


def changed_lines(verb: str, tool: str, changed: list[str]) -> Iterator[str]:
    if not changed:
        yield f"{tool}: nothing to do"
    for path in changed:
        yield f"{tool} {verb}: {path}"


def status_lines(status: HookStatus) -> Iterator[str]:
    """List tools by worktree; a command is never wrapped or cut."""
    shown = [row for row in status.tools if row.installed or row.found or row.wrong]
    for worktree in dict.fromkeys(row.worktree for row in shown):
        yield paint(visible(worktree), "bold")
        for row in shown:
            if row.worktree == worktree:
                yield from _tool_lines(row)
    if not shown:
        yield "no coding tool is set up here, and none is on PATH"


def _tool_lines(row: ToolHooks) -> Iterator[str]:
    word, colour = ("off", "red") if row.wrong else ("on", "green")
    if not row.installed and not row.findings:
        word, colour = "off", "yellow"
    facts = [_last_call(row)] if row.tool != "git" else []
    if row.trusted is not None:
        facts.insert(0, "trusted" if row.trusted else "not trusted")
    if row.mcp_file is not None:
        facts.append("mcp" if row.mcp_wrong is None else "mcp broken")
    if row.reading in _READING:
        facts.append(_READING[row.reading])
    yield f"  {row.tool:<10}{paint(f'{word:<4}', colour)}{', '.join(facts)}".rstrip()
    if row.file is not None:
        yield f"{_INDENT}{visible(_short(row.file, row.worktree))}"
    if row.wrong is not None:
        yield from textwrap.wrap(
            visible(row.wrong),
            WIDTH,
            initial_indent=_INDENT,
            subsequent_indent=_INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        )
    if row.mcp_wrong is not None:
        yield f"{_INDENT}{visible(row.mcp_wrong)}"
        yield f"{_INDENT}{paint(visible(row.mcp_mend or ''), 'bold')}"
    if row.mend is not None:
        yield f"{_INDENT}{paint(visible(row.mend), 'bold')}"


def _last_call(row: ToolHooks) -> str:
    if row.last_spoke_at is None:
        return "not called yet"
    return f"last called {row.last_spoke_at[:19].replace('T', ' ')} UTC"


def _short(file: str, worktree: str) -> str:
    """Return the path relative to the worktree if it is inside."""
    inside = file.startswith(worktree + os.sep)
    return os.path.relpath(file, worktree) if inside else file


def test_lines(tried: TriedHooks) -> Iterator[str]:
    word, colour = ("passed", "green") if tried.passed else ("failed", "red")
    ending = "Moot refused it, as it must" if tried.passed else "Moot did not refuse it, as it must"
    yield f"{tried.tool}: {paint(word, colour)}: an edit was sent through its hook; {ending}"
    yield f"settings  {visible(tried.file)}"
    yield f"command   {visible(tried.command)}"
    status = "none" if tried.exit_status is None else tried.exit_status
    yield f"exit      {status}"
    yield f"answer    {visible(tried.out) or '(nothing)'}"
    if tried.err:
        yield f"stderr    {visible(tried.err)}"
    if tried.reading is not None:
        yield f"reading   {tried.reading}"
    if tried.mcp_command is not None:
        word, colour = ("passed", "green") if tried.mcp_passed else ("failed", "red")
        yield f"server    {visible(tried.mcp_command)}: {paint(word, colour)}"
        yield f"tools     {visible(tried.mcp_answer) or '(none)'}"


@click.command("mcp")
@click.pass_obj
def mcp(shell: Shell) -> None:
    """Serve eight tools to a model, on standard input and output.

    A coding tool starts this and ends it; docs/how-to/use-mcp.md shows how to set it up. Under
    MOOT_AGENT (`moot run` sets it) the model acts as that agent; otherwise a new agent joins with
    the first call and leaves at the end.

    \b
    Examples:
      claude mcp add moot -- moot mcp
    """
    from moot.surfaces.mcp.server import serve

    named = {"MOOT_AGENT": shell.acting, "MOOT_HOME": shell.home and str(shell.home.absolute())}
    serve({**shell.env, **{name: text for name, text in named.items() if text}}, shell.cwd)
