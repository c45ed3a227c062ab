"""The rules of a session, one row each: the norm's id, its code, its sentence, its check.

PAR-nnn are requirements of the protocol, C-nn and S-nn readings in docs/readings.md. What a
message must look like in itself is in `schema.py`; here stands whether it fits the moment. The
checks themselves are in `checks.py` and `setup.py`.
"""

from __future__ import annotations

from typing import Final

from moot.core.findings import Rule, Severity
from moot.core.machine import Command
from moot.parliament import checks as breach
from moot.parliament import commands as ask
from moot.parliament import setup
from moot.parliament.asked import Asked
from moot.parliament.words import Kind

Rows = tuple[Rule[Asked], ...]

_CONVENED: Final = Rule(
    "C-22",
    "no_session",
    "no parliament was convened here",
    breach.not_convened,
    hint="call one with `moot parliament new`",
)
_CLERK: Final = Rule(
    "C-36",
    "not_the_clerk",
    "only the clerk and the speaker do this",
    breach.not_system,
    hint="leave this to the session itself",
)
_PHASE: Final = Rule(
    "C-22",
    "wrong_phase",
    "this is not its time",
    breach.wrong_phase,
    hint="`moot parliament status` shows where the session is",
)
_CLERKS: Final = (_CONVENED, _CLERK, _PHASE)

_MOMENT: Final = Rule(
    "C-22",
    "wrong_phase",
    "this is not its time",
    breach.wrong_moment,
    hint="`moot parliament status` shows where the session is",
)
_SEAT: Final = (
    _CONVENED,
    Rule(
        "PAR-009",
        "not_seated",
        "only a representative says this",
        breach.not_seated,
        hint="act as the agent of a seat",
    ),
    Rule(
        "C-30",
        "foreign_sender",
        "nobody speaks for another seat",
        breach.foreign_sender,
        hint='put your own seat into "from"',
    ),
    Rule(
        "S-03",
        "expelled",
        "an expelled seat is not heard",
        breach.is_expelled,
        hint="its vote counts as NO; the others go on",
    ),
    _MOMENT,
)
_QUIET: Final = Rule(
    "PAR-061",
    "quiet",
    "a quiet seat waits for the next round",
    breach.is_quiet,
    hint="wait for the next round; answers and votes are still heard",
)
_AFTER_CAP: Final = Rule(
    "PAR-108",
    "cap_reached",
    "the exchanges of this round are used up",
    breach.after_the_cap,
    hint="the speaker now calls a vote or ends the round",
)
_BUDGET: Final = Rule(
    "PAR-106",
    "over_budget",
    "the response is longer than its budget",
    breach.over_budget,
    Severity.WARNING,
    hint="say it in fewer sentences",
)
_MOTIVES: Final = Rule(
    "PAR-032",
    "foreign_motive",
    "one scores one's own motives",
    breach.foreign_motives,
    hint="score the motives of this seat only",
)
_SPEAKER: Final = (
    _CONVENED,
    Rule(
        "PAR-058",
        "not_the_speaker",
        "only the speaker says this",
        breach.not_the_speaker,
        hint="send a MOTION to ask the speaker for it",
    ),
)
_DRAFT_VERSION: Final = Rule(
    "PAR-018",
    "wrong_version",
    "a draft carries the next version",
    breach.wrong_draft_version,
    hint="leave the version to the clerk, or count on from the last one",
)
_AMENDMENT: Final = (
    _CONVENED,
    _PHASE,
    Rule(
        "PAR-044",
        "unknown_amendment",
        "no such amendment was proposed",
        breach.unknown_amendment,
        hint="`moot parliament status` lists the amendments",
    ),
    Rule(
        "PAR-113",
        "amendment_closed",
        "this amendment is settled",
        breach.closed_amendment,
        hint="propose a new amendment",
    ),
)

