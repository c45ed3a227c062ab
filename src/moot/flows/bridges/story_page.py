"""A story as a page: data for `core.report`, which draws it as HTML, markdown or JSON.

First where it led, then the path, then step by step who said what. Ids and hashes, with which all
of it can be looked up, come last and folded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moot import pages as page
from moot.core.plural import plural
from moot.flows.bridges.decision_story import badge, build_blocks, list_facts
from moot.flows.bridges.identities import Person
from moot.flows.bridges.moments import StoryMoment
from moot.flows.bridges.sentences import sentence_of
from moot.flows.bridges.story import Story
from moot.protocols.path import PROTOCOL
from moot.protocols.path.flows import FLOWS
from moot.protocols.path.model import Stage
from moot.protocols.path.views import StepView

_FINAL: Final = "trace.final_statement_signed"
# The path's own bookkeeping: what it says stands in the picture of the path.
_KEPT_OUT: Final = frozenset(
    f"{PROTOCOL}.{what}" for what in ("path_begun", "step_begun", "step_done")
)
_KINDS: Final = {"mail": "message"}
_STAGES: Final[dict[Stage, page.Tone]] = {Stage.DONE: "good", Stage.FAILED: "bad"}
_TONES: Final[dict[str, page.Tone]] = {
    f"{PROTOCOL}.step_failed": "bad",
    "parliament.bill_approved": "good",
    "parliament.bill_returned": "bad",
    "parliament.bill_rejected": "bad",
    "trace.tool_execution_failed": "bad",
    "trace.claim_challenged": "caution",
    _FINAL: "good",
}
# A longer id says nothing to a person; it stands among the records.
_MOST_ID: Final = 24


def build_story_page(named: str, story: Story) -> page.Report:
    return page.Report(
        kind="story",
        title=_title(story) or named,
        subtitle=_subtitle(named, story),
        verdict=_verdict(story),
        decision=_led_to(named, story),
        dissent=None,
        blocks=tuple(_blocks(story)),
        proof=None,
    )


def _title(story: Story) -> str:
    return story.title.strip().partition("\n")[0]


def _subtitle(named: str, story: Story) -> str:
    if story.path or not story.decisions:
        return story.path or named
    return f"{story.decisions[0].id}, argued in a {story.decisions[0].chamber}"


def _verdict(story: Story) -> page.VerdictBadge:
    """How far the path has come; of a decision that stands alone, how it was decided."""
    unfinished = [step for step in story.steps if step.stage is not Stage.DONE]
    records = plural(len(story.moments), "record")
    if story.steps:
        word = f"{len(unfinished)} OPEN" if unfinished else "DONE"
        tone: page.Tone = "caution" if unfinished else "good"
        return page.VerdictBadge(word, tone, f"{plural(len(story.steps), 'step')}, {records}")
    if story.decisions:
        return page.VerdictBadge(*badge(story.decisions[0]), records)
    return page.VerdictBadge("ALONE", "neutral", records)


def _led_to(named: str, story: Story) -> page.DecisionCard:
    origin = (page.Fact("begun for", story.origin),) if story.origin else ()
    if story.steps:
        last = story.steps[-1]
        came = page.Fact("last step", f"{last.flow}, {last.stage}: {_made(last)}")
        return page.DecisionCard(_came_to(story), (*origin, came), heading="Where it led")
    if story.decisions:
        one = story.decisions[0]
        return page.DecisionCard(
            one.motion or "No motion was set.", list_facts(one), heading="The motion"
        )
    asked = page.Fact("asked for", named, code=True)
    statement = "No flow has led from here to anything."
    return page.DecisionCard(statement, (asked, *origin), heading="Where it led")


def _came_to(story: Story) -> str:
    """The last final statement; before there is one, what the last step is for, or why it stuck."""
    statements = [one.says for one in story.moments if one.what == _FINAL]
    return statements[-1] if statements else f"{_about(story.steps[-1]).rstrip('.')}."


def _blocks(story: Story) -> Iterator[page.Block]:
    if story.steps:
        yield page.Flow(tuple(map(_step, story.steps)), title="The path")
    if _title(story) != story.title:
        yield page.Prose(story.title, title="What it is about")
    for one in story.decisions:
        if story.steps:
            yield page.Facts(list_facts(one), title=f"{one.id}: {one.question}")
        yield from build_blocks(one)
    yield from _timelines(story)
    yield page.Table(
        ("Agent", "By mail", "Seats", "Parts"),
        tuple(map(_person, story.people)),
        title="Who",
    )
    if story.steps:
        yield page.Table(
            ("Step", "Flow", "From", "To", "Made"),
            tuple(map(_ids, story.steps)),
            title="Every step and its ids",
            folded=True,
        )
    yield page.Table(
        ("Agent", "Key"),
        tuple((person.agent, page.Cell(person.keys[0], code=True)) for person in story.people),
        title="Their keys",
        folded=True,
    )
    yield page.Table(
        ("Record", "What", "Id", "SHA-256"),
        tuple(map(_record, story.shown)),
        title="Every record and its hash",
        folded=True,
    )


def _timelines(story: Story) -> Iterator[page.Timeline]:
    """What happened, in order; on a path, what each step has made and what was done there."""
    if not story.steps:
        yield page.Timeline(tuple(map(_moment, story.shown)), title="What happened")
        return
    titles = ("What began it", *(f"Step {one.number}: {_way(one)}" for one in story.steps))
    groups: list[list[page.TimelineEntry]] = [[] for _ in titles]
    for one in story.shown:
        if one.what not in _KEPT_OUT:
            groups[_place(one, story.steps)].append(_moment(one))
    for title, moments in zip(titles, groups, strict=True):
        if moments:
            yield page.Timeline(tuple(moments), title=title)


def _place(one: StoryMoment, steps: list[StepView]) -> int:
    """The last step that made something at or before this record; 0 for what was there before."""
    places = [
        place
        for place, step in enumerate(steps, 1)
        if (one.stream.startswith(f"{PROTOCOL}/") and one.flow == step.flow)
        or any(made.stream == one.stream and made.seq <= one.seq for made in step.made)
    ]
    return places[-1] if places else 0


def _step(step: StepView) -> page.FlowStep:
    target = step.target
    return page.FlowStep(
        _way(step),
        _about(step),
        target.file or (target.id if len(target.id) <= _MOST_ID else ""),
        _STAGES.get(step.stage, "caution"),
    )


def _about(step: StepView) -> str:
    """Why it stuck, or else what such a step is for."""
    known = FLOWS.get(step.flow)
    words = step.why or (known.purpose if known else step.flow)
    return f"{words[:1].upper()}{words[1:]}"


def _way(step: StepView) -> str:
    """`message to debate`: from which protocol to which."""
    return f"{_kind(step.source.stream)} to {_kind(step.target.stream)}"


def _kind(stream: str) -> str:
    protocol = stream.partition("/")[0]
    return _KINDS.get(protocol, protocol)


def _made(step: StepView) -> str:
    return step.made_in_words or step.why or f"{step.flow} was begun"


def _ids(step: StepView) -> tuple[str, ...]:
    return (
        str(step.number),
        step.flow,
        step.source.id,
        step.target.id,
        _made(step),
    )


def _moment(one: StoryMoment) -> page.TimelineEntry:
    return page.TimelineEntry(
        one.at,
        "",
        sentence_of(one),
        ref=one.id if len(one.id) <= _MOST_ID else "",
        tone=_TONES.get(one.what, "plain"),
    )


def _record(one: StoryMoment) -> tuple[str | page.Cell, ...]:
    by = f", by {one.flow}" if one.flow else ""
    return (
        f"{one.stream} event {one.seq}",
        f"{one.in_words}{by}",
        one.id,
        page.Cell(one.hash, code=True),
    )


def _person(person: Person) -> tuple[str, ...]:
    return (
        person.agent,
        person.brenner,
        person.seats_in_words,
        person.parts_in_words,
    )
