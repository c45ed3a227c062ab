"""Stories: the whole path that something belongs to, from the record."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moot import pages as page
from moot.api.bridges.story import Story, StoryMoment, badge, build_blocks, list_facts, story_of
from moot.api.operation import operation
from moot.core.names import SYSTEM
from moot.core.text import plural
from moot.protocols.path import PROTOCOL
from moot.protocols.path.flows import FLOWS
from moot.protocols.path.model import Stage
from moot.protocols.path.views import StepView

if TYPE_CHECKING:
    from moot.api.session import Session


__all__ = ["Story", "story"]


@operation("story")
def story(session: Session, name: str, *, file: Path | None = None) -> Story:
    """The path that a name belongs to: every step, every record, who, when, by which flow.

    `name` is anything that has one: a path, a message, an event, a debate, a parliament, a trace,
    a claim; or an agent under any of its names. With `file` (FILE.html, FILE.md or FILE.json) it
    is also written as a page. NotFound (story_not_found) if nothing is called so.
    """
    from moot.api.page.files import require_page_name, write_page
    from moot.api.page.reports import find_stream_with_page, link_beside

    if file is not None:
        require_page_name(file)
    path_story = story_of(session.workspace, name)
    if file is not None:
        page = build_story_page(name, path_story)
        stream = find_stream_with_page(session, name)
        write_page(file, link_beside(session, stream, page, file) if stream else page)
    return path_story


# `{who}` is who signed it, `{says}` the sense of it as its author put it. What has no sentence of
# its own is told by the words of its type, so that nothing is left out.

_SENTENCES: Final = {
    "debate.session_began": "A debate began: {says}",
    "debate.entry_yielded": "{who} said: {says}",
    "debate.entry_signed": "{who} said: {says}",
    "debate.entry_observed": "{who} was seen to have said: {says}",
    "debate.entry_generated": "The turn was passed over: {says}",
    "debate.turn_timed_out": "The time of a turn was up: {says}",
    "debate.context_added": "{who} added to the context: {says}",
    "debate.session_ended": "The debate ended.",
    "debate.session_resumed": "{who} took the debate up again: {says}",
    "debate.file_moved": "{who} moved the file of the debate: {says}",
    "decision.question_asked": "{who} asked: {says}",
    "decision.answer_sealed": "{who} sealed its first answer.",
    "decision.seals_closed": "A checkpoint covered all sealed answers.",
    "decision.opening_refused": "{who} tried to open another answer than it had sealed.",
    "decision.answer_given": "{who} answered alone: {says}",
    "decision.answers_ranked": "{who} ranked the answers: {says}",
    "decision.ranking_passed": "No ranking came: {says}",
    "decision.answer_passed": "No first answer came: {says}",
    "decision.motion_set": "The motion was set: {says}",
    "decision.session_opened": "It went to be argued: {says}",
    "decision.result_recorded": "The vote: {says}",
    "decision.person_approved": "{who} approved it: {says}",
    "decision.person_vetoed": "{who} vetoed it: {says}",
    "decision.person_amended": "{who} decided otherwise: {says}",
    "decision.person_sent_back": "{who} sent it back: {says}",
    "decision.successor_named": "Another decision takes its place: {says}",
    "decision.outcome_judged": "{who} said how it turned out: {says}",
    "decision.receipt_made": "A receipt was written.",
    "mail.message_sent": "{who} wrote: {says}",
    "mail.message_acknowledged": "{who} acknowledged it: {says}",
    "mail.message_escalated": "It went to a person: {says}",
    "mail.message_resent": "{who} sent it again: {says}",
    "mail.message_imported": "A message was taken in: {says}",
    "parliament.parliament_convened": "A parliament was convened: {says}",
    "parliament.statements_opened": "Opening statements were called for.",
    "parliament.statements_closed": "All opening statements were heard.",
    "parliament.drafter_chosen": "The drafter was chosen: {says}",
    "parliament.drafter_replaced": "The drafter was replaced: {says}",
    "parliament.debate_opened": "The debate on the bill was opened.",
    "parliament.round_started": "A round of debate began.",
    "parliament.round_ended": "The round ended.",
    "parliament.round_summarized": "The round was summed up.",
    "parliament.vote_called": "A vote was called.",
    "parliament.ballot_closed": "The ballot was closed.",
    "parliament.bill_passed": "The bill passed.",
    "parliament.bill_defeated": "The bill was defeated.",
    "parliament.bill_approved": "{who} approved the bill.",
    "parliament.bill_amended": "{who} amended the bill.",
    "parliament.bill_rejected": "{who} vetoed the bill.",
    "parliament.bill_returned": "{who} sent the bill back: {says}",
    "parliament.passage_failed": "No bill passed.",
    "parliament.seat_expelled": "A seat was expelled: {says}",
    "parliament.session_completed": "The parliament ended.",
    "path.step_failed": "A step failed: {says}",
    "presence.blocked_sent": "{who} could not go on and asked for help: {says}",
    "presence.handoff_sent": "{who} handed work over: {says}",
    "presence.event_accepted": "{who} took it on.",
    "presence.event_withdrawn": "{who} withdrew that entry: {says}",
    "presence.event_seen": "{who} saw it.",
    "trace.session_initialized": "{who} opened a trace: {says}",
    "trace.proposal_created": "{who} proposed: {says}",
    "trace.proposal_reviewed": "{who} reviewed the proposal: {says}",
    "trace.tool_intent_signed": "{who} wanted to run {says}",
    "trace.tool_intent_reviewed": "{who} reviewed what was to run: {says}",
    "trace.tool_execution_started": "{who} started it.",
    "trace.tool_execution_completed": "It ran to its end.",
    "trace.tool_execution_failed": "It failed: {says}",
    "trace.claim_issued": "{who} claimed: {says}",
    "trace.claim_challenged": "{who} challenged a claim: {says}",
    "trace.claim_withdrawn": "{who} withdrew a claim: {says}",
    "trace.final_statement_signed": "{who} concluded: {says}",
    "trace.verification_run_started": "{who} began to check the trace.",
    "trace.verification_run_completed": "{who} checked the trace: {says}",
}
# A message of a parliament says its type first, then what it comes to.
_MESSAGES: Final = {
    "OPENING_STATEMENT": "{who} made an opening statement.",
    "BILL_DRAFT": "{who} put forward a bill: {says}",
    "QUESTION": "{who} asked: {says}",
    "ANSWER": "{who} answered: {says}",
    "AMENDMENT": "{who} proposed an amendment: {says}",
    "MOTION": "{who} moved: {says}",
    "VOTE": "{who} voted {says}",
    "SPEAKER_RULING": "The speaker ruled: {says}",
    "VOTE_TALLY": "The votes were counted.",
    "PM_DECISION": "{who} had the last word: {says}",
}
_MARKS: Final = re.compile(r"(?<=\s)(?:#{1,6}|>)\s+")
_MESSAGE: Final = "parliament.message_logged"
_STANCES: Final = {
    "approve": "approves",
    "reject": "rejects",
    "neutral": "is neutral",
    "defer": "defers",
}


def sentence_of(moment: StoryMoment) -> str:
    """What happened, as a sentence."""
    says: str = moment.says
    template = _SENTENCES.get(moment.what)
    if moment.what == _MESSAGE:
        kind, _, says = moment.says.partition(": ")
        template = _MESSAGES.get(kind)
    if template is None:
        words = f"{_who(moment)}: {moment.in_words}"
        return _ended(f"{words}: {says}" if says else words)
    if moment.what.startswith("debate.entry") and says.partition(": ")[0] in _STANCES:
        stance, _, says = says.partition(": ")
        template = f"{{who}} {_STANCES[stance]}: {{says}}"
    return _ended(template.format(who=_who(moment), says=_in_words(says)).rstrip(": "))


def _who(moment: StoryMoment) -> str:
    return "Moot" if moment.who == SYSTEM else moment.who


def _in_words(says: str) -> str:
    """A word of a protocol as one reads it: `call_vote` is `call vote`; headings and quotes that
    were drawn into one line lose their marks."""
    return _MARKS.sub("", says) if " " in says else says.replace("_", " ")


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?", "…", ")")) else f"{sentence}."


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
    """First where it led, then the path, then step by step who said what; ids and hashes last."""
    subtitle = story.path or named
    if story.decisions and not story.path:
        subtitle = f"{story.decisions[0].id}, argued in a {story.decisions[0].chamber}"
    return page.Report(
        kind="story",
        title=_title(story) or named,
        subtitle=subtitle,
        verdict=_verdict(story),
        decision=_led_to(named, story),
        dissent=None,
        blocks=tuple(_blocks(story)),
        proof=None,
    )


def _title(story: Story) -> str:
    return story.title.strip().partition("\n")[0]


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
        tuple(
            (person.agent, person.brenner, person.seats_in_words, person.parts_in_words)
            for person in story.people
        ),
        title="Who",
    )
    if story.steps:
        yield page.Table(
            ("Step", "Flow", "From", "To", "Made"),
            tuple(
                (str(step.number), step.flow, step.source.id, step.target.id, _made(step))
                for step in story.steps
            ),
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
