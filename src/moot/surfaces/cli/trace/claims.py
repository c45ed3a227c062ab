"""`moot trace claim`, `withdraw`, `challenge`, `finalize`: what runs show, and objections to it."""

from __future__ import annotations

import click

from moot.api.traces import claims
from moot.surfaces.cli.trace.options import supersedes_option, trace_argument
from moot.surfaces.terminal.answer import Answer, remarks
from moot.surfaces.terminal.shell import Shell, command, text_argument


@command(None, "claim", "trace.claim")
@trace_argument
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
@supersedes_option
def claim(
    shell: Shell,
    trace: str,
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
    made = claims.claim(
        shell.session,
        trace,
        text_argument(text),
        confidence,
        evidence,
        runs=runs,
        supersedes=supersedes,
    )
    return Answer(made, lambda: [f"{made.claim} stands on record", *remarks(made.findings)])


@command(None, "withdraw", "trace.withdraw")
@trace_argument
@click.argument("claim")
@click.option("--reason", default="", metavar="TEXT", help="Why.")
def withdraw(shell: Shell, trace: str, claim: str, reason: str) -> Answer:
    """Take back a claim of yours (the executor). It stays on record as withdrawn.

    Examples:
      moot trace withdraw t1 c1 --reason "the test was wrong"
    """
    made = claims.withdraw(shell.session, trace, claim, reason=text_argument(reason))
    return Answer(made, lambda: [f"{claim} is withdrawn", *remarks(made.findings)])


@command(None, "challenge", "trace.challenge")
@trace_argument
@click.argument("claim")
@click.option("--reason", required=True, metavar="TEXT", help="What is weak, or contradicts it.")
@click.option("--evidence", multiple=True, metavar="WHAT", help="What the objection rests on.")
def challenge(
    shell: Shell, trace: str, claim: str, reason: str, evidence: tuple[str, ...]
) -> Answer:
    """Object to a claim (the critic). It must be replaced or withdrawn before the end.

    Examples:
      moot trace challenge t1 c1 --reason "two tests were skipped"
    """
    made = claims.challenge(shell.session, trace, claim, text_argument(reason), evidence=evidence)
    line = f"{claim} is challenged: it must be replaced or withdrawn before the end"
    return Answer(made, lambda: [line, *remarks(made.findings)])


@command(None, "finalize", "trace.finalize")
@trace_argument
@click.option("--statement", required=True, metavar="TEXT", help="What came of it.")
def finalize(shell: Shell, trace: str, statement: str) -> Answer:
    """Sign the final statement with every claim that stands (the executor).

    Refused while a claim is challenged or a run has not ended. Only the audit follows.

    Examples:
      moot trace finalize t1 --statement "The parser is correct for all inputs tested"
    """
    made = claims.finalize(shell.session, trace, text_argument(statement))
    closed = f"{made.trace} is closed with {', '.join(made.claims)}"
    line = f"{closed}: `moot trace audit {made.trace}`"
    return Answer(made, lambda: [line, *remarks(made.findings)])
