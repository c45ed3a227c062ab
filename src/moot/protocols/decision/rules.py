"""The rules of a decision, one row each."""

from __future__ import annotations

from typing import Any, Final

from moot.core.findings import Rule, Severity
from moot.core.machine import Command, empty, too_long
from moot.protocols.decision import checks as breach
from moot.protocols.decision import commands as ask
from moot.protocols.decision.model import MAX_ANSWER, MAX_QUESTION, MAX_TEXT, Stage

Rows = tuple[Rule[Any], ...]

_SHORTER: Final = "shorten it, and name a file for the rest"
_BEGUN: Final = Rule("DEC-001", "decision_not_found", "nothing was asked under this id",
                     breach.not_begun,
                     "`moot agenda` lists open decisions; `moot ask` begins one")  # fmt: skip
_UNDECIDED: Final = Rule("DEC-014", "decided", "a person has decided this", breach.already_decided,
                         "ask a new question: `moot ask`")  # fmt: skip
_RECORDER: Final = Rule("DEC-017", "not_allowed",
                        "only Moot, or the agent that asked, records what happens",
                        breach.neither_moot_nor_asker,
                        "let `moot ask` or `moot debate run` do this")  # fmt: skip


def _stage(
    code: str, sentence: str, hint: str, *stages: Stage, requirement: str | tuple[str, ...] = ()
) -> Rule[Any]:
    check = breach.out_of_stage(*stages)
    return Rule("DEC-005", code, sentence, check, hint, requirement=requirement)


def _text(*fields: str, most: int = MAX_TEXT, requirement: str | tuple[str, ...] = ()) -> Rows:
    return (
        Rule("DEC-002", "text_required", "the text may not be empty", empty(*fields),
             "say it in a sentence", requirement=requirement),
        Rule("DEC-002", "text_too_long", "the text is too long", too_long(most, *fields),
             _SHORTER, requirement=requirement),
    )  # fmt: skip


_MOTIVES: Final = Rule("DEC-027", "bad_motives",
                       "a seat has at most three motives, each in a few words",
                       breach.bad_motives, "such as: cost, safety")  # fmt: skip
_ASK: Final[Rows] = (
    _stage("id_taken", "this id is taken", "use another id", Stage.NEW, requirement="DEC-001"),
    *_text("question", most=MAX_QUESTION),
    Rule("DEC-003", "bad_participants", "at least two take part, each once", breach.bad_seats,
         '--with "cmd:claude -p,cmd:codex exec"'),
    Rule("DEC-003", "bad_rounds", "a decision has 1 to 100 rounds", breach.bad_rounds,
         "--rounds 2"),
    _MOTIVES,
    Rule("DEC-039", "bad_quorum", "a quorum is at most the number of participants",
         breach.bad_quorum, "--quorum 2"),
    Rule("DEC-037", "bad_choice", "a motion is chosen from ranked answers by a known rule",
         breach.unknown_rule, "--choose plurality, borda or condorcet"),
)  # fmt: skip
_ANSWERS_OPEN: Final = _stage(
    "answers_closed", "first answers are closed", "argue in the session", Stage.ANSWERING
)
_ONCE: Final = Rule("DEC-004", "answered", "a first answer is given once", breach.answered_before,
                    "argue in the session")  # fmt: skip
_PARTICIPANT: Final = Rule("DEC-004", "not_a_participant", "only participants answer",
                           breach.not_a_participant,
                           "the agent that asked can give you a seat")  # fmt: skip
_SEAL: Final[Rows] = (
    _BEGUN,
    _ANSWERS_OPEN,
    _PARTICIPANT,
    _ONCE,
    Rule("DEC-038", "bad_seal", "an answer is sealed before any is opened", breach.bad_seal,
         "let `moot ask` do this"),
)  # fmt: skip
_CLOSE: Final[Rows] = (
    _BEGUN,
    _RECORDER,
    _ANSWERS_OPEN,
    Rule("DEC-038", "seals_missing", "seals are closed when every answer is sealed",
         breach.seals_missing, "collect them first: `moot ask --resume ID`"),
)  # fmt: skip
_GIVE: Final[Rows] = (
    _BEGUN,
    _ANSWERS_OPEN,
    _PARTICIPANT,
    _ONCE,
    Rule("DEC-038", "still_sealed", "answers are opened when all are sealed",
         breach.opened_too_early, "continue with `moot ask --resume ID`"),
    Rule("DEC-038", "other_answer_sealed", "a sealed answer is opened with its own text",
         breach.false_opening, "open it as it was sealed; else it counts as absent"),
    _MOTIVES,
    *_text("answer", most=MAX_ANSWER),
    Rule("DEC-002", "text_too_long", "the text is too long", too_long(MAX_TEXT, "why"), _SHORTER),
)  # fmt: skip
_SEATED: Final = Rule("DEC-006", "not_a_participant", "this names an agent that takes no part",
                      breach.unknown_agent, "name one of the participants")  # fmt: skip
_PASS: Final[Rows] = (_BEGUN, _RECORDER, _ANSWERS_OPEN, _SEATED, _ONCE, *_text("why"))
_MAY_RANK: Final = Rule("DEC-036", "nothing_to_rank", "each agent that answered ranks once",
                       breach.not_to_rank, "argue in the session")  # fmt: skip