_OPENING_STATEMENT: Final[Rows] = (
    *_SEAT,
    Rule(
        "PAR-023",
        "already_opened",
        "one opening statement a seat",
        breach.already_opened,
        hint="wait for the debate",
    ),
    Rule(
        "PAR-022",
        "uneven_statement",
        "the approach takes 3 to 5 sentences, the principle one",
        breach.uneven_statement,
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
        breach.not_the_drafter,
        hint="propose an AMENDMENT instead",
    ),
    Rule(
        "PAR-018",
        "wrong_version",
        "a draft carries the next version",
        breach.wrong_version,
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
        breach.unknown_receiver,
        hint="`moot parliament status` lists the seats",
    ),
    Rule(
        "C-10",
        "receiver_silent",
        "who may not speak is not asked",
        breach.silent_receiver,
        hint="ask another seat, or wait for the next round",
    ),
    Rule(
        "PAR-099",
        "exchange_cap",
        "a round has so many questions",
        breach.over_the_cap,
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
        breach.not_an_open_question,
        hint="`moot parliament next` shows what waits for an answer",
    ),
    Rule(
        "PAR-027",
        "not_asked",
        "only the one who was asked answers, to the one who asked",
        breach.not_asked,
        hint="answer what was put to your own seat",
    ),
    _MOTIVES,
    Rule(
        "PAR-037",
        "unknown_amendment",
        "a position names a pending amendment",
        breach.unknown_position,
        hint="`moot parliament status` lists the amendments",
    ),
    Rule(
        "S-04",
        "early_concession",
        "nobody gives way before the arguments are on the table",
        breach.conceded_early,
        Severity.WARNING,
        hint="maintain or challenge first; soften from round 3, concede from round 4",
    ),
    _BUDGET,
)
_AMENDMENT_MESSAGE: Final[Rows] = (
    *_SEAT,
    _QUIET,
    _AFTER_CAP,
    Rule(
        "PAR-044",
        "amendment_exists",
        "an amendment has an id of its own",
        breach.repeated_amendment,
        hint="take the next free number",
    ),
)
_VOTE: Final[Rows] = (
    *_SEAT,
    Rule(
        "PAR-056",
        "already_voted",
        "one vote a seat",
        breach.already_voted,
        hint="the vote stands as it was cast",
    ),
    Rule(
        "C-12",
        "ballot_closed",
        "the ballot is closed",
        breach.ballot_closed,
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
        breach.wrong_ruling_moment,
        hint="`moot parliament status` shows where the session is",
    ),
    Rule(
        "PAR-059",
        "unknown_seat",
        "a ruling concerns a seat of this session",
        breach.unknown_target,
        hint="`moot parliament status` lists the seats",
    ),
    Rule(
        "C-10",
        "target_silent",
        "who may not speak is not called on",
        breach.silent_target,
        hint="name another seat",
    ),
    Rule(
        "PAR-108",
        "cap_reached",
        "the speaker must call a vote or end the round",
        breach.ruling_after_the_cap,
        hint="rule call_vote or round_end",
    ),
    Rule(
        "C-17",
        "no_round_left",
        "the last round is over",
        breach.no_round_left,
        hint="call the vote",
    ),
    Rule(
        "S-05",
        "round_voted",
        "one vote a round",
        breach.voted_before,
        hint="start the next round first",
    ),
    Rule(
        "PAR-035",
        "vote_gated",
        "no vote while a motive is below 3",
        breach.gate_shut,
        hint="have those seats asked; the cap or the last round opens the vote too",
    ),
)
_COUNT: Final = Rule(
    "C-12",
    "votes_missing",
    "the tally waits for every vote",
    breach.votes_missing,
    hint="wait, or close the ballot",
)
_TALLY: Final[Rows] = (
    *_SPEAKER,
    _MOMENT,
    _COUNT,
    Rule(
        "PAR-071",
        "wrong_tally",
        "the tally follows from the ballots",
        breach.wrong_tally,
        hint="let `moot parliament tally` count",
    ),
)
_DECISION: Final[Rows] = (
    _CONVENED,
    Rule(
        "PAR-074",
        "not_the_prime_minister",
        "only a person decides",
        breach.not_a_person,
        hint="use a person's key: `moot agent register NAME --human`",
    ),
    Rule(
        "PAR-080",
        "wrong_phase",
        "this is not its time",
        breach.wrong_decision_moment,
        hint="`moot parliament status` shows where the session is",
    ),
    Rule(
        "PAR-079",
        "text_required",
        "amending needs the amended bill",
        breach.amended_text_missing,
        hint="hand in the text with --text",
    ),
    Rule(
        "S-06",
        "needless_text",
        "only amend_and_approve takes a text",
        breach.needless_draft,
        hint="leave the text away, or decide amend_and_approve",
    ),
    _DRAFT_VERSION,
    Rule(
        "C-18",
        "bad_extension",
        "further rounds come with a veto, a few at a time",
        breach.bad_extension,
        hint="grant 1 to 12 rounds with a veto",
    ),
)

