"""`moot flow NAME SOURCE`: use the result of one protocol to start a step in another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click
from msgspec import UNSET

from moot.api.bridges import protocols, work
from moot.surfaces.terminal.answer import visible
from moot.surfaces.terminal.derive import Lines, Values, derive
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.output import OutputPath
from moot.surfaces.terminal.shell import Shell

if TYPE_CHECKING:
    from moot.api.bridges.steps import BridgeStep

SECTIONS = {
    "To a debate": {
        "blocked-to-debate": "debate what blocks an agent",
        "question-to-debate": "debate a question that blocks work",
        "critique-to-debate": "debate whether a critique holds",
        "kickoff-to-debate": "debate a research question",
    },
    "To a parliament": {
        "consensus-to-parliament": "a bill from what a debate agreed on",
        "deadlock-to-parliament": "a debate that ended without agreement",
        "resume-to-seat": "return seats to an adopted name",
    },
    "To a trace": {
        "approval-to-trace": "provable work from an approved bill",
        "critique-to-challenge": "challenge a claim for a critique's reason",
        "resume-to-work": "return parts in open traces to an adopted name",
    },
    "To mail and people": {
        "challenge-to-critique": "tell a claim's author that it was challenged",
        "done-to-ack": "close the message that asked for the work",
        "report-to-info": "tell everyone in a trace what was found",
        "takeover-to-info": "tell the agent that lost a scope",
        "timeout-to-operator": "tell the people that a debate waits",
    },
    "Read": {"list": "the flows, or the paths begun here"},
}


@click.command("flow", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def flow() -> None:
    """Start a step in one protocol from another's result: once, with its cause on record."""


def step_lines(taken: BridgeStep, *more: str) -> Iterator[str]:
    """Describe a step, then `more` lines about its result."""
    step = taken.step
    done = "was done before" if taken.again else "is done"
    yield visible(f"{step.flow} {done}: {step.made_in_words}")
    if step.target.file:
        yield visible(f"  in {step.target.file}")
    yield from more
    yield f"  the whole path: moot story {taken.path}"


@derive("flow.list", protocols.list_flows, """
    --paths  The paths that were begun here, not the flows.
""", group=flow)  # fmt: skip
def list_flows(listed: protocols.FlowList) -> Iterable[str]:
    """List the flows; with --paths, the paths that were begun here.

    Examples:
      moot flow list
      moot flow list --paths --json
    """
    if listed.flows is not UNSET:
        flows = (
            (line.name, " ".join(line.sources), line.target, line.says) for line in listed.flows
        )
        return listing(flows, ("FLOW", "FROM", "TO", "WHAT IT DOES"))
    if not listed.paths:
        return ["no path was begun here"]
    paths = ((line.path, line.origin, line.title) for line in listed.paths)
    return listing(paths, ("PATH", "FOR", "ABOUT"))


# To a debate --------------------------------------------------------------------------------------


_DEBATE = """
    --even-if-gone         Also with agents that seem to have exited.
    --threshold N          The share that must agree, 0 to 1.
    --timeout 1..86400 = turn_seconds  Seconds for one turn.
    --rounds 1..100        At most this many rounds.
    --file FILE:new        Where the debate's file goes (default: in the workspace).
    --with NAME = participants  Another participant.
    MESSAGE
"""


def _read_threshold(_shell: Shell, values: Values) -> Values:
    try:
        number = Decimal(values["threshold"])
    except ArithmeticError:
        number = Decimal("NaN")
    if not number.is_finite() or not 0 <= number <= 1:
        raise click.UsageError("--threshold is a number from 0 to 1")
    return {**values, "threshold": number}


def _to_debate(name: str, operation: Callable[..., Any]) -> Callable[[Lines], click.Command]:
    plan = protocols.DebatePlan
    return derive(name, operation, _DEBATE, group=flow, prepare=_read_threshold, plan=plan)


def _opened(taken: protocols.DebateStep) -> Iterable[str]:
    return step_lines(taken, f"  next: moot debate status {visible(taken.file)}")


