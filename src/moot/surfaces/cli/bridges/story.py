"""`moot story`: the whole path a decision took, with every native id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from moot.surfaces.terminal.answer import Answer, paint, visible
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.page import page_option, write_page
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.flows.bridges.story import Story
    from moot.protocols.path.views import StepView


@command(None, "story", "story")
@click.argument("named", metavar="ID")
@page_option
def story(shell: Shell, named: str, output: Path | None) -> Answer:
    """Print the path that ID belongs to: every step, every record, who, when, by which flow.

    ID is anything with a name of its own: a path, a message, an event, a debate, a parliament, a
    trace, a claim; or an agent under any of its names, for what it has a seat or a part in.

    Examples:
      moot story p-3f9a1c20b7de
      moot story parl-20260218-001 --json
      moot story t1 -o t1.html
    """
    from moot.flows.bridges.story import story_of

    told = story_of(shell.workspace, named)
    if output is not None:
        from moot.flows.bridges.story_page import build_story_page

        write_page(output, build_story_page(named, told))
    data: dict[str, Any] = msgspec.to_builtins(told)
    return Answer(data, lambda: _lines(told, output))


def _lines(told: Story, output: Path | None) -> Iterator[str]:
    from moot.flows.bridges import decision_story

    where = f" ({told.path})" if told.path else ""
    yield paint(f"{visible(told.title)}{where}", "bold")
    if told.origin:
        yield f"begun for {told.origin}"
    yield from map(step_line, told.steps)
    for one in told.decisions:
        yield from map(visible, decision_story.lines(one))
    rows = [
        (one.at, one.who, one.in_words, one.id, one.says, f"{one.stream}#{one.seq}", one.flow or "")
        for one in told.shown
    ]
    if rows:
        yield from listing(rows, ("WHEN", "WHO", "WHAT", "ID", "SAYS", "RECORD", "BY FLOW"))
    if told.cut:
        yield "... and more: only the first records are shown"
    yield from _people(told)
    if output is not None:
        yield f"written to {output}"


def step_line(step: StepView) -> str:
    from moot.flows.bridges.story_page import made_words

    made = made_words(step) or step.why
    said = f"{step.flow}: {step.source.id} -> {step.target.id}"
    return visible(f"{step.number}. {said}, {step.stage}{f': {made}' if made else ''}")


def _people(told: Story) -> Iterable[str]:
    from moot.flows.bridges.story_page import parts, seats

    rows = [
        (one.agent, one.brenner, seats(one) or "-", parts(one) or "-", one.keys[0][:12])
        for one in told.people
    ]
    return listing(rows, ("AGENT", "BY MAIL", "SEAT", "PART", "KEY")) if rows else ()
