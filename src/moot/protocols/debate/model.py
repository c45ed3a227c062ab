"""The nouns of a debate: what a session file says, as it stands, with its line numbers.

Nothing here judges. A `SessionDocument` has everything that the reader saw, well-formed or not;
`Rules` are the settings of the Protocol Rules section if all of them are valid. BNC-011: one
`SessionDocument` is one file is one session. BNC-017: stance, confidence, consensus mode,
escalation and everything else that the document names are values of this model.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum, auto
from typing import Final

import msgspec

from moot.core.clock import SECOND, Millis
from moot.core.markdown import BYTE_ORDER_MARK


class Stance(StrEnum):
    APPROVE = "approve"
    REJECT = "reject"
    NEUTRAL = "neutral"
    DEFER = "defer"


class EntryStatus(StrEnum):
    """The status that an entry states; only the marker decides whether it is complete (4.6)."""

    OPEN = "open"
    IN_PROGRESS = "in_progress"
    CLOSED = "closed"
    YIELD = "yield"


class TurnOrder(StrEnum):
    ROUND_ROBIN = "round-robin"
    FREE_FORM = "free-form"
    SUPERVISED = "supervised"


class ConsensusMode(StrEnum):
    MAJORITY = "majority"
    WEIGHTED = "weighted"
    UNANIMOUS = "unanimous"


class Escalation(StrEnum):
    HUMAN = "human"
    DEFAULT_ACTION = "default-action"
    TIMEOUT_SKIP = "timeout-skip"


class OutputFormat(StrEnum):
    STRUCTURED = "structured"
    FREE_TEXT = "free-text"


FIELDS: Final = ("stance", "confidence", "summary", "action_requested", "evidence")
HEADER_KEYS: Final = ("bounce-protocol", "created", "session-id")
SECTIONS: Final = ("Protocol Rules", "Context", "Dialogue")
TITLE_PREFIX: Final = "Bounce Session:"
YIELD_MARKER: Final = "<!-- yield -->"
# R18: these two may speak after the end, though no list names them.
SPEAKERS_AFTER_END: Final = frozenset({"judge", "system"})


class DefaultAction(StrEnum):
    """The stance of the entry for a silent agent: silence never approves (A-57)."""

    NEUTRAL = "neutral"
    REJECT = "reject"
    DEFER = "defer"


class Rules(msgspec.Struct, frozen=True):
    """The nine settings of a session, all of them sound, and four options of ours (D-15).

    The defaults are those of a new session; a file has none (A-43).
    """

    agents: tuple[str, ...]  # BNC-012: a person or a tool is listed like any model
    turn_order: TurnOrder = TurnOrder.ROUND_ROBIN
    max_turns_per_round: int = 1  # BNC-043
    turn_timeout: int = 300
    consensus_threshold: Decimal = Decimal("0.7")
    consensus_mode: ConsensusMode = ConsensusMode.MAJORITY
    escalation: Escalation = Escalation.HUMAN
    max_rounds: int = 5
    output_format: OutputFormat = OutputFormat.STRUCTURED
    defer_in_denominator: bool = False
    supervisor_only: bool = False
    default_action: DefaultAction = DefaultAction.NEUTRAL
    people: tuple[str, ...] = ()  # agents that are people, though no `human` begins their names

    @property
    def supervisor(self) -> str:
        return self.agents[0]


# What the reader saw -----------------------------------------------------------------------------


class OddityKind(StrEnum):
    """What is unusual about a place in the file; the rule tables give the severity."""

    ENCODING = auto()
    LONE_CR = auto()
    CRLF = auto()
    BYTE_ORDER_MARK = auto()
    TEXT_BEFORE_TITLE = auto()
    EXTRA_HEADING = auto()
    STRAY_TEXT = auto()
    MULTILINE_COMMENT = auto()
    COMMENT_FORM = auto()
    TRAILING_SPACE = auto()
    BLANK_IN_HEAD = auto()
    NO_BLANK_LINE = auto()
    LONG_SUMMARY = auto()
    HEADING_IN_BODY = auto()
    SETEXT_IN_BODY = auto()
    UNCLOSED_BLOCK = auto()
    BAD_POSITION = auto()
    BAD_STATUS_LINE = auto()


class Oddity(msgspec.Struct, frozen=True, gc=False):
    kind: OddityKind
    line: int
    text: str = ""


class HeaderLine(msgspec.Struct, frozen=True, gc=False):
    """A comment above the title; `exact` means the one form that 3.1 allows."""

    key: str
    value: str
    line: int
    exact: bool


class SectionSpan(msgspec.Struct, frozen=True, gc=False):
    """A level-2 heading outside of entries; its text is `text[start:end]`."""

    name: str
    line: int
    start: int
    end: int


class TextValue(msgspec.Struct, frozen=True, gc=False):
    text: str
    line: int
    quoted: bool = False


class Setting(msgspec.Struct, frozen=True, gc=False):
    """A key of the rules block with one value, a list of them, or neither."""

    key: str
    line: int
    value: TextValue | None = None
    items: tuple[TextValue, ...] | None = None


class SettingsBlock(msgspec.Struct, frozen=True):
    """The rules block; `unread` are the lines of it that are outside the YAML we accept.

    `comments` are the `<!-- key: value -->` lines of its section, which may hold options.
    """

    line: int
    settings: tuple[Setting, ...] = ()
    unread: tuple[TextValue, ...] = ()
    comments: tuple[Setting, ...] = ()

    def get(self, key: str) -> Setting | None:
        return next((setting for setting in self.settings if setting.key == key), None)


class CommentMark(msgspec.Struct, frozen=True, gc=False):
    """A comment between entries, such as an operator's `operator-resume: TIME`.

    `after` is how many entries are above it, `end` where its line ends.
    """

    key: str
    value: str
    line: int
    after: int
    end: int


class EntryField(msgspec.Struct, frozen=True, gc=False):
    name: str
    value: str
    line: int


class DebateEntry(msgspec.Struct, frozen=True, gc=False):
    """One contribution, as written; `text[start:end]` of the document is all of it.

    What could not be read is empty or None, and an oddity says where.
    """

    index: int
    line: int
    start: int
    end: int
    id: str
    turn: int | None
    round: int | None
    at: str
    author: str
    status: str
    fields: tuple[EntryField, ...]
    body: str
    body_line: int
    yielded: bool
    has_head: bool = True
    oddities: tuple[Oddity, ...] = ()

    def find_field(self, name: str) -> EntryField | None:
        """Return the first field of this name."""
        for field in self.fields:
            if field.name == name:
                return field
        return None

    def field_value(self, name: str) -> str:
        """Return the value of this field; empty if the entry has none of this name."""
        field = self.find_field(name)
        return field.value if field else ""

    @property
    def stance(self) -> Stance | None:
        return STANCES.get(self.field_value("stance"))

    @property
    def confidence(self) -> Decimal | None:
        return parse_confidence(self.field_value("confidence"))

    @property
    def at_millis(self) -> Millis | None:
        return parse_time(self.at)

    @property
    def latest_millis(self) -> Millis | None:
        """The last moment that its time can mean: `10:00:05` is any moment of that second."""
        first = self.at_millis
        written = _TIME.fullmatch(self.at)
        if first is None or written is None or written[2]:
            return first
        return first + (SECOND if written[1] else 60 * SECOND) - 1


class SessionDocument(msgspec.Struct, frozen=True):
    """A session file as it was read. `text` is without its byte order mark."""

    text: str
    header: tuple[HeaderLine, ...] = ()
    title: TextValue | None = None
    sections: tuple[SectionSpan, ...] = ()
    settings: SettingsBlock | None = None
    entries: tuple[DebateEntry, ...] = ()
    marks: tuple[CommentMark, ...] = ()
    oddities: tuple[Oddity, ...] = ()

    def header_value(self, key: str) -> str:
        """Return the value of a header line, or nothing."""
        return next((line.value for line in self.header if line.key == key), "")

    def find_entry(self, id_: str) -> DebateEntry | None:
        """BNC-069: return the entry with this id, the first one if there are two (R7)."""
        return next((entry for entry in self.entries if entry.id == id_), None)

    def find_section(self, name: str) -> SectionSpan | None:
        return next((section for section in self.sections if section.name == name), None)

    def section_text(self, name: str) -> str:
        section = self.find_section(name)
        return self.text[section.start : section.end] if section else ""

    @property
    def byte_order_mark(self) -> str:
        """The byte order mark, if the file began with one."""
        marked = any(oddity.kind is OddityKind.BYTE_ORDER_MARK for oddity in self.oddities)
        return BYTE_ORDER_MARK if marked else ""

    @property
    def session_id(self) -> str:
        return self.header_value("session-id")

    @property
    def name(self) -> str:
        """What the debate is about: the title after its fixed words. BNC-031: any words will do."""
        title = self.title.text if self.title else ""
        return title.removeprefix(TITLE_PREFIX).strip() if title.startswith(TITLE_PREFIX) else ""

    @property
    def minor_version(self) -> int:
        """The Y of version 0.Y; 1 where the header does not say."""
        version = VERSION_PATTERN.fullmatch(self.header_value("bounce-protocol"))
        return int(version[2]) if version else 1


# Values from their text --------------------------------------------------------------------------

STANCES: Final = {stance.value: stance for stance in Stance}
VERSION_PATTERN: Final = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")
UUID_PATTERN: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
UUID_V4_PATTERN: Final = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
)
NIL_UUID: Final = "00000000-0000-0000-0000-000000000000"
# digits with an optional fraction. Thirty digits are more than any judgement needs, and a
# bound keeps the arithmetic cheap whatever a file says.
DECIMAL_PATTERN: Final = re.compile(r"[0-9]{1,30}(\.[0-9]{1,30})?")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,9})?)?"
    r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_NOT_APPLICABLE = "n/a"


def is_uuid(text: str) -> bool:
    """BNC-025, BNC-028: a lower-case UUID, not nil; its version is another question (A-01)."""
    return UUID_PATTERN.fullmatch(text) is not None and text != NIL_UUID


def parse_confidence(text: str) -> Decimal | None:
    """BNC-082: a number from 0 to 1, exactly as written, or None."""
    if not DECIMAL_PATTERN.fullmatch(text):
        return None
    value = Decimal(text)
    return value if value <= 1 else None


def parse_time(text: str) -> Millis | None:
    """BNC-023: an ISO-8601 date and time with its zone, or None."""
    if not _TIME.fullmatch(text):
        return None
    try:
        return (datetime.fromisoformat(text) - _EPOCH) // _MILLISECOND
    except (ValueError, OverflowError):
        return None


def is_not_applicable(text: str) -> bool:
    """BNC-086: `n/a`, in capitals too, says that there is none (A-69)."""
    return text.strip().lower() == _NOT_APPLICABLE


def split_evidence(text: str) -> tuple[str, ...]:
    """BNC-088: a comma and a space divide; a bare comma too, but not inside an address (A-64)."""
    if not text.strip() or is_not_applicable(text):
        return ()
    items = (item for part in re.split(r",[ \t]+", text) for item in _split_at_bare_commas(part))
    return tuple(item.strip(" ,") for item in items if item.strip(" ,"))


def _split_at_bare_commas(part: str) -> list[str]:
    return [part] if "://" in part else part.split(",")