@_to_debate("flow.blocked_to_debate", protocols.blocked_to_debate)
def blocked_to_debate(taken: protocols.DebateStep) -> Iterable[str]:
    """Debate what blocks an agent: with its sender, its receiver, and --with others.

    Examples:
      moot flow blocked-to-debate pay-7:3 --with coral-finch
      moot flow blocked-to-debate proto_20260218_001 --file debates/payments.md --rounds 2
    """
    return _opened(taken)


@_to_debate("flow.question_to_debate", protocols.question_to_debate)
def question_to_debate(taken: protocols.DebateStep) -> Iterable[str]:
    """Debate a question that blocks work (Urgency: Blocking).

    Examples:
      moot flow question-to-debate pay-7:3 --with coral-finch
    """
    return _opened(taken)


@_to_debate("flow.kickoff_to_debate", protocols.kickoff_to_debate)
def kickoff_to_debate(taken: protocols.DebateStep) -> Iterable[str]:
    """Debate a research question: the KICKOFF's question, context and constraints.

    Examples:
      moot flow kickoff-to-debate RS-20260218-cell-fate:1
    """
    return _opened(taken)


@_to_debate("flow.critique_to_debate", protocols.critique_to_debate)
def critique_to_debate(taken: protocols.DebateStep) -> Iterable[str]:
    """Debate whether a critique holds.

    Examples:
      moot flow critique-to-debate RS-20260218-cell-fate:9 --with coral-finch
    """
    return _opened(taken)


# To a parliament ----------------------------------------------------------------------------------

_PARLIAMENT = """
    --even-if-gone         Also with agents that seem to have exited.
    --rounds 1..1000       At most this many rounds.
    --issue TEXT:raw = issues  An issue to decide.
    --dir DIRECTORY = folder  Where the parliament's files go (default: in the workspace).
    FILE|SESSION = debate
"""
_FOLDER = {"folder": OutputPath(file_okay=False)}


def _convened(taken: protocols.ParliamentStep) -> Iterable[str]:
    folder = visible(taken.folder)
    send = f"moot parliament submit {folder} {folder}/seeds/..."
    look = f"  each agent reads its seed file and sends it: {send}"
    return step_lines(taken, look, f"  next: moot parliament next {folder}")


@derive("flow.consensus_to_parliament", protocols.consensus_to_parliament, _PARLIAMENT,
        group=flow, types=_FOLDER, plan=protocols.ParliamentPlan)  # fmt: skip
def consensus_to_parliament(taken: protocols.ParliamentStep) -> Iterable[str]:
    """Draft a bill from what a debate agreed on; its agents become the representatives.

    The files in seeds/ hold what each agent said in the debate; each agent sends its own, changed
    or not. How they leaned is shown, but not counted. Moot refuses a thin, provisional or faulty
    result.

    Examples:
      moot flow consensus-to-parliament debates/payments.md --dir bills/payments
    """
    return _convened(taken)


@derive("flow.deadlock_to_parliament", protocols.deadlock_to_parliament, f"""
    {_PARLIAMENT}
    --note T:text  Your guidance for the session (- or @file).
""", group=flow, types=_FOLDER, plan=protocols.ParliamentPlan)  # fmt: skip
def deadlock_to_parliament(taken: protocols.ParliamentStep) -> Iterable[str]:
    """Let a parliament continue a debate that ended without agreement. For people.

    Examples:
      moot flow deadlock-to-parliament debates/payments.md --note "Decide by cost."
    """
    return _convened(taken)


def _require_parts(_shell: Shell, values: Values) -> Values:
    parts = (values["executor"], values["critic"], values["auditor"])
    if values["supersede"] is None and not all(parts):
        raise click.UsageError("--executor, --critic and --auditor are needed")
    return values


