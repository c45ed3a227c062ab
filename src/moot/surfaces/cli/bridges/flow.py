"""`moot flow NAME SOURCE`: what happened in one protocol leads to something in another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from moot.surfaces.cli.bridges import flow_work
from moot.surfaces.cli.bridges.flow_step import answer, asker, flow
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.people import a_persons_name
from moot.surfaces.terminal.shell import Shell, command, text_argument

# Importing it registers its commands.
__all__ = ["flow", "flow_work"]

MOST_PATHS = 1_000


@command(flow, "list", "flow.list")
@click.option("--paths", is_flag=True, help="The paths that were begun here, not the flows.")
def listed(shell: Shell, paths: bool) -> Answer:
    """What leads where; or, with --paths, which paths were begun here.

    Examples:
      moot flow list
      moot flow list --paths --json
    """
    if paths:
        return _paths(shell)
    from moot.protocols.path.flows import FLOWS

    rows = [
        {"name": one.name, "from": sorted(one.sources), "to": one.target, "says": one.purpose}
        for one in FLOWS.values()
    ]

    def lines() -> Iterable[str]:
        shown = (
            (one.name, " ".join(sorted(one.sources)), one.target, one.purpose)
            for one in FLOWS.values()
        )
        return listing(shown, ("FLOW", "FROM", "TO", "WHAT IT DOES"))

    return Answer({"flows": rows}, lines)


def _paths(shell: Shell) -> Answer:
    from msgspec.json import decode

    from moot.protocols.path.machine import PATHS

    with shell.workspace.store.read() as view:
        rows = [
            {"path": row.key, **decode(row.value)} for row in view.rows(PATHS, limit=MOST_PATHS)
        ]

    def lines() -> Iterable[str]:
        if not rows:
            return ["no path was begun here"]
        shown = ((row["path"], row["origin"], row["title"]) for row in rows)
        return listing(shown, ("PATH", "FOR", "ABOUT"))

    return Answer({"paths": rows}, lines)


# To a debate --------------------------------------------------------------------------------------


def _debate_options(function: Callable[..., Answer]) -> Callable[..., Answer]:
    for option in (
        click.argument("source", metavar="MESSAGE"),
        click.option("--with", "more", multiple=True, metavar="NAME", help="Takes part too."),
        click.option(
            "--file",
            type=click.Path(path_type=Path, dir_okay=False),
            help="Where the debate's file goes (default: in the workspace).",
        ),
        click.option(
            "--rounds",
            type=click.IntRange(1, 100),
            default=5,
            show_default=True,
            help="At most so many.",
        ),
        click.option(
            "--timeout",
            type=click.IntRange(1, 86_400),
            default=300,
            show_default=True,
            help="Seconds for one turn.",
        ),
        click.option(
            "--threshold", default="0.7", show_default=True, metavar="N", help="To agree, 0 to 1."
        ),
        click.option("--even-if-gone", is_flag=True, help="Also with agents that seem gone."),
    ):
        function = option(function)
    return function


def _to_debate(shell: Shell, name: str, values: dict[str, Any]) -> Answer:
    from moot.flows.bridges.to_debate import Wanted, message_to_debate
    from moot.protocols.debate.model import Rules

    rules = Rules(
        (),
        turn_timeout=values["timeout"],
        consensus_threshold=_threshold(values["threshold"]),
        max_rounds=values["rounds"],
    )
    wanted = Wanted(tuple(values["more"]), values["file"], rules, values["even_if_gone"])
    walked = message_to_debate(shell.workspace, name, values["source"], asker(shell), wanted)
    file = walked.step.target.file
    return answer(walked, f"  next: moot debate status {visible(file)}", file=file)


def _threshold(text: str) -> Decimal:
    try:
        found = Decimal(text)
    except ArithmeticError:
        found = Decimal("NaN")
    if not found.is_finite() or not 0 <= found <= 1:
        raise click.UsageError("--threshold is a number from 0 to 1")
    return found


@command(flow, "blocked-to-debate", "flow.blocked_to_debate")
@_debate_options
def blocked_to_debate(shell: Shell, **values: Any) -> Answer:
    """Argue about what keeps an agent from going on: its sender, its receiver, and --with others.

    Examples:
      moot flow blocked-to-debate pay-7:3 --with coral-finch
      moot flow blocked-to-debate proto_20260218_001 --file debates/payments.md --rounds 2
    """
    return _to_debate(shell, "blocked-to-debate", values)


@command(flow, "question-to-debate", "flow.question_to_debate")
@_debate_options
def question_to_debate(shell: Shell, **values: Any) -> Answer:
    """Argue about a question that blocks work (Urgency: Blocking).

    Examples:
      moot flow question-to-debate pay-7:3 --with coral-finch
    """
    return _to_debate(shell, "question-to-debate", values)


@command(flow, "kickoff-to-debate", "flow.kickoff_to_debate")
@_debate_options
def kickoff_to_debate(shell: Shell, **values: Any) -> Answer:
    """Argue about a research question: the KICKOFF's question, context and constraints.

    Examples:
      moot flow kickoff-to-debate RS-20260218-cell-fate:1
    """
    return _to_debate(shell, "kickoff-to-debate", values)


@command(flow, "critique-to-debate", "flow.critique_to_debate")
@_debate_options
def critique_to_debate(shell: Shell, **values: Any) -> Answer:
    """Put a critique to a debate: does it hold?

    Examples:
      moot flow critique-to-debate RS-20260218-cell-fate:9 --with coral-finch
    """
    return _to_debate(shell, "critique-to-debate", values)


# To a parliament ----------------------------------------------------------------------------------


def _chamber_options(function: Callable[..., Answer]) -> Callable[..., Answer]:
    for option in (
        click.argument("source", metavar="FILE|SESSION"),
        click.option(
            "--dir",
            "folder",
            type=click.Path(path_type=Path, file_okay=False),
            help="Where the parliament's files go (default: in the workspace).",
        ),
        click.option("--issue", "issues", multiple=True, metavar="TEXT", help="To be decided."),
        click.option(
            "--rounds",
            type=click.IntRange(1, 1_000),
            default=6,
            show_default=True,
            help="At most so many.",
        ),
        click.option("--even-if-gone", is_flag=True, help="Also with agents that seem gone."),
    ):
        function = option(function)
    return function


def _to_parliament(shell: Shell, name: str, asked_by: str, note: str, **values: Any) -> Answer:
    from moot.flows.bridges.to_parliament import Chamber, to_parliament

    wanted = Chamber(
        values["folder"], values["issues"], values["rounds"], note, values["even_if_gone"]
    )
    walked = to_parliament(shell.workspace, name, values["source"], asked_by, wanted)
    folder = walked.step.target.file
    shown = visible(folder)
    seed = (
        f"  each looks at its seed and sends it: moot parliament submit {shown} {shown}/seeds/..."
    )
    return answer(walked, seed, f"  next: moot parliament next {shown}", folder=folder)


@command(flow, "consensus-to-parliament", "flow.consensus_to_parliament")
@_chamber_options
def consensus_to_parliament(shell: Shell, **values: Any) -> Answer:
    """Draft a bill from what a debate agreed on; its agents become the representatives.

    The files in seeds/ say what each said in the debate; each sends its own, changed or not. How
    they leaned is shown and counts for nothing. A thin, provisional or faulty result is refused.

    Examples:
      moot flow consensus-to-parliament debates/payments.md --dir bills/payments
    """
    return _to_parliament(shell, "consensus-to-parliament", asker(shell), "", **values)


@command(flow, "deadlock-to-parliament", "flow.deadlock_to_parliament")
@_chamber_options
@click.option("--note", default="", metavar="T", help="Your guidance for the session (- or @file).")
def deadlock_to_parliament(shell: Shell, note: str, **values: Any) -> Answer:
    """Let a parliament take up a debate that ended without agreement. A person asks for this.

    Examples:
      moot flow deadlock-to-parliament debates/payments.md --note "Decide by cost."
    """
    person = a_persons_name(shell, "opening a parliament after a deadlock")
    guidance = text_argument(note) if note else ""
    return _to_parliament(shell, "deadlock-to-parliament", person, guidance, **values)
