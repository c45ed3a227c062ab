"""The checks behind the rules: each yields a message and a place for every breach it finds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from moot.core.findings import Breach
from moot.core.machine import Context, KeyClass
from moot.protocols.path import commands as ask
from moot.protocols.path.flows import FLOWS, GUARDS, Flow
from moot.protocols.path.model import MOST_MADE, MOST_STEPS, Stage, State, Step

Breaches = Iterator[Breach]
_HASH = re.compile(r"[0-9a-f]{64}\Z")
EXECUTOR, CRITIC = "executor", "critic"


class Asked(msgspec.Struct, frozen=True):
    """A command in its moment, with its step and its flow if they are known."""

    state: State
    command: Any
    context: Context
    step: Step | None = None
    flow: Flow | None = None


Check = Callable[[Asked], Breaches]


def look(state: State, command: Any, context: Context) -> Asked:
    source, name = getattr(command, "source", None), getattr(command, "flow", "")
    step = state.step(name, source) if source is not None and name else None
    return Asked(state, command, context, step, FLOWS.get(name))


def not_the_machine(asked: Asked) -> Breaches:
    if asked.context.actor.kind is not KeyClass.SYSTEM:
        yield f"{asked.context.actor.id} is not the machine", None


def begun_before(asked: Asked) -> Breaches:
    if asked.state.begun:
        yield "", None


def not_begun(asked: Asked) -> Breaches:
    if not asked.state.begun:
        yield "", None


def bad_source(asked: Asked) -> Breaches:
    """X-01: what led to a step is a record that can be found again."""
    source = asked.command.source
    if not _HASH.match(source.hash) or source.seq < 0 or not source.stream or not source.id:
        yield f"{source.place} is no record", "source"


def unknown_flow(asked: Asked) -> Breaches:
    if asked.flow is None:
        yield f"no flow is called {asked.command.flow[:60]!r}", "flow"


def bad_join(asked: Asked) -> Breaches:
    flow, command = asked.flow, asked.command
    if flow is None:
        return
    if command.source.protocol not in flow.sources:
        known = " or ".join(sorted(flow.sources))
        yield f"{flow.name} comes from {known}, not {command.source.protocol}", "source"
    if command.target.protocol != flow.target or not command.target.id:
        yield f"{flow.name} leads to {flow.target}", "target"


def wrong_target(asked: Asked) -> Breaches:
    flow, target = asked.flow, asked.command.target
    if flow is not None and (target.protocol != flow.target or not target.id):
        yield f"{flow.name} leads to {flow.target}", "target"


def other_target(asked: Asked) -> Breaches:
    """X-02: one record leads to one thing by one flow, however often it is tried."""
    step = asked.step
    if step is not None and step.target != asked.command.target:
        yield f"it was begun with {step.target.id}", "target"


def too_many(asked: Asked) -> Breaches:
    if asked.step is None and len(asked.state.steps) >= MOST_STEPS:
        yield f"this path has {MOST_STEPS} steps", None


def unknown_step(asked: Asked) -> Breaches:
    if asked.step is None:
        yield "", "source"


def done_before(asked: Asked) -> Breaches:
    if asked.step is not None and asked.step.stage is Stage.DONE:
        yield "", "source"


def unsure(asked: Asked) -> Breaches:
    """X-04: thin, provisional or faulty results lead nowhere."""
    command: ask.BeginStep = asked.command
    standing, flow = command.standing, asked.flow
    if flow is None or "debate" not in flow.sources or flow.target != "parliament":
        return
    if standing is None:
        yield "nothing says how sure this result is", "standing"
        return
    if standing.errors:
        yield f"the session has {standing.errors} errors", "standing"
    if standing.provisional:
        yield "the round is still running", "standing"
    if flow.settled and standing.thin:
        yield "fewer than half of the agents took a position", "standing"
    if flow.settled and not standing.reached:
        yield "no agreement was reached", "standing"
    if not flow.settled and standing.reached:
        yield "agreement was reached", "standing"


def unsigned(asked: Asked) -> Breaches:
    """X-05: what stands in a file under someone's name is not yet that one's word."""
    standing = asked.command.standing
    for name in standing.unsigned if standing is not None else ():
        said = f"what stands there as {name}'s words was not signed by {name}"
        yield said, "standing", None, {"NAME": name}


def two_parts(asked: Asked) -> Breaches:
    """X-08: whoever runs something does not approve it."""
    parts = {part.role: part.agent for part in asked.command.parts}
    if EXECUTOR in parts and parts[EXECUTOR] == parts.get(CRITIC):
        yield f"{parts[CRITIC]} would run it and approve it", "parts"


def lone_approver(asked: Asked) -> Breaches:
    """X-08: one agent alone does not decide and then approve."""
    parts = {part.role: part.agent for part in asked.command.parts}
    critic = parts.get(CRITIC)
    if critic is not None and set(asked.command.approvers) == {critic}:
        yield f"{critic} alone was for it, and would approve it", "parts"


def makes_a_guard(asked: Asked) -> Breaches:
    """X-03: approvals, reservations and verifications are never made by a flow."""
    for place, made in enumerate(asked.command.made):
        if made.kind in GUARDS:
            yield f"a flow makes no {made.kind}", f"made[{place}]"


def makes_another_thing(asked: Asked) -> Breaches:
    if asked.flow is None:
        return
    for place, made in enumerate(asked.command.made):
        if made.kind not in asked.flow.makes and made.kind not in GUARDS:
            yield f"{asked.flow.name} makes no {made.kind[:60]}", f"made[{place}]"


def made_nothing(asked: Asked) -> Breaches:
    if not 1 <= len(asked.command.made) <= MOST_MADE:
        yield f"{len(asked.command.made)} things were made", "made"
