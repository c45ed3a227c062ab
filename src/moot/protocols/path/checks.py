"""The checks behind the rules: each yields a message and a place for every breach."""

from __future__ import annotations

import re
from collections.abc import Iterator

from moot.core.findings import Breach
from moot.core.machine import Command, KeyClass
from moot.protocols.path import commands as ask
from moot.protocols.path.case import PathCase
from moot.protocols.path.flows import GUARD_EVENTS
from moot.protocols.path.model import MAX_MADE, MAX_STEPS, Stage

Breaches = Iterator[Breach]
_HASH = re.compile(r"[0-9a-f]{64}\Z")
EXECUTOR, CRITIC = "executor", "critic"


def not_the_machine(case: PathCase[Command]) -> Breaches:
    if case.context.actor.kind is not KeyClass.SYSTEM:
        yield f"{case.context.actor.id} is not the machine", None


def path_begun_before(case: PathCase[ask.BeginPath]) -> Breaches:
    if case.state.is_begun:
        yield "", None


def path_not_begun(case: PathCase[ask.StepCommand]) -> Breaches:
    if not case.state.is_begun:
        yield "", None


def bad_source(case: PathCase[ask.BeginPath | ask.BeginStep]) -> Breaches:
    """X-01: what led to a step is a record that can be found again."""
    source = case.command.source
    if not _HASH.match(source.hash) or source.seq < 0 or not source.stream or not source.id:
        yield f"{source.place} is no record", "source"


def unknown_flow(case: PathCase[ask.StepCommand]) -> Breaches:
    if case.flow is None:
        yield f"no flow is called {case.command.flow[:60]!r}", "flow"


def wrong_protocols(case: PathCase[ask.BeginStep]) -> Breaches:
    flow, command = case.flow, case.command
    if flow is None:
        return
    if command.source.protocol not in flow.sources:
        known = " or ".join(sorted(flow.sources))
        yield f"{flow.name} comes from {known}, not {command.source.protocol}", "source"
    if command.target.protocol != flow.target or not command.target.id:
        yield f"{flow.name} leads to {flow.target}", "target"


def wrong_target(case: PathCase[ask.MoveStep]) -> Breaches:
    flow, target = case.flow, case.command.target
    if flow is not None and (target.protocol != flow.target or not target.id):
        yield f"{flow.name} leads to {flow.target}", "target"


def other_target(case: PathCase[ask.BeginStep]) -> Breaches:
    """X-02: one record leads to one thing by one flow, however often it is tried."""
    step = case.step
    if step is not None and step.target != case.command.target:
        yield f"it was begun with {step.target.id}", "target"


def too_many_steps(case: PathCase[ask.BeginStep]) -> Breaches:
    if case.step is None and len(case.state.steps) >= MAX_STEPS:
        yield f"this path has {MAX_STEPS} steps", None


def unknown_step(case: PathCase[ask.MoveStep | ask.FinishStep | ask.FailStep]) -> Breaches:
    if case.step is None:
        yield "", "source"


def step_done_before(case: PathCase[ask.StepCommand]) -> Breaches:
    if case.step is not None and case.step.stage is Stage.DONE:
        yield "", "source"


def result_unsure(case: PathCase[ask.BeginStep]) -> Breaches:
    """X-04: nothing may follow from a result that is thin, provisional or faulty."""
    standing, flow = case.command.standing, case.flow
    if flow is None or "debate" not in flow.sources or flow.target != "parliament":
        return
    if standing is None:
        yield "nothing says how sure this result is", "standing"
        return
    if standing.errors:
        yield f"the session has {standing.errors} errors", "standing"
    if standing.provisional:
        yield "the round is still running", "standing"
    if flow.needs_agreement and standing.thin:
        yield "fewer than half of the agents took a position", "standing"
    if flow.needs_agreement and not standing.reached:
        yield "no agreement was reached", "standing"
    if not flow.needs_agreement and standing.reached:
        yield "agreement was reached", "standing"


def words_unsigned(case: PathCase[ask.BeginStep]) -> Breaches:
    """X-05: words in a file count only once their author has signed them."""
    standing = case.command.standing
    for name in standing.unsigned if standing is not None else ():
        words = f"what stands there as {name}'s words was not signed by {name}"
        yield words, "standing", None, {"NAME": name}


def runs_and_approves(case: PathCase[ask.BeginStep]) -> Breaches:
    """X-08: whoever runs something does not approve it."""
    parts = {part.role: part.agent for part in case.command.parts}
    if EXECUTOR in parts and parts[EXECUTOR] == parts.get(CRITIC):
        yield f"{parts[CRITIC]} would run it and approve it", "parts"


def lone_approver(case: PathCase[ask.BeginStep]) -> Breaches:
    """X-08: one agent alone does not decide and then approve."""
    parts = {part.role: part.agent for part in case.command.parts}
    critic = parts.get(CRITIC)
    if critic is not None and set(case.command.approvers) == {critic}:
        yield f"{critic} alone was for it, and would approve it", "parts"


def makes_a_guard(case: PathCase[ask.FinishStep]) -> Breaches:
    """X-03: approvals, reservations and verifications are never made by a flow."""
    for place, made in enumerate(case.command.made):
        if made.kind in GUARD_EVENTS:
            yield f"a flow makes no {made.kind}", f"made[{place}]"


def makes_another_thing(case: PathCase[ask.FinishStep]) -> Breaches:
    if case.flow is None:
        return
    for place, made in enumerate(case.command.made):
        if made.kind not in case.flow.makes and made.kind not in GUARD_EVENTS:
            yield f"{case.flow.name} makes no {made.kind[:60]}", f"made[{place}]"


def made_nothing(case: PathCase[ask.FinishStep]) -> Breaches:
    if not 1 <= len(case.command.made) <= MAX_MADE:
        yield f"{len(case.command.made)} things were made", "made"
