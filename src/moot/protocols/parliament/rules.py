"""The rules of a session, one row each: the norm's id, its code, its sentence, its check, a hint.

PAR-nnn are requirements of the protocol, C-nn and S-nn readings in docs/readings.md.
The checks are in `admission_checks.py` and `message_checks.py`.
"""

from __future__ import annotations

from typing import Any, Final

from moot.core.findings import Rule, Severity
from moot.core.machine import Command
from moot.protocols.parliament import admission_checks, message_checks
from moot.protocols.parliament import admission_checks as setup_checks
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament.messages.contents import Kind

# The rules of the ten messages: does each fit the moment? (Its form: `messages/schema.py`.)

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
    Rule("C-30", "foreign_sender", "an agent speaks only for its own seat",
         admission_checks.foreign_sender, 'put your own seat into "from"', requirement="PAR-009"),
    Rule("S-03", "expelled", "an expelled seat is not heard", admission_checks.is_expelled,
         "its vote counts as NO; the others continue", requirement="PAR-084"),
    _MOMENT,
)  # fmt: skip
_QUIET: Final = Rule("PAR-061", "quiet", "a quiet seat waits for the next round",
                     admission_checks.is_quiet,
                     "wait for the next round; answers and votes are still heard")  # fmt: skip
AFTER_CAP: Final = Rule("PAR-108", "cap_reached", "the exchanges of this round are used up",
                        admission_checks.after_the_cap,
                        "the speaker now calls a vote or ends the round")  # fmt: skip
_BUDGET: Final = Rule("PAR-106", "over_budget", "the response is longer than its budget",
                      message_checks.over_budget, "say it in fewer sentences",
                      Severity.WARNING)  # fmt: skip
_MOTIVES: Final = Rule("PAR-032", "foreign_motive", "one scores one's own motives",
                       message_checks.foreign_motives,
                       "score the motives of this seat only")  # fmt: skip
_SPEAKER: Final = (
    CONVENED,
    Rule("PAR-058", "not_the_speaker", "only the speaker says this",
         admission_checks.not_the_speaker, "send a MOTION to ask the speaker for it",
         requirement=("PAR-058", "PAR-069")),
)  # fmt: skip
DRAFT_VERSION: Final = Rule("PAR-018", "wrong_version", "a draft carries the next version",
                            message_checks.wrong_draft_version,
                            "leave the version to the clerk, or count on from the last one",
                            requirement=("PAR-018", "PAR-079"))  # fmt: skip
