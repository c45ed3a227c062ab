"""The checks on what is asked of a session's record; `rules.py` is their table.

Each is named for the flaw it finds and yields one breach for each place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moot.core.failed_answer import find_failed_answer
from moot.core.machine import Command, KeyClass
from moot.core.names import SYSTEM
from moot.protocols.debate import commands as ask
from moot.protocols.debate.case import DebateCase, DialogueCommand
from moot.protocols.debate.course import is_placeholder
from moot.protocols.debate.escalation import find_silent_agents, tells_failed_turn
from moot.protocols.debate.model import is_uuid
from moot.protocols.debate.reader import read_document
from moot.protocols.debate.schema import interpret_settings
from moot.protocols.debate.turns import find_next_place, may_begin_round

Breaches = Iterator[tuple[str, str | None]]
_DIGEST: Final = re.compile(r"[0-9a-f]{64}\Z")


def session_unknown(case: DebateCase[Command]) -> Breaches:
    if not case.state.has_begun:
        yield "", None


def session_known_already(case: DebateCase[ask.Begin]) -> Breaches:
    if case.state.has_begun:
        yield f"it is {case.state.file}", "file"


def not_a_new_session(case: DebateCase[ask.Begin]) -> Breaches:
    document = read_document(case.command.text)
    if interpret_settings(document.settings).rules is None or not is_uuid(document.session_id):
        yield "", "text"
    elif document.entries or document.find_section("Dialogue") is None:
        yield "it must end with its `## Dialogue`", "text"
    elif case.context.stream.partition("/")[2] != document.session_id:
        yield "this is another session's text", "text"


def out_of_step(case: DebateCase[DialogueCommand]) -> Breaches:
    if case.command.start != case.state.size:
        yield f"the record ends at byte {case.state.size}, not {case.command.start}", "start"


def beyond_preamble(case: DebateCase[ask.AddContext]) -> Breaches:
    if not 0 < case.command.start < case.state.head:
        yield "", "start"


def no_subsection(case: DebateCase[ask.AddContext]) -> Breaches:
    if not case.command.text.lstrip("\r\n").startswith("### "):
        yield "", "text"


def bad_digest(case: DebateCase[ask.Begin | DialogueCommand | ask.AddContext]) -> Breaches:
    if not _DIGEST.match(case.command.digest):
        yield "", "digest"


def no_entry(case: DebateCase[ask.Add | ask.Escalate]) -> Breaches:
    if case.entry is None:
        yield "", "text"


def neither_entry_nor_mark(case: DebateCase[ask.Observe]) -> Breaches:
    if case.piece is None or (case.entry is None and case.piece.resumed_at is None):
        yield "", "text"


def no_operator_mark(case: DebateCase[ask.Resume]) -> Breaches:
    if case.piece is None or case.entry is not None or case.piece.resumed_at is None:
        yield "", "text"


def not_signed_by_its_author(case: DebateCase[ask.Add]) -> Breaches:
    """A-66: the author's own key, or a person's where `system` sums up for the operator (A-26)."""
    entry, actor = case.entry, case.context.actor
    if entry is None or case.piece is None or entry.author == actor.id:
        return
    is_over = case.piece.has_close_mark or case.state.phase.has_ended
    if not (is_over and entry.author == SYSTEM and actor.kind is KeyClass.HUMAN):
        yield f"{actor.id} cannot sign for {entry.author}", "author"


def closes_without_person(case: DebateCase[ask.Add]) -> Breaches:
    """R17: the operator's mark, written by an agent, would end a debate that it may be losing."""
    actor = case.context.actor
    if case.piece is not None and case.piece.has_close_mark and actor.kind is not KeyClass.HUMAN:
        yield f"{actor.id} is no person", "author"


def wrong_round_or_turn(case: DebateCase[ask.Add]) -> Breaches:
    entry, course = case.entry, case.course
    if entry is None or course is None or course.phase.has_ended or entry.author == SYSTEM:
        return
    place = find_next_place(course)
    begins = entry.turn == 1 and may_begin_round(course, entry.author, entry.round or 0)
    if (entry.round, entry.turn) != place and not begins:
        yield f"the next place is round {place[0]} turn {place[1]}", entry.id


def time_not_up(case: DebateCase[ask.Resume | ask.NoteTimeout]) -> Breaches:
    if not case.is_late:
        yield "", None


def policy_not_due(case: DebateCase[ask.Escalate]) -> Breaches:
    """Where several are silent, each gets its entry, though the first one began a new turn.

    BNC-145: before time is up only the machine writes, and only for one who has certainly failed.
    """
    entry, rules = case.entry, case.state.rules
    by_machine = case.context.actor.kind is KeyClass.SYSTEM
    failed = entry is not None and rules is not None and tells_failed_turn(entry, rules)
    if not case.is_late and not case.state.escalating and not (by_machine and failed):
        yield "", None


def failure_told_by_person(case: DebateCase[ask.Escalate]) -> Breaches:
    """Only the machine saw how a call ended; a person skips a turn whose time is up."""
    entry, actor = case.entry, case.context.actor
    tells = entry is not None and find_failed_answer(entry.field_value("summary")) is not None
    if tells and actor.kind is not KeyClass.SYSTEM:
        yield f"{actor.id} did not see it", "text"


def not_the_machine(case: DebateCase[ask.NoteTimeout]) -> Breaches:
    if case.context.actor.kind is not KeyClass.SYSTEM:
        yield "", None


def not_the_operator(case: DebateCase[ask.Escalate | ask.Resume | ask.AddContext]) -> Breaches:
    if case.context.actor.kind not in (KeyClass.SYSTEM, KeyClass.HUMAN):
        yield f"{case.context.actor.id} is no person", None


def not_a_placeholder(case: DebateCase[ask.Escalate]) -> Breaches:
    entry, course = case.entry, case.course
    if entry is None or course is None:
        return
    if not is_placeholder(entry) or entry.author != case.command.agent:
        yield "", "text"
    elif entry.author not in find_silent_agents(course):
        yield f"nobody waits for {entry.author}", "agent"


def timeout_noted_already(case: DebateCase[ask.NoteTimeout]) -> Breaches:
    if case.state.timed_out:
        yield "", None


def not_waiting_for_signature(case: DebateCase[ask.Sign]) -> Breaches:
    observed = case.state.find_unsigned_entry(case.command.id)
    if observed is None or observed.sha256 != case.command.sha256:
        yield "", "id"


def not_its_author(case: DebateCase[ask.Sign]) -> Breaches:
    observed = case.state.find_unsigned_entry(case.command.id)
    if observed is not None and observed.author != case.context.actor.id:
        yield f"it is {observed.author}'s", "id"


def no_file_name(case: DebateCase[ask.Begin | ask.Move]) -> Breaches:
    if not case.command.file.strip():
        yield "", "file"
