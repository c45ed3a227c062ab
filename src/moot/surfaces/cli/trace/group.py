"""`moot trace ...`: a task from proposal to verified report, each step by whoever's part it is."""

from __future__ import annotations

import click

from moot.surfaces.cli.trace.claims import challenge, claim, finalize, withdraw
from moot.surfaces.cli.trace.execution import execute, recover, run
from moot.surfaces.cli.trace.lifecycle import abort, new, rotate
from moot.surfaces.cli.trace.planning import intend, propose, review, review_intent
from moot.surfaces.cli.trace.reading import list_traces, observed, report, status
from moot.surfaces.cli.trace.verification import audit, export, verify
from moot.surfaces.terminal.lazy import LazyGroup

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


for subcommand in (
    *(new, propose, review),
    *(intend, review_intent, execute, recover, run),
    *(claim, challenge, withdraw, finalize, audit, abort, rotate),
    *(list_traces, status, report, observed, export, verify),
):
    trace.add_command(subcommand)
