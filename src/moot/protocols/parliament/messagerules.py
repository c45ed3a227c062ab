"""The rules of the ten messages: whether each fits the moment (how it looks: `schema.py`)."""

from __future__ import annotations

from typing import Final

from moot.core.findings import Rule, Severity
from moot.core.machine import Command
from moot.protocols.parliament import admission, outcomes, speech
from moot.protocols.parliament.asked import Asked
from moot.protocols.parliament.words import Kind

Rows = tuple[Rule[Asked], ...]

CONVENED: Final = Rule(
    "C-22",
    "no_session",
    "no parliament was convened here",
    admission.not_convened,
    hint="call one with `moot parliament new`",
)
_MOMENT: Final = Rule(
    "C-22",
    "wrong_phase",
    "this is not its time",
    admission.wrong_moment,
    hint="`moot parliament status` shows where the session is",
)
_SEAT: Final = (
    CONVENED,
    Rule(
        "PAR-009",
        "not_seated",
        "only a representative says this",
        admission.not_seated,
        hint="act as the agent of a seat",
    ),
    Rule(
        "C-30",
        "foreign_sender",
        "nobody speaks for another seat",
        admission.foreign_sender,
        hint='put your own seat into "from"',
    ),
    Rule(
        "S-03",
        "expelled",
        "an expelled seat is not heard",
        admission.is_expelled,
        hint="its vote counts as NO; the others go on",
    ),
    _MOMENT,
)
_QUIET: Final = Rule(
    "PAR-061",
    "quiet",
    "a quiet seat waits for the next round",
    admission.is_quiet,
    hint="wait for the next round; answers and votes are still heard",
)
AFTER_CAP: Final = Rule(
    "PAR-108",
    "cap_reached",
    "the exchanges of this round are used up",
    admission.after_the_cap,
    hint="the speaker now calls a vote or ends the round",
)
_BUDGET: Final = Rule(
    "PAR-106",
    "over_budget",
    "the response is longer than its budget",
    speech.over_budget,
    Severity.WARNING,
    hint="say it in fewer sentences",
)
_MOTIVES: Final = Rule(
    "PAR-032",
    "foreign_motive",
    "one scores one's own motives",
    speech.foreign_motives,
    hint="score the motives of this seat only",
)
_SPEAKER: Final = (
    CONVENED,
    Rule(
        "PAR-058",
        "not_the_speaker",
        "only the speaker says this",
        admission.not_the_speaker,
        hint="send a MOTION to ask the speaker for it",
    ),
)
DRAFT_VERSION: Final = Rule(
    "PAR-018",
    "wrong_version",
    "a draft carries the next version",
    speech.wrong_draft_version,
    hint="leave the version to the clerk, or count on from the last one",
)
_OPENING_STATEMENT: Final[Rows] = (
    *_SEAT,
    Rule(
        "PAR-023",
        "already_opened",
        "one opening statement a seat",
        speech.already_opened,
        hint="wait for the debate",
    ),
    Rule(
        "PAR-022",
        "uneven_statement",
        "the approach takes 3 to 5 sentences, the principle one",
        speech.uneven_statement,
        Severity.WARNING,
        hint="shorten or unfold it",
    ),
)
_BILL_DRAFT: Final[Rows] = (
    *_SEAT,
    _QUIET,
    Rule(
        "S-01",
        "not_the_drafter",
        "the drafter drafts the bill",
        speech.not_the_drafter,
        hint="propose an AMENDMENT instead",
    ),
    Rule(
        "PAR-018",
        "wrong_version",
        "a draft carries the next version",
        speech.wrong_version,
        hint="count on from the last version",
    ),
)
_QUESTION: Final[Rows] = (
    *_SEAT,
    _QUIET,
    Rule(
        "PAR-024",
        "unknown_seat",
        "a question goes to another representative",
        speech.unknown_receiver,
        hint="`moot parliament status` lists the seats",
    ),
    Rule(
        "C-10",
        "receiver_silent",
        "who may not speak is not asked",
        speech.silent_receiver,
        hint="ask another seat, or wait for the next round",
    ),
    Rule(
        "PAR-099",
        "exchange_cap",
        "a round has so many questions",
        admission.over_the_cap,
        hint="wait for the next round",
    ),
    _BUDGET,
)
_ANSWER: Final[Rows] = (
    *_SEAT,
    _QUIET,
    Rule(
        "PAR-027",
        "no_open_question",
        "an answer needs its open question",
        speech.not_an_open_question,
        hint="`moot parliament next` shows what waits for an answer",
    ),
    Rule(
        "PAR-027",
        "not_asked",
        "only the one who was asked answers, to the one who asked",
        speech.not_asked,
        hint="answer what was put to your own seat",
    ),
    _MOTIVES,
    Rule(
        "PAR-037",
        "unknown_amendment",
        "a position names a pending amendment",
        speech.unknown_position,
        hint="`moot parliament status` lists the amendments",
    ),
    Rule(
        "S-04",
        "early_concession",
        "nobody gives way before the arguments are on the table",
        speech.conceded_early,
        Severity.WARNING,
        hint="maintain or challenge first; soften from round 3, concede from round 4",
    ),
    _BUDGET,
)
_AMENDMENT_MESSAGE: Final[Rows] = (
    *_SEAT,
    _QUIET,
    AFTER_CAP,
    Rule(
        "PAR-044",
        "amendment_exists",
        "an amendment has an id of its own",
        outcomes.repeated_amendment,
        hint="take the next free number",
    ),
    Rule(
        "S-32",
        "too_many_amendments",
        "a seat has six amendments pending, and proposes six in a round",
        outcomes.too_many_amendments,
        hint="withdraw one, or wait until they are settled",
    ),
)
_VOTE: Final[Rows] = (
    *_SEAT,
    Rule(
        "PAR-056",
        "already_voted",
        "one vote a seat",
        outcomes.already_voted,
        hint="the vote stands as it was cast",
    ),
    Rule(
        "C-12",
        "ballot_closed",
        "the ballot is closed",
        outcomes.ballot_closed,
        hint="wait for the tally",
    ),
    _MOTIVES,
)
_RULING: Final[Rows] = (
    *_SPEAKER,
    Rule(
        "C-22",
        "wrong_phase",
        "this is not its time",
        admission.wrong_ruling_moment,
        hint="`moot parliament status` shows where the session is",
    ),
    Rule(
        "PAR-059",
        "unknown_seat",
        "a ruling concerns a seat of this session",
        outcomes.unknown_target,
        hint="`moot parliament status` lists the seats",
    ),
    Rule(
        "C-10",
        "target_silent",
        "who may not speak is not called on",
        outcomes.silent_target,
        hint="name another seat",
    ),
    Rule(
        "PAR-108",
        "cap_reached",
        "the speaker must call a vote or end the round",
        admission.ruling_after_the_cap,
        hint="rule call_vote or round_end",
    ),
    Rule(
        "C-17",
        "no_round_left",
        "the last round is over",
        admission.no_round_left,
        hint="call the vote",
    ),
    Rule(
        "S-05",
        "round_voted",
        "one vote a round",
        outcomes.voted_before,
        hint="start the next round first",
    ),
    Rule(
        "PAR-035",
        "vote_gated",
        "no vote while a motive is below 3",
        outcomes.gate_shut,
        hint="have those seats asked; the cap or the last round opens the vote too",
    ),
)
COUNT: Final = Rule(
    "C-12",
    "votes_missing",
    "the tally waits for every vote",
    outcomes.votes_missing,
    hint="wait, or close the ballot",
)
_TALLY: Final[Rows] = (
    *_SPEAKER,
    _MOMENT,
    COUNT,
    Rule(
        "PAR-071",
        "wrong_tally",
        "the tally follows from the ballots",
        outcomes.wrong_tally,
        hint="let `moot parliament tally` count",
    ),
)
_DECISION: Final[Rows] = (
    CONVENED,
    Rule(
        "PAR-074",
        "not_the_prime_minister",
        "only a person decides",
        admission.not_a_person,
        hint="use a person's key: `moot agent register NAME --human`",
    ),
    Rule(
        "S-30",
        "holds_a_seat",
        "nobody decides on a bill they vote on",
        admission.holds_a_seat,
        hint="let another person decide",
    ),
    Rule(
        "PAR-080",
        "wrong_phase",
        "this is not its time",
        admission.wrong_decision_moment,
        hint="`moot parliament status` shows where the session is",
    ),
    Rule(
        "PAR-079",
        "text_required",
        "amending needs the amended bill",
        outcomes.amended_text_missing,
        hint="hand in the text with --text",
    ),
    Rule(
        "S-06",
        "needless_text",
        "only amend_and_approve takes a text",
        outcomes.needless_draft,
        hint="leave the text away, or decide amend_and_approve",
    ),
    DRAFT_VERSION,
    Rule(
        "C-18",
        "bad_extension",
        "further rounds come with a veto, a few at a time",
        outcomes.bad_extension,
        hint="grant 1 to 12 rounds with a veto",
    ),
)

MESSAGE_RULES: Final[dict[Kind | type[Command], Rows]] = {
    Kind.OPENING_STATEMENT: _OPENING_STATEMENT,
    Kind.BILL_DRAFT: _BILL_DRAFT,
    Kind.QUESTION: _QUESTION,
    Kind.ANSWER: _ANSWER,
    Kind.AMENDMENT: _AMENDMENT_MESSAGE,
    Kind.MOTION: (*_SEAT, _QUIET, AFTER_CAP),
    Kind.VOTE: _VOTE,
    Kind.SPEAKER_RULING: _RULING,
    Kind.VOTE_TALLY: _TALLY,
    Kind.PM_DECISION: _DECISION,
}
