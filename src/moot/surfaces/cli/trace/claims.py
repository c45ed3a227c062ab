"""`moot trace claim`, `withdraw`, `challenge`, `finalize`: what runs show, and objections to it."""

from __future__ import annotations

import click

from moot.protocols.trace import commands as ask
from moot.protocols.trace.model import Role
from moot.surfaces.cli.trace.group import SUPERSEDES, Desk
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.shell import Shell, command, text_argument


@command(None, "claim", "trace.claim")
@click.argument("trace_id", metavar="TRACE")
@click.option("--text", required=True, metavar="TEXT", help="What you claim.")
@click.option("--confidence", required=True, metavar="C", help="How sure, from 0 to 1.")
@click.option(
    "--evidence",
    multiple=True,
    required=True,
    metavar="WHAT",
    help="What it rests on: an output such as x1/stdout, or a file's SHA256.",
)
@click.option("--run", "runs", multiple=True, metavar="EXECUTION", help="A run it is about.")
@SUPERSEDES
def claim(
    shell: Shell,
    trace_id: str,
    text: str,
    confidence: str,
    evidence: tuple[str, ...],
    runs: tuple[str, ...],
    supersedes: str | None,
) -> Answer:
    """Claim something that a finished run shows (the executor).

    Examples:
      moot trace claim t1 --text "All tests pass" --confidence 0.9 --evidence x1/stdout
      moot trace claim t1 --text "All but one" --confidence 0.9 --evidence 3f786850 --supersedes c1
    """
    desk = Desk(shell, trace_id)
    asked = ask.IssueClaim(
        text=text_argument(text),
        confidence=confidence,
        evidence=desk.cited(evidence),
        execution_ids=desk.runs(runs, evidence),
        supersedes=supersedes,
    )
    outcome = desk.ask(Role.EXECUTOR, asked)
    made = outcome.recorded[-1].event
    data = {"claim": made.claim_id, "evidence": list(made.evidence)}
    data["artifact_missing"] = list(made.artifact_missing)
    return desk.answer(outcome, data, f"{made.claim_id} stands on record")


@command(None, "withdraw", "trace.withdraw")
@click.argument("trace_id", metavar="TRACE")
@click.argument("claim_id", metavar="CLAIM")
@click.option("--reason", default="", metavar="TEXT", help="Why.")
def withdraw(shell: Shell, trace_id: str, claim_id: str, reason: str) -> Answer:
    """Take back a claim of yours (the executor). It stays on record as withdrawn.

    Examples:
      moot trace withdraw t1 c1 --reason "the test was wrong"
    """
    desk = Desk(shell, trace_id)
    asked = ask.WithdrawClaim(claim_id=claim_id, reason=text_argument(reason))
    outcome = desk.ask(Role.EXECUTOR, asked)
    return desk.answer(outcome, {"claim": claim_id}, f"{claim_id} is withdrawn")


@command(None, "challenge", "trace.challenge")
@click.argument("trace_id", metavar="TRACE")
@click.argument("claim_id", metavar="CLAIM")
@click.option("--reason", required=True, metavar="TEXT", help="What is weak, or contradicts it.")
@click.option("--evidence", multiple=True, metavar="WHAT", help="What the objection rests on.")
def challenge(
    shell: Shell, trace_id: str, claim_id: str, reason: str, evidence: tuple[str, ...]
) -> Answer:
    """Object to a claim (the critic). It must be replaced or withdrawn before the end.

    Examples:
      moot trace challenge t1 c1 --reason "two tests were skipped"
    """
    desk = Desk(shell, trace_id)
    asked = ask.ChallengeClaim(
        claim_id=claim_id, reason=text_argument(reason), evidence=desk.cited(evidence)
    )
    outcome = desk.ask(Role.CRITIC, asked)
    said = f"{claim_id} is challenged: it must be replaced or withdrawn before the end"
    return desk.answer(outcome, {"claim": claim_id}, said)


@command(None, "finalize", "trace.finalize")
@click.argument("trace_id", metavar="TRACE")
@click.option("--statement", required=True, metavar="TEXT", help="What came of it.")
def finalize(shell: Shell, trace_id: str, statement: str) -> Answer:
    """Sign the final statement with every claim that stands (the executor).

    Refused while a claim is challenged or a run has not ended. Only the audit follows.

    Examples:
      moot trace finalize t1 --statement "The parser is correct for all inputs tested"
    """
    desk = Desk(shell, trace_id)
    asked = ask.SignFinalStatement(statement=text_argument(statement))
    outcome = desk.ask(Role.EXECUTOR, asked)
    bundle = [one.claim_id for one in outcome.recorded[-1].event.claims]
    said = f"{desk.name} is closed with {', '.join(bundle)}: `moot trace audit {desk.name}`"
    return desk.answer(outcome, {"claims": bundle}, said)
