"""The rules of a path, one row each. X-nn are the invariants across protocols, XPR-nn their rows
among the requirements."""

from __future__ import annotations

from typing import Any, Final

from moot.core.findings import Rule
from moot.core.machine import Command
from moot.core.wording import empty, too_long
from moot.protocols.path import checks as breach
from moot.protocols.path import commands as ask
from moot.protocols.path.model import MAX_TEXT, MAX_TITLE

Rows = tuple[Rule[Any], ...]

_MACHINE: Final = Rule("X-05", "not_the_machine",
                       "a path is written by the machine, with whoever asked named",
                       breach.not_the_machine, "let `moot flow` do this",
                       requirement="XPR-05")  # fmt: skip
_BEGUN: Final = Rule("PTH-001", "path_not_found", "this path was never begun",
                     breach.path_not_begun, "`moot flow list` shows what can be begun")  # fmt: skip
_SOURCE: Final = Rule("X-01", "bad_source", "a step names the record that led to it",
                      breach.bad_source,
                      "name a message, a session or a trace that is on record here",
                      requirement="XPR-01")  # fmt: skip
_FLOW: Final = Rule("PTH-002", "unknown_flow", "there is no such flow", breach.unknown_flow,
                    "`moot flow list` shows all")  # fmt: skip
_STEP: Final = Rule("PTH-003", "step_not_found", "this step was never begun", breach.unknown_step,
                    "`moot story ID` shows the steps of a path", requirement="XPR-02")  # fmt: skip
_DONE: Final = Rule("X-02", "step_done", "this step is done", breach.step_done_before,
                    "`moot story ID` shows what it made", requirement="XPR-02")  # fmt: skip


def _text(most: int, *fields: str, requirement: str | tuple[str, ...] = ()) -> Rows:
    return (
        Rule("PTH-004", "text_required", "the text may not be empty", empty(*fields),
             "say it in a sentence", requirement=requirement),
        Rule("PTH-004", "text_too_long", "the text is too long", too_long(most, *fields),
             "say it in fewer words", requirement=requirement),
    )  # fmt: skip


_BEGIN_PATH: Final[Rows] = (
    _MACHINE,
    Rule("PTH-001", "path_begun", "a path is begun once", breach.path_begun_before,
         "go on with it: `moot story ID`"),
    _SOURCE,
    *_text(MAX_TITLE, "title"),
    *_text(100, "origin", requirement="XPR-05"),
)  # fmt: skip
_BEGIN_STEP: Final[Rows] = (
    _MACHINE,
    _BEGUN,
    _SOURCE,
    _FLOW,
    Rule("PTH-002", "bad_join", "a flow leads from one protocol to another",
         breach.wrong_protocols, "`moot flow list` says what leads where"),
    *_text(100, "asked_by", requirement="XPR-05"),
    _DONE,
    Rule("X-02", "other_target", "one record leads to one thing by one flow", breach.other_target,
         "run it as it was begun: `moot story ID` shows the target", requirement="XPR-02"),
    Rule("PTH-005", "path_full", "a path has a limited number of steps", breach.too_many_steps,
         "begin anew with a new message"),
    Rule("X-04", "not_settled", "only a sure result leads further", breach.result_unsure,
         "`moot debate consensus FILE` says what is missing", requirement="XPR-04"),
    Rule("X-05", "words_unsigned", "a result rests on words that their authors have signed",
         breach.words_unsigned, "their authors sign them: `moot debate sign FILE --author NAME`",
         requirement="XPR-05"),
    Rule("X-08", "two_parts", "whoever runs something does not approve it",
         breach.runs_and_approves, "name another critic: --critic NAME", requirement="XPR-08"),
    Rule("X-08", "lone_approver", "one agent alone does not decide and then approve",
         breach.lone_approver, "name another critic: --critic NAME", requirement="XPR-08"),
)  # fmt: skip
RULES: Final[dict[type[Command], Rows]] = {
    ask.BeginPath: _BEGIN_PATH,
    ask.BeginStep: _BEGIN_STEP,
    ask.MoveStep: (
        _MACHINE,
        _BEGUN,
        _FLOW,
        _STEP,
        _DONE,
        Rule("PTH-002", "bad_join", "a flow leads from one protocol to another",
             breach.wrong_target, "`moot flow list` says what leads where", requirement="XPR-02"),
    ),
    ask.FinishStep: (
        _MACHINE,
        _BEGUN,
        _FLOW,
        _STEP,
        _DONE,
        Rule("PTH-006", "nothing_made", "a step that is done has made something",
             breach.made_nothing, "say that it failed, and why", requirement="XPR-02"),
        Rule("X-03", "guard_lowered", "no flow makes an approval, a reservation or a verification",
             breach.makes_a_guard,
             "let the critic, the agent or the auditor do it under its own key",
             requirement="XPR-03"),
        Rule("PTH-002", "bad_join", "a flow makes what it is for", breach.makes_another_thing,
             "`moot flow list` says what leads where", requirement="XPR-03"),
    ),
    ask.FailStep: (
        _MACHINE,
        _BEGUN,
        _FLOW,
        _STEP,
        _DONE,
        *_text(MAX_TEXT, "code", "why", requirement="XPR-06"),
    ),
}  # fmt: skip