_OPENING_STATEMENT: Final[RuleRows] = (
    *_SEAT,
    Rule("PAR-023", "already_opened", "one opening statement a seat", message_checks.already_opened,
         "wait for the debate"),
    Rule("PAR-022", "uneven_statement", "the approach takes 3 to 5 sentences, the principle one",
         message_checks.uneven_statement, "shorten or unfold it", Severity.WARNING),
)  # fmt: skip
_BILL_DRAFT: Final[RuleRows] = (
    *_SEAT,
    _QUIET,
    Rule("S-01", "not_the_drafter", "the drafter drafts the bill", message_checks.not_the_drafter,
         "propose an AMENDMENT instead", requirement="PAR-013"),
    Rule("PAR-018", "wrong_version", "a draft carries the next version",
         message_checks.wrong_version, "count on from the last version"),
)  # fmt: skip
_QUESTION: Final[RuleRows] = (
    *_SEAT,
    _QUIET,
    Rule("PAR-024", "unknown_seat", "a question goes to another representative",
         message_checks.unknown_receiver, "`moot parliament status DIR` lists the seats"),
    Rule("C-10", "receiver_silent", "who may not speak is not asked",
         message_checks.silent_receiver, "ask another seat, or wait for the next round",
         requirement="PAR-061"),
    Rule("PAR-099", "exchange_cap", "a round has so many questions", admission_checks.over_the_cap,
         "wait for the next round"),
    _BUDGET,
)  # fmt: skip
_ANSWER: Final[RuleRows] = (
    *_SEAT,
    _QUIET,
    Rule("PAR-027", "no_open_question", "an answer needs its open question",
         message_checks.not_an_open_question,
         "`moot parliament next` shows what waits for an answer"),
    Rule("PAR-027", "not_asked", "only the one who was asked answers, to the one who asked",
         message_checks.not_asked, "answer what was put to your own seat"),
    _MOTIVES,
    Rule("PAR-037", "unknown_amendment", "a position names a pending amendment",
         message_checks.unknown_position, "`moot parliament status DIR` lists the amendments"),
    Rule("S-04", "early_concession", "no seat concedes before the arguments were exchanged",
         message_checks.conceded_early,
         "maintain or challenge first; soften from round 3, concede from round 4",
         Severity.WARNING),
    _BUDGET,
)  # fmt: skip
_AMENDMENT_MESSAGE: Final[RuleRows] = (
    *_SEAT,
    _QUIET,
    AFTER_CAP,
    Rule("PAR-044", "amendment_exists", "an amendment has its own id",
         message_checks.repeated_amendment, "take the next free number"),
    Rule("S-32", "too_many_amendments",
         "a seat has six amendments pending, and proposes six in a round",
         message_checks.too_many_amendments, "withdraw one, or wait until they are settled"),
)  # fmt: skip
_VOTE: Final[RuleRows] = (
    *_SEAT,
    Rule("PAR-056", "already_voted", "one vote a seat", message_checks.already_voted,
         "the vote stands as it was cast"),
    Rule("C-12", "ballot_closed", "the ballot is closed", message_checks.ballot_closed,
         "wait for the tally", requirement="PAR-056"),
    _MOTIVES,
)  # fmt: skip
_RULING: Final[RuleRows] = (
    *_SPEAKER,
    Rule("C-22", "wrong_phase", "this is not its time", admission_checks.wrong_ruling_moment,
         "`moot parliament status DIR` shows where the session is",
         requirement=("PAR-066", "PAR-067")),
    Rule("PAR-059", "unknown_seat", "a ruling concerns a seat of this session",
         message_checks.unknown_target, "`moot parliament status DIR` lists the seats"),
    Rule("C-10", "target_silent", "who may not speak is not called on",
         message_checks.silent_target, "name another seat", requirement="PAR-061"),
    Rule("PAR-108", "cap_reached", "the speaker must call a vote or end the round",
         admission_checks.ruling_after_the_cap, "rule call_vote or round_end"),
    Rule("C-17", "no_round_left", "the last round is over", admission_checks.no_round_left,
         "call the vote", requirement="PAR-088"),
    Rule("S-05", "round_voted", "one vote a round", message_checks.voted_before,
         "start the next round first", requirement="PAR-077"),
    Rule("PAR-035", "vote_gated", "no vote while a motive is below 3", message_checks.gate_shut,
         "have those seats asked; the cap or the last round opens the vote too"),
)  # fmt: skip
COUNT: Final = Rule("C-12", "votes_missing", "the tally waits for every vote",
                    message_checks.votes_missing,
                    "wait, or close the ballot: `moot parliament tally DIR --close`",
                    requirement="PAR-071")  # fmt: skip
