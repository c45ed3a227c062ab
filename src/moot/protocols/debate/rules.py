"""The rules of a session's record: which piece may come next, and under whose key.

They repeat nothing of the file's own rules: whose turn it is, and what an entry must say, is
checked by the rows of `turns.py` and `file_rules.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, Generic, TypeVar

import msgspec

from moot.core.failed_answer import find_failed_answer
from moot.core.findings import Finding, Rule, check_all, select_errors
from moot.core.machine import Case, Command, Context, KeyClass
from moot.core.names import SYSTEM
from moot.protocols.debate import commands as ask
from moot.protocols.debate.course import Course, is_placeholder
from moot.protocols.debate.entry_checks import EntryCase
from moot.protocols.debate.entry_order import RemarkKind
from moot.protocols.debate.escalation import find_silent_agents, tells_failed_turn
from moot.protocols.debate.file_checks import FileCase
from moot.protocols.debate.file_rules import rules_for_entry
from moot.protocols.debate.model import DebateEntry, OutputFormat, Rules, is_uuid
from moot.protocols.debate.phases import is_closing_entry
from moot.protocols.debate.reader import read_document
from moot.protocols.debate.settings import KnownSettings, interpret_settings
from moot.protocols.debate.state import (
    PieceContent,
    State,
    course_from_state,
    read_piece,
    resume_walk,
)
from moot.protocols.debate.turns import (
    find_next_place,
    find_obstacle,
    find_standing,
    may_begin_round,
)

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
        """True if the running turn's time is up."""
        course = self.course
        return course is not None and find_standing(course, self.context.now).timed_out


def case_of(state: State, command: C, context: Context) -> DebateCase[C]:
    piece = read_piece(command.text) if isinstance(command, DialogueCommand) else None
    return DebateCase(state, command, context, piece)


# A check is named for the flaw it finds and yields one breach for each place.

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
    """A-66: refuse any key but the author's, or a person's for a summary by `system` (A-26)."""
    entry, actor = case.entry, case.context.actor
    if entry is None or case.piece is None or entry.author == actor.id:
        return
    is_over = case.piece.has_close_mark or case.state.phase.has_ended
    if not (is_over and entry.author == SYSTEM and actor.kind is KeyClass.HUMAN):
        yield f"{actor.id} cannot sign for {entry.author}", "author"


def closes_without_person(case: DebateCase[ask.Add]) -> Breaches:
    """R17: refuse the operator's mark by an agent: it could end a debate that it is losing."""
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
    """Refuse a policy entry too early, except right after another: several may be silent.

    BNC-145: before time is up only the machine writes, and only for an agent that has certainly
    failed.
    """
    entry, rules = case.entry, case.state.rules
    by_machine = case.context.actor.kind is KeyClass.SYSTEM
    failed = entry is not None and rules is not None and tells_failed_turn(entry, rules)
    if not case.is_late and not case.state.escalating and not (by_machine and failed):
        yield "", None


def failure_told_by_person(case: DebateCase[ask.Escalate]) -> Breaches:
    """Refuse a person's report of a failed call: only the machine saw how it ended."""
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
        yield f"the session does not wait for {entry.author}", "agent"


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


_BEGUN: Final = Rule("BNC-119", "session_unknown", "nothing is recorded of this session",
                     session_unknown,
                     "any writing `moot debate` command on its file records it")  # fmt: skip
_NAME: Final = Rule("BNC-004", "name_required", "a session has a file", no_file_name,
                    "name its file")  # fmt: skip
_STEP: Final = Rule("BNC-098", "out_of_step", "a piece begins where the record ends",
                    out_of_step,
                    "`moot debate verify FILE` says how file and record differ")  # fmt: skip
_SHA: Final = Rule("BNC-005", "bad_digest", "a digest is 64 lower-case hex digits",
                   bad_digest,
                   "give the SHA-256 of the file up to the end of the piece")  # fmt: skip
_ENTRY: Final = Rule("BNC-067", "not_an_entry", "the text must end with one whole entry",
                     no_entry,
                     "one entry, with its <!-- yield --> as the last line")  # fmt: skip
_OPERATOR: Final = Rule("BNC-051", "human_key_required", "this is the operator's act",
                        not_the_operator,
                        "run it yourself, outside of `moot run`")  # fmt: skip
_MACHINE: Final = Rule("BNC-168", "not_allowed", "only the machine itself does this",
                       not_the_machine, "`moot debate tick FILE` lets it")  # fmt: skip
_LATE: Final = Rule("BNC-145", "too_early", "the turn's time is not over", time_not_up,
                    "`moot debate status FILE` says until when")  # fmt: skip

