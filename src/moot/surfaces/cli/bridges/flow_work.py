"""`moot flow ...` around work that can be proved: to a trace, and from it back to the mail."""

from __future__ import annotations

import click

from moot.surfaces.cli.bridges.flow_step import answer, asker, flow, own_act
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.people import a_persons_name
from moot.surfaces.terminal.shell import Shell, command, text_argument

_AGENT = click.option("--agent", metavar="NAME", help="Who acts (default: you).")


@command(flow, "approval-to-trace", "flow.approval_to_trace")
@click.argument("source", metavar="DIR|SESSION")
@click.option("--planner", metavar="NAME", help="Who proposes (default: whoever acts).")
@click.option("--executor", metavar="NAME", help="Who runs and claims.")
@click.option("--critic", metavar="NAME", help="Who approves and objects.")
@click.option("--auditor", metavar="NAME", help="Who verifies.")
@click.option("--tool", "tools", multiple=True, required=True, metavar="NAME", help="It needs.")
@click.option("--expect", "evidence", multiple=True, metavar="TEXT", help="It would leave.")
@click.option("--supersede", metavar="TRACE", help="Put it in the place of that trace's proposal.")
def approval_to_trace(
    shell: Shell,
    source: str,
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
    from moot.flows.bridges.approval_to_trace import Work
    from moot.flows.bridges.approval_to_trace import approval_to_trace as go
    from moot.protocols.trace.model import Role

    named = {"executor": executor, "critic": critic, "auditor": auditor}
    actor = own_act(shell, planner)
    if supersede is None and not all(named.values()):
        raise click.UsageError("--executor, --critic and --auditor are needed")
    parts = {Role.PLANNER: actor, **{Role(role): name or "" for role, name in named.items()}}
    wanted = Work(parts, tools, tuple(map(text_argument, evidence)), supersede=supersede)
    walked = go(shell.workspace, source, actor, wanted)
    trace = walked.step.target.id
    return answer(walked, f"  next: the critic: moot trace review {trace} ...", trace=trace)


@command(flow, "critique-to-challenge", "flow.critique_to_challenge")
@click.argument("source", metavar="MESSAGE")
@click.option("--trace", "trace_id", metavar="TRACE", help="If the critique's target names none.")
@_AGENT
def critique_to_challenge(
    shell: Shell, source: str, trace_id: str | None, agent: str | None
) -> Answer:
    """Challenge a claim for the reason a CRITIQUE gives (the critic).

    Examples:
      moot flow critique-to-challenge pay-7:9 --agent coral-finch
    """
    from moot.flows.bridges.critique_loop import critique_to_challenge as go

    return answer(go(shell.workspace, source, own_act(shell, agent), trace_id))


@command(flow, "challenge-to-critique", "flow.challenge_to_critique")
@click.argument("source", metavar="TRACE")
@click.argument("claim")
def challenge_to_critique(shell: Shell, source: str, claim: str) -> Answer:
    """Tell whoever claimed, by mail, that a claim was challenged and why.

    Examples:
      moot flow challenge-to-critique t1 c2
    """
    from moot.flows.bridges.critique_loop import challenge_to_critique as go

    return answer(go(shell.workspace, source, claim, asker(shell)))


@command(flow, "report-to-info", "flow.report_to_info")
@click.argument("source", metavar="TRACE")
def report_to_info(shell: Shell, source: str) -> Answer:
    """Tell everyone who has a part in a trace what its verification found.

    Examples:
      moot flow report-to-info t1
    """
    from moot.flows.bridges.critique_loop import report_to_info as go

    return answer(go(shell.workspace, source, asker(shell)))


@command(flow, "done-to-ack", "flow.done_to_ack")
@click.argument("source", metavar="TRACE")
@click.option("--message", metavar="ID", help="What asked for it (default: the path's beginning).")
@_AGENT
def done_to_ack(shell: Shell, source: str, message: str | None, agent: str | None) -> Answer:
    """Close the message that asked for verified work: its receiver says Completed.

    Examples:
      moot flow done-to-ack t1 --agent teal-crane
      moot flow done-to-ack t1 --agent teal-crane --message pay-7:1
    """
    from moot.flows.bridges.done_to_ack import done_to_ack as go
    from moot.flows.bridges.done_to_ack import still_held

    walked = go(shell.workspace, source, own_act(shell, agent), message)
    executor, held = still_held(shell.workspace, source)
    said = [visible(f"  {executor} still holds {', '.join(held)}: moot release")] if held else []
    return answer(walked, *said, held=held)


@command(flow, "timeout-to-operator", "flow.timeout_to_operator")
@click.argument("source", metavar="FILE|SESSION")
def timeout_to_operator(shell: Shell, source: str) -> Answer:
    """Tell the people here that a debate waits for them: someone did not speak in time.

    Examples:
      moot flow timeout-to-operator debates/payments.md
    """
    from moot.flows.bridges.timeout_to_operator import timeout_to_operator as go

    return answer(go(shell.workspace, source, asker(shell)))


@command(flow, "takeover-to-info", "flow.takeover_to_info")
@click.argument("source", metavar="EVENT")
def takeover_to_info(shell: Shell, source: str) -> Answer:
    """Tell whoever lost a scope to another, and what can no longer run there.

    Examples:
      moot flow takeover-to-info proto_20260218_004
    """
    from moot.flows.bridges.takeover import takeover_to_info as go

    return answer(go(shell.workspace, source, asker(shell)))


@command(flow, "resume-to-work", "flow.resume_to_work")
@click.argument("source", metavar="EVENT")
def resume_to_work(shell: Shell, source: str) -> Answer:
    """Give an adopted name its parts in open traces back. A person's act, under a person's key.

    What died with its process is recorded as failed and never run again; what waits for the agent
    elsewhere is listed.

    Examples:
      moot flow resume-to-work proto_20260218_004
    """
    from moot.flows.bridges.resume import resume_to_work as go

    person = a_persons_name(shell, "giving a part to another key")
    found = go(shell.workspace, source, person)
    dues = [{"where": where, "what": due.what, "subject": due.subject} for where, due in found.dues]
    said = [visible(f"  waits: {due['what']} {due['subject']} ({due['where']})") for due in dues]
    return answer(found.walked, *said, waits=dues)


@command(flow, "resume-to-seat", "flow.resume_to_seat")
@click.argument("source", metavar="EVENT")
def resume_to_seat(shell: Shell, source: str) -> Answer:
    """Give an adopted name its seats in open parliaments back. A person's act.

    Examples:
      moot flow resume-to-seat proto_20260218_004
    """
    from moot.flows.bridges.resume import resume_to_seat as go

    person = a_persons_name(shell, "giving a seat to another")
    return answer(go(shell.workspace, source, person))
