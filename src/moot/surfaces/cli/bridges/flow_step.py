"""What the commands of `moot flow` have in common: the group, who asks, what is answered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from moot.core.names import SYSTEM
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.shell import Shell

if TYPE_CHECKING:
    from moot.flows.bridges.steps import Walked


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


def asker(shell: Shell) -> str:
    """Whoever asks for a step, proved by their key; if nobody is named, the workspace itself."""
    return own_act(shell) if shell.acting else SYSTEM


def own_act(shell: Shell, named: str | None = None) -> str:
    """Who acts, with their key at hand: a step names nobody who could not have asked for it."""
    from moot.engine.keys import hand_of

    name, space = shell.actor(named), shell.workspace
    hand_of(space.engine.registry(), space.keys, name)
    return name


def answer(walked: Walked, *more: str, **data: Any) -> Answer:
    from moot.flows.bridges.story_page import made_words
    from moot.protocols.path.views import describe_step

    step = describe_step(walked.step)
    whole = {"path": walked.path, "again": walked.again, "step": step, **data}
    made = made_words(step)
    word = "was done before" if walked.again else "is done"

    def lines() -> Iterable[str]:
        yield visible(f"{step.flow} {word}: {made}")
        if step.target.file:
            yield visible(f"  in {step.target.file}")
        yield from more
        yield f"  the whole path: moot story {walked.path}"

    return Answer(whole, lines)
