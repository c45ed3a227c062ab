"""The rules of a session's record: which piece may come next, and under whose key.

They repeat nothing of the file's own rules: whose turn it is, and what an entry must say, are
asked of the rows of `speaking_rules.py` and `file_rules.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from moot.core.findings import Finding, Rule, check_all, select_errors
from moot.core.machine import Command, KeyClass
from moot.protocols.debate import checks
from moot.protocols.debate import commands as ask
from moot.protocols.debate.case import C, DebateCase
from moot.protocols.debate.closing import is_closing_entry
from moot.protocols.debate.entry_checks import EntryCase
from moot.protocols.debate.entry_order import RemarkKind
from moot.protocols.debate.file_checks import FileCase
from moot.protocols.debate.file_rules import rules_for_entry
from moot.protocols.debate.model import DebateEntry, OutputFormat, Rules
from moot.protocols.debate.pieces import PieceContent
from moot.protocols.debate.schema import KnownSettings
from moot.protocols.debate.speaking_rules import find_obstacle
from moot.protocols.debate.state import resume_walk

_BEGUN: Final = Rule("BNC-119", "session_unknown", "nothing is recorded of this session",
                     checks.session_unknown,
                     "any writing `moot debate` command on its file records it")  # fmt: skip
_NAME: Final = Rule("BNC-004", "name_required", "a session has a file", checks.no_file_name,
                    "name its file")  # fmt: skip
_STEP: Final = Rule("BNC-098", "out_of_step", "a piece begins where the record ends",
                    checks.out_of_step,
                    "`moot debate verify FILE` says how file and record differ")  # fmt: skip
_SHA: Final = Rule("BNC-005", "bad_digest", "a digest is 64 lower-case hex digits",
                   checks.bad_digest,
                   "give the SHA-256 of the file up to the end of the piece")  # fmt: skip
_ENTRY: Final = Rule("BNC-067", "not_an_entry", "the text must end with one whole entry",
                     checks.no_entry,
                     "one entry, with its <!-- yield --> as the last line")  # fmt: skip
_OPERATOR: Final = Rule("BNC-051", "human_key_required", "this is the operator's act",
                        checks.not_the_operator,
                        "run it yourself, outside of `moot run`")  # fmt: skip
_MACHINE: Final = Rule("BNC-168", "not_allowed", "only the machine itself does this",
                       checks.not_the_machine, "`moot debate tick FILE` lets it")  # fmt: skip
_LATE: Final = Rule("BNC-145", "too_early", "the turn's time is not over", checks.time_not_up,
                    "`moot debate status FILE` says until when")  # fmt: skip

RULES: Final[dict[type[Command], tuple[Rule[Any], ...]]] = {
    ask.Begin: (
        Rule("BNC-026", "session_known", "this session is recorded already",
             checks.session_known_already,
             "one session, one file: begin another with `moot debate new`"),
        Rule("BNC-164", "invalid_session", "this is not the beginning of a session",
             checks.not_a_new_session, "`moot debate check FILE` says what to mend"),
        _NAME, _SHA,
    ),
    ask.Add: (
        _BEGUN, _STEP, _SHA, _ENTRY,
        Rule("A-66", "not_you", "an entry is signed by its author",
             checks.not_signed_by_its_author, "let its author do it, with its own key",
             requirement="BNC-165"),
        Rule("BNC-122", "human_key_required", "only a person closes a session",
             checks.closes_without_person, "run it yourself, outside of `moot run`"),
        Rule("BNC-107", "misplaced", "turn and round do not follow the last entry",
             checks.wrong_round_or_turn, "`moot debate add` counts them"),
    ),
    ask.Observe: (
        _BEGUN, _STEP, _SHA,
        Rule("BNC-067", "nothing_said", "the text ends with neither an entry nor a mark",
             checks.neither_entry_nor_mark, "observe up to a marker of the protocol"),
    ),
    ask.Escalate: (
        _BEGUN, _STEP, _SHA, _ENTRY, _OPERATOR,
        Rule("BNC-145", "too_early", "the turn's time is not over", checks.policy_not_due,
             "`moot debate status FILE` says until when"),
        Rule("BNC-146", "not_a_placeholder", "the policy writes in a silent agent's place only",
             checks.not_a_placeholder, "`moot debate tick FILE` writes it"),
        Rule("BNC-146", "not_allowed", "only the machine says how a call ended",
             checks.failure_told_by_person, "`moot debate resume FILE --skip` passes over a turn"),
    ),
    ask.Resume: (
        _BEGUN, _STEP, _SHA, _OPERATOR, _LATE,
        Rule("BNC-051", "no_mark", "the text holds no operator's mark", checks.no_operator_mark,
             "`moot debate resume FILE --late` writes it"),
    ),
    ask.AddContext: (
        _BEGUN, _SHA, _OPERATOR,
        Rule("BNC-062", "not_in_context", "context is added above the dialogue",
             checks.beyond_preamble, "`moot debate add-context FILE` finds the place"),
        Rule("BNC-062", "no_subsection", "what is added is a ### subsection", checks.no_subsection,
             "begin it with `### TITLE`"),
    ),
    ask.Sign: (
        _BEGUN,
        Rule("A-66", "nothing_to_sign", "no such entry waits for its author's signature",
             checks.not_waiting_for_signature,
             "`moot debate verify FILE` lists what is only observed", requirement="BNC-008"),
        Rule("A-66", "not_you", "an entry is signed by its author", checks.not_its_author,
             "let its author do it, with its own key", requirement="BNC-008"),
    ),
    ask.NoteTimeout: (
        _BEGUN, _MACHINE, _LATE,
        Rule("BNC-168", "noted_already", "this timeout is on record", checks.timeout_noted_already,
             "nothing is left to do"),
    ),
    ask.Move: (
        _BEGUN, _NAME,
    ),
}  # fmt: skip


def find_breaches(case: DebateCase[C]) -> tuple[Finding, ...]:
    """Every breach; whether it is the author's turn is asked only of an entry that may stand."""
    breaches = check_all(RULES[type(case.command)], case)
    check_further = _FURTHER.get(type(case.command))
    return breaches if breaches or check_further is None else tuple(check_further(case))


def keeps_file_rules(case: DebateCase[ask.Observe]) -> bool:
    """Does an entry that was found in the file keep the rules whose breach makes it invalid?"""
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
    """The errors that the file's own rules find in this entry, taken by itself."""
    if piece is None:
        return ()
    known = KnownSettings(rules.agents, rules.output_format is OutputFormat.STRUCTURED, rules)
    seen = FileCase(piece.document, known)
    return select_errors(check_all(rules_for_entry(entry, seen), EntryCase(entry, seen)))


def _check_own_entry(case: DebateCase[ask.Add]) -> Iterator[Finding]:
    """What the file's own rules say of an entry that its author asks to be recorded."""
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
    no = find_obstacle(course, entry.author, case.context.now, case.command.after_end)
    if no is not None:  # the engine's refusal has the code of its finding
        replace = msgspec.structs.replace
        yield from (replace(finding, code=no.code, where=entry.id) for finding in no.findings)


_FURTHER: Final[dict[type[Command], Callable[[DebateCase[Any]], Iterator[Finding]]]] = {
    ask.Add: _check_own_entry
}
