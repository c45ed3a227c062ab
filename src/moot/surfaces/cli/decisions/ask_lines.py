"""A decision as a person reads it: the answers, the motion, who moved after whom, what is next."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from moot.agents.cost import in_words
from moot.protocols.decision.model import DecisionSeat, Stage, State
from moot.protocols.decision.views import (
    find_shared_models,
    list_answers,
    shorten_question,
    suggest_decide_command,
)
from moot.protocols.decision.views import list_costs as per_seat
from moot.surfaces.cli.debate.lines import in_short, restored
from moot.surfaces.cli.runs.ended_run import ended_line
from moot.surfaces.terminal.answer import visible
from moot.surfaces.terminal.listing import listing

if TYPE_CHECKING:
    from moot.flows.decisions.argument import Argued
    from moot.flows.decisions.ask import Asked


def asked(done: Asked, people: bool) -> Iterable[str]:
    """Without `people` nobody here could give their word yet."""
    state = done.state
    yield f"{done.decision}: {visible(shorten_question(state.question))}"
    yield from _answers(state)
    if state.motion is not None:
        yield f"motion: {visible(state.motion.text)}"
    if done.lost is not None and done.file is not None:
        yield visible(restored(str(done.file), done.lost.value))
    yield from _moves(done.argued)
    yield from notes(state)
    if done.ended is not None:
        yield ended_line(done.ended)
    yield from _result(done, people)


def _answers(state: State) -> Iterable[str]:
    seats = {seat.agent: seat for seat in state.seats}
    rows = [
        (one.agent, _what(seats[one.agent]), f"({one.why})" if one.answer is None else one.answer)
        for one in list_answers(state)
    ]
    return listing(rows, ("WHO", "WHAT IT IS", "FIRST ANSWER")) if rows else ()


def _what(seat: DecisionSeat) -> str:
    return f"{seat.spec} (scripted voice)" if seat.scripted else seat.spec


def _moves(argued: Argued) -> Iterable[str]:
    """Who changed, and after whom; by the record, whatever became of the file."""
    said = {vote.entry: vote.summary for vote in argued.votes}
    for one in argued.changes:
        heard = ", ".join(dict.fromkeys(other.agent for other in one.heard))
        after = f" after {heard}" if heard else ""
        why = in_short(said.get(one.entry, ""))
        yield visible(f"changed: {one.agent}, {one.before} -> {one.now}{after}: {why}")


def notes(state: State) -> Iterable[str]:
    """What weighs beside the tally."""
    for model, names in find_shared_models(state).items():
        yield f"note: {', '.join(names)} are the same, {visible(model)}: agreement weighs less"
    custodians = {seat.custodian for seat in state.seats}
    if len(custodians) == 1 and len(state.seats) > 1:
        yield f"note: {len(state.seats)} participants, 1 key folder: their keys are kept together"


def costs(state: State) -> Iterable[str]:
    """What it cost, and each participant's part of it where that says more."""
    from moot.flows.runs.run_record import total_cost

    total = total_cost(state.cost)
    yield f"cost: {in_words(total)}"
    if total.tokens or total.micros:
        yield from (f"  {name}: {in_words(total_cost(purse))}" for name, purse in per_seat(state))


def _result(done: Asked, people: bool) -> Iterable[str]:
    decision, state = done.decision, done.state
    if state.verdict is not None:
        yield f"{state.verdict.result.value}: {done.outcome}"
        if state.verdict.dissent:
            yield f"dissent: {', '.join(state.verdict.dissent)}"
    yield from costs(state)
    if state.stage is Stage.WAITING:
        first = "" if people else "`moot agent register operator --human` first; then "
        yield f"waiting for you: {first}{suggest_decide_command(decision, state.result)}"
    elif state.word is None:
        yield f"not finished: moot ask --resume {decision}"
