"""Where a question is argued, and what everybody is told there before the first word."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final, NamedTuple

from moot.core.errors import Refused
from moot.flows.debate.others_words import quote_lines
from moot.flows.decisions.questions import read_text, state_of
from moot.protocols.debate.machine import MACHINE as DEBATE
from moot.protocols.decision.model import ChamberKind, State
from moot.protocols.decision.views import list_answers
from moot.workspace.workspace import Workspace

FOLDER: Final = "decisions"


class ContextSection(NamedTuple):
    """A heading of ours over somebody's words, which are quoted line by line."""

    heading: str
    text: str


def session_file(workspace: Workspace, decision: str) -> Path:
    """Where it is argued now: where the record says, else under the decision's id.

    A debate's own record knows where its file was moved to.
    """
    state = state_of(workspace, decision)
    if state.session is None or not state.session.file:
        return new_session_file(workspace, decision, state, 1)
    moved = workspace.engine.state(DEBATE, state.session.id).file if _in_debate(state) else ""
    return workspace.root / (moved or state.session.file)


def new_session_file(workspace: Workspace, decision: str, state: State, number: int) -> Path:
    """`q-7.md`, for the second session of the same question `q-7-round-2.md`."""
    name = decision if number == 1 else f"{decision}-round-{number}"
    return workspace.path / FOLDER / f"{name}{'.md' if _in_debate(state) else ''}"


def _in_debate(state: State) -> bool:
    return state.chamber is ChamberKind.DEBATE


def another_session(decision: str, place: Path) -> Refused:
    """Anyone may write files: what lies there does not say what a decision is about."""
    return Refused(
        "not_its_session",
        f"{place} holds another session than this decision's",
        hint=f"move {shlex.quote(str(place))} away, then go on: moot ask --resume {decision}",
    )


def compose_context(
    workspace: Workspace, decision: str, state: State, more: tuple[ContextSection, ...] = ()
) -> str:
    """What everybody should know, with the motion last; others' words are quoted, line by line."""
    sections = [ContextSection("Question", state.question)]
    material = read_text(workspace, state.context)
    if material.strip():
        sections.append(ContextSection("Material", material))
    answers = "\n".join(
        f"{first.agent}: {' '.join(first.answer.split())}"
        for first in list_answers(state)
        if first.answer is not None
    )
    sections.append(ContextSection("First answers, given before anyone heard the others", answers))
    sections.extend(more)
    if state.motion is not None:  # AGT-070
        sections.append(ContextSection("Motion: approve or reject this", state.motion.text))
    text = "\n".join(f"### {each.heading}\n\n{quote_lines(each.text)}" for each in sections)
    return f"{text}\nDecision {decision}. Every stance is about the motion."
