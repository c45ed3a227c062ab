"""One command of a path under check, with the step and the flow that it names."""

from __future__ import annotations

from typing import Generic

from moot.core.machine import C, Case, Context
from moot.protocols.path import commands as ask
from moot.protocols.path.flows import FLOWS, FlowSpec
from moot.protocols.path.model import PathStep, State


class PathCase(Case[State, C], Generic[C], frozen=True):
    """`step` is None if it was never begun, `flow` if there is none of that name."""

    step: PathStep | None = None
    flow: FlowSpec | None = None


def build_case(state: State, command: C, context: Context) -> PathCase[C]:
    """Look up the step and the flow, if the command is about one."""
    if not isinstance(command, ask.StepCommand):
        return PathCase(state, command, context)
    step = state.find_step(command.flow, command.source)
    return PathCase(state, command, context, step, FLOWS.get(command.flow))
