"""Records of a story as sentences: who did what, in words that one would say.

`{who}` is who signed it, `{says}` the sense of it as its author put it. What has no sentence of its
own is told by the words of its type, so that nothing is left out.
"""

from __future__ import annotations

import re
from typing import Final

from moot.core.names import SYSTEM
from moot.flows.bridges.moments import StoryMoment

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
    "mail.message_resent": "{who} sent it once more: {says}",
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
