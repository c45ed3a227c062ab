"""`moot flow ...` around work that can be proved: to a trace, and from it back to the mail."""

from __future__ import annotations

import click

from moot.api.bridges import work
from moot.surfaces.cli.bridges.flow_step import answer, flow
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.shell import Shell, command, text_argument

_AGENT = click.option("--agent", metavar="NAME", help="Who acts (default: you).")


@command(flow, "approval-to-trace", "flow.approval_to_trace")
@click.argument("parliament", metavar="DIR|SESSION")
@click.option("--planner", metavar="NAME", help="Who proposes (default: whoever acts).")
@click.option("--executor", metavar="NAME", help="Who runs and claims.")
@click.option("--critic", metavar="NAME", help="Who approves and objects.")
@click.option("--auditor", metavar="NAME", help="Who verifies.")
@click.option("--tool", "tools", multiple=True, required=True, metavar="NAME", help="It needs.")
@click.option("--expect", "evidence", multiple=True, metavar="TEXT", help="It would leave.")
@click.option("--supersede", metavar="TRACE", help="Put it in the place of that trace's proposal.")
def approval_to_trace(
    shell: Shell,
    parliament: str,
    planner: str | None,
    executor: str | None,
    critic: str | None,
    auditor: str | None,
    tools: tuple[str, ...],
    evidence: tuple[str, ...],
    supersede: str | None,
) -> Answer:
    """Begin provable work from an approved bill: a trace, and your proposal in it (the planner).

    The bill's approval is not the critic's: nothing runs before the critic has approved. The
    critic neither runs it nor was alone in wanting it.

    Examples:
      moot flow approval-to-trace bills/payments --planner amber-otter --executor teal-crane \\
        --critic coral-finch --auditor slate-heron --tool pytest --expect "a test report"
      moot flow approval-to-trace bills/payments --planner amber-otter --supersede t1 \\
        --tool pytest
    """
    if supersede is None and not all((executor, critic, auditor)):
        raise click.UsageError("--executor, --critic and --auditor are needed")
    taken = work.approval_to_trace(
        shell.session,
        parliament,
        tools=tools,
        planner=planner,
        executor=executor,
        critic=critic,
        auditor=auditor,
        evidence=tuple(map(text_argument, evidence)),
        supersede=supersede,
    )
    return answer(taken, f"  next: the critic: moot trace review {taken.trace} ...")


@command(flow, "critique-to-challenge", "flow.critique_to_challenge")
@click.argument("message", metavar="MESSAGE")
@click.option("--trace", metavar="TRACE", help="If the critique's target names none.")
@_AGENT
def critique_to_challenge(
    shell: Shell, message: str, trace: str | None, agent: str | None
) -> Answer:
    """Challenge a claim for the reason a CRITIQUE gives (the critic).

    Examples:
      moot flow critique-to-challenge pay-7:9 --agent coral-finch
    """
    taken = work.critique_to_challenge(shell.session, message, trace=trace, agent=agent)
    return answer(taken)


@command(flow, "challenge-to-critique", "flow.challenge_to_critique")
@click.argument("trace", metavar="TRACE")
@click.argument("claim")
def challenge_to_critique(shell: Shell, trace: str, claim: str) -> Answer:
    """Tell whoever claimed, by mail, that a claim was challenged and why.

    Examples:
      moot flow challenge-to-critique t1 c2
    """
    return answer(work.challenge_to_critique(shell.session, trace, claim))


@command(flow, "report-to-info", "flow.report_to_info")
@click.argument("trace", metavar="TRACE")
def report_to_info(shell: Shell, trace: str) -> Answer:
    """Tell everyone who has a part in a trace what its verification found.

    Examples:
      moot flow report-to-info t1
    """
    return answer(work.report_to_info(shell.session, trace))


@command(flow, "done-to-ack", "flow.done_to_ack")
@click.argument("trace", metavar="TRACE")
@click.option("--message", metavar="ID", help="What asked for it (default: the path's beginning).")
@_AGENT
def done_to_ack(shell: Shell, trace: str, message: str | None, agent: str | None) -> Answer:
    """Close the message that asked for verified work: its receiver says Completed.

    Examples:
      moot flow done-to-ack t1 --agent teal-crane
      moot flow done-to-ack t1 --agent teal-crane --message pay-7:1
    """
    taken = work.done_to_ack(shell.session, trace, message=message, agent=agent)
    scopes = ", ".join(taken.held)
    holds = visible(f"  {taken.holder} still holds {scopes}: moot release")
    return answer(taken, *([holds] if scopes else []))


@command(flow, "timeout-to-operator", "flow.timeout_to_operator")
@click.argument("debate", metavar="FILE|SESSION")
def timeout_to_operator(shell: Shell, debate: str) -> Answer:
    """Tell the people here that a debate waits for them: someone did not speak in time.

    Examples:
      moot flow timeout-to-operator debates/payments.md
    """
    return answer(work.timeout_to_operator(shell.session, debate))


@command(flow, "takeover-to-info", "flow.takeover_to_info")
@click.argument("event", metavar="EVENT")
def takeover_to_info(shell: Shell, event: str) -> Answer:
    """Tell whoever lost a scope to another, and what can no longer run there.

    Examples:
      moot flow takeover-to-info proto_20260218_004
    """
    return answer(work.takeover_to_info(shell.session, event))


@command(flow, "resume-to-work", "flow.resume_to_work")
@click.argument("event", metavar="EVENT")
def resume_to_work(shell: Shell, event: str) -> Answer:
    """Give an adopted name its parts in open traces back. A person's act, under a person's key.

    What died with its process is recorded as failed and never run again; what waits for the agent
    elsewhere is listed.

    Examples:
      moot flow resume-to-work proto_20260218_004
    """
    taken = work.resume_to_work(shell.session, event)
    waits = [f"  waits: {task.what} {task.subject} ({task.where})" for task in taken.waits]
    return answer(taken, *map(visible, waits))


@command(flow, "resume-to-seat", "flow.resume_to_seat")
@click.argument("event", metavar="EVENT")
def resume_to_seat(shell: Shell, event: str) -> Answer:
    """Give an adopted name its seats in open parliaments back. A person's act.

    Examples:
      moot flow resume-to-seat proto_20260218_004
    """
    return answer(work.resume_to_seat(shell.session, event))
