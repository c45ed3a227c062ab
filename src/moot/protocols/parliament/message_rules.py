"""The rules of the ten messages: does each fit the moment? (Its form: `messages/schema.py`.)"""

from __future__ import annotations

from typing import Any, Final

from moot.core.findings import Rule, Severity
from moot.core.machine import Command
from moot.protocols.parliament import admission_checks, outcome_checks, speech_checks
from moot.protocols.parliament.messages.words import Kind

# Each check says which command and message it is about; a table holds checks of many.
RuleRows = tuple[Rule[Any], ...]

CONVENED: Final = Rule("C-22", "no_session", "no parliament was convened here",
                       admission_checks.not_convened, "call one with `moot parliament new`",
                       requirement="PAR-091")  # fmt: skip
_MOMENT: Final = Rule("C-22", "wrong_phase", "this is not its time", admission_checks.wrong_moment,
                      "`moot parliament status DIR` shows where the session is",
                      requirement=("PAR-019", "PAR-056", "PAR-091"))  # fmt: skip
_SEAT: Final = (
    CONVENED,
    Rule("PAR-009", "not_seated", "only a representative says this", admission_checks.not_seated,
         "act as the agent of a seat"),
    Rule("C-30", "foreign_sender", "nobody speaks for another seat",
         admission_checks.foreign_sender, 'put your own seat into "from"', requirement="PAR-009"),
    Rule("S-03", "expelled", "an expelled seat is not heard", admission_checks.is_expelled,
         "its vote counts as NO; the others go on", requirement="PAR-084"),
    _MOMENT,
)  # fmt: skip
_QUIET: Final = Rule("PAR-061", "quiet", "a quiet seat waits for the next round",
                     admission_checks.is_quiet,
                     "wait for the next round; answers and votes are still heard")  # fmt: skip
AFTER_CAP: Final = Rule("PAR-108", "cap_reached", "the exchanges of this round are used up",
                        admission_checks.after_the_cap,
                        "the speaker now calls a vote or ends the round")  # fmt: skip
_BUDGET: Final = Rule("PAR-106", "over_budget", "the response is longer than its budget",
                      speech_checks.over_budget, "say it in fewer sentences",
                      Severity.WARNING)  # fmt: skip
_MOTIVES: Final = Rule("PAR-032", "foreign_motive", "one scores one's own motives",
                       speech_checks.foreign_motives,
                       "score the motives of this seat only")  # fmt: skip
_SPEAKER: Final = (
    CONVENED,
    Rule("PAR-058", "not_the_speaker", "only the speaker says this",
         admission_checks.not_the_speaker, "send a MOTION to ask the speaker for it",
         requirement=("PAR-058", "PAR-069")),
)  # fmt: skip
DRAFT_VERSION: Final = Rule("PAR-018", "wrong_version", "a draft carries the next version",
                            speech_checks.wrong_draft_version,
                            "leave the version to the clerk, or count on from the last one",
                            requirement=("PAR-018", "PAR-079"))  # fmt: skip