RULES: Final[dict[type[Command], tuple[Rule[Any], ...]]] = {
    ask.Begin: (
        Rule("BNC-026", "session_known", "this session is recorded already",
             session_known_already,
             "one session, one file: begin another with `moot debate new`"),
        Rule("BNC-164", "invalid_session", "this is not the beginning of a session",
             not_a_new_session, "`moot debate check FILE` says what to fix"),
        _NAME, _SHA,
    ),
    ask.Add: (
        _BEGUN, _STEP, _SHA, _ENTRY,
        Rule("A-66", "not_you", "an entry is signed by its author",
             not_signed_by_its_author, "let its author do it, with its own key",
             requirement="BNC-165"),
        Rule("BNC-122", "human_key_required", "only a person closes a session",
             closes_without_person, "run it yourself, outside of `moot run`"),
        Rule("BNC-107", "misplaced", "turn and round do not follow the last entry",
             wrong_round_or_turn, "`moot debate add` counts them"),
    ),
    ask.Observe: (
        _BEGUN, _STEP, _SHA,
        Rule("BNC-067", "nothing_said", "the text ends with neither an entry nor a mark",
             neither_entry_nor_mark, "observe up to a marker of the protocol"),
    ),
    ask.Escalate: (
        _BEGUN, _STEP, _SHA, _ENTRY, _OPERATOR,
        Rule("BNC-145", "too_early", "the turn's time is not over", policy_not_due,
             "`moot debate status FILE` says until when"),
        Rule("BNC-146", "not_a_placeholder", "the policy writes in a silent agent's place only",
             not_a_placeholder, "`moot debate tick FILE` writes it"),
        Rule("BNC-146", "not_allowed", "only the machine says how a call ended",
             failure_told_by_person, "`moot debate resume FILE --skip` passes over a turn"),
    ),
    ask.Resume: (
        _BEGUN, _STEP, _SHA, _OPERATOR, _LATE,
        Rule("BNC-051", "no_mark", "the text holds no operator's mark", no_operator_mark,
             "`moot debate resume FILE --late` writes it"),
    ),
    ask.AddContext: (
        _BEGUN, _SHA, _OPERATOR,
        Rule("BNC-062", "not_in_context", "context is added above the dialogue",
             beyond_preamble, "`moot debate add-context FILE` finds the place"),
        Rule("BNC-062", "no_subsection", "what is added is a ### subsection", no_subsection,
             "begin it with `### TITLE`"),
    ),
    ask.Sign: (
        _BEGUN,
        Rule("A-66", "nothing_to_sign", "no such entry waits for its author's signature",
             not_waiting_for_signature,
             "`moot debate verify FILE` lists what is only observed", requirement="BNC-008"),
        Rule("A-66", "not_you", "an entry is signed by its author", not_its_author,
             "let its author do it, with its own key", requirement="BNC-008"),
    ),
    ask.NoteTimeout: (
        _BEGUN, _MACHINE, _LATE,
        Rule("BNC-168", "noted_already", "this timeout is on record", timeout_noted_already,
             "nothing is left to do"),
    ),
    ask.Move: (
        _BEGUN, _NAME,
    ),
}  # fmt: skip


def find_breaches(case: DebateCase[C]) -> tuple[Finding, ...]:
    """Return every breach; the author's turn is checked only if there is no other breach."""
    breaches = check_all(RULES[type(case.command)], case)
    check_further = _FURTHER.get(type(case.command))
    return breaches if breaches or check_further is None else tuple(check_further(case))


def keeps_file_rules(case: DebateCase[ask.Observe]) -> bool:
    """True if an observed entry breaks no rule that would make the file invalid."""
    entry, rules = case.entry, case.state.rules
    if entry is None or rules is None or case.command.double:
        return True
    walk = resume_walk(case.state, rules, rejects_next=False)
    walk.marked = frozenset({entry.index} if case.piece and case.piece.has_close_mark else ())
    walk.take_entry(entry)
    latest = case.state.latest
    place = (entry.round or 0, entry.turn or 0)
    goes_back = entry.author in rules.agents and place < (latest.number, latest.last_turn)
    is_forbidden = any(remark.kind in _GRAVE for remark in walk.remarks)
    return not (goes_back or is_forbidden or _flaws_of_entry(case.piece, entry, rules))


_GRAVE: Final = {RemarkKind.UNKNOWN_AGENT, RemarkKind.TOO_MANY_TURNS, RemarkKind.BEYOND_LAST_ROUND}


def _flaws_of_entry(
    piece: PieceContent | None, entry: DebateEntry, rules: Rules
) -> tuple[Finding, ...]:
    """Return the errors that the file's own rules find in this entry, taken by itself."""
    if piece is None:
        return ()
    known = KnownSettings(rules.agents, rules.output_format is OutputFormat.STRUCTURED, rules)
    seen = FileCase(piece.document, known)
    return select_errors(check_all(rules_for_entry(entry, seen), EntryCase(entry, seen)))


def _check_own_entry(case: DebateCase[ask.Add]) -> Iterator[Finding]:
    """Check an entry of the actor by the file's own rules."""
    entry, course = case.entry, case.course
    if entry is None or course is None:
        return
    yield from _flaws_of_entry(case.piece, entry, course.rules)
    marked = case.piece is not None and case.piece.has_close_mark
    by_person = case.context.actor.kind is KeyClass.HUMAN
    if by_person and is_closing_entry(entry, course.rules, marked):
        if course.phase.has_ended:
            message = f"the session has ended ({course.phase.value})"
            yield Finding(rule="R18", code="session_ended", message=message, hint="begin a new one")
        return
    obstacle = find_obstacle(course, entry.author, case.context.now, case.command.after_end)
    if obstacle is not None:  # the engine's refusal has the code of its first finding
        replace, code = msgspec.structs.replace, obstacle.code
        yield from (replace(finding, code=code, where=entry.id) for finding in obstacle.findings)


_FURTHER: Final[dict[type[Command], Callable[[DebateCase[Any]], Iterator[Finding]]]] = {
    ask.Add: _check_own_entry
}
