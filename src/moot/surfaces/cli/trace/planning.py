"""`moot trace propose`, `review`, `intend`, `review-intent`: what is to be done, and may it be?"""

from __future__ import annotations

import click

from moot.api.traces import planning
from moot.api.typed_paths import read_typed_scopes
from moot.surfaces.cli.trace.options import supersedes_option, trace_argument
from moot.surfaces.terminal.answer import Answer, remarks
from moot.surfaces.terminal.shell import Shell, command, text_argument

RISKS = ("low", "medium", "high", "critical")


@command(None, "propose", "trace.propose")
@trace_argument
@click.option("--objective", required=True, metavar="TEXT", help="What it would achieve.")
@click.option("--tool", "tools", multiple=True, required=True, metavar="NAME", help="It needs.")
@click.option("--assume", "assumptions", multiple=True, metavar="TEXT", help="It rests on.")
@click.option(
    "--expect", "expected_evidence", multiple=True, metavar="TEXT", help="It would leave."
)
@click.option("--fallback-for", metavar="INTENT", help="The failed intent this makes up for.")
@supersedes_option
def propose(
    shell: Shell,
    trace: str,
    objective: str,
    tools: tuple[str, ...],
    assumptions: tuple[str, ...],
    expected_evidence: tuple[str, ...],
    fallback_for: str | None,
    supersedes: str | None,
) -> Answer:
    """Propose how to do the task (the planner).

    Examples:
      moot trace propose t1 --objective "Run the tests" --tool pytest --expect "a test report"
      moot trace propose t1 --objective "Run them in a container" --tool docker --supersedes p1
    """
    made = planning.propose(
        shell.session,
        trace,
        text_argument(objective),
        tools=tools,
        assumptions=[text_argument(text) for text in assumptions],
        expected_evidence=[text_argument(text) for text in expected_evidence],
        fallback_for=fallback_for,
        supersedes=supersedes,
    )
    line = f"{made.proposal} waits for the critic's review"
    return Answer(made, lambda: [line, *remarks(made.findings)])


@command(None, "review", "trace.review")
@trace_argument
@click.argument("proposal")
@click.option(
    "--verdict",
    required=True,
    type=click.Choice(["approved", "conditional", "rejected", "blocked"]),
    help="conditional: each intent under it needs your approval too; blocked: until revised.",
)
@click.option("--rationale", required=True, metavar="TEXT", help="Why.")
@click.option("--condition", "conditions", multiple=True, metavar="TEXT", help="To be met.")
@click.option("--risk-assessment", default="", metavar="TEXT", help="What could go wrong.")
def review(
    shell: Shell,
    trace: str,
    proposal: str,
    verdict: str,
    rationale: str,
    conditions: tuple[str, ...],
    risk_assessment: str,
) -> Answer:
    """Judge a proposal (the critic).

    Examples:
      moot trace review t1 p1 --verdict approved --rationale "reads only"
      moot trace review t1 p1 --verdict conditional --rationale "on a copy" --condition "a copy"
    """
    made = planning.review(
        shell.session,
        trace,
        proposal,
        verdict,
        text_argument(rationale),
        conditions=[text_argument(text) for text in conditions],
        risk_assessment=text_argument(risk_assessment),
    )
    return Answer(made, lambda: [f"{proposal} is {verdict}", *remarks(made.findings)])


@command(None, "intend", "trace.intend", context_settings={"allow_interspersed_args": True})
@trace_argument
@click.argument("proposal")
@click.option("--tool", required=True, metavar="NAME", help="What is used.")
@click.option("--risk", required=True, type=click.Choice(RISKS), help="How much harm it can do.")
@click.option("--why", required=True, metavar="TEXT", help="Why it is needed.")
@click.option("--writes", multiple=True, metavar="SCOPE", help="Files or folders it will change.")
@click.option("--cwd", metavar="DIR", help="Where it runs (default: in the root).")
@click.option("--env", multiple=True, metavar="NAME", help="A variable it may see.")
@click.option(
    "--timeout",
    "timeout_seconds",
    type=click.FloatRange(0, min_open=True),
    metavar="S",
    help="Seconds.",
)
@click.option("--retry-of", metavar="INTENT", help="The failed intent this tries again.")
@supersedes_option
@click.argument("words", nargs=-1, required=True, metavar="-- COMMAND...")
def intend(
    shell: Shell,
    trace: str,
    proposal: str,
    tool: str,
    risk: str,
    why: str,
    writes: tuple[str, ...],
    cwd: str | None,
    env: tuple[str, ...],
    timeout_seconds: float | None,
    retry_of: str | None,
    supersedes: str | None,
    words: tuple[str, ...],
) -> Answer:
    """Say exactly what you are going to run, and why (the executor). Nothing runs yet.

    There is no shell: the words after `--` are the program and its arguments. A class of risk
    below the policy's own is raised to it; high and above need the critic's approval. Paths are
    read from the folder you are in, :/x from the root of the worktree.

    Examples:
      moot trace intend t1 p1 --tool pytest --risk low --why "see them pass" -- pytest -q
      moot trace intend t1 p1 --tool make --risk medium --why "the page" --writes docs -- make docs
    """
    made = planning.intend(
        shell.session,
        trace,
        proposal,
        words,
        tool=tool,
        risk=risk,
        why=text_argument(why),
        writes=read_typed_scopes(writes, shell.session),
        cwd="." if cwd is None else read_typed_scopes([cwd], shell.session)[0],
        env=env,
        timeout_seconds=timeout_seconds,
        retry_of=retry_of,
        supersedes=supersedes,
    )
    next_step = (
        f"needs the critic's approval ({', '.join(made.needs_approval)})"
        if made.needs_approval
        else f"`moot trace exec {made.trace} {made.intent}` runs it"
    )
    line = f"{made.intent}, risk {made.risk}: {next_step}"
    return Answer(made, lambda: [line, *remarks(made.findings)])


@command(None, "review-intent", "trace.review_intent")
@trace_argument
@click.argument("intent")
@click.option(
    "--verdict",
    required=True,
    type=click.Choice(["approved", "blocked"]),
    help="blocked: it is never run.",
)
@click.option("--rationale", required=True, metavar="TEXT", help="Why.")
def review_intent(shell: Shell, trace: str, intent: str, verdict: str, rationale: str) -> Answer:
    """Approve an intent, or block it (the critic). A blocked one is never run.

    Examples:
      moot trace review-intent t1 i1 --verdict approved --rationale "the command is as proposed"
    """
    made = planning.review_intent(shell.session, trace, intent, verdict, text_argument(rationale))
    return Answer(made, lambda: [f"{intent} is {verdict}", *remarks(made.findings)])
