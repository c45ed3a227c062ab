"""`moot trace new` to `finalize`: one command for each step of a trace."""

from __future__ import annotations

from collections.abc import Iterator

import click

from moot.api.traces import claims, execution, lifecycle, planning
from moot.surfaces.cli.runs.running import ended_line, exit_code, limit_options, running
from moot.surfaces.terminal.answer import DONE, REFUSED, remarks
from moot.surfaces.terminal.derive import derive


@derive("trace.new", lifecycle.new, """
    --task TEXT      What is to be done.
    --planner NAME   Who proposes.
    --executor NAME  Who runs and claims.
    --critic NAME    Who approves and objects.
    --auditor NAME   Who verifies.
    --policy FILE    Rules for this trace as JSON (default: the safer ones).
    --follows TRACE  An earlier trace that this one continues.
""")  # fmt: skip
def new(made: lifecycle.NewTrace) -> Iterator[str]:
    """Begin a trace: a task, and four agents for its four parts.

    Examples:
      moot trace new --task "Is the parser correct?" --planner amber-otter --executor teal-crane \\
        --critic coral-finch --auditor slate-heron
      moot trace new --task @task.md --policy strict.json --planner a-one --executor b-two \\
        --critic c-three --auditor d-four
    """
    how = f"`moot trace propose {made.trace} --objective TEXT --tool NAME`"
    yield f"{made.trace} is open: {made.roles['planner']} proposes ({how})"
    yield from remarks(made.findings)


@derive("trace.rotate", lifecycle.rotate, """
    TRACE
    planner|executor|critic|auditor = role
    --reason TEXT  Why; kept on record.
""")  # fmt: skip
def rotate(made: lifecycle.RotatedRole, role: str) -> Iterator[str]:
    """Continue a part under its agent's new key, after `moot agent rotate`.

    Examples:
      moot trace rotate t1 executor --reason "the old key was lost"
    """
    yield f"{made.agent} is the {role} under its new key"
    yield from remarks(made.findings)


@derive("trace.abort", lifecycle.abort, """
    TRACE
    --reason TEXT  Why; kept on record.
""")  # fmt: skip
def abort(made: lifecycle.AbortedTrace) -> Iterator[str]:
    """Stop a trace for good. For people, not for its four agents.

    Examples:
      moot trace abort t1 --reason "the task has changed"
      moot --as operator trace abort t1 --reason "the task has changed"
    """
    yield f"{made.trace} is aborted"
    yield from remarks(made.findings)


@derive("trace.propose", planning.propose, """
    TRACE
    --objective TEXT                   What it would achieve.
    --tool NAME = tools                A tool that it needs.
    --assume TEXT = assumptions        An assumption that it makes.
    --expect TEXT = expected_evidence  Evidence that it would leave.
    --fallback-for INTENT              The failed intent that this is an alternative to.
    --supersedes ID                    The proposal that this replaces.
""")  # fmt: skip
def propose(made: planning.RecordedProposal) -> Iterator[str]:
    """Propose how to do the task (the planner).

    Examples:
      moot trace propose t1 --objective "Run the tests" --tool pytest --expect "a test report"
      moot trace propose t1 --objective "Run them in a container" --tool docker --supersedes p1
    """
    yield f"{made.proposal} waits for the critic's review"
    yield from remarks(made.findings)


@derive("trace.review", planning.review, """
    TRACE
    PROPOSAL
    --verdict approved|conditional|rejected|blocked  conditional: each intent under it needs your \
        approval too; blocked: until revised.
    --rationale TEXT                              Why.
    --condition TEXT = conditions                 A condition to be met.
    --risk-assessment TEXT                        What could go wrong.
""")  # fmt: skip
def review(made: planning.ReviewedProposal, proposal: str, verdict: str) -> Iterator[str]:
    """Judge a proposal (the critic).

    Examples:
      moot trace review t1 p1 --verdict approved --rationale "reads only"
      moot trace review t1 p1 --verdict conditional --rationale "on a copy" --condition "a copy"
    """
    yield f"{proposal} is {verdict}"
    yield from remarks(made.findings)


@derive("trace.intend", planning.intend, """
    TRACE
    PROPOSAL
    --tool NAME                      The tool that it uses.
    --risk low|medium|high|critical  How much harm it can do.
    --why TEXT                       Why it is needed.
    --writes SCOPE                   Files or folders it will change.
    --cwd DIR                        Where it runs (default: in the root).
    --env NAME                       An environment variable that it gets.
    --timeout S = timeout_seconds    Stop it after S seconds.
    --retry-of INTENT                The failed intent that this tries again.
    --supersedes ID                  The intent that this replaces.
    COMMAND... = command(words)
""", types={"timeout_seconds": click.FloatRange(0, min_open=True)},
   context_settings={"allow_interspersed_args": True})  # fmt: skip
def intend(made: planning.SignedIntent) -> Iterator[str]:
    """Say exactly what you are going to run, and why (the executor). Nothing runs yet.

    There is no shell: the words after `--` are the program and its arguments. If the policy demands
    a higher risk class, Moot raises it; high and critical need the critic's approval. Paths are
    read from the folder you are in, :/x from the root of the worktree.

    Examples:
      moot trace intend t1 p1 --tool pytest --risk low --why "see them pass" -- pytest -q
      moot trace intend t1 p1 --tool make --risk medium --why "the page" --writes docs -- make docs
    """
    next_step = (
        f"needs the critic's approval ({', '.join(made.needs_approval)})"
        if made.needs_approval
        else f"`moot trace exec {made.trace} {made.intent}` runs it"
    )
    yield f"{made.intent}, risk {made.risk}: {next_step}"
    yield from remarks(made.findings)


