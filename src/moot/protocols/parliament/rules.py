"""The rules of a session, one row each: the norm's id, its code, its sentence, its check, a hint.

PAR-nnn are requirements of the protocol, C-nn and S-nn readings in docs/readings.md. The rows of
the messages are in `message_rules.py`; the checks themselves in `setup_checks.py`,
`admission_checks.py`, `speech_checks.py` and `outcome_checks.py`.
"""

from __future__ import annotations

from typing import Final

from moot.core.findings import Rule, Severity
from moot.core.machine import Command
from moot.protocols.parliament import admission_checks, outcome_checks, setup_checks, speech_checks
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament.message_rules import (
    AFTER_CAP,
    CONVENED,
    COUNT,
    DRAFT_VERSION,
    MESSAGE_RULES,
    RuleRows,
)
from moot.protocols.parliament.messages.words import Kind

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
         outcome_checks.unknown_amendment, "`moot parliament status DIR` lists the amendments"),
    Rule("PAR-113", "amendment_closed", "this amendment is settled",
         outcome_checks.closed_amendment, "propose a new amendment"),
)  # fmt: skip

_CONVENE: Final[RuleRows] = (
    _CLERK,
    Rule("C-22", "already_convened", "a parliament is convened once", setup_checks.convened_before,
         "take the next number", requirement="PAR-085"),
    Rule("PAR-004", "bad_id", "a session is called like parl-20260210-001", setup_checks.bad_id,
         "name it parl-, the day, and a number"),
    Rule("PAR-086", "problem_required", "a session has a problem to solve",
         setup_checks.no_problem, "say in 2 to 4 sentences what is to be decided"),
    Rule("PAR-087", "bad_issue", "issues are texts, each given once", setup_checks.bad_issues,
         "name each issue once, in a few words"),
    Rule("C-37", "bad_seats", "a session has 2 to 30 seats", setup_checks.bad_seat_count,
         "5 seats suit most problems"),
    Rule("PAR-093", "bad_seat_name", "every seat has a name of its own", setup_checks.bad_names,
         "a name such as Rep. Pragmatis"),
    Rule("PAR-095", "bad_motive", "every seat stands for something", setup_checks.bad_motives,
         "give each seat 1 to 3 motives"),
    Rule("S-02", "bad_agent", "one agent, one seat", setup_checks.bad_agents,
         "name another agent, or let the seat have a key of its own"),
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
             "once it has begun a person gives a seat to a later holder of its name, nobody else",
             setup_checks.late_binding,
             "`moot flow resume-to-seat EVENT` does this after an adoption"),
        Rule("S-02", "bad_agent", "one agent, one seat", setup_checks.bad_binding,
             "name a seat, and an agent that has none"),
    ),
    ask.Begin: _CLERKS,
    ask.CloseStatements: (
        *_CLERKS,
        Rule("PAR-023", "statements_missing", "every seat speaks first",
             speech_checks.statements_missing, "wait for the opening statements"),
    ),
    ask.ChooseDrafter: (
        *_CLERKS,
        Rule("C-20", "drafter_in_office", "there is a drafter", speech_checks.drafter_in_office,
             "only an expelled drafter is replaced", requirement="PAR-089"),
        Rule("PAR-089", "bad_drafter", "a representative drafts the bill",
             speech_checks.unfit_drafter,
             "name a seat that may speak, or leave the choice to the clerk"),
    ),
    ask.EndUndrafted: (
        *_CLERKS,
        Rule("S-29", "someone_left", "a session ends without a bill only if nobody can draft one",
             speech_checks.someone_left, "let the clerk choose a drafter"),
    ),
    ask.ReportUnreadable: (
        CONVENED,
        Rule("PAR-084", "not_seated", "a reply belongs to its seat",
             outcome_checks.unknown_unread_seat, "act as the agent of the seat"),
    ),
    ask.GiveOwedRuling: (
        CONVENED,
        _CLERK,
        Rule("C-08", "nothing_owed", "the speaker owes no ruling", outcome_checks.nothing_owed,
             "nothing is to be done"),
    ),
    ask.Incorporate: (
        *_AMENDMENT,
        Rule("C-24", "not_the_drafter", "the speaker or the drafter incorporates",
             outcome_checks.neither_speaker_nor_drafter, "ask the drafter", requirement="PAR-013"),
        Rule("C-20", "drafter_expelled", "the bill needs a drafter who is heard",
             outcome_checks.drafter_gone, "let the clerk choose another drafter",
             requirement="PAR-013"),
        Rule("PAR-118", "amendment_opposed", "what most oppose is not incorporated",
             outcome_checks.opposed, "end its discussion, or win positions for it"),
        Rule("PAR-116", "not_endorsed", "another seat endorses it, or the drafter does",
             outcome_checks.not_endorsed, "have another seat asked for its position"),
        Rule("C-26", "draft_required",
             "the drafter words what cannot be carried out to the letter",
             outcome_checks.draft_needed, "hand in the whole new bill", requirement="PAR-013"),
        DRAFT_VERSION,
        Rule("S-07", "draft_astray", "the new version holds the amendment and nothing else",
             outcome_checks.draft_astray, "change the amended section, as the amendment says"),
    ),
    ask.Withdraw: (
        *_AMENDMENT,
        Rule("C-28", "not_the_proposer", "only its proposer withdraws an amendment",
             outcome_checks.not_the_proposer, "oppose it in an answer instead"),
    ),
    ask.ConcludeAmendment: (_CLERK, *_AMENDMENT),
    ask.CallAmendmentVote: (
        _CLERK,
        *_AMENDMENT,
        Rule("C-25", "round_not_running", "positions are taken in a running round",
             outcome_checks.round_not_running, "start the next round", requirement="PAR-117"),
        AFTER_CAP,
        Rule("PAR-117", "too_early", "positions are unclear after 2 exchanges at the earliest",
             outcome_checks.not_unclear_yet, "have it discussed first"),
        Rule("C-25", "vote_running", "one vote an amendment", outcome_checks.called_before,
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
             outcome_checks.nothing_to_default, "wait for its vote"),
    ),
    ask.CountVotes: (*_CLERKS, COUNT),
    ask.Summarize: (
        CONVENED,
        _CLERK,
        Rule("PAR-119", "round_not_ended", "a round is summed up when it has ended",
             outcome_checks.summary_of_no_round, "end the round first"),
        Rule("PAR-122", "uneven_summary", "a summary takes 2 or 3 sentences",
             outcome_checks.summary_length, "shorten or unfold it", Severity.WARNING),
    ),
    ask.Complete: _CLERKS,
}  # fmt: skip