_RANK: Final[Rows] = (
    _BEGUN,
    _ANSWERS_OPEN,
    _MAY_RANK,
    Rule("DEC-036", "bad_ranking", "a ranking lists every answer once, with a vote on each",
         breach.bad_ranking, "give all numbers, best first"),
    *_text("summary", most=MAX_ANSWER),
    Rule("DEC-002", "text_too_long", "the text is too long", too_long(MAX_TEXT, "body"), _SHORTER),
)  # fmt: skip
_PASS_RANKING: Final[Rows] = (_BEGUN, _RECORDER, _ANSWERS_OPEN, _SEATED, _MAY_RANK, *_text("why"))
_SET_MOTION: Final[Rows] = (
    _BEGUN,
    _RECORDER,
    _stage("motion_set", "the motion is set once", "argue it", Stage.ANSWERING,
           requirement="DEC-007"),
    Rule("DEC-007", "answers_missing", "a motion waits for every first answer",
         breach.answers_missing, "collect them first: `moot ask --resume ID`"),
    Rule("DEC-037", "not_the_choice", "the motion is the one that the rankings choose",
         breach.not_the_choice, "`moot ask --resume ID`; in a tie `--motion N`"),
    *_text("text", most=MAX_ANSWER),
)  # fmt: skip
_OPEN_SESSION: Final[Rows] = (
    _BEGUN,
    _RECORDER,
    Rule("DEC-009", "session_open", "one session for one round of a decision",
         breach.session_out_of_place, "continue with the open session"),
    *_text("session"),
)  # fmt: skip
_NOTE: Final[Rows] = (
    _BEGUN,
    _RECORDER,
    _UNDECIDED,
    _SEATED,
    *_text("ending"),
    Rule("DEC-010", "bad_cost", "costs are never negative", breach.negative_cost,
         "count from zero"),
    Rule("DEC-002", "text_too_long", "the text is too long",
         too_long(MAX_TEXT, "detail", "subject", "what"), _SHORTER),
)  # fmt: skip
_END_RUN: Final[Rows] = (_BEGUN, _RECORDER, _UNDECIDED, *_text("stop", requirement="DEC-011"))
_RESULT: Final[Rows] = (
    _BEGUN,
    _RECORDER,
    Rule("DEC-012", "result_known", "a result is recorded when the session has come to one",
         breach.result_out_of_place, "see the recorded result: `moot report ID`"),
    *_text("summary"),
)  # fmt: skip
# AGT-075
_PERSON: Final = Rule("DEC-013", "human_key_required", "only a person decides",
                      breach.not_a_person,
                      "run this yourself, at a terminal, outside of `moot run`")  # fmt: skip
_RULING: Final[Rows] = (
    _BEGUN,
    _PERSON,
    _UNDECIDED,
    *_text("reason", requirement="DEC-015"),
    Rule("DEC-014", "no_result_yet", "no result was recorded before this", breach.no_result_yet,
         "a person may decide at any time; the record says so", Severity.WARNING),
)  # fmt: skip
_SEND_BACK: Final[Rows] = (
    _BEGUN,
    _PERSON,
    _UNDECIDED,
    Rule("DEC-028", "no_parliament", "only a parliament continues after a veto",
         breach.not_in_parliament, "`moot decide ID veto --reason TEXT` begins another decision"),
    _stage("no_session", "nothing is argued", "`moot agenda`", Stage.ARGUING, Stage.WAITING,
           requirement="DEC-028"),
    *_text("reason", requirement="DEC-015"),
)  # fmt: skip
_NAME_SUCCESSOR: Final[Rows] = (
    _BEGUN,
    _RECORDER,
    Rule("DEC-016", "not_vetoed", "only a vetoed decision is superseded",
         breach.out_of_stage(Stage.VETOED), "`moot decide ID veto --reason TEXT`"),
    Rule("DEC-016", "superseded", "a decision is superseded once", breach.has_successor,
         "continue with that one"),
    *_text("decision"),
)  # fmt: skip
_RECEIPT: Final[Rows] = (
    _BEGUN,
    Rule("DEC-021", "not_allowed", "only Moot signs a receipt", breach.not_moot_itself,
         "let `moot receipt ID -o FILE` do this"),
)  # fmt: skip
_OUTCOME: Final[Rows] = (
    _BEGUN,
    _PERSON,
    Rule("DEC-030", "nothing_to_judge", "an outcome needs an answer that was voted on or decided",
         breach.nothing_to_judge, "continue with `moot ask --resume ID`"),
    Rule("DEC-030", "bad_outcome", "an outcome is right, wrong or mixed",
         breach.unknown_outcome, "use right, wrong or mixed"),
    *_text("reason", requirement="DEC-030"),
    Rule("DEC-002", "text_too_long", "the text is too long", too_long(MAX_ANSWER, "answer"),
         _SHORTER),
)  # fmt: skip

RULES: Final[dict[type[Command], Rows]] = {
    ask.AskQuestion: _ASK,
    ask.SealAnswer: _SEAL,
    ask.CloseSeals: _CLOSE,
    ask.GiveAnswer: _GIVE,
    ask.PassAnswer: _PASS,
    ask.RankAnswers: _RANK,
    ask.PassRanking: _PASS_RANKING,
    ask.SetMotion: _SET_MOTION,
    ask.OpenSession: _OPEN_SESSION,
    ask.NoteCall: _NOTE,
    ask.EndRun: _END_RUN,
    ask.RecordResult: _RESULT,
    ask.Approve: _RULING,
    ask.Veto: _RULING,
    ask.Amend: _RULING,
    ask.SendBack: _SEND_BACK,
    ask.NameSuccessor: _NAME_SUCCESSOR,
    ask.MakeReceipt: _RECEIPT,
    ask.JudgeOutcome: _OUTCOME,
}
