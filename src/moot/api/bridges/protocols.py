"""Operations that lead from one protocol to the next: to a debate or to a parliament.

Each step is taken once. Its source and target are recorded before anything is made; a repeated
call finds the finished step (`again`). So these operations need no key, and an interrupted one is
simply called again. A source that was changed since it was signed is refused (tampered,
file_changed). What only one agent or person may do needs that one's key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.bridges.participants import (
    DEFAULT_DEBATE,
    DEFAULT_PARLIAMENT,
    DebatePlan,
    ParliamentPlan,
)
from moot.api.bridges.steps import BridgeStep, name_of_asker, step_fields
from moot.api.operation import operation
from moot.core.errors import Malformed
from moot.core.text import Quoted
from moot.protocols.path.flows import FLOWS
from moot.protocols.path.machine import PATHS

if TYPE_CHECKING:
    from moot.api.session import Session

__all__ = [
    "BridgeStep",
    "DebatePlan",
    "DebateStep",
    "FlowList",
    "ParliamentPlan",
    "ParliamentStep",
    "blocked_to_debate",
    "consensus_to_parliament",
    "critique_to_debate",
    "deadlock_to_parliament",
    "kickoff_to_debate",
    "list_flows",
    "question_to_debate",
]

MAX_PATHS: Final = 1_000


class DebateStep(BridgeStep, frozen=True):
    """The debate that was opened, by its file."""

    file: str


class ParliamentStep(BridgeStep, frozen=True):
    """The parliament that was convened, by the folder of its files."""

    folder: str


class FlowLine(msgspec.Struct, frozen=True, rename={"sources": "from", "target": "to"}):
    """One flow: from which protocols it leads to which, and what for."""

    name: str
    sources: tuple[str, ...]
    target: str
    says: str


class PathLine(msgspec.Struct, frozen=True):
    """One path: its id, its title, and for whom it began."""

    path: str
    title: Quoted
    origin: str


class FlowList(msgspec.Struct, frozen=True):
    """Either all flows, or the paths of this workspace."""

    flows: tuple[FlowLine, ...] | msgspec.UnsetType = msgspec.UNSET
    paths: tuple[PathLine, ...] | msgspec.UnsetType = msgspec.UNSET


@operation("flow.list")
def list_flows(session: Session, *, paths: bool = False) -> FlowList:
    """List the flows and what they are for; with `paths`, list the paths of this workspace."""
    if paths:
        with session.workspace.store.read() as view:
            rows = view.rows(PATHS, limit=MAX_PATHS)
            entries = [{"path": row.key, **msgspec.json.decode(row.value)} for row in rows]
        return FlowList(paths=tuple(msgspec.convert(line, PathLine) for line in entries))
    return FlowList(
        flows=tuple(
            FlowLine(flow.name, tuple(sorted(flow.sources)), flow.target, flow.purpose)
            for flow in FLOWS.values()
        )
    )


# To a debate --------------------------------------------------------------------------------------


@operation("flow.blocked_to_debate", writes=True, as_ledger=True)
def blocked_to_debate(
    session: Session, message: str, plan: DebatePlan = DEFAULT_DEBATE
) -> DebateStep:
    """Open a debate about what blocks an agent, between its sender, its receivers and others named.

    `message` is the id of a BLOCKED message or of its event; any other is refused (wrong_source).
    Evicted agents are refused (agent_gone) unless the plan admits them.
    """
    return _message_to_debate(session, "blocked-to-debate", message, plan)


@operation("flow.question_to_debate", writes=True, as_ledger=True)
def question_to_debate(
    session: Session, message: str, plan: DebatePlan = DEFAULT_DEBATE
) -> DebateStep:
    """Open a debate about a blocking QUESTION; another urgency is refused (not_blocking)."""
    return _message_to_debate(session, "question-to-debate", message, plan)


@operation("flow.kickoff_to_debate", writes=True, as_ledger=True)
def kickoff_to_debate(
    session: Session, message: str, plan: DebatePlan = DEFAULT_DEBATE
) -> DebateStep:
    """Open a debate about a KICKOFF's research question, with its context and constraints."""
    return _message_to_debate(session, "kickoff-to-debate", message, plan)


@operation("flow.critique_to_debate", writes=True, as_ledger=True)
def critique_to_debate(
    session: Session, message: str, plan: DebatePlan = DEFAULT_DEBATE
) -> DebateStep:
    """Open a debate about whether a CRITIQUE is right."""
    return _message_to_debate(session, "critique-to-debate", message, plan)


def _message_to_debate(session: Session, flow: str, message: str, plan: DebatePlan) -> DebateStep:
    from moot.api.bridges.to_debate import message_to_debate

    if not plan.threshold.is_finite() or not 0 <= plan.threshold <= 1:
        raise Malformed("a threshold is a number from 0 to 1", code="bad_threshold", hint="0.7")
    taken = message_to_debate(session.workspace, flow, message, name_of_asker(session), plan)
    return DebateStep(*step_fields(taken), file=taken.step.target.file)


# To a parliament ----------------------------------------------------------------------------------


@operation("flow.consensus_to_parliament", writes=True, as_ledger=True)
def consensus_to_parliament(
    session: Session, debate: str, plan: ParliamentPlan = DEFAULT_PARLIAMENT
) -> ParliamentStep:
    """Draft a bill from what a debate agreed on; its agents become the representatives.

    `debate` is its file or its id. The agents' stances are shown but do not count as votes. A thin,
    provisional or faulty result is refused, and so is a debate that has not ended (not_settled).
    """
    asker = name_of_asker(session)
    return _debate_to_parliament(session, "consensus-to-parliament", debate, plan, asker)


@operation("flow.deadlock_to_parliament", writes=True, as_ledger=True)
def deadlock_to_parliament(
    session: Session, debate: str, plan: ParliamentPlan = DEFAULT_PARLIAMENT, *, note: str = ""
) -> ParliamentStep:
    """Convene a parliament after a debate that ended without agreement; a person must ask for it.

    `note` is that person's guidance for the session. An agent is refused (human_key_required).
    """
    person = session.person("opening a parliament after a deadlock")
    return _debate_to_parliament(session, "deadlock-to-parliament", debate, plan, person, note)


def _debate_to_parliament(
    session: Session, flow: str, debate: str, plan: ParliamentPlan, asked_by: str, note: str = ""
) -> ParliamentStep:
    from moot.api.bridges.to_parliament import to_parliament

    taken = to_parliament(session.workspace, flow, debate, asked_by, plan, note)
    return ParliamentStep(*step_fields(taken), folder=taken.step.target.file)
