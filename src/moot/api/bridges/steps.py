"""What every step from one protocol to another has in common: who asks, and what is given back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from moot.core.names import SYSTEM
from moot.protocols.path.views import StepView, describe_step

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.flows.bridges.steps import TakenStep

__all__ = ["BridgeStep", "StepView", "asker_of", "own_name", "step_fields"]


class BridgeStep(msgspec.Struct, frozen=True):
    """A step that is done; `again` if it had been done before."""

    path: str
    again: bool
    step: StepView


def asker_of(session: Session) -> str:
    """Whoever asks for a step, proved by their key; if nobody is named, the workspace itself."""
    return own_name(session) if session.acting else SYSTEM


def own_name(session: Session, named: str | None = None) -> str:
    """Who acts, with their key at hand: a step names nobody who could not have asked for it."""
    from moot.engine.keys import find_signatory

    workspace = session.workspace
    name = session.actor(named)
    find_signatory(workspace.engine.registry(), workspace.keys, name)
    return name


def step_fields(taken: TakenStep) -> tuple[str, bool, StepView]:
    """The fields of a `BridgeStep`, for a subclass to be made with."""
    return taken.path, taken.again, describe_step(taken.step)