@derive("trace.review_intent", planning.review_intent, """
    TRACE
    INTENT
    --verdict approved|blocked  blocked: it is never run.
    --rationale TEXT            Why.
""")  # fmt: skip
def review_intent(made: planning.ReviewedIntent, intent: str, verdict: str) -> Iterator[str]:
    """Approve an intent, or block it (the critic). A blocked one is never run.

    Examples:
      moot trace review-intent t1 i1 --verdict approved --rationale "the command is as proposed"
    """
    yield f"{intent} is {verdict}"
    yield from remarks(made.findings)


KILLED_BY = 128


def _exit_code(done: execution.ExecutedIntent) -> int:
    if isinstance(done.interrupted, int):
        return KILLED_BY + done.interrupted
    return REFUSED if done.failed else DONE


@derive("trace.exec", execution.execute, """
    TRACE
    INTENT
""", exits=_exit_code)  # fmt: skip
def execute(done: execution.ExecutedIntent) -> Iterator[str]:
    """Run an intent that may run (the executor), and store its input and output.

    Moot runs exactly the intended command: without a shell, with the variables that the policy and
    the intent name, and with its timeout. The run is recorded before it starts, and is never
    repeated automatically. The exit code is 1 if the run failed.

    Examples:
      moot trace exec t1 i1
    """
    yield f"{done.execution} {'failed' if done.failed else 'is done'}: {done.detail}"
    for output in done.artifacts:
        yield f"  {output.name:<8} {output.sha256}  {output.size} bytes"
    yield from remarks(done.findings)


@derive("trace.recover", execution.recover, "TRACE")
def recover(done: execution.RecoveredRuns) -> Iterator[str]:
    """Record as failed every run that died with its process. Nothing is run again.

    Every command that writes to a trace does this first; this one does nothing else.

    Examples:
      moot trace recover t1
    """
    died = ", ".join(done.recovered)
    yield f"{died} recorded as failed" if died else "no run has died"


@derive("trace.run", execution.run, """
    TRACE
    --participant NAME=SPEC = participants  Who works as NAME: cmd:COMMAND, llm:PROVIDER/MODEL, \
        script:FILE, rules:NAME, human.
    --execute                               Also run the intents that may run.
""", within=running(lambda values: values["trace"]), also=limit_options,
   exits=exit_code)  # fmt: skip
def run(done: execution.TraceRun) -> Iterator[str]:
    """Let participants propose, judge, intend and claim until the work is verified.

    Their own keys sign what they say, and the trace's rules apply. Moot runs an intended command
    only with --execute, and only if the critic and the policy allow it.

    Examples:
      moot trace run t1 --participant "amber-otter=cmd:claude -p"
          --participant "teal-crane=cmd:codex exec"
    """
    yield ended_line(done)
    yield str(done.standing["state"])


@derive("trace.claim", claims.claim, """
    TRACE
    --text TEXT             What you claim.
    --confidence C          How sure, from 0 to 1.
    --evidence WHAT         What it rests on: an output such as x1/stdout, or a file's SHA256.
    --run EXECUTION = runs  A run that it is about.
    --supersedes ID         The claim that this replaces.
""")  # fmt: skip
def claim(made: claims.RecordedClaim) -> Iterator[str]:
    """Claim something that a finished run shows (the executor).

    Examples:
      moot trace claim t1 --text "All tests pass" --confidence 0.9 --evidence x1/stdout
      moot trace claim t1 --text "All but one" --confidence 0.9 --evidence 3f786850 --supersedes c1
    """
    yield f"{made.claim} is on record"
    yield from remarks(made.findings)


@derive("trace.withdraw", claims.withdraw, """
    TRACE
    CLAIM
    --reason TEXT  Why.
""")  # fmt: skip
def withdraw(made: claims.ClaimStep, claim: str) -> Iterator[str]:
    """Withdraw a claim of yours (the executor). It stays on record as withdrawn.

    Examples:
      moot trace withdraw t1 c1 --reason "the test was wrong"
    """
    yield f"{claim} is withdrawn"
    yield from remarks(made.findings)


@derive("trace.challenge", claims.challenge, """
    TRACE
    CLAIM
    --reason TEXT    What is weak, or contradicts it.
    --evidence WHAT  What the objection rests on.
""")  # fmt: skip
def challenge(made: claims.ClaimStep, claim: str) -> Iterator[str]:
    """Object to a claim (the critic). It must be replaced or withdrawn before the end.

    Examples:
      moot trace challenge t1 c1 --reason "two tests were skipped"
    """
    yield f"{claim} is challenged: it must be replaced or withdrawn before the end"
    yield from remarks(made.findings)


@derive("trace.finalize", claims.finalize, """
    TRACE
    --statement TEXT  The result.
""")  # fmt: skip
def finalize(made: claims.FinalStatement) -> Iterator[str]:
    """Sign the final statement with every claim that stands (the executor).

    Refused while a claim is challenged or a run has not ended. After it, only the audit is left.

    Examples:
      moot trace finalize t1 --statement "The parser is correct for all inputs tested"
    """
    closed = f"{made.trace} is closed with {', '.join(made.claims)}"
    yield f"{closed}: `moot trace audit {made.trace}`"
    yield from remarks(made.findings)
