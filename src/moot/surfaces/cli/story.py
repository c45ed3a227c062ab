"""`moot story`: the whole path a decision took, with every native id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from moot.api.bridges import stories
from moot.surfaces.terminal.answer import paint, visible
from moot.surfaces.terminal.derive import derive
from moot.surfaces.terminal.listing import listing

if TYPE_CHECKING:
    from moot.api.bridges.steps import StepView


@derive("story", stories.story, """
    ID = name(named)
    -o PAGE = file
""")  # fmt: skip
def story(told: stories.Story, file: Path | None) -> Iterator[str]:
    """Print the path that ID belongs to: every step, every record, who, when, by which flow.

    ID is anything with a name of its own: a path, a message, an event, a debate, a parliament, a
    trace, a claim; or an agent under any of its names, for what it has a seat or a part in.

    Examples:
      moot story p-3f9a1c20b7de
      moot story parl-20260218-001 --json
      moot story t1 -o t1.html
    """
    where = f" ({told.path})" if told.path else ""
    yield paint(f"{visible(told.title)}{where}", "bold")
    if told.origin:
        yield f"begun for {told.origin}"
    yield from map(_step_line, told.steps)
    for decision in told.decisions:
        yield from map(visible, decision.in_lines())
    rows = [
        (
            moment.at,
            moment.who,
            moment.in_words,
            moment.id,
            moment.says,
            f"{moment.stream}#{moment.seq}",
            moment.flow or "",
        )
        for moment in told.shown
    ]
    if rows:
        yield from listing(rows, ("WHEN", "WHO", "WHAT", "ID", "SAYS", "RECORD", "BY FLOW"))
    if told.cut:
        yield "... and more: only the first records are shown"
    yield from _people(told)
    if file is not None:
        yield f"written to {file}"


def _step_line(step: StepView) -> str:
    made = step.made_in_words or step.why
    way = f"{step.flow}: {step.source.id} -> {step.target.id}"
    return visible(f"{step.number}. {way}, {step.stage}{f': {made}' if made else ''}")


def _people(told: stories.Story) -> Iterable[str]:
    rows = [
        (
            person.agent,
            person.brenner,
            person.seats_in_words or "-",
            person.parts_in_words or "-",
            person.keys[0][:12],
        )
        for person in told.people
    ]
    return listing(rows, ("AGENT", "BY MAIL", "SEAT", "PART", "KEY")) if rows else ()
