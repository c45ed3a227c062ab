"""`moot trace ...`: a task from proposal to verified report, each step by whoever's part it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from moot.core.clock import SECOND
from moot.protocols.trace import commands as ask
from moot.protocols.trace.model import Role
from moot.surfaces.cli.trace.claims import challenge, claim, finalize, withdraw
from moot.surfaces.cli.trace.exec import execute
from moot.surfaces.cli.trace.group import SUPERSEDES, Desk, new_trace
from moot.surfaces.cli.trace.read import listed, observed, report, status
from moot.surfaces.cli.trace.run import run
from moot.surfaces.cli.trace.verify import audit, export, verify
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.shell import Shell, command, text_argument

RISKS = ("low", "medium", "high", "critical")


SECTIONS = {
    "Plan": {
        "new": "begin a trace: a task, and four agents for its parts",
        "propose": "how to do the task (the planner)",
        "review": "judge a proposal (the critic)",
    },
    "Work": {
        "intend": "say what you are going to run, and why (the executor)",
        "review-intent": "approve an intent, or block it (the critic)",
        "exec": "run an intent, and keep what went in and out",
        "recover": "record as failed every run that died",
        "run": "let participants do all this until it is verified",
    },
    "Prove": {
        "claim": "what a finished run shows (the executor)",
        "challenge": "object to a claim (the critic)",
        "withdraw": "take back a claim of yours (the executor)",
        "finalize": "sign the final statement (the executor)",
        "audit": "verify it, and put the result on record",
        "abort": "stop a trace for good",
        "rotate": "play a part under its agent's new key",
    },
    "Read": {
        "list": "all traces, and which of them are open",
        "status": "where it stands, what is open, who is to act",
        "report": "a trace as a page",
        "observed": "work that was only watched by a hook",
        "export": "one file that anyone can check offline",
        "verify": "check a trace, or an exported one, from its bytes up",
    },
}


@click.command("trace", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def trace() -> None:
    """Work that can be proved: proposed, approved, run, claimed, verified."""


for one in (
    *(execute, run, audit, export, verify, status, report, listed, observed),
    *(claim, withdraw, challenge, finalize),
):
    trace.add_command(one)


@command(trace, "new", "trace.new")
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
    roles = {Role(name): agents[name] for name in (str(role) for role in Role)}
    return new_trace(shell, text_argument(task), roles, policy, follows)


@command(trace, "propose", "trace.propose")
@click.argument("trace_id", metavar="TRACE")
@click.option("--objective", required=True, metavar="TEXT", help="What it would achieve.")
@click.option("--tool", "tools", multiple=True, required=True, metavar="NAME", help="It needs.")
@click.option("--assume", "assumptions", multiple=True, metavar="TEXT", help="It rests on.")
@click.option("--expect", "evidence", multiple=True, metavar="TEXT", help="It would leave.")
@click.option("--fallback-for", metavar="INTENT", help="The failed intent this makes up for.")
@SUPERSEDES
def propose(
    shell: Shell,
    trace_id: str,
    objective: str,
    tools: tuple[str, ...],
    assumptions: tuple[str, ...],
    evidence: tuple[str, ...],
    fallback_for: str | None,
    supersedes: str | None,
) -> Answer:
    """Propose how to do the task (the planner).

    Examples:
      moot trace propose t1 --objective "Run the tests" --tool pytest --expect "a test report"
      moot trace propose t1 --objective "Run them in a container" --tool docker --supersedes p1
    """
    desk = Desk(shell, trace_id)
    asked = ask.CreateProposal(
        objective=text_argument(objective),
        required_tools=tools,
        assumptions=tuple(map(text_argument, assumptions)),
        expected_evidence=tuple(map(text_argument, evidence)),
        supersedes=supersedes,
        fallback_for=fallback_for,
    )
    outcome = desk.ask(Role.PLANNER, asked)
    made = outcome.recorded[-1].event.proposal_id
    return desk.answer(outcome, {"proposal": made}, f"{made} waits for the critic's review")


@command(trace, "review", "trace.review")
@click.argument("trace_id", metavar="TRACE")
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
    trace_id: str,
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
    desk = Desk(shell, trace_id)
    asked = ask.ReviewProposal(
        proposal_id=proposal,
        status=verdict,
        rationale=text_argument(rationale),
        risk_assessment=text_argument(risk_assessment),
        conditions=tuple(map(text_argument, conditions)),
    )
    outcome = desk.ask(Role.CRITIC, asked)
    data = {"proposal": proposal, "verdict": verdict}
    return desk.answer(outcome, data, f"{proposal} is {verdict}")


@command(
    trace,
    "intend",
    "trace.intend",
    context_settings={"allow_interspersed_args": True},
)
@click.argument("trace_id", metavar="TRACE")
@click.argument("proposal")
@click.option("--tool", required=True, metavar="NAME", help="What is used.")
@click.option("--risk", required=True, type=click.Choice(RISKS), help="How much harm it can do.")
@click.option("--why", required=True, metavar="TEXT", help="Why it is needed.")
@click.option("--writes", multiple=True, metavar="SCOPE", help="Files or folders it will change.")
@click.option("--cwd", default=".", metavar="DIR", help="Where it runs, from the project's root.")
@click.option("--env", multiple=True, metavar="NAME", help="A variable it may see.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), metavar="S", help="Seconds.")
@click.option("--retry-of", metavar="INTENT", help="The failed intent this tries again.")
@SUPERSEDES
@click.argument("words", nargs=-1, required=True, metavar="-- COMMAND...")
def intend(
    shell: Shell,
    trace_id: str,
    proposal: str,
    tool: str,
    risk: str,
    why: str,
    writes: tuple[str, ...],
    cwd: str,
    env: tuple[str, ...],
    timeout: float | None,
    retry_of: str | None,
    supersedes: str | None,
    words: tuple[str, ...],
) -> Answer:
    """Say exactly what you are going to run, and why (the executor). Nothing runs yet.

    There is no shell: the words after `--` are the program and its arguments. A class of risk
    below the policy's own is raised to it; high and above need the critic's approval.

    Examples:
      moot trace intend t1 p1 --tool pytest --risk low --why "see them pass" -- pytest -q
      moot trace intend t1 p1 --tool make --risk medium --why "the page" --writes docs -- make docs
    """
    desk = Desk(shell, trace_id)
    asked = ask.SignIntent(
        proposal_id=proposal,
        tool=tool,
        command=words,
        risk=risk,
        justification=text_argument(why),
        cwd=cwd,
        env=env,
        timeout_ms=None if timeout is None else max(1, round(timeout * SECOND)),
        writes=writes,
        supersedes=supersedes,
        retry_of=retry_of,
    )
    outcome = desk.ask(Role.EXECUTOR, asked)
    made = outcome.recorded[-1].event
    data: dict[str, Any] = {"intent": made.intent_id, "risk": str(made.risk_class)}
    data |= {"input_hash": made.input_hash, "needs_approval": [str(why) for why in made.needs]}
    next_step = (
        f"needs the critic's approval ({', '.join(made.needs)})"
        if made.needs
        else f"`moot trace exec {desk.name} {made.intent_id}` runs it"
    )
    return desk.answer(outcome, data, f"{made.intent_id}, risk {made.risk_class}: {next_step}")


@command(trace, "review-intent", "trace.review_intent")
@click.argument("trace_id", metavar="TRACE")
@click.argument("intent")
@click.option(
    "--verdict",
    required=True,
    type=click.Choice(["approved", "blocked"]),
    help="blocked: it is never run.",
)
@click.option("--rationale", required=True, metavar="TEXT", help="Why.")
def review_intent(shell: Shell, trace_id: str, intent: str, verdict: str, rationale: str) -> Answer:
    """Approve an intent, or block it (the critic). A blocked one is never run.

    Examples:
      moot trace review-intent t1 i1 --verdict approved --rationale "the command is as proposed"
    """
    desk = Desk(shell, trace_id)
    asked = ask.ReviewIntent(intent_id=intent, status=verdict, rationale=text_argument(rationale))
    outcome = desk.ask(Role.CRITIC, asked)
    return desk.answer(outcome, {"intent": intent, "verdict": verdict}, f"{intent} is {verdict}")


@command(trace, "recover", "trace.recover")
@click.argument("trace_id", metavar="TRACE")
def recover(shell: Shell, trace_id: str) -> Answer:
    """Record as failed every run that died with its process. Nothing is run again.

    Every command that writes to a trace does this first; here it is all there is.

    Examples:
      moot trace recover t1
    """
    desk = Desk(shell, trace_id)
    died = [one.recorded[-1].event.execution_id for one in desk.recover()]
    data = {"trace": desk.name, "recovered": died, "running": sorted(desk.state.running)}
    said = f"{', '.join(died)} recorded as failed" if died else "nothing has died"
    return Answer(data, lambda: [said])


@command(trace, "rotate", "trace.rotate")
@click.argument("trace_id", metavar="TRACE")
@click.argument("role", type=click.Choice([str(role) for role in Role]))
@click.option("--reason", default="", metavar="TEXT", help="Why; kept on record.")
def rotate(shell: Shell, trace_id: str, role: str, reason: str) -> Answer:
    """Let a part be played under its agent's new key, after `moot agent rotate`.

    Examples:
      moot trace rotate t1 executor --reason "the old key was lost"
    """
    desk = Desk(shell, trace_id)
    outcome = desk.command(desk.rotation(Role(role), text_argument(reason)))
    made = outcome.recorded[-1].event
    data = {"role": role, "agent": made.agent, "key": made.new_kid}
    return desk.answer(outcome, data, f"{made.agent} is the {role} under its new key")


@command(trace, "abort", "trace.abort")
@click.argument("trace_id", metavar="TRACE")
@click.option("--reason", required=True, metavar="TEXT", help="Why; kept on record.")
def abort(shell: Shell, trace_id: str, reason: str) -> Answer:
    """Stop a trace for good. For people, not for its four agents.

    Examples:
      moot trace abort t1 --reason "the task has changed"
      moot --as operator trace abort t1 --reason "the task has changed"
    """
    desk = Desk(shell, trace_id)
    outcome = desk.command(ask.AbortTrace(reason=text_argument(reason)))
    return desk.answer(outcome, {"trace": desk.name}, f"{desk.name} is aborted")
