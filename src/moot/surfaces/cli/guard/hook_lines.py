"""How `moot hook` answers people: status and test at 80 columns, commands whole."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from typing import Final

from moot.api.tool_checks import HookStatus, ToolHooks, TriedHooks
from moot.api.tools import InstalledHooks, McpSetUp
from moot.surfaces.terminal.answer import finding_line, paint, visible

WIDTH: Final = 80
_READING: Final = {"silent": "silent on reading", "outdated": "reading not told yet"}
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
    """By worktree; what can be typed is never broken or cut."""
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
    facts = [_last_spoke(row)] if row.tool != "git" else []
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


def _last_spoke(row: ToolHooks) -> str:
    if row.last_spoke_at is None:
        return "not heard of yet"
    return f"last spoke {row.last_spoke_at[:19].replace('T', ' ')} UTC"


def _short(file: str, worktree: str) -> str:
    """From the worktree's root where it lies there."""
    inside = file.startswith(worktree + os.sep)
    return os.path.relpath(file, worktree) if inside else file


def test_lines(tried: TriedHooks) -> Iterator[str]:
    word, colour = ("passed", "green") if tried.passed else ("failed", "red")
    ending = "it was refused, as it must be" if tried.passed else "it was not refused as it must be"
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