_CONVENE: Final[Rows] = (
    _CLERK,
    Rule(
        "C-22",
        "already_convened",
        "a parliament is convened once",
        setup.convened_before,
        hint="take the next number",
    ),
    Rule(
        "PAR-004",
        "bad_id",
        "a session is called like parl-20260210-001",
        setup.bad_id,
        hint="name it parl-, the day, and a number",
    ),
    Rule(
        "PAR-086",
        "problem_required",
        "a session has a problem to solve",
        setup.no_problem,
        hint="say in 2 to 4 sentences what is to be decided",
    ),
    Rule(
        "PAR-087",
        "bad_issue",
        "issues are texts, each given once",
        setup.bad_issues,
        hint="name each issue once, in a few words",
    ),
    Rule(
        "C-37",
        "bad_seats",
        "a session has 2 to 30 seats",
        setup.bad_seat_count,
        hint="5 seats suit most problems",
    ),
    Rule(
        "PAR-093",
        "bad_seat_name",
        "every seat has a name of its own",
        setup.bad_names,
        hint="a name such as Rep. Pragmatis",
    ),
    Rule(
        "PAR-095",
        "bad_motive",
        "every seat stands for something",
        setup.bad_motives,
        hint="give each seat 1 to 3 motives",
    ),
    Rule(
        "S-02",
        "bad_agent",
        "one agent, one seat",
        setup.bad_agents,
        hint="name another agent, or let the seat have a key of its own",
    ),
    Rule(
        "C-20",
        "issue_unassigned",
        "every issue is some seat's motive",
        setup.unassigned_issues,
        hint="give it to a seat as a motive, in the same words",
    ),
    Rule(
        "PAR-088",
        "bad_rounds",
        "a session has 1 to 1000 rounds",
        setup.bad_rounds,
        hint="6 rounds suit most problems",
    ),
)

