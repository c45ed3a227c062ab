"""From one protocol to another: what happened in one leads to something in the next.

Each step is taken once: its source and its target are on record before anything is made, and taken
again it finds what is there (`again`). So none of these needs a key, and one that was interrupted
is simply called again. A source that was changed since it was signed leads nowhere (tampered,
file_changed). What only an agent or a person may do is done under that one's own key, or refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.bridges.participants import USUAL_DEBATE, USUAL_PARLIAMENT, DebatePlan, ParliamentPlan
from moot.api.bridges.steps import BridgeStep, asker_of, step_fields
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

MOST_PATHS: Final = 1_000


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
    """One path that was begun, for whom, and what about."""

    path: str
    title: Quoted
    origin: str


class FlowList(msgspec.Struct, frozen=True):
    """Either all flows there are, or the paths that were begun here."""

    flows: tuple[FlowLine, ...] | msgspec.UnsetType = msgspec.UNSET
    paths: tuple[PathLine, ...] | msgspec.UnsetType = msgspec.UNSET


@operation("flow.list")
def list_flows(session: Session, *, paths: bool = False) -> FlowList:
    """What leads where; or, with `paths`, which paths were begun here."""
    if paths:
        with session.workspace.store.read() as view:
            rows = view.rows(PATHS, limit=MOST_PATHS)
            begun = [{"path": row.key, **msgspec.json.decode(row.value)} for row in rows]
        return FlowList(paths=tuple(msgspec.convert(line, PathLine) for line in begun))
    return FlowList(
        flows=tuple(
            FlowLine(flow.name, tuple(sorted(flow.sources)), flow.target, flow.purpose)
            for flow in FLOWS.values()
        )
    )


# To a debate --------------------------------------------------------------------------------------


@operation("flow.blocked_to_debate", writes=True, as_ledger=True)
def blocked_to_debate(
    session: Session, message: str, plan: DebatePlan = USUAL_DEBATE
) -> DebateStep:
    """Argue about what keeps an agent from going on: its sender, its receivers, and others named.

    `message` is the id of a BLOCKED message or of the event it tells of; any other is refused
    (wrong_source), and so are agents that are gone (agent_gone) unless the plan takes them.
    """
    return _message_to_debate(session, "blocked-to-debate", message, plan)


@operation("flow.question_to_debate", writes=True, as_ledger=True)
def question_to_debate(
    session: Session, message: str, plan: DebatePlan = USUAL_DEBATE
) -> DebateStep:
    """Argue about a question that blocks work; one of another urgency is refused (not_blocking)."""
    return _message_to_debate(session, "question-to-debate", message, plan)


@operation("flow.kickoff_to_debate", writes=True, as_ledger=True)
def kickoff_to_debate(
    session: Session, message: str, plan: DebatePlan = USUAL_DEBATE
) -> DebateStep:
    """Argue about a research question: the KICKOFF's question, context and constraints."""
    return _message_to_debate(session, "kickoff-to-debate", message, plan)


@operation("flow.critique_to_debate", writes=True, as_ledger=True)
def critique_to_debate(
    session: Session, message: str, plan: DebatePlan = USUAL_DEBATE
) -> DebateStep:
    """Put a CRITIQUE to a debate: does it hold?"""
    return _message_to_debate(session, "critique-to-debate", message, plan)


def _message_to_debate(session: Session, flow: str, message: str, plan: DebatePlan) -> DebateStep:
    from moot.api.bridges.to_debate import message_to_debate

    if not plan.threshold.is_finite() or not 0 <= plan.threshold <= 1:
        raise Malformed("a threshold is a number from 0 to 1", code="bad_threshold", hint="0.7")
    taken = message_to_debate(session.workspace, flow, message, asker_of(session), plan)
    return DebateStep(*step_fields(taken), file=taken.step.target.file)


# To a parliament ----------------------------------------------------------------------------------


@operation("flow.consensus_to_parliament", writes=True, as_ledger=True)
def consensus_to_parliament(
    session: Session, debate: str, plan: ParliamentPlan = USUAL_PARLIAMENT
) -> ParliamentStep:
    """Draft a bill from what a debate agreed on; its agents become the representatives.

    `debate` is its file or its id. How they leaned is shown and counts for nothing. A thin,
    provisional or faulty result is refused, and so is a debate that goes on (not_settled).
    """
    asker = asker_of(session)
    return _debate_to_parliament(session, "consensus-to-parliament", debate, plan, asker)


@operation("flow.deadlock_to_parliament", writes=True, as_ledger=True)
def deadlock_to_parliament(
    session: Session, debate: str, plan: ParliamentPlan = USUAL_PARLIAMENT, *, note: str = ""
) -> ParliamentStep:
    """Let a parliament take up a debate that ended without agreement; a person asks for this.

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
