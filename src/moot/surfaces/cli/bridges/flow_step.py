"""What the commands of `moot flow` have in common: the group, and how a step is told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.lazy import LazyGroup

if TYPE_CHECKING:
    from moot.api.bridges.steps import BridgeStep


SECTIONS = {
    "To a debate": {
        "blocked-to-debate": "what keeps an agent from going on",
        "question-to-debate": "a question that blocks work",
        "critique-to-debate": "does a critique hold?",
        "kickoff-to-debate": "a research question",
    },
    "To a parliament": {
        "consensus-to-parliament": "a bill from what a debate agreed on",
        "deadlock-to-parliament": "a debate that ended without agreement",
        "resume-to-seat": "an adopted name's seats",
    },
    "To a trace": {
        "approval-to-trace": "provable work from an approved bill",
        "critique-to-challenge": "challenge a claim for a critique's reason",
        "resume-to-work": "an adopted name's parts in open traces",
    },
    "To mail and people": {
        "challenge-to-critique": "tell whoever claimed that it was challenged",
        "done-to-ack": "close the message that asked for the work",
        "report-to-info": "tell all of a trace what was found",
        "takeover-to-info": "tell whoever lost a scope to another",
        "timeout-to-operator": "tell the people that a debate waits",
    },
    "Read": {"list": "what leads where, and which paths were begun"},
}


@click.command("flow", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def flow() -> None:
    """Lead from one protocol to another: each step once, with its cause on record."""


def answer(taken: BridgeStep, *more: str) -> Answer:
    """The step, and `more` lines about what it leads to."""
    return Answer(taken, lambda: _lines(taken, more))


def _lines(taken: BridgeStep, more: Iterable[str]) -> Iterable[str]:
    step = taken.step
    done = "was done before" if taken.again else "is done"
    yield visible(f"{step.flow} {done}: {step.made_in_words}")
    if step.target.file:
        yield visible(f"  in {step.target.file}")
    yield from more
    yield f"  the whole path: moot story {taken.path}"
