"""The operation `story`, and how a story is shown: as sentences and as a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moot import pages as page
from moot.api.bridges.story import (
    Story,
    StoryMoment,
    badge_of,
    build_blocks,
    list_facts,
    read_story,
)
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
    """Show the path that a name belongs to: every step, every record, who, when, by which flow.

    `name` is a path, a message, an event, a debate, a parliament, a trace, a claim, or an agent
    under any of its names. With `file` (FILE.html, FILE.md or FILE.json) the story is also written
    as a page. NotFound (story_not_found) if nothing has that name.
    """
    from moot.api.page.files import require_page_name, write_page
    from moot.api.page.reports import find_stream_with_page, link_neighbours

    if file is not None:
        require_page_name(file)
    path_story = read_story(session.workspace, name)
    if file is not None:
        page = build_story_page(name, path_story)
        stream = find_stream_with_page(session, name)
        write_page(file, link_neighbours(session, stream, page, file) if stream else page)
    return path_story


# `{who}` is the signer, `{says}` a summary in the author's words. An event type without a sentence
# here is shown by its name, so that nothing is left out.

_SENTENCES: Final = {
    "debate.session_began": "A debate began: {says}",
    "debate.entry_yielded": "{who} said: {says}",
    "debate.entry_signed": "{who} said: {says}",
    "debate.entry_observed": "{who} was seen to have said: {says}",
    "debate.entry_generated": "The turn was passed over: {says}",
    "debate.turn_timed_out": "A turn timed out: {says}",
    "debate.context_added": "{who} added to the context: {says}",
    "debate.session_ended": "The debate ended.",
    "debate.session_resumed": "{who} resumed the debate: {says}",
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
    "decision.session_opened": "The debate on it began: {says}",
    "decision.result_recorded": "The vote: {says}",
    "decision.person_approved": "{who} approved it: {says}",
    "decision.person_vetoed": "{who} vetoed it: {says}",
    "decision.person_amended": "{who} decided otherwise: {says}",
    "decision.person_sent_back": "{who} sent it back: {says}",
    "decision.successor_named": "Another decision superseded it: {says}",
    "decision.outcome_judged": "{who} said how it turned out: {says}",
    "decision.receipt_made": "A receipt was written.",
    "mail.message_sent": "{who} wrote: {says}",
    "mail.message_acknowledged": "{who} acknowledged it: {says}",
    "mail.message_escalated": "It went to a person: {says}",
    "mail.message_resent": "{who} sent it again: {says}",
    "mail.message_imported": "A message was imported: {says}",
    "parliament.parliament_convened": "A parliament was convened: {says}",
    "parliament.statements_opened": "Opening statements were called for.",
    "parliament.statements_closed": "All opening statements were heard.",
    "parliament.drafter_chosen": "The drafter was chosen: {says}",
    "parliament.drafter_replaced": "The drafter was replaced: {says}",
    "parliament.debate_opened": "The debate on the bill was opened.",
    "parliament.round_started": "A round of debate began.",
    "parliament.round_ended": "The round ended.",
    "parliament.round_summarized": "The round was summarized.",
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
    "presence.blocked_sent": "{who} was blocked and asked for help: {says}",
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
# The summary of a parliament's message begins with its type.
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
    "PM_DECISION": "The prime minister ruled: {says}",
}
_MARKS: Final = re.compile(r"(?<=\s)(?:#{1,6}|>)\s+")
_MESSAGE: Final = "parliament.message_logged"
_STANCES: Final = {
    "approve": "approves",
    "reject": "rejects",
    "neutral": "is neutral",
    "defer": "defers",
}


def write_sentence(moment: StoryMoment) -> str:
    """Return what happened as a sentence."""
    says: str = moment.says
    template = _SENTENCES.get(moment.what)
    if moment.what == _MESSAGE:
        kind, _, says = moment.says.partition(": ")
        template = _MESSAGES.get(kind)
    if template is None:
        words = f"{_author(moment)}: {moment.in_words}"
        return _with_full_stop(f"{words}: {says}" if says else words)
    if moment.what.startswith("debate.entry") and says.partition(": ")[0] in _STANCES:
        stance, _, says = says.partition(": ")
        template = f"{{who}} {_STANCES[stance]}: {{says}}"
    return _with_full_stop(
        template.format(who=_author(moment), says=_plain_text(says)).rstrip(": ")
    )


def _author(moment: StoryMoment) -> str:
    return "Moot" if moment.who == SYSTEM else moment.who


def _plain_text(says: str) -> str:
    """Return a protocol's term as plain text, `call vote` for `call_vote`; of a longer text that
    was joined to one line, remove the marks of headings and quotes."""
    return _MARKS.sub("", says) if " " in says else says.replace("_", " ")


def _with_full_stop(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?", "…", ")")) else f"{sentence}."


_FINAL: Final = "trace.final_statement_signed"
# The path's own bookkeeping: the picture of the path shows it.
_NOT_SHOWN: Final = frozenset(
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
# A longer id tells a person nothing; the table of records has it.
_MAX_SHOWN_ID: Final = 24


def build_story_page(name: str, story: Story) -> page.Report:
    """Build the page: result, path, then step by step who said what; ids and hashes last."""
    subtitle = story.path or name
    if story.decisions and not story.path:
        subtitle = f"{story.decisions[0].id}, argued in a {story.decisions[0].chamber}"
    return page.Report(
        kind="story",
        title=_first_line(story) or name,
        subtitle=subtitle,
        verdict=_verdict_badge(story),
        decision=_outcome_card(name, story),
        dissent=None,
        blocks=tuple(_blocks(story)),
        proof=None,
    )


def _first_line(story: Story) -> str:
    return story.title.strip().partition("\n")[0]


def _verdict_badge(story: Story) -> page.VerdictBadge:
    """Return how far the path has come; for a single decision, how it was decided."""
    unfinished = [step for step in story.steps if step.stage is not Stage.DONE]
    records = plural(len(story.moments), "record")
    if story.steps:
        word = f"{len(unfinished)} OPEN" if unfinished else "DONE"
        tone: page.Tone = "caution" if unfinished else "good"
        return page.VerdictBadge(word, tone, f"{plural(len(story.steps), 'step')}, {records}")
    if story.decisions:
        return page.VerdictBadge(*badge_of(story.decisions[0]), records)
    return page.VerdictBadge("ALONE", "neutral", records)


def _outcome_card(name: str, story: Story) -> page.DecisionCard:
    origin = (page.Fact("started for", story.origin),) if story.origin else ()
    if story.steps:
        last = story.steps[-1]
        last_step = page.Fact("last step", f"{last.flow}, {last.stage}: {_made_text(last)}")
        return page.DecisionCard(_final_text(story), (*origin, last_step), heading="Where it led")
    if story.decisions:
        decision = story.decisions[0]
        statement = decision.motion or "No motion was set."
        return page.DecisionCard(statement, list_facts(decision), heading="The motion")
    asked = page.Fact("asked for", name, code=True)
    statement = "No flow started from here."
    return page.DecisionCard(statement, (asked, *origin), heading="Where it led")


def _final_text(story: Story) -> str:
    """Return the newest final statement; without one, the last step's purpose or failure."""
    statements = [moment.says for moment in story.moments if moment.what == _FINAL]
    return statements[-1] if statements else f"{_purpose(story.steps[-1]).rstrip('.')}."


