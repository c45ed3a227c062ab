"""`moot debate ...`: a debate in one markdown file; what reads it. No workspace is needed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from moot.core.errors import MootError
from moot.core.findings import Finding
from moot.protocols.debate.model import ConsensusMode
from moot.surfaces.cli.debate import lines, proof, run, write  # noqa: F401 - they join the group
from moot.surfaces.cli.debate.group import (
    checked_file,
    choice,
    debate,
    file_argument,
    number,
    read_file,
    session_clock,
    space_of,
)
from moot.surfaces.terminal.answer import REFUSED, Answer, findings_json
from moot.surfaces.terminal.page import page_option, write_page
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.protocols.debate.checker import CheckedSession


@command(debate, "check", "debate.check")
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
    from moot.protocols.debate.views import view_check

    checked = checked_file(file, strict_uuid, lenient)
    checked = msgspec.structs.replace(
        checked, findings=(*_doubles(shell, file, checked), *checked.findings)
    )
    data = view_check(checked)
    return Answer(data, lambda: lines.check(file, checked), 0 if checked.valid else REFUSED)


def _doubles(shell: Shell, file: Path, checked: CheckedSession) -> list[Finding]:
    """Another file with this session's id; a workspace that cannot be read spoils no check."""
    from moot.flows.debate.record import double_of

    with suppress(MootError):
        space = space_of(shell)
        return [] if space is None else double_of(space, file, checked)
    return []


@command(debate, "status", "debate.status")
@file_argument()
def status(shell: Shell, file: Path) -> Answer:
    """Show where a session stands: whose turn, until when, which positions, how it ended.

    In a workspace it also says how alive the agents are whose turn it is.

    Examples:
      moot debate status api-design.md
    """
    from moot.protocols.debate.views import add_liveness, view_status

    seen = view_status(checked_file(file), session_clock(shell)())
    data = add_liveness(seen, _alive(shell, seen.may_speak))
    return Answer(data, lambda: lines.status(data))


def _alive(shell: Shell, names: Sequence[str]) -> dict[str, str]:
    """XPR-07: who is expected and gone is shown as gone; outside a workspace nothing is known."""
    with suppress(MootError):
        space = space_of(shell)
        if space is not None and names:
            from moot.flows.bridges.liveness import alive

            found = alive(space, names)
            return {name: str(verdict.liveness) for name, verdict in found.items()}
    return {}


@command(debate, "consensus", "debate.consensus")
@file_argument()
@click.option("--round", "round_", type=click.IntRange(min=1), help="Another round.")
@click.option("--mode", type=choice(ConsensusMode), help="As if the session had this mode.")
@click.option("--threshold", type=number, help="As if the session had this threshold.")
@click.option(
    "--defer-in-denominator/--defer-left-out",
    default=None,
    help="As if agents who defer counted as not approving, or did not count.",
)
def consensus(
    shell: Shell,
    file: Path,
    round_: int | None,
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
    from moot.protocols.debate.views import view_consensus

    del shell
    asked = ConsensusMode(mode) if mode else None
    data = view_consensus(checked_file(file), round_, asked, threshold, defer_in_denominator)
    return Answer(data, lambda: lines.consensus(data, file))


@command(debate, "compare", "debate.compare")
@file_argument("old")
@file_argument("new")
def compare(shell: Shell, old: Path, new: Path) -> Answer:
    """Check that NEW is OLD with something appended: nothing changed, removed or inserted.

    Examples:
      moot debate compare yesterday.md api-design.md
    """
    from moot.protocols.debate.compare import compare as compare_versions

    del shell
    found = compare_versions(read_file(old), read_file(new))
    data = {"append_only": not found, "valid": not found, "findings": findings_json(found)}
    return Answer(data, lambda: lines.compared(old, new, found), REFUSED if found else 0)


@command(debate, "summary", "debate.summary")
@file_argument()
def summary(shell: Shell, file: Path) -> Answer:
    """Print a session in short, as markdown: the verdict, the positions, who said what.

    Examples:
      moot debate summary api-design.md
    """
    from moot.protocols.debate.summary import write_summary as summarise

    text = summarise(checked_file(file), session_clock(shell)())
    return Answer({"markdown": text}, text.splitlines)


@command(debate, "report", "debate.report")
@file_argument()
@page_option
def report(shell: Shell, file: Path, output: Path | None) -> Answer:
    """Tell how a debate went: who stood where, who changed after what, who disagrees in full.

    Also what would have come out under other rules. Without -o it is printed as markdown.

    Examples:
      moot debate report api-design.md
      moot debate report api-design.md -o api-design.html
    """
    import hashlib
    import json

    from moot.pages import to_json, to_markdown
    from moot.protocols.debate.checker import check_session as judge
    from moot.protocols.debate.report import build_report as make_report

    data = read_file(file)
    digest = hashlib.sha256(data).hexdigest()
    made = make_report(judge(data, file_name=file.name), file.name, digest, session_clock(shell)())
    if output is not None:
        write_page(output, made)
    said = {"file": str(output) if output else None, "report": json.loads(to_json(made))}
    if output is not None:
        return Answer(said, lambda: [f"{output}: {made.verdict.label}"])
    return Answer(said, lambda: to_markdown(made).splitlines())
