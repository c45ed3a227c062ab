"""`moot debate ...`: what only reads the file. No workspace is needed."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from moot.api.debates import reading
from moot.surfaces.cli.debate import lines
from moot.surfaces.cli.debate.options import choice, file_argument, number
from moot.surfaces.terminal.answer import DONE, REFUSED, Answer
from moot.surfaces.terminal.page import page_option
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.pages import Report


@command(None, "check", "debate.check")
@file_argument()
@click.option("--strict-uuid", is_flag=True, help="Ids must be UUIDs of version 4.")
@click.option("--lenient", is_flag=True, help="Agents may have other names than the schema's.")
def check(shell: Shell, file: Path, strict_uuid: bool, lenient: bool) -> Answer:
    """Check a session file against every rule of the protocol, to the line.

    Exit 1 if it has errors; warnings and notes are shown and leave it valid. In a workspace a
    second file with the same session id is reported too.

    Examples:
      moot debate check api-design.md
      moot debate check api-design.md --strict-uuid --json
    """
    checked = reading.check(shell.session, file, strict_uuid=strict_uuid, lenient=lenient)
    return Answer(checked, lambda: lines.check(file, checked), DONE if checked.valid else REFUSED)


@command(None, "status", "debate.status")
@file_argument()
def status(shell: Shell, file: Path) -> Answer:
    """Show where a session stands: whose turn, until when, which positions, how it ended.

    In a workspace it also says how alive the agents are whose turn it is.

    Examples:
      moot debate status api-design.md
    """
    standing = reading.status(shell.session, file)
    return Answer(standing, lambda: lines.status(standing, file))


@command(None, "consensus", "debate.consensus")
@file_argument()
@click.option("--round", "round_number", type=click.IntRange(min=1), help="Another round.")
@click.option("--mode", type=choice(reading.ConsensusMode), help="As if the session had this mode.")
@click.option("--threshold", type=number, help="As if the session had this threshold.")
@click.option(
    "--defer-in-denominator/--defer-left-out",
    default=None,
    help="As if agents who defer counted as not approving, or did not count.",
)
def consensus(
    shell: Shell,
    file: Path,
    round_number: int | None,
    mode: str | None,
    threshold: Decimal | None,
    defer_in_denominator: bool | None,
) -> Answer:
    """Say whether a round agrees, and how surely; recompute it under any other rule.

    Examples:
      moot debate consensus api-design.md
      moot debate consensus api-design.md --round 1 --mode weighted --threshold 0.6
      moot debate consensus api-design.md --defer-in-denominator
    """
    result = reading.consensus(
        shell.session,
        file,
        round_number=round_number,
        mode=reading.ConsensusMode(mode) if mode else None,
        threshold=threshold,
        defer_in_denominator=defer_in_denominator,
    )
    return Answer(result, lambda: lines.consensus(result, file))


@command(None, "compare", "debate.compare")
@file_argument("old")
@file_argument("new")
def compare(shell: Shell, old: Path, new: Path) -> Answer:
    """Check that NEW is OLD with something appended: nothing changed, removed or inserted.

    Examples:
      moot debate compare yesterday.md api-design.md
    """
    compared = reading.compare(shell.session, old, new)
    code = DONE if compared.append_only else REFUSED
    return Answer(compared, lambda: lines.compared(old, new, compared), code)


@command(None, "summary", "debate.summary")
@file_argument()
def summary(shell: Shell, file: Path) -> Answer:
    """Print a session in short, as markdown: the verdict, the positions, who said what.

    Examples:
      moot debate summary api-design.md
    """
    short = reading.summary(shell.session, file)
    return Answer(short, short.markdown.splitlines)


@command(None, "report", "debate.report")
@file_argument()
@page_option
def report(shell: Shell, file: Path, output: Path | None) -> Answer:
    """Tell how a debate went: who stood where, who changed after what, who disagrees in full.

    Also what would have come out under other rules. Without -o it is printed as markdown.

    Examples:
      moot debate report api-design.md
      moot debate report api-design.md -o api-design.html
    """
    from moot.pages import to_markdown

    pages: list[Report] = []
    made = reading.report(shell.session, file, output=output, receive=pages.append)
    if output is not None:
        return Answer(made, lambda: [f"{output}: {pages[0].verdict.label}"])
    return Answer(made, lambda: to_markdown(pages[0]).splitlines())