_OPENING_STATEMENT: Final[RuleRows] = (
    *_SEAT,
    Rule("PAR-023", "already_opened", "one opening statement a seat", speech_checks.already_opened,
         "wait for the debate"),
    Rule("PAR-022", "uneven_statement", "the approach takes 3 to 5 sentences, the principle one",
         speech_checks.uneven_statement, "shorten or unfold it", Severity.WARNING),
)  # fmt: skip
_BILL_DRAFT: Final[RuleRows] = (
    *_SEAT,
    _QUIET,
    Rule("S-01", "not_the_drafter", "the drafter drafts the bill", speech_checks.not_the_drafter,
         "propose an AMENDMENT instead", requirement="PAR-013"),
    Rule("PAR-018", "wrong_version", "a draft carries the next version",
         speech_checks.wrong_version, "count on from the last version"),
)  # fmt: skip
_QUESTION: Final[RuleRows] = (
    *_SEAT,
    _QUIET,
    Rule("PAR-024", "unknown_seat", "a question goes to another representative",
         speech_checks.unknown_receiver, "`moot parliament status DIR` lists the seats"),
    Rule("C-10", "receiver_silent", "who may not speak is not asked",
         speech_checks.silent_receiver, "ask another seat, or wait for the next round",
         requirement="PAR-061"),
    Rule("PAR-099", "exchange_cap", "a round has so many questions", admission_checks.over_the_cap,
         "wait for the next round"),
    _BUDGET,
)  # fmt: skip
_ANSWER: Final[RuleRows] = (
    *_SEAT,
    _QUIET,
    Rule("PAR-027", "no_open_question", "an answer needs its open question",
         speech_checks.not_an_open_question,
         "`moot parliament next` shows what waits for an answer"),
    Rule("PAR-027", "not_asked", "only the one who was asked answers, to the one who asked",
         speech_checks.not_asked, "answer what was put to your own seat"),
    _MOTIVES,
    Rule("PAR-037", "unknown_amendment", "a position names a pending amendment",
         speech_checks.unknown_position, "`moot parliament status DIR` lists the amendments"),
    Rule("S-04", "early_concession", "nobody gives way before the arguments are on the table",
         speech_checks.conceded_early,
         "maintain or challenge first; soften from round 3, concede from round 4",
         Severity.WARNING),
    _BUDGET,
)  # fmt: skip
_AMENDMENT_MESSAGE: Final[RuleRows] = (
    *_SEAT,
    _QUIET,
    AFTER_CAP,
    Rule("PAR-044", "amendment_exists", "an amendment has an id of its own",
         outcome_checks.repeated_amendment, "take the next free number"),
    Rule("S-32", "too_many_amendments",
         "a seat has six amendments pending, and proposes six in a round",
         outcome_checks.too_many_amendments, "withdraw one, or wait until they are settled"),
)  # fmt: skip
_VOTE: Final[RuleRows] = (
    *_SEAT,
    Rule("PAR-056", "already_voted", "one vote a seat", outcome_checks.already_voted,
         "the vote stands as it was cast"),
    Rule("C-12", "ballot_closed", "the ballot is closed", outcome_checks.ballot_closed,
         "wait for the tally", requirement="PAR-056"),
    _MOTIVES,
)  # fmt: skip
_RULING: Final[RuleRows] = (
    *_SPEAKER,
    Rule("C-22", "wrong_phase", "this is not its time", admission_checks.wrong_ruling_moment,
         "`moot parliament status DIR` shows where the session is",
         requirement=("PAR-066", "PAR-067")),
    Rule("PAR-059", "unknown_seat", "a ruling concerns a seat of this session",
         outcome_checks.unknown_target, "`moot parliament status DIR` lists the seats"),
    Rule("C-10", "target_silent", "who may not speak is not called on",
         outcome_checks.silent_target, "name another seat", requirement="PAR-061"),
    Rule("PAR-108", "cap_reached", "the speaker must call a vote or end the round",
         admission_checks.ruling_after_the_cap, "rule call_vote or round_end"),
    Rule("C-17", "no_round_left", "the last round is over", admission_checks.no_round_left,
         "call the vote", requirement="PAR-088"),
    Rule("S-05", "round_voted", "one vote a round", outcome_checks.voted_before,
         "start the next round first", requirement="PAR-077"),
    Rule("PAR-035", "vote_gated", "no vote while a motive is below 3", outcome_checks.gate_shut,
         "have those seats asked; the cap or the last round opens the vote too"),
)  # fmt: skip
COUNT: Final = Rule("C-12", "votes_missing", "the tally waits for every vote",
                    outcome_checks.votes_missing,
                    "wait, or close the ballot: `moot parliament tally DIR --close`",
                    requirement="PAR-071")  # fmt: skip
_TALLY: Final[RuleRows] = (
    *_SPEAKER,
    _MOMENT,
    COUNT,
    Rule("PAR-071", "wrong_tally", "the tally follows from the ballots",
         outcome_checks.wrong_tally, "let `moot parliament tally` count"),
)  # fmt: skip
_DECISION: Final[RuleRows] = (
    CONVENED,
    Rule("PAR-074", "not_the_prime_minister", "only a person decides",
         admission_checks.not_a_person, "use a person's key: `moot agent register NAME --human`"),
    Rule("S-30", "holds_a_seat", "nobody decides on a bill they vote on",
         admission_checks.holds_a_seat, "let another person decide", requirement="PAR-074"),
    Rule("PAR-080", "wrong_phase", "this is not its time", admission_checks.wrong_decision_moment,
         "`moot parliament status DIR` shows where the session is"),
    Rule("PAR-079", "text_required", "amending needs the amended bill",
         outcome_checks.amended_text_missing, "hand in the text with --text"),
    Rule("S-06", "needless_text", "only amend_and_approve takes a text",
         outcome_checks.needless_draft, "leave the text away, or decide amend_and_approve",
         requirement="PAR-079"),
    DRAFT_VERSION,
    Rule("C-18", "bad_extension", "further rounds come with a veto, a few at a time",
         outcome_checks.bad_extension, "grant 1 to 12 rounds with a veto", requirement="PAR-077"),
)  # fmt: skip

MESSAGE_RULES: Final[dict[Kind | type[Command], RuleRows]] = {
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
