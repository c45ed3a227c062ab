"""Which first answer is put to the vote: by the rule that was asked for, or picked by a person."""

from __future__ import annotations

from typing import Final

from moot.core.errors import Refused
from moot.core.names import SYSTEM
from moot.flows.decisions.questions import state_of
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.answer_options import AnswerOption, list_options
from moot.protocols.decision.model import State
from moot.protocols.decision.motion import choose_motion
from moot.protocols.decision.ranking_report import find_winner, report_rankings
from moot.protocols.decision.views import list_answers
from moot.workspace.workspace import Workspace

PICKED: Final = "picked"


def set_motion(workspace: Workspace, decision: str, picked: int | None = None) -> str | None:
    """Put an answer to the vote; or say why that is left to whoever asked (DEC-037).

    Without a rule it is the most frequent answer, else the first listed (DEC-008).
    """
    state = state_of(workspace, decision)
    options = list_options(state)
    if not options:  # AGT-072
        raise Refused(
            "no_answers",
            "nobody gave a first answer, so there is nothing to vote on",
            hint=f"`moot ledger log {stream_of(decision)}` says why; ask again with others",
        )
    command = _choose(state, options, picked)
    if command is None:
        return _describe_open_choice(state, options)
    workspace.engine.execute(stream_of(decision), command, SYSTEM, key="motion")
    return None


def _choose(
    state: State, options: tuple[AnswerOption, ...], picked: int | None
) -> ask.SetMotion | None:
    if state.choose and len(options) > 1:
        winner = find_winner(state)
        if winner is not None:
            return ask.SetMotion(text=winner.text, by=winner.by, chosen=state.choose)
        if picked is None:
            return None
        option = _require_option(options, picked)
        return ask.SetMotion(text=option.text, by=option.by, chosen=PICKED)
    motion = choose_motion(list_answers(state))
    assert motion is not None  # there is an answer
    return ask.SetMotion(text=motion.text, by=motion.by)


def _require_option(options: tuple[AnswerOption, ...], number: int) -> AnswerOption:
    if not 1 <= number <= len(options):
        raise Refused(
            "unknown_option",
            f"there is no answer {number}",
            hint=f"a number from 1 to {len(options)}",
        )
    return options[number - 1]


def _describe_open_choice(state: State, options: tuple[AnswerOption, ...]) -> str:
    report = report_rankings(state)
    choices = report.choices if report is not None else ()
    sentence = next((each.sentence for each in choices if each.rule == state.choose), "nothing")
    return (
        f"{state.choose} chose {sentence}; pick one of the {len(options)} answers with --motion N"
    )