def _blocks(story: Story) -> Iterator[page.Block]:
    if story.steps:
        yield page.Flow(tuple(map(_flow_step, story.steps)), title="The path")
    if _first_line(story) != story.title:
        yield page.Prose(story.title, title="What it is about")
    for decision in story.decisions:
        if story.steps:
            yield page.Facts(list_facts(decision), title=f"{decision.id}: {decision.question}")
        yield from build_blocks(decision)
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
                (str(step.number), step.flow, step.source.id, step.target.id, _made_text(step))
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
        tuple(map(_record_row, story.shown)),
        title="Every record and its hash",
        folded=True,
    )


def _timelines(story: Story) -> Iterator[page.Timeline]:
    """Yield one timeline; for a path, one for each step with what happened there."""
    if not story.steps:
        yield page.Timeline(tuple(map(_timeline_entry, story.shown)), title="What happened")
        return
    titles = ("What began it", *(f"Step {step.number}: {_from_to(step)}" for step in story.steps))
    groups: list[list[page.TimelineEntry]] = [[] for _ in titles]
    for moment in story.shown:
        if moment.what not in _NOT_SHOWN:
            groups[_step_index(moment, story.steps)].append(_timeline_entry(moment))
    for title, moments in zip(titles, groups, strict=True):
        if moments:
            yield page.Timeline(tuple(moments), title=title)


def _step_index(moment: StoryMoment, steps: list[StepView]) -> int:
    """Return the last step that made something at or before this record; 0 if none did."""
    places = [
        place
        for place, step in enumerate(steps, 1)
        if (moment.stream.startswith(f"{PROTOCOL}/") and moment.flow == step.flow)
        or any(made.stream == moment.stream and made.seq <= moment.seq for made in step.made)
    ]
    return places[-1] if places else 0


def _flow_step(step: StepView) -> page.FlowStep:
    target = step.target
    return page.FlowStep(
        _from_to(step),
        _purpose(step),
        target.file or (target.id if len(target.id) <= _MAX_SHOWN_ID else ""),
        _STAGES.get(step.stage, "caution"),
    )


def _purpose(step: StepView) -> str:
    """Return why the step failed, or else what such a step is for."""
    known = FLOWS.get(step.flow)
    words = step.why or (known.purpose if known else step.flow)
    return f"{words[:1].upper()}{words[1:]}"


def _from_to(step: StepView) -> str:
    """Return from which protocol to which the step leads: `message to debate`."""
    return f"{_kind(step.source.stream)} to {_kind(step.target.stream)}"


def _kind(stream: str) -> str:
    protocol = stream.partition("/")[0]
    return _KINDS.get(protocol, protocol)


def _made_text(step: StepView) -> str:
    return step.made_in_words or step.why or f"{step.flow} was begun"


def _timeline_entry(moment: StoryMoment) -> page.TimelineEntry:
    return page.TimelineEntry(
        moment.at,
        "",
        write_sentence(moment),
        ref=moment.id if len(moment.id) <= _MAX_SHOWN_ID else "",
        tone=_TONES.get(moment.what, "plain"),
    )


def _record_row(moment: StoryMoment) -> tuple[str | page.Cell, ...]:
    by = f", by {moment.flow}" if moment.flow else ""
    return (
        f"{moment.stream} event {moment.seq}",
        f"{moment.in_words}{by}",
        moment.id,
        page.Cell(moment.hash, code=True),
    )