_TALLY: Final[RuleRows] = (
    *_SPEAKER,
    _MOMENT,
    COUNT,
    Rule("PAR-071", "wrong_tally", "the tally follows from the ballots",
         message_checks.wrong_tally, "let `moot parliament tally` count"),
)  # fmt: skip
_DECISION: Final[RuleRows] = (
    CONVENED,
    Rule("PAR-074", "not_the_prime_minister", "only a person decides",
         admission_checks.not_a_person, "use a person's key: `moot agent register NAME --human`"),
    Rule("S-30", "holds_a_seat", "a person with a seat does not decide on the bill",
         admission_checks.holds_a_seat, "let another person decide", requirement="PAR-074"),
    Rule("PAR-080", "wrong_phase", "this is not its time", admission_checks.wrong_decision_moment,
         "`moot parliament status DIR` shows where the session is"),
    Rule("PAR-079", "text_required", "amending needs the amended bill",
         message_checks.amended_text_missing, "hand in the text with --text"),
    Rule("S-06", "needless_text", "only amend_and_approve takes a text",
         message_checks.needless_draft, "leave the text away, or decide amend_and_approve",
         requirement="PAR-079"),
    DRAFT_VERSION,
    Rule("C-18", "bad_extension", "further rounds come with a veto, a few at a time",
         message_checks.bad_extension, "grant 1 to 12 rounds with a veto", requirement="PAR-077"),
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


_CLERK: Final = Rule("C-36", "not_the_clerk", "only the clerk and the speaker do this",
                     admission_checks.not_system, "leave this to the session itself",
                     requirement="PAR-002")  # fmt: skip
_PHASE: Final = Rule("C-22", "wrong_phase", "this is not its time", admission_checks.wrong_phase,
                     "`moot parliament status DIR` shows where the session is",
                     requirement="PAR-091")  # fmt: skip
_CLERKS: Final = (CONVENED, _CLERK, _PHASE)

_AMENDMENT: Final = (
    CONVENED,
    _PHASE,
    Rule("PAR-044", "unknown_amendment", "no such amendment was proposed",
         message_checks.unknown_amendment, "`moot parliament status DIR` lists the amendments"),
    Rule("PAR-113", "amendment_closed", "this amendment is settled",
         message_checks.closed_amendment, "propose a new amendment"),
)  # fmt: skip

_CONVENE: Final[RuleRows] = (
    _CLERK,
    Rule("C-22", "already_convened", "a parliament is convened once", setup_checks.convened_before,
         "take the next number", requirement="PAR-085"),
    Rule("PAR-004", "bad_id", "a session has an id like parl-20260210-001", setup_checks.bad_id,
         "name it parl-, the day, and a number"),
    Rule("PAR-086", "problem_required", "a session has a problem to solve",
         setup_checks.no_problem, "say in 2 to 4 sentences what is to be decided"),
    Rule("PAR-087", "bad_issue", "issues are texts, each given once", setup_checks.bad_issues,
         "name each issue once, in a few words"),
    Rule("C-37", "bad_seats", "a session has 2 to 30 seats", setup_checks.bad_seat_count,
         "5 seats suit most problems"),
    Rule("PAR-093", "bad_seat_name", "every seat has its own name", setup_checks.bad_names,
         "a name such as Rep. Pragmatis"),
    Rule("PAR-095", "bad_motive", "every seat has a motive", setup_checks.bad_motives,
         "give each seat 1 to 3 motives"),
    Rule("S-02", "bad_agent", "one agent, one seat", setup_checks.bad_agents,
         "name another agent, or let the seat have its own key"),
    Rule("C-20", "issue_unassigned", "every issue is some seat's motive",
         setup_checks.unassigned_issues, "give it to a seat as a motive, in the same words"),
    Rule("PAR-088", "bad_rounds", "a session has 1 to 1000 rounds", setup_checks.bad_rounds,
         "6 rounds suit most problems"),
)  # fmt: skip

_OTHER_ID: Final = Rule("PAR-004", "bad_id", "files are imported under their own id",
                        setup_checks.other_id, "import them as the session they name")  # fmt: skip

RULES: Final[dict[Kind | type[Command], RuleRows]] = {
    **MESSAGE_RULES,
    ask.Convene: _CONVENE,
    ask.Import: (*_CONVENE[:3], _OTHER_ID),
    ask.BindSeat: (
        CONVENED,
        Rule("C-36", "not_the_clerk", "before the session begins the clerk gives out seats",
             setup_checks.binder_not_clerk, "leave this to the session itself",
             requirement="PAR-002"),
        Rule("S-02", "wrong_phase",
             "once it has begun only a person gives a seat to a later holder of its name",
             setup_checks.late_binding,
             "`moot flow resume-to-seat EVENT` does this after an adoption"),
        Rule("S-02", "bad_agent", "one agent, one seat", setup_checks.bad_binding,
             "name a seat, and an agent that has none"),
    ),
    ask.Begin: _CLERKS,
    ask.CloseStatements: (
        *_CLERKS,
        Rule("PAR-023", "statements_missing", "every seat speaks first",
             message_checks.statements_missing, "wait for the opening statements"),
    ),
    ask.ChooseDrafter: (
        *_CLERKS,
        Rule("C-20", "drafter_in_office", "there is a drafter", message_checks.drafter_in_office,
             "only an expelled drafter is replaced", requirement="PAR-089"),
        Rule("PAR-089", "bad_drafter", "a representative drafts the bill",
             message_checks.unfit_drafter,
             "name a seat that may speak, or leave the choice to the clerk"),
    ),
    ask.EndUndrafted: (
        *_CLERKS,
        Rule("S-29", "someone_left", "a session ends without a bill only if no seat can draft one",
             message_checks.someone_left, "let the clerk choose a drafter"),
    ),
    ask.ReportUnreadable: (
        CONVENED,
        Rule("PAR-084", "not_seated", "a reply belongs to its seat",
             message_checks.unknown_unread_seat, "act as the agent of the seat"),
    ),
    ask.GiveOwedRuling: (
        CONVENED,
        _CLERK,
        Rule("C-08", "nothing_owed", "the speaker owes no ruling", message_checks.nothing_owed,
             "nothing is to be done"),
    ),
    ask.Incorporate: (
        *_AMENDMENT,
        Rule("C-24", "not_the_drafter", "the speaker or the drafter incorporates",
             message_checks.neither_speaker_nor_drafter, "ask the drafter", requirement="PAR-013"),
        Rule("C-20", "drafter_expelled", "the bill needs a drafter who is heard",
             message_checks.drafter_gone, "let the clerk choose another drafter",
             requirement="PAR-013"),
        Rule("PAR-118", "amendment_opposed", "what most oppose is not incorporated",
             message_checks.opposed, "end its discussion, or win positions for it"),
        Rule("PAR-116", "not_endorsed", "another seat endorses it, or the drafter does",
             message_checks.not_endorsed, "have another seat asked for its position"),
        Rule("C-26", "draft_required",
             "the drafter words what cannot be carried out to the letter",
             message_checks.draft_needed, "hand in the whole new bill", requirement="PAR-013"),
        DRAFT_VERSION,
        Rule("S-07", "draft_astray", "the new version holds the amendment and nothing else",
             message_checks.draft_astray, "change the amended section, as the amendment says"),
    ),
    ask.Withdraw: (
        *_AMENDMENT,
        Rule("C-28", "not_the_proposer", "only its proposer withdraws an amendment",
             message_checks.not_the_proposer, "oppose it in an answer instead"),
    ),
    ask.ConcludeAmendment: (_CLERK, *_AMENDMENT),
    ask.CallAmendmentVote: (
        _CLERK,
        *_AMENDMENT,
        Rule("C-25", "round_not_running", "positions are taken in a running round",
             message_checks.round_not_running, "start the next round", requirement="PAR-117"),
        AFTER_CAP,
        Rule("PAR-117", "too_early", "positions are unclear after 2 exchanges at the earliest",
             message_checks.not_unclear_yet, "have it discussed first"),
        Rule("C-25", "vote_running", "one vote an amendment", message_checks.called_before,
             "have the missing seats asked", requirement="PAR-117"),
    ),
    ask.CloseBallot: (
        CONVENED,
        Rule("C-12", "not_allowed", "only the speaker or a person closes a ballot",
             admission_checks.neither_speaker_nor_person, "use a person's key"),
        _PHASE,
    ),
    ask.CastDefaultVote: (
        *_CLERKS,
        Rule("S-03", "nothing_to_count", "only an expelled seat counts as NO",
             message_checks.nothing_to_default, "wait for its vote"),
    ),
    ask.CountVotes: (*_CLERKS, COUNT),
    ask.Summarize: (
        CONVENED,
        _CLERK,
        Rule("PAR-119", "round_not_ended", "a round is summed up when it has ended",
             message_checks.summary_of_no_round, "end the round first"),
        Rule("PAR-122", "uneven_summary", "a summary takes 2 or 3 sentences",
             message_checks.summary_length, "shorten or unfold it", Severity.WARNING),
    ),
    ask.Complete: _CLERKS,
}  # fmt: skip
