"""A decision as a person reads it: the answers, the motion, who moved after whom, what is next."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from moot.api.runs import Cost, in_words
from moot.surfaces.cli.runs.ended_run import ended_line
from moot.surfaces.terminal.answer import visible
from moot.surfaces.terminal.listing import listing

if TYPE_CHECKING:
    from moot.api.decisions import AskedDecision, DecisionView

MOST_SHOWN = 160
WAITING = "waiting"


def asked(done: AskedDecision) -> Iterable[str]:
    decision = done.decision
    yield f"{decision.id}: {visible(decision.title)}"
    yield from _answers(decision)
    yield from _ranking(decision)
    if decision.motion is not None:
        yield f"motion: {visible(decision.motion.text)}"
    if done.restored is not None:
        lost = done.restored.replace("-", " ")
        yield visible(f"{done.restored_file} was {lost}: it was put back from the record")
    for change in done.changes:
        after = f" after {', '.join(change.after)}" if change.after else ""
        moved = f"{change.agent}, {change.before} -> {change.now}{after}"
        yield visible(f"changed: {moved}: {_shortened(change.why)}")
    yield from notes(decision)
    if done.run is not None:
        yield ended_line(done.run)
    yield from _result(done)


def _answers(decision: DecisionView) -> Iterable[str]:
    kinds = {
        seat.agent: f"{seat.spec} (scripted voice)" if seat.scripted else seat.spec
        for seat in decision.participants
    }
    rows = [
        (
            first.agent,
            kinds[first.agent],
            f"({first.failure or first.why})" if first.answer is None else first.answer,
        )
        for first in decision.answers
    ]
    return listing(rows, ("WHO", "WHAT IT IS", "FIRST ANSWER")) if rows else ()


def _ranking(decision: DecisionView) -> Iterable[str]:
    """What each rule makes of the rankings, and whether they agree."""
    report = decision.ranking
    if report is None:
        return
    numbers = {choice.winner for choice in report.choices}
    for option in report.options:
        if report.differ or decision.motion is None or option.number in numbers:
            yield f"answer {option.number}: {visible(_shortened(option.text))}"
    if len({choice.sentence for choice in report.choices}) == 1:
        yield f"ranked by all rules: {report.choices[0].sentence}"
    else:
        yield from (f"ranked by {each.rule.value}: {each.sentence}" for each in report.choices)
    swayed = [choice.rule.value for choice in report.choices if choice.own_mattered]
    if swayed:
        rules = f"{', '.join(swayed)} would choose otherwise"
        yield f"note: had everybody put its own answer last, {rules}"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_SHOWN else f"{line[: MOST_SHOWN - 1]}…"


def notes(decision: DecisionView) -> Iterable[str]:
    """What weighs beside the tally (AGT-081)."""
    for model, names in decision.shared_models.items():
        yield f"note: {', '.join(names)} are the same, {visible(model)}: agreement weighs less"
    seats = len(decision.participants)
    if decision.custodians == 1 and seats > 1:
        yield f"note: {seats} participants, 1 key folder: their keys are kept together"


def costs(decision: DecisionView) -> Iterable[str]:
    """What it cost, and each participant's part of it where that says more (AGT-081)."""
    total = _as_cost(decision.cost)
    yield f"cost: {in_words(total)}"
    if total.tokens or total.micros:
        for seat in decision.participants:
            if seat.cost.calls:
                yield f"  {seat.agent}: {in_words(_as_cost(seat.cost))}"


def _as_cost(recorded: msgspec.Struct) -> Cost:
    return Cost(*msgspec.structs.astuple(recorded))


def _result(done: AskedDecision) -> Iterable[str]:
    decision = done.decision
    if decision.result is not None:
        yield f"{decision.result.result.value}: {done.outcome}"
        if decision.result.dissent:
            outvoted = len(decision.result.dissent) > len(decision.result.approvers)
            yield f"{'against' if outvoted else 'dissent'}: {', '.join(decision.result.dissent)}"
    yield from (
        visible(f"absent in round {voice.round}: {voice.agent}: {voice.why}")
        for voice in done.absent
    )
    yield from costs(decision)
    if done.next is not None:
        waiting = decision.stage.value == WAITING
        yield f"{'waiting for you' if waiting else 'not finished'}: {done.next}"