RULES: Final[dict[Kind | type[Command], Rows]] = {
    Kind.OPENING_STATEMENT: _OPENING_STATEMENT,
    Kind.BILL_DRAFT: _BILL_DRAFT,
    Kind.QUESTION: _QUESTION,
    Kind.ANSWER: _ANSWER,
    Kind.AMENDMENT: _AMENDMENT_MESSAGE,
    Kind.MOTION: (*_SEAT, _QUIET, _AFTER_CAP),
    Kind.VOTE: _VOTE,
    Kind.SPEAKER_RULING: _RULING,
    Kind.VOTE_TALLY: _TALLY,
    Kind.PM_DECISION: _DECISION,
    ask.Convene: _CONVENE,
    ask.BindSeat: (
        *_CLERKS,
        Rule(
            "S-02",
            "bad_agent",
            "one agent, one seat",
            setup.bad_binding,
            hint="name a seat, and an agent that has none",
        ),
    ),
    ask.Begin: _CLERKS,
    ask.CloseStatements: (
        *_CLERKS,
        Rule(
            "PAR-023",
            "statements_missing",
            "every seat speaks first",
            breach.statements_missing,
            hint="wait for the opening statements",
        ),
    ),
    ask.ChooseDrafter: (
        *_CLERKS,
        Rule(
            "C-20",
            "drafter_in_office",
            "there is a drafter",
            breach.drafter_in_office,
            hint="only an expelled drafter is replaced",
        ),
        Rule(
            "PAR-089",
            "bad_drafter",
            "a representative drafts the bill",
            breach.unfit_drafter,
            hint="name a seat that may speak, or leave the choice to the clerk",
        ),
    ),
    ask.ReportUnreadable: (
        _CONVENED,
        Rule(
            "PAR-084",
            "not_seated",
            "a reply belongs to its seat",
            breach.unknown_unread_seat,
            hint="act as the agent of the seat",
        ),
    ),
    ask.GiveOwedRuling: (
        _CONVENED,
        _CLERK,
        Rule(
            "C-08",
            "nothing_owed",
            "the speaker owes no ruling",
            breach.nothing_owed,
            hint="nothing is to be done",
        ),
    ),
    ask.Incorporate: (
        *_AMENDMENT,
        Rule(
            "C-24",
            "not_the_drafter",
            "the speaker or the drafter incorporates",
            breach.neither_speaker_nor_drafter,
            hint="ask the drafter",
        ),
        Rule(
            "C-20",
            "drafter_expelled",
            "the bill needs a drafter who is heard",
            breach.drafter_gone,
            hint="let the clerk choose another drafter",
        ),
        Rule(
            "PAR-118",
            "amendment_opposed",
            "what most oppose is not incorporated",
            breach.opposed,
            hint="end its discussion, or win positions for it",
        ),
        Rule(
            "PAR-116",
            "not_endorsed",
            "another seat endorses it, or the drafter does",
            breach.not_endorsed,
            hint="have another seat asked for its position",
        ),
        Rule(
            "C-26",
            "draft_required",
            "the drafter words what cannot be carried out to the letter",
            breach.draft_needed,
            hint="hand in the whole new bill",
        ),
        _DRAFT_VERSION,
        Rule(
            "S-07",
            "draft_astray",
            "the new version holds the amendment and nothing else",
            breach.draft_astray,
            hint="change the amended section, as the amendment says",
        ),
    ),
    ask.Withdraw: (
        *_AMENDMENT,
        Rule(
            "C-28",
            "not_the_proposer",
            "only its proposer withdraws an amendment",
            breach.not_the_proposer,
            hint="oppose it in an answer instead",
        ),
    ),
    ask.ConcludeAmendment: (_CLERK, *_AMENDMENT),
    ask.CallAmendmentVote: (
        _CLERK,
        *_AMENDMENT,
        Rule(
            "C-25",
            "round_not_running",
            "positions are taken in a running round",
            breach.round_not_running,
            hint="start the next round",
        ),
        _AFTER_CAP,
        Rule(
            "PAR-117",
            "too_early",
            "positions are unclear after 2 exchanges at the earliest",
            breach.not_unclear_yet,
            hint="have it discussed first",
        ),
        Rule(
            "C-25",
            "vote_running",
            "one vote an amendment",
            breach.called_before,
            hint="have the missing seats asked",
        ),
    ),
    ask.CloseBallot: (
        _CONVENED,
        Rule(
            "C-12",
            "not_allowed",
            "only the speaker or a person closes a ballot",
            breach.neither_speaker_nor_person,
            hint="use a person's key",
        ),
        _PHASE,
    ),
    ask.CastDefaultVote: (
        *_CLERKS,
        Rule(
            "S-03",
            "nothing_to_count",
            "only an expelled seat counts as NO",
            breach.nothing_to_default,
            hint="wait for its vote",
        ),
    ),
    ask.CountVotes: (*_CLERKS, _COUNT),
    ask.Summarize: (
        _CONVENED,
        _CLERK,
        Rule(
            "PAR-119",
            "round_not_ended",
            "a round is summed up when it has ended",
            breach.summary_of_no_round,
            hint="end the round first",
        ),
        Rule(
            "PAR-122",
            "uneven_summary",
            "a summary takes 2 or 3 sentences",
            breach.summary_length,
            Severity.WARNING,
            hint="shorten or unfold it",
        ),
    ),
    ask.Complete: _CLERKS,
}
