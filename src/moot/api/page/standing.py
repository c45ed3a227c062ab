"""How far something that is being decided has come, in the words of its own protocol.

The report tells what was said; this says what holds now: whose turn it is and until when, what a
parliament's clock shows, what a trace waits for, who has answered a question.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import msgspec

from moot.protocols.debate.views import StatusView
from moot.protocols.decision.views import DecisionView
from moot.protocols.parliament.views import SessionView
from moot.protocols.trace.views import TraceStatus

if TYPE_CHECKING:
    from moot.api.session import Session

__all__ = ["DecisionStanding", "describe_standing"]


class DecisionStanding(msgspec.Struct, frozen=True, kw_only=True):
    """Exactly one of these is given, by the protocol it belongs to; none if a debate's file was
    recorded with settings that nobody can follow."""

    decision: DecisionView | None = None
    debate: StatusView | None = None
    parliament: SessionView | None = None
    trace: TraceStatus | None = None


def describe_standing(session: Session, stream: str) -> DecisionStanding:
    """How the decision, debate, parliament or trace that this history records stands now."""
    return _DESCRIBE[stream.partition("/")[0]](session, stream)


def _decision(session: Session, stream: str) -> DecisionStanding:
    from moot.protocols.decision.machine import MACHINE
    from moot.protocols.decision.views import describe_decision

    state = session.workspace.engine.state(MACHINE, stream)
    return DecisionStanding(decision=describe_decision(stream.partition("/")[2], state))


def _debate(session: Session, stream: str) -> DecisionStanding:
    """From the record: what stands in the file now does not count."""
    from moot.flows.debate.record import read_recorded_bytes
    from moot.protocols.debate.checker import check_session
    from moot.protocols.debate.views import view_status

    checked = check_session(read_recorded_bytes(session.workspace, stream))
    if checked.course is None:
        return DecisionStanding()
    return DecisionStanding(debate=view_status(checked, session.clock()))


def _parliament(session: Session, stream: str) -> DecisionStanding:
    from moot.protocols.parliament.machine import MACHINE
    from moot.protocols.parliament.views import view_session

    return DecisionStanding(
        parliament=view_session(session.workspace.engine.state(MACHINE, stream))
    )


def _trace(session: Session, stream: str) -> DecisionStanding:
    from moot.api.traces.reading import status

    return DecisionStanding(trace=status(session, stream.partition("/")[2]))


_DESCRIBE: Final[dict[str, Callable[[Session, str], DecisionStanding]]] = {
    "decision": _decision,
    "debate": _debate,
    "parliament": _parliament,
    "trace": _trace,
}
