"""The rules of a session's record: which piece may come next, and under whose key.

They repeat nothing of the file's own rules: whose turn it is, and what an entry must say, are
asked of `turns.py`, `writer.py` and the rows of `rules.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from moot.core.errors import Refused
from moot.core.findings import Finding, Rule, Severity, check_all
from moot.core.machine import Command, Context, KeyClass
from moot.core.names import SYSTEM
from moot.debate import commands as ask
from moot.debate.course import Course, is_closing, is_placeholder
from moot.debate.escalation import silent
from moot.debate.filechecks import Seen
from moot.debate.model import Entry, OutputFormat, Rules, is_uuid
from moot.debate.norms import find_all
from moot.debate.pieces import Said, read_piece
from moot.debate.reader import read
from moot.debate.rules import ENTRY
from moot.debate.schema import Known, read_known
from moot.debate.sequence import Remark
from moot.debate.state import State, course, walk_from
from moot.debate.turns import next_place, standing
from moot.debate.writer import require_turn

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


_BEGUN: Final = Rule(
    "BNC-119", "session_unknown", "nothing is recorded of this session", unknown,
    hint="any writing `moot debate` command on its file records it",
)  # fmt: skip
_STEP: Final = Rule(
    "BNC-098", "out_of_step", "a piece begins where the record ends", out_of_step,
    hint="`moot debate verify FILE` says how file and record differ",
)  # fmt: skip
_SHA: Final = Rule(
    "BNC-005", "bad_digest", "a digest is 64 lower-case hex digits", bad_digest,
    hint="give the SHA-256 of the file up to the end of the piece",
)  # fmt: skip
_ENTRY: Final = Rule(
    "BNC-067", "not_an_entry", "the text must end with one whole entry", no_entry,
    hint="one entry, with its <!-- yield --> as the last line",
)  # fmt: skip
_OPERATOR: Final = Rule(
    "BNC-051", "human_key_required", "this is the operator's act", not_the_operator,
    hint="run it yourself, outside of `moot run`",
)  # fmt: skip
_MACHINE: Final = Rule(
    "BNC-168", "not_allowed", "only the machine itself does this", not_the_machine,
    hint="`moot debate tick FILE` lets it",
)  # fmt: skip
_LATE: Final = Rule(
    "BNC-145", "too_early", "the turn's time is not over", not_late,
    hint="`moot debate status FILE` says until when",
)  # fmt: skip

RULES: Final[dict[type[Command], tuple[Rule[Asked], ...]]] = {
    ask.Begin: (
        Rule(
            "BNC-026", "session_known", "this session is recorded already", known_already,
            hint="one session, one file: begin another with `moot debate new`",
        ),
        Rule(
            "BNC-164", "invalid_session", "this is not the beginning of a session", no_session,
            hint="`moot debate check FILE` says what to mend",
        ),
        Rule("BNC-004", "name_required", "a session has a file", no_name, hint="name its file"),
        _SHA,
    ),
    ask.Add: (
        _BEGUN, _STEP, _SHA, _ENTRY,
        Rule(
            "A-66", "not_you", "an entry is signed by its author", someone_elses,
            hint="use --as NAME with its own key",
        ),
        Rule(
            "BNC-107", "misplaced", "turn and round do not follow the last entry", misplaced,
            hint="`moot debate add` counts them",
        ),
    ),
    ask.Observe: (
        _BEGUN, _STEP, _SHA,
        Rule(
            "BNC-067", "nothing_said", "the text ends with neither an entry nor a mark",
            neither_entry_nor_mark, hint="observe up to a marker of the protocol",
        ),
    ),
    ask.Escalate: (
        _BEGUN, _STEP, _SHA, _ENTRY, _OPERATOR,
        Rule(
            "BNC-145", "too_early", "the turn's time is not over", policy_at_rest,
            hint="`moot debate status FILE` says until when",
        ),
        Rule(
            "BNC-146", "not_a_placeholder", "the policy writes in a silent agent's place only",
            not_a_placeholder, hint="`moot debate tick FILE` writes it",
        ),
    ),
    ask.Resume: (
        _BEGUN, _STEP, _SHA, _OPERATOR, _LATE,
        Rule(
            "BNC-051", "no_mark", "the text holds no operator's mark", no_mark,
            hint="`moot debate resume FILE --late` writes it",
        ),
    ),
    ask.AddContext: (
        _BEGUN, _SHA, _OPERATOR,
        Rule(
            "BNC-062", "not_in_context", "context is added above the dialogue", beyond_preamble,
            hint="`moot debate add-context FILE` finds the place",
        ),
        Rule(
            "BNC-062", "no_subsection", "what is added is a ### subsection", no_subsection,
            hint="begin it with `### TITLE`",
        ),
    ),
    ask.Sign: (
        _BEGUN,
        Rule(
            "A-66", "nothing_to_sign", "no such entry waits for its author's signature",
            not_unsigned, hint="`moot debate verify FILE` lists what is only observed",
        ),
        Rule(
            "A-66", "not_you", "an entry is signed by its author", not_its_author,
            hint="use --as NAME with its own key",
        ),
    ),
    ask.NoteTimeout: (
        _BEGUN, _MACHINE, _LATE,
        Rule(
            "BNC-168", "noted_already", "this timeout is on record", noted_already,
            hint="nothing is left to do",
        ),
    ),
    ask.Move: (
        _BEGUN, Rule("BNC-004", "name_required", "a session has a file", no_name, hint="name it"),
    ),
}  # fmt: skip


def findings(asked: Asked) -> tuple[Finding, ...]:
    """Every breach; whether it is the author's turn is asked only of an entry that may stand."""
    found = check_all(RULES[type(asked.command)], asked)
    more = _MORE.get(type(asked.command))
    return found if found or more is None else tuple(more(asked))


