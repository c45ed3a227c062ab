"""The rules of a path, one row each. X-nn are the invariants across protocols, XPR-nn their rows
among the requirements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, Generic

from moot.core.findings import Breach, Rule
from moot.core.machine import C, Case, Command, Context, KeyClass, empty, too_long
from moot.protocols.path import model
from moot.protocols.path.flows import FLOWS, GUARD_EVENTS, FlowSpec
from moot.protocols.path.model import (
    MAX_MADE,
    MAX_STEPS,
    MAX_TEXT,
    MAX_TITLE,
    PathStep,
    Stage,
    State,
)

# One command of a path under check, with the step and the flow that it names.


class PathCase(Case[State, C], Generic[C], frozen=True):
    """`step` is None if it was never begun, `flow` if there is none of that name."""

    step: PathStep | None = None
    flow: FlowSpec | None = None


def build_case(state: State, command: C, context: Context) -> PathCase[C]:
    """Look up the step and the flow, if the command is about one."""
    if not isinstance(command, model.StepCommand):
        return PathCase(state, command, context)
    step = state.find_step(command.flow, command.source)
    return PathCase(state, command, context, step, FLOWS.get(command.flow))


# The checks behind the rules: each yields a message and a place for every breach.

Breaches = Iterator[Breach]
_HASH = re.compile(r"[0-9a-f]{64}\Z")
EXECUTOR, CRITIC = "executor", "critic"


def not_the_machine(case: PathCase[Command]) -> Breaches:
    if case.context.actor.kind is not KeyClass.SYSTEM:
        yield f"{case.context.actor.id} is not the machine", None


def path_begun_before(case: PathCase[model.BeginPath]) -> Breaches:
    if case.state.is_begun:
        yield "", None


def path_not_begun(case: PathCase[model.StepCommand]) -> Breaches:
    if not case.state.is_begun:
        yield "", None


def bad_source(case: PathCase[model.BeginPath | model.BeginStep]) -> Breaches:
    """X-01: refuse a source that is not the exact place and hash of a record."""
    source = case.command.source
    if not _HASH.match(source.hash) or source.seq < 0 or not source.stream or not source.id:
        yield f"{source.place} is no record", "source"


def unknown_flow(case: PathCase[model.StepCommand]) -> Breaches:
    if case.flow is None:
        yield f"there is no flow {case.command.flow[:60]!r}", "flow"


def wrong_protocols(case: PathCase[model.BeginStep]) -> Breaches:
    flow, command = case.flow, case.command
    if flow is None:
        return
    if command.source.protocol not in flow.sources:
        known = " or ".join(sorted(flow.sources))
        yield f"{flow.name} comes from {known}, not {command.source.protocol}", "source"
    if command.target.protocol != flow.target or not command.target.id:
        yield f"{flow.name} leads to {flow.target}", "target"


def wrong_target(case: PathCase[model.MoveStep]) -> Breaches:
    flow, target = case.flow, case.command.target
    if flow is not None and (target.protocol != flow.target or not target.id):
        yield f"{flow.name} leads to {flow.target}", "target"


def other_target(case: PathCase[model.BeginStep]) -> Breaches:
    """X-02: refuse another target: one record leads to one thing by one flow."""
    step = case.step
    if step is not None and step.target != case.command.target:
        yield f"it was begun with {step.target.id}", "target"


def too_many_steps(case: PathCase[model.BeginStep]) -> Breaches:
    if case.step is None and len(case.state.steps) >= MAX_STEPS:
        yield f"this path has {MAX_STEPS} steps", None


def unknown_step(case: PathCase[model.MoveStep | model.FinishStep | model.FailStep]) -> Breaches:
    if case.step is None:
        yield "", "source"


def step_done_before(case: PathCase[model.StepCommand]) -> Breaches:
    if case.step is not None and case.step.stage is Stage.DONE:
        yield "", "source"


def result_unsure(case: PathCase[model.BeginStep]) -> Breaches:
    """X-04: refuse a result that is thin, provisional or faulty."""
    standing, flow = case.command.standing, case.flow
    if flow is None or "debate" not in flow.sources or flow.target != "parliament":
        return
    if standing is None:
        yield "it is not known how sure this result is", "standing"
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


def words_unsigned(case: PathCase[model.BeginStep]) -> Breaches:
    """X-05: refuse entries of a file that their author has not signed."""
    standing = case.command.standing
    for name in standing.unsigned if standing is not None else ():
        message = f"{name} has not signed the entries that name {name} as their author"
        yield message, "standing", None, {"NAME": name}


def runs_and_approves(case: PathCase[model.BeginStep]) -> Breaches:
    """X-08: refuse one agent as executor and critic."""
    parts = {part.role: part.agent for part in case.command.parts}
    if EXECUTOR in parts and parts[EXECUTOR] == parts.get(CRITIC):
        yield f"{parts[CRITIC]} would run it and approve it", "parts"


def lone_approver(case: PathCase[model.BeginStep]) -> Breaches:
    """X-08: refuse a critic that alone voted for the bill."""
    parts = {part.role: part.agent for part in case.command.parts}
    critic = parts.get(CRITIC)
    if critic is not None and set(case.command.approvers) == {critic}:
        yield f"{critic} alone voted for it, and would approve it", "parts"


def makes_a_guard(case: PathCase[model.FinishStep]) -> Breaches:
    """X-03: refuse approvals, reservations and verifications that a flow made."""
    for place, made in enumerate(case.command.made):
        if made.kind in GUARD_EVENTS:
            yield f"a flow makes no {made.kind}", f"made[{place}]"


def makes_another_thing(case: PathCase[model.FinishStep]) -> Breaches:
    if case.flow is None:
        return
    for place, made in enumerate(case.command.made):
        if made.kind not in case.flow.makes and made.kind not in GUARD_EVENTS:
            yield f"{case.flow.name} makes no {made.kind[:60]}", f"made[{place}]"


def made_nothing(case: PathCase[model.FinishStep]) -> Breaches:
    if not 1 <= len(case.command.made) <= MAX_MADE:
        yield f"{len(case.command.made)} things were made", "made"


Rows = tuple[Rule[Any], ...]

_MACHINE: Final = Rule("X-05", "not_the_machine",
                       "only the machine writes a path; a step names who asked for it",
                       not_the_machine, "let `moot flow` do this",
                       requirement="XPR-05")  # fmt: skip
_BEGUN: Final = Rule("PTH-001", "path_not_found", "this path was never begun",
                     path_not_begun, "`moot flow list` shows what can be begun")  # fmt: skip
_SOURCE: Final = Rule("X-01", "bad_source", "a step names the record that led to it",
                      bad_source,
                      "name a message, a session or a trace that is on record here",
                      requirement="XPR-01")  # fmt: skip
_FLOW: Final = Rule("PTH-002", "unknown_flow", "there is no such flow", unknown_flow,
                    "`moot flow list` shows all")  # fmt: skip
_STEP: Final = Rule("PTH-003", "step_not_found", "this step was never begun", unknown_step,
                    "`moot story ID` shows the steps of a path", requirement="XPR-02")  # fmt: skip
_DONE: Final = Rule("X-02", "step_done", "this step is done", step_done_before,
                    "`moot story ID` shows what it made", requirement="XPR-02")  # fmt: skip


def _text(most: int, *fields: str, requirement: str | tuple[str, ...] = ()) -> Rows:
    return (
        Rule("PTH-004", "text_required", "the text may not be empty", empty(*fields),
             "say it in a sentence", requirement=requirement),
        Rule("PTH-004", "text_too_long", "the text is too long", too_long(most, *fields),
             "say it in fewer words", requirement=requirement),
    )  # fmt: skip


_BEGIN_PATH: Final[Rows] = (
    _MACHINE,
    Rule("PTH-001", "path_begun", "a path is begun once", path_begun_before,
         "continue it: `moot story ID`"),
    _SOURCE,
    *_text(MAX_TITLE, "title"),
    *_text(100, "origin", requirement="XPR-05"),
)  # fmt: skip
_BEGIN_STEP: Final[Rows] = (
    _MACHINE,
    _BEGUN,
    _SOURCE,
    _FLOW,
    Rule("PTH-002", "bad_join", "a flow leads from one protocol to another",
         wrong_protocols, "`moot flow list` says what leads where"),
    *_text(100, "asked_by", requirement="XPR-05"),
    _DONE,
    Rule("X-02", "other_target", "one record leads to one thing by one flow", other_target,
         "run it as it was begun: `moot story ID` shows the target", requirement="XPR-02"),
    Rule("PTH-005", "path_full", "a path has a limited number of steps", too_many_steps,
         "begin another path with a new message"),
    Rule("X-04", "not_settled", "only a sure result leads further", result_unsure,
         "`moot debate consensus FILE` says what is missing", requirement="XPR-04"),
    Rule("X-05", "words_unsigned", "a result rests on entries that their authors have signed",
         words_unsigned, "their authors sign them: `moot debate sign FILE --author NAME`",
         requirement="XPR-05"),
    Rule("X-08", "two_parts", "the agent that runs something does not approve it",
         runs_and_approves, "name another critic: --critic NAME", requirement="XPR-08"),
    Rule("X-08", "lone_approver", "one agent alone does not decide and then approve",
         lone_approver, "name another critic: --critic NAME", requirement="XPR-08"),
)  # fmt: skip
RULES: Final[dict[type[Command], Rows]] = {
    model.BeginPath: _BEGIN_PATH,
    model.BeginStep: _BEGIN_STEP,
    model.MoveStep: (
        _MACHINE,
        _BEGUN,
        _FLOW,
        _STEP,
        _DONE,
        Rule("PTH-002", "bad_join", "a flow leads from one protocol to another",
             wrong_target, "`moot flow list` says what leads where", requirement="XPR-02"),
    ),
    model.FinishStep: (
        _MACHINE,
        _BEGUN,
        _FLOW,
        _STEP,
        _DONE,
        Rule("PTH-006", "nothing_made", "a step that is done has made something",
             made_nothing, "say that it failed, and why", requirement="XPR-02"),
        Rule("X-03", "guard_lowered", "no flow makes an approval, a reservation or a verification",
             makes_a_guard,
             "let the critic, the agent or the auditor do it under its own key",
             requirement="XPR-03"),
        Rule("PTH-002", "bad_join", "a flow makes what it is for", makes_another_thing,
             "`moot flow list` says what leads where", requirement="XPR-03"),
    ),
    model.FailStep: (
        _MACHINE,
        _BEGUN,
        _FLOW,
        _STEP,
        _DONE,
        *_text(MAX_TEXT, "code", "why", requirement="XPR-06"),
    ),
}  # fmt: skip
