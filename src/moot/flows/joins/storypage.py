"""A story as a page: data for `core.report`, which draws it as HTML, markdown or JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from moot.core import report as page
from moot.flows.joins.decided import badge, blocks, facts
from moot.flows.joins.identities import Person
from moot.flows.joins.moments import Moment
from moot.flows.joins.story import Story


def report(named: str, told: Story) -> page.Report:
    return page.Report(
        kind="story",
        title=told.title or named,
        subtitle=_subtitle(named, told),
        verdict=_verdict(told),
        decision=_led_to(named, told),
        dissent=None,
        blocks=tuple(_blocks(told)),
        proof=None,
    )


def _subtitle(named: str, told: Story) -> str:
    if told.path or not told.decisions:
        return told.path or named
    return f"{told.decisions[0].id}, argued in a {told.decisions[0].chamber}"


def _verdict(told: Story) -> page.Verdict:
    """How far the path has come; of a decision that stands alone, how it was decided."""
    unfinished = [step for step in told.steps if step["stage"] != "done"]
    records = f"{len(told.moments)} records"
    if told.steps:
        word = f"{len(unfinished)} OPEN" if unfinished else "DONE"
        tone: page.Tone = "caution" if unfinished else "good"
        return page.Verdict(word, tone, f"{len(told.steps)} steps, {records}")
    if told.decisions:
        return page.Verdict(*badge(told.decisions[0]), records)
    return page.Verdict("ALONE", "neutral", records)


def _led_to(named: str, told: Story) -> page.Decision:
    asked = page.Fact("asked for", told.path or named, code=True)
    origin = (page.Fact("begun for", told.origin),) if told.origin else ()
    if told.steps:
        return page.Decision(_made(told.steps[-1]), (asked, *origin), heading="Where it led")
    if told.decisions:
        one = told.decisions[0]
        return page.Decision(one.motion or "No motion was set.", facts(one), heading="The motion")
    statement = "No flow has led from here to anything."
    return page.Decision(statement, (asked, *origin), heading="Where it led")


def _blocks(told: Story) -> Iterator[page.Block]:
    if told.steps:
        yield page.Table(
            ("step", "flow", "from", "to", "made"),
            tuple(_step(step) for step in told.steps),
            title="Steps",
        )
    for one in told.decisions:
        if told.steps:
            yield page.Facts(facts(one), title=f"{one.id}: {one.question}")
        yield from blocks(one)
    yield page.Timeline(tuple(map(_moment, told.shown)), title="What happened")
    yield page.Table(
        ("agent", "by mail", "seats", "parts", "key"),
        tuple(map(_person, told.people)),
        title="Who",
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
        f"{one.in_words} {one.id}".strip(),
        detail=f"{one.says} ({one.stream} event {one.seq}{by})".strip(),
        ref=one.hash,
    )


def _person(one: Person) -> tuple[str | page.Cell, ...]:
    return (one.agent, one.brenner, seats(one), parts(one), page.Cell(one.keys[0][:16], code=True))


def seats(one: Person) -> str:
    return ", ".join(f"{seat} in {name}" for name, seat in one.seats.items())


def parts(one: Person) -> str:
    return ", ".join(f"{' and '.join(roles)} in {name}" for name, roles in one.parts.items())
