"""What the commands of `moot flow` have in common: the group, who asks, what is answered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from moot.core.names import SYSTEM
from moot.surfaces.cli.answer import Answer, visible
from moot.surfaces.cli.shell import Shell

if TYPE_CHECKING:
    from moot.flows.joins.steps import Walked


@click.group("flow", no_args_is_help=False)
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
    from moot.flows.joins.storypage import made_words
    from moot.path.views import step_data

    step = step_data(walked.step)
    whole = {"path": walked.path, "again": walked.again, "step": step, **data}
    made = made_words(step)
    word = "was done before" if walked.again else "is done"

    def lines() -> Iterable[str]:
        yield visible(f"{step['flow']} {word}: {made}")
        if step["target"]["file"]:
            yield visible(f"  in {step['target']['file']}")
        yield from more
        yield f"  the whole path: moot story {walked.path}"

    return Answer(whole, lines)
