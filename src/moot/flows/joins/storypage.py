"""A story as a page: data for `core.report`, which draws it as HTML, markdown or JSON."""

from __future__ import annotations

from typing import Any

from moot.core import report as page
from moot.flows.joins.identities import Person
from moot.flows.joins.moments import Moment
from moot.flows.joins.story import Story


def report(named: str, told: Story) -> page.Report:
    unfinished = [step for step in told.steps if step["stage"] != "done"]
    word = f"{len(unfinished)} OPEN" if unfinished else "DONE" if told.steps else "ALONE"
    verdict = page.Verdict(
        word,
        "caution" if unfinished else "good" if told.steps else "neutral",
        f"{len(told.steps)} steps, {len(told.moments)} records",
    )
    last = told.steps[-1] if told.steps else None
    statement = _made(last) if last is not None else "No flow has led from here to anything."
    facts = [page.Fact("asked for", told.path or named, code=True)]
    if told.origin:
        facts.append(page.Fact("begun for", told.origin))
    return page.Report(
        kind="story",
        title=told.title or named,
        subtitle=told.path or named,
        verdict=verdict,
        decision=page.Decision(statement, tuple(facts), heading="Where it led"),
        dissent=None,
        blocks=(
            page.Table(
                ("step", "flow", "from", "to", "made"),
                tuple(_step(step) for step in told.steps),
                title="Steps",
            ),
            page.Timeline(tuple(map(_moment, told.moments)), title="What happened"),
            page.Table(
                ("agent", "by mail", "seats", "parts", "key"),
                tuple(map(_person, told.people)),
                title="Who",
            ),
        ),
        proof=None,
    )


def _made(step: dict[str, Any]) -> str:
    return made_words(step) or step["why"] or f"{step['flow']} was begun"


def made_words(step: dict[str, Any]) -> str:
    """What a step made; of more than two of a kind only their number."""
    kinds: dict[str, list[str]] = {}
    for one in step["made"]:
        kinds.setdefault(one["kind"], []).append(one["id"])
    few = (
        f"{len(ids)} {kind}s" if len(ids) > 2 else f"{kind} {', '.join(ids)}"
        for kind, ids in kinds.items()
    )
    return ", ".join(few)


def _step(step: dict[str, Any]) -> tuple[str, ...]:
    return (
        str(step["number"]),
        step["flow"],
        step["source"]["id"],
        step["target"]["id"],
        _made(step),
    )


def _moment(one: Moment) -> page.Moment:
    by = f", by {one.flow}" if one.flow else ""
    return page.Moment(
        one.at,
        one.who,
        f"{one.what} {one.id}".strip(),
        detail=f"{one.says} ({one.stream} event {one.seq}{by})".strip(),
        ref=one.hash,
    )


def _person(one: Person) -> tuple[str | page.Cell, ...]:
    return (one.agent, one.brenner, seats(one), parts(one), page.Cell(one.keys[0][:16], code=True))


def seats(one: Person) -> str:
    return ", ".join(f"{seat} in {name}" for name, seat in one.seats.items())


def parts(one: Person) -> str:
    return ", ".join(f"{' and '.join(roles)} in {name}" for name, roles in one.parts.items())
