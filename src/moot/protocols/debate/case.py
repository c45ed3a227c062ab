"""A command under check: the recorded session it meets, who acts and when, and what its text says.

The checks in `checks.py` and the drafts in `machine.py` take one of these. Each says in its
signature which commands it is about, so that mypy knows the fields of `case.command`.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from moot.core.machine import Case, Command, Context
from moot.protocols.debate import commands as ask
from moot.protocols.debate.course import Course
from moot.protocols.debate.model import DebateEntry
from moot.protocols.debate.pieces import PieceContent, read_piece
from moot.protocols.debate.state import State, course_from_state
from moot.protocols.debate.turns import find_standing

C = TypeVar("C", bound=Command)
# Commands whose text is the next piece of the dialogue, and so is read before it is checked.
DialogueCommand = ask.Add | ask.Observe | ask.Escalate | ask.Resume
D = TypeVar("D", bound=DialogueCommand)


class DebateCase(Case[State, C], Generic[C], frozen=True):
    """`piece` is what the command's text says, if the text is a piece of the dialogue."""

    piece: PieceContent | None = None

    @property
    def course(self) -> Course | None:
        return None if self.state.rules is None else course_from_state(self.state, self.state.rules)

    @property
    def entry(self) -> DebateEntry | None:
        return self.piece.entry if self.piece else None

    @property
    def is_late(self) -> bool:
        """Is the running turn's time up?"""
        course = self.course
        return course is not None and find_standing(course, self.context.now).timed_out


def case_of(state: State, command: C, context: Context) -> DebateCase[C]:
    piece = read_piece(command.text) if isinstance(command, DialogueCommand) else None
    return DebateCase(state, command, context, piece)