@derive("flow.approval_to_trace", work.approval_to_trace, """
    DIR|SESSION = parliament
    --planner NAME            Who proposes (default: you).
    --executor NAME           Who runs and claims.
    --critic NAME             Who approves and objects.
    --auditor NAME            Who verifies.
    --tool NAME = tools       A tool that it needs.
    --expect TEXT = evidence  Evidence that it would leave.
    --supersede TRACE         Replace the proposal of this trace.
""", group=flow, prepare=_require_parts)  # fmt: skip
def approval_to_trace(taken: work.TraceStep) -> Iterable[str]:
    """Begin provable work from an approved bill: a trace, and your proposal in it (the planner).

    Approving the bill does not approve the work: nothing runs before the critic has approved it.
    The critic is neither the executor nor the only supporter of the bill.

    Examples:
      moot flow approval-to-trace bills/payments --planner amber-otter --executor teal-crane \\
        --critic coral-finch --auditor slate-heron --tool pytest --expect "a test report"
      moot flow approval-to-trace bills/payments --planner amber-otter --supersede t1 \\
        --tool pytest
    """
    return step_lines(taken, f"  next: the critic: moot trace review {taken.trace} ...")


@derive("flow.critique_to_challenge", work.critique_to_challenge, """
    MESSAGE
    --trace TRACE  The trace, if the critique's target names none.
    --agent NAME   Who acts (default: you).
""", group=flow)  # fmt: skip
def critique_to_challenge(taken: BridgeStep) -> Iterable[str]:
    """Challenge a claim for the reason a CRITIQUE gives (the critic).

    Examples:
      moot flow critique-to-challenge pay-7:9 --agent coral-finch
    """
    return step_lines(taken)


@derive("flow.challenge_to_critique", work.challenge_to_critique, """
    TRACE
    CLAIM
""", group=flow)  # fmt: skip
def challenge_to_critique(taken: BridgeStep) -> Iterable[str]:
    """Tell a claim's author, by mail, that it was challenged and why.

    Examples:
      moot flow challenge-to-critique t1 c2
    """
    return step_lines(taken)


@derive("flow.report_to_info", work.report_to_info, "TRACE", group=flow)
def report_to_info(taken: BridgeStep) -> Iterable[str]:
    """Tell everyone who has a part in a trace what its verification found.

    Examples:
      moot flow report-to-info t1
    """
    return step_lines(taken)


@derive("flow.done_to_ack", work.done_to_ack, """
    TRACE
    --message ID   What asked for it (default: the path's beginning).
    --agent NAME   Who acts (default: you).
""", group=flow)  # fmt: skip
def done_to_ack(taken: work.AckStep) -> Iterable[str]:
    """Close the message that asked for verified work: its receiver says Completed.

    Examples:
      moot flow done-to-ack t1 --agent teal-crane
      moot flow done-to-ack t1 --agent teal-crane --message pay-7:1
    """
    scopes = ", ".join(taken.held)
    holds = visible(f"  {taken.holder} still holds {scopes}: moot release")
    return step_lines(taken, *([holds] if scopes else []))


@derive("flow.timeout_to_operator", work.timeout_to_operator, "FILE|SESSION = debate", group=flow)
def timeout_to_operator(taken: BridgeStep) -> Iterable[str]:
    """Tell the people here that a debate waits for them: an agent did not speak in time.

    Examples:
      moot flow timeout-to-operator debates/payments.md
    """
    return step_lines(taken)


@derive("flow.takeover_to_info", work.takeover_to_info, "EVENT", group=flow)
def takeover_to_info(taken: BridgeStep) -> Iterable[str]:
    """Tell the agent that lost a scope to another, and list what can no longer run there.

    Examples:
      moot flow takeover-to-info proto_20260218_004
    """
    return step_lines(taken)


@derive("flow.resume_to_work", work.resume_to_work, "EVENT", group=flow)
def resume_to_work(taken: work.ResumedStep) -> Iterable[str]:
    """Return parts in open traces to an adopted name. For people, with their own key.

    Runs that died with its process are recorded as failed and never run again; other duties that
    wait for the agent are listed.

    Examples:
      moot flow resume-to-work proto_20260218_004
    """
    waits = [f"  waits: {task.what} {task.subject} ({task.where})" for task in taken.waits]
    return step_lines(taken, *map(visible, waits))


@derive("flow.resume_to_seat", work.resume_to_seat, "EVENT", group=flow)
def resume_to_seat(taken: BridgeStep) -> Iterable[str]:
    """Return seats in open parliaments to an adopted name. For people.

    Examples:
      moot flow resume-to-seat proto_20260218_004
    """
    return step_lines(taken)
