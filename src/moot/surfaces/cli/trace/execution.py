"""`moot trace exec`, `recover` and `run`: intents are run, and participants do all the work."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from moot.api.traces import execution
from moot.surfaces.cli.runs.ended_run import ended_line, exit_code
from moot.surfaces.cli.runs.limits import limit_options, limits_of
from moot.surfaces.cli.trace.options import trace_argument
from moot.surfaces.terminal.answer import DONE, REFUSED, Answer, remarks
from moot.surfaces.terminal.shell import Shell, command

KILLED_BY = 128


@command(None, "exec", "trace.exec")
@trace_argument
@click.argument("intent")
def execute(shell: Shell, trace: str, intent: str) -> Answer:
    """Run an intent that may run (the executor), and store its input and output.

    Exactly the intended command, without a shell, from the project's root, with the variables
    the policy and the intent name, within its time. It is on record before it runs; whatever
    happens then, it is never run again by itself. The exit code is 1 if the run failed.

    Examples:
      moot trace exec t1 i1
    """
    done = execution.execute(shell.session, trace, intent)
    if isinstance(done.interrupted, int):
        code = KILLED_BY + done.interrupted
    else:
        code = REFUSED if done.failed else DONE
    return Answer(done, lambda: _execution_lines(done), code)


def _execution_lines(done: execution.ExecutedIntent) -> Iterable[str]:
    yield f"{done.execution} {'failed' if done.failed else 'is done'}: {done.detail}"
    for output in done.artifacts:
        yield f"  {output.name:<8} {output.sha256}  {output.size} bytes"
    yield from remarks(done.findings)


@command(None, "recover", "trace.recover")
@trace_argument
def recover(shell: Shell, trace: str) -> Answer:
    """Record as failed every run that died with its process. Nothing is run again.

    Every command that writes to a trace does this first; here it is all there is.

    Examples:
      moot trace recover t1
    """
    done = execution.recover(shell.session, trace)
    died = ", ".join(done.recovered)
    return Answer(done, lambda: [f"{died} recorded as failed" if died else "nothing has died"])


@command(None, "run", "trace.run")
@trace_argument
@click.option(
    "--participant",
    "participants",
    multiple=True,
    required=True,
    metavar="NAME=SPEC",
    help="Who works as NAME: cmd:COMMAND, llm:PROVIDER/MODEL, script:FILE, rules:NAME, human.",
)
@click.option("--execute", is_flag=True, help="Also run the intents that may run.")
@limit_options
def run(
    shell: Shell, trace: str, participants: tuple[str, ...], execute: bool, **limits: Any
) -> Answer:
    """Let participants propose, judge, intend and claim until the work is verified.

    What they say is signed by their keys and judged by the trace's own rules. A command that they
    intend runs only with --execute, and only if the critic and the policy let it.

    Examples:
      moot trace run t1 --participant "amber-otter=cmd:claude -p"
          --participant "teal-crane=cmd:codex exec"
    """
    from moot.surfaces.cli.runs.human_seat import ShellTerminal
    from moot.surfaces.cli.runs.live_run import watching

    with watching(trace) as watch:
        done = execution.run(
            shell.session,
            trace,
            participants,
            execute=execute,
            limits=limits_of(limits),
            watch=watch,
            terminal=ShellTerminal(shell),
        )
    return Answer(done, lambda: _run_lines(done), exit_code(done))


def _run_lines(done: execution.TraceRun) -> Iterable[str]:
    yield ended_line(done)
    yield f"{done.standing['state']}"
