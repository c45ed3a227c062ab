"""`moot flow NAME SOURCE`: what happened in one protocol leads to something in another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

import click
from msgspec import UNSET

from moot.api.bridges import protocols
from moot.surfaces.cli.bridges import flow_work
from moot.surfaces.cli.bridges.flow_step import answer, flow
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.output import OutputPath
from moot.surfaces.terminal.shell import Shell, command, text_argument

# Importing it registers its commands.
__all__ = ["flow", "flow_work"]


@command(flow, "list", "flow.list")
@click.option("--paths", is_flag=True, help="The paths that were begun here, not the flows.")
def list_flows(shell: Shell, paths: bool) -> Answer:
    """What leads where; or, with --paths, which paths were begun here.

    Examples:
      moot flow list
      moot flow list --paths --json
    """
    listed = protocols.list_flows(shell.session, paths=paths)
    return Answer(listed, lambda: _lines(listed))


def _lines(listed: protocols.FlowList) -> Iterable[str]:
    if listed.flows is not UNSET:
        flows = (
            (line.name, " ".join(line.sources), line.target, line.says) for line in listed.flows
        )
        return listing(flows, ("FLOW", "FROM", "TO", "WHAT IT DOES"))
    if not listed.paths:
        return ["no path was begun here"]
    paths = ((line.path, line.origin, line.title) for line in listed.paths)
    return listing(paths, ("PATH", "FOR", "ABOUT"))


# To a debate --------------------------------------------------------------------------------------


def _debate_options(function: Callable[..., Answer]) -> Callable[..., Answer]:
    for option in (
        click.argument("message", metavar="MESSAGE"),
        click.option(
            "--with", "participants", multiple=True, metavar="NAME", help="Takes part too."
        ),
        click.option(
            "--file",
            type=OutputPath(dir_okay=False),
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
            "turn_seconds",
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


def _debate_plan(values: dict[str, Any]) -> protocols.DebatePlan:
    return protocols.DebatePlan(**values | {"threshold": _threshold(values["threshold"])})


def _threshold(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except ArithmeticError:
        number = Decimal("NaN")
    if not number.is_finite() or not 0 <= number <= 1:
        raise click.UsageError("--threshold is a number from 0 to 1")
    return number


def _opened(taken: protocols.DebateStep) -> Answer:
    return answer(taken, f"  next: moot debate status {visible(taken.file)}")


@command(flow, "blocked-to-debate", "flow.blocked_to_debate")
@_debate_options
def blocked_to_debate(shell: Shell, message: str, **values: Any) -> Answer:
    """Argue about what keeps an agent from going on: its sender, its receiver, and --with others.

    Examples:
      moot flow blocked-to-debate pay-7:3 --with coral-finch
      moot flow blocked-to-debate proto_20260218_001 --file debates/payments.md --rounds 2
    """
    return _opened(protocols.blocked_to_debate(shell.session, message, _debate_plan(values)))


@command(flow, "question-to-debate", "flow.question_to_debate")
@_debate_options
def question_to_debate(shell: Shell, message: str, **values: Any) -> Answer:
    """Argue about a question that blocks work (Urgency: Blocking).

    Examples:
      moot flow question-to-debate pay-7:3 --with coral-finch
    """
    return _opened(protocols.question_to_debate(shell.session, message, _debate_plan(values)))


@command(flow, "kickoff-to-debate", "flow.kickoff_to_debate")
@_debate_options
def kickoff_to_debate(shell: Shell, message: str, **values: Any) -> Answer:
    """Argue about a research question: the KICKOFF's question, context and constraints.

    Examples:
      moot flow kickoff-to-debate RS-20260218-cell-fate:1
    """
    return _opened(protocols.kickoff_to_debate(shell.session, message, _debate_plan(values)))


@command(flow, "critique-to-debate", "flow.critique_to_debate")
@_debate_options
def critique_to_debate(shell: Shell, message: str, **values: Any) -> Answer:
    """Put a critique to a debate: does it hold?

    Examples:
      moot flow critique-to-debate RS-20260218-cell-fate:9 --with coral-finch
    """
    return _opened(protocols.critique_to_debate(shell.session, message, _debate_plan(values)))


# To a parliament ----------------------------------------------------------------------------------


def _chamber_options(function: Callable[..., Answer]) -> Callable[..., Answer]:
    for option in (
        click.argument("debate", metavar="FILE|SESSION"),
        click.option(
            "--dir",
            "folder",
            type=OutputPath(file_okay=False),
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


def _convened(taken: protocols.ParliamentStep) -> Answer:
    folder = visible(taken.folder)
    send = f"moot parliament submit {folder} {folder}/seeds/..."
    return answer(
        taken,
        f"  each looks at its seed and sends it: {send}",
        f"  next: moot parliament next {folder}",
    )


@command(flow, "consensus-to-parliament", "flow.consensus_to_parliament")
@_chamber_options
def consensus_to_parliament(shell: Shell, debate: str, **values: Any) -> Answer:
    """Draft a bill from what a debate agreed on; its agents become the representatives.

    The files in seeds/ say what each said in the debate; each sends its own, changed or not. How
    they leaned is shown and counts for nothing. A thin, provisional or faulty result is refused.

    Examples:
      moot flow consensus-to-parliament debates/payments.md --dir bills/payments
    """
    plan = protocols.ParliamentPlan(**values)
    return _convened(protocols.consensus_to_parliament(shell.session, debate, plan))


@command(flow, "deadlock-to-parliament", "flow.deadlock_to_parliament")
@_chamber_options
@click.option("--note", default="", metavar="T", help="Your guidance for the session (- or @file).")
def deadlock_to_parliament(shell: Shell, debate: str, note: str, **values: Any) -> Answer:
    """Let a parliament take up a debate that ended without agreement. A person asks for this.

    Examples:
      moot flow deadlock-to-parliament debates/payments.md --note "Decide by cost."
    """
    plan, guidance = protocols.ParliamentPlan(**values), text_argument(note) if note else ""
    taken = protocols.deadlock_to_parliament(shell.session, debate, plan, note=guidance)
    return _convened(taken)