def is_sound(asked: Asked) -> bool:
    """Does an entry that was found keep the rules whose breach makes the file invalid?"""
    entry, rules = asked.entry, asked.state.rules
    if entry is None or rules is None or asked.command.double:
        return True
    walk = walk_from(asked.state, rules, rejects=False)
    walk.take(entry)
    latest = asked.state.latest
    place = (entry.round or 0, entry.turn or 0)
    back = entry.author in rules.agents and place < (latest.number, latest.last_turn)
    wrong = any(remark.kind in _GRAVE for remark in walk.remarks)
    return not (back or wrong or _flaws(asked, entry, rules))


_GRAVE: Final = {Remark.UNKNOWN_AGENT, Remark.TOO_MANY_TURNS, Remark.BEYOND_LAST_ROUND}


def _flaws(asked: Asked, entry: Entry, rules: Rules) -> list[Finding]:
    """What is wrong with an entry by itself."""
    if asked.said is None:
        return []
    known = Known(rules.agents, rules.output_format is OutputFormat.STRUCTURED, rules)
    seen = Seen(asked.said.document, known)
    return [one for one in find_all(ENTRY, entry, seen) if one.severity is Severity.ERROR]


def _own_entry(asked: Asked) -> Iterator[Finding]:
    """What the file's own rules say of an entry that its author asks to be recorded."""
    entry, course = asked.entry, asked.course
    if entry is None or course is None:
        return
    yield from _flaws(asked, entry, course.rules)
    if is_closing(entry, course.rules) and entry.author == SYSTEM:
        if course.phase.ended:
            said = f"the session has ended ({course.phase.value})"
            yield Finding(rule="R18", code="session_ended", message=said, hint="begin a new one")
        return
    try:
        require_turn(course, entry.author, asked.context.now, asked.command.after_end)
    except Refused as refused:
        yield Finding(
            rule="BNC-166", code=refused.code, message=str(refused), where=entry.id,
            hint=refused.hint,
        )  # fmt: skip


_MORE: Final[dict[type[Command], Callable[[Asked], Iterator[Finding]]]] = {ask.Add: _own_entry}
