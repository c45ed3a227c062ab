"""The checks on what is asked of a session's record; `rules.py` is their table.

Each is named for the flaw it finds and yields one breach for each place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from moot.core.machine import Command, Context, KeyClass
from moot.core.names import SYSTEM
from moot.protocols.debate import commands as ask
from moot.protocols.debate.course import Course, is_closing, is_placeholder
from moot.protocols.debate.escalation import silent
from moot.protocols.debate.model import Entry, is_uuid
from moot.protocols.debate.pieces import Said, read_piece
from moot.protocols.debate.reader import read
from moot.protocols.debate.schema import read_known
from moot.protocols.debate.state import State, course
from moot.protocols.debate.turns import next_place, standing

Breaches = Iterator[tuple[str, str | None]]
_DIGEST: Final = re.compile(r"[0-9a-f]{64}\Z")
_READ = (ask.Add, ask.Observe, ask.Escalate, ask.Resume)


class Asked(msgspec.Struct, frozen=True):
    """A command in its moment; `said` is what its text says, if it is a piece of the dialogue."""

    state: State
    command: Any
    context: Context
    said: Said | None = None

    @property
    def course(self) -> Course | None:
        return None if self.state.rules is None else course(self.state, self.state.rules)

    @property
    def entry(self) -> Entry | None:
        return self.said.entry if self.said else None

    @property
    def late(self) -> bool:
        """Is the running turn's time up?"""
        course = self.course
        return course is not None and standing(course, self.context.now).timed_out


def look(state: State, command: Command, context: Context) -> Asked:
    said = read_piece(command.text) if isinstance(command, _READ) else None
    return Asked(state, command, context, said)


def unknown(asked: Asked) -> Breaches:
    if not asked.state.begun:
        yield "", None


def known_already(asked: Asked) -> Breaches:
    if asked.state.begun:
        yield f"it is {asked.state.file}", "file"


def no_session(asked: Asked) -> Breaches:
    document = read(asked.command.text)
    if read_known(document.settings).rules is None or not is_uuid(document.session_id):
        yield "", "text"
    elif document.entries or document.section("Dialogue") is None:
        yield "it must end with its `## Dialogue`", "text"
    elif asked.context.stream.partition("/")[2] != document.session_id:
        yield "this is another session's text", "text"


def out_of_step(asked: Asked) -> Breaches:
    if asked.command.start != asked.state.size:
        yield f"the record ends at byte {asked.state.size}, not {asked.command.start}", "start"


def beyond_preamble(asked: Asked) -> Breaches:
    if not 0 < asked.command.start < asked.state.head:
        yield "", "start"


def no_subsection(asked: Asked) -> Breaches:
    if not asked.command.text.lstrip("\r\n").startswith("### "):
        yield "", "text"


def bad_digest(asked: Asked) -> Breaches:
    if not _DIGEST.match(asked.command.digest):
        yield "", "digest"


def no_entry(asked: Asked) -> Breaches:
    if asked.entry is None:
        yield "", "text"


def neither_entry_nor_mark(asked: Asked) -> Breaches:
    if asked.said is None or (asked.entry is None and asked.said.resumed is None):
        yield "", "text"


def no_mark(asked: Asked) -> Breaches:
    if asked.said is None or asked.entry is not None or asked.said.resumed is None:
        yield "", "text"


def someone_elses(asked: Asked) -> Breaches:
    """A-66: the author's own key, or a person's for the closing word of the operator (A-26)."""
    entry, actor = asked.entry, asked.context.actor
    rules = asked.state.rules
    if entry is None or rules is None or entry.author == actor.id:
        return
    if not (is_closing(entry, rules) and entry.author == SYSTEM and actor.kind is KeyClass.HUMAN):
        yield f"{actor.id} cannot sign for {entry.author}", "author"


def misplaced(asked: Asked) -> Breaches:
    entry, course = asked.entry, asked.course
    if entry is None or course is None or course.phase.ended or entry.author == SYSTEM:
        return
    place = next_place(course)
    if (entry.round, entry.turn) != place:
        yield f"the next place is round {place[0]} turn {place[1]}", entry.id


def not_late(asked: Asked) -> Breaches:
    if not asked.late:
        yield "", None


def policy_at_rest(asked: Asked) -> Breaches:
    """Where several are silent, each gets its entry, though the first one began a new turn."""
    if not asked.late and not asked.state.escalating:
        yield "", None


def not_the_machine(asked: Asked) -> Breaches:
    if asked.context.actor.kind is not KeyClass.SYSTEM:
        yield "", None


def not_the_operator(asked: Asked) -> Breaches:
    if asked.context.actor.kind not in (KeyClass.SYSTEM, KeyClass.HUMAN):
        yield f"{asked.context.actor.id} is no person", None


def not_a_placeholder(asked: Asked) -> Breaches:
    entry, course = asked.entry, asked.course
    if entry is None or course is None:
        return
    if not is_placeholder(entry) or entry.author != asked.command.agent:
        yield "", "text"
    elif entry.author not in silent(course):
        yield f"nobody waits for {entry.author}", "agent"


def noted_already(asked: Asked) -> Breaches:
    if asked.state.timed_out:
        yield "", None


def not_unsigned(asked: Asked) -> Breaches:
    found = asked.state.unsigned_entry(asked.command.id)
    if found is None or found.sha256 != asked.command.sha256:
        yield "", "id"


def not_its_author(asked: Asked) -> Breaches:
    found = asked.state.unsigned_entry(asked.command.id)
    if found is not None and found.author != asked.context.actor.id:
        yield f"it is {found.author}'s", "id"


def no_name(asked: Asked) -> Breaches:
    if not asked.command.file.strip():
        yield "", "file"
