"""`moot trace exec`: run what was intended and approved, and keep what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from moot.surfaces.terminal.answer import DONE, REFUSED, Answer, remarks
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.flows.trace.execution import Done


@command(None, "exec", "trace.exec")
@click.argument("trace_id", metavar="TRACE")
@click.argument("intent")
def execute(shell: Shell, trace_id: str, intent: str) -> Answer:
    """Run an intent that may run (the executor), and store its input and output.

    Exactly the intended command, without a shell, from the project's root, with the variables
    the policy and the intent name, within its time. It is on record before it runs; whatever
    happens then, it is never run again by itself. The exit code is 1 if the run failed.

    Examples:
      moot trace exec t1 i1
    """
    from moot.flows.trace.execution import execute as run
    from moot.protocols.trace.model import Role
    from moot.surfaces.cli.presence.here import Here
    from moot.surfaces.cli.trace.group import Desk
    from moot.surfaces.terminal.answer import findings_json

    desk = Desk(shell, trace_id)
    actor = desk.actor(Role.EXECUTOR)
    done = run(desk.space, desk.stream, intent, actor, shell.env, Here(shell).worktree)
    data = {
        "trace": desk.name,
        "execution": done.execution,
        "exit_status": done.exit_status,
        "failed": done.failed,
        "detail": done.detail,
        "artifacts": [{"sha256": one.ref.sha256, "name": one.name} for one in done.outputs],
        "state": str(desk.state.stage),
        "findings": findings_json(done.findings),
    }
    if done.interrupted is not None:
        code = 128 + done.interrupted
    else:
        code = REFUSED if done.failed else DONE
    return Answer(data, lambda: _lines(done), code)


def _lines(done: Done) -> Iterable[str]:
    yield f"{done.execution} {'failed' if done.failed else 'is done'}: {done.detail}"
    for one in done.outputs:
        yield f"  {one.name:<8} {one.ref.sha256}  {one.ref.size} bytes"
    yield from remarks(done.findings)
