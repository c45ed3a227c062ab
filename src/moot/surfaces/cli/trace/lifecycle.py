"""`moot trace new`, `rotate`, `abort`: a trace begins, gets a new key for a part, is stopped."""

from __future__ import annotations

from pathlib import Path

import click

from moot.api.traces import lifecycle
from moot.surfaces.cli.trace.options import trace_argument
from moot.surfaces.terminal.answer import Answer, remarks
from moot.surfaces.terminal.shell import Shell, command, document_bytes, text_argument

ROLES = ("planner", "executor", "critic", "auditor")


@command(None, "new", "trace.new")
@click.option("--task", required=True, metavar="TEXT", help="What is to be done.")
@click.option("--planner", required=True, metavar="NAME", help="Who proposes.")
@click.option("--executor", required=True, metavar="NAME", help="Who runs and claims.")
@click.option("--critic", required=True, metavar="NAME", help="Who approves and objects.")
@click.option("--auditor", required=True, metavar="NAME", help="Who verifies.")
@click.option(
    "--policy",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Rules for this trace as JSON (default: the safer ones).",
)
@click.option("--follows", metavar="TRACE", help="An earlier trace that this one takes up again.")
def new(shell: Shell, task: str, policy: Path | None, follows: str | None, **agents: str) -> Answer:
    """Begin a trace: a task, and four agents for its four parts.

    Examples:
      moot trace new --task "Is the parser correct?" --planner amber-otter --executor teal-crane \\
        --critic coral-finch --auditor slate-heron
      moot trace new --task @task.md --policy strict.json --planner a-one --executor b-two \\
        --critic c-three --auditor d-four
    """
    rules = None if policy is None else document_bytes(str(policy))
    made = lifecycle.new(
        shell.session, text_argument(task), policy=rules, follows=follows, **agents
    )
    planner = made.roles["planner"]
    how = f"`moot trace propose {made.trace} --objective TEXT --tool NAME`"
    line = f"{made.trace} is open: {planner} proposes ({how})"
    return Answer(made, lambda: [line, *remarks(made.findings)])


@command(None, "rotate", "trace.rotate")
@trace_argument
@click.argument("role", type=click.Choice(ROLES))
@click.option("--reason", default="", metavar="TEXT", help="Why; kept on record.")
def rotate(shell: Shell, trace: str, role: str, reason: str) -> Answer:
    """Let a part be played under its agent's new key, after `moot agent rotate`.

    Examples:
      moot trace rotate t1 executor --reason "the old key was lost"
    """
    made = lifecycle.rotate(shell.session, trace, role, reason=text_argument(reason))
    line = f"{made.agent} is the {role} under its new key"
    return Answer(made, lambda: [line, *remarks(made.findings)])


@command(None, "abort", "trace.abort")
@trace_argument
@click.option("--reason", required=True, metavar="TEXT", help="Why; kept on record.")
def abort(shell: Shell, trace: str, reason: str) -> Answer:
    """Stop a trace for good. For people, not for its four agents.

    Examples:
      moot trace abort t1 --reason "the task has changed"
      moot --as operator trace abort t1 --reason "the task has changed"
    """
    made = lifecycle.abort(shell.session, trace, text_argument(reason))
    return Answer(made, lambda: [f"{made.trace} is aborted", *remarks(made.findings)])
