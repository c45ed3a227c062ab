"""The ten message types as data: when an ACK is owed, which sections a body has, what they ask.

Everything that depends on a type is read from `TYPES`: templates, the linter's tables, the writers
of bodies, the ACK table. `SectionNeed` follows the document: Required is an error when missing,
Recommended a warning; the other sections belong to the template only.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec


class MessageType(StrEnum):
    """What the subject's prefix says a message is: ten types (BRN-004)."""

    KICKOFF = "KICKOFF"
    DELTA = "DELTA"
    COMPILED = "COMPILED"
    CRITIQUE = "CRITIQUE"
    ACK = "ACK"
    CLAIM = "CLAIM"
    HANDOFF = "HANDOFF"
    BLOCKED = "BLOCKED"
    QUESTION = "QUESTION"
    INFO = "INFO"


class SectionNeed(StrEnum):
    """How much a section is wanted."""

    REQUIRED = "required"
    RECOMMENDED = "recommended"
    OPTIONAL = "optional"


class AckStatus(StrEnum):
    """What an ACK says has happened (BRN-036); `COMPLETED` closes HANDOFF, BLOCKED, QUESTION."""

    RECEIVED = "Received"
    UNDERSTOOD = "Understood"
    WILL_ACTION = "Will Action"
    COMPLETED = "Completed"


class SectionSpec(msgspec.Struct, frozen=True):
    """One `## Heading` of a type: `note` stands behind it in a template, `prompt` below it."""

    heading: str
    need: SectionNeed
    prompt: str
    note: str = ""
    choices: tuple[str, ...] = ()


class TypeSpec(msgspec.Struct, frozen=True):
    """One type: its ACK rule, what it is for, its subject and title, its sections in order."""

    type: MessageType
    ack_required: bool
    purpose: str
    subject: str
    title: str
    sections: tuple[SectionSpec, ...]
    prose: str = ""

    def find_section(self, heading: str) -> SectionSpec | None:
        """The section of this name, whatever the case."""
        wanted = heading.casefold()
        matching = (spec for spec in self.sections if spec.heading.casefold() == wanted)
        return next(matching, None)


_MUST, _SHOULD, _MAY = SectionNeed.REQUIRED, SectionNeed.RECOMMENDED, SectionNeed.OPTIONAL
_OPTIONAL = "(optional)"
STATISTICS = ("Hypotheses", "Predictions", "Tests", "Assumptions", "Anomalies", "Critiques")

_ALL = (
    TypeSpec(  # BRN-006 its subject, BRN-007 its ACK, BRN-008 its sections
        MessageType.KICKOFF,
        True,
        "start a research session or a piece of work",
        "KICKOFF: {what it is about}",
        "{Title of the session or the work}",
        (
            SectionSpec("Research Question", _MUST, "{The problem in one sentence}"),
            SectionSpec("Context", _MUST, "{What one has to know, in 2 to 4 sentences}"),
            SectionSpec("Excerpt", _SHOULD, "{The passages this rests on, cited as §n}"),
            SectionSpec("Initial Hypotheses", _MAY, "{First guesses, to be refined}", _OPTIONAL),
            SectionSpec("Constraints", _MAY, "{Limits of time, scope and focus}", _OPTIONAL),
            SectionSpec("Requested Outputs", _MAY, "{What shall be delivered}"),
        ),
    ),
    TypeSpec(  # BRN-015 its subject, BRN-016 no ACK, BRN-017 its parts
        MessageType.DELTA,
        False,
        "contribute to a research artifact",
        "DELTA[{role}]: {what it adds or changes}",
        "Delta Contribution",
        (SectionSpec("Deltas", _MAY, ""),),
        prose="{What this contributes, in a few words; may be left away}",
    ),
    TypeSpec(  # BRN-022 its subject, BRN-023 no ACK, BRN-024 its sections
        MessageType.COMPILED,
        False,
        "post the merged artifact",
        "COMPILED: v{N} {what is new}",
        "Compiled Artifact v{N}",
        (
            SectionSpec("Summary", _MAY, "{What changed in this version}"),
            SectionSpec("Contributors", _MUST, "{Whose deltas were merged, one name a line}"),
            SectionSpec(
                "Statistics", _SHOULD, "\n".join(f"- {kind}: {{N}}" for kind in STATISTICS)
            ),
            SectionSpec("Validation Status", _MAY, "{What the checks found}"),
            SectionSpec("Full Artifact", _MAY, "{The artifact, or a link to it}"),
        ),
    ),
    TypeSpec(  # BRN-030 its subject, BRN-031 its ACK, BRN-032 its sections
        MessageType.CRITIQUE,
        True,
        "attack the current state of an artifact",
        "CRITIQUE: {what is wrong}",
        "Critique: {Title}",
        (
            SectionSpec("Target", _MUST, "{What is attacked: an artifact, a section, H2, ...}"),
            SectionSpec("Attack", _MUST, "{The objection itself}"),
            SectionSpec("Evidence", _MAY, "{Why it deserves an answer}"),
            SectionSpec("Proposed Resolution", _MAY, "{A way to settle it}", _OPTIONAL),
            SectionSpec(
                "Severity",
                _SHOULD,
                "{Critical | Major | Minor}",
                choices=("Critical", "Major", "Minor"),
            ),
        ),
    ),
    TypeSpec(  # BRN-037 its subject, BRN-038 no ACK, BRN-039 its sections
        MessageType.ACK,
        False,
        "confirm that a message was received, understood or done",
        "ACK: {the subject that is answered}",
        "Acknowledgement",
        (
            SectionSpec("Message ID", _SHOULD, "{Id of the message that is answered}"),
            SectionSpec(
                "Status",
                _MUST,
                "{Received | Understood | Will Action | Completed}",
                choices=tuple(status.value for status in AckStatus),
            ),
            SectionSpec("Notes", _MAY, "{An answer, or anything else}", _OPTIONAL),
        ),
    ),
    TypeSpec(  # BRN-043 its subject, BRN-044 no ACK, BRN-045 its sections
        MessageType.CLAIM,
        False,
        "say that you take a piece of work",
        "CLAIM: {work id or task}",
        "Work Claim",
        (
            SectionSpec("Item", _MUST, "{Work id, or the task in words}"),
            SectionSpec("Agent", _MUST, "{Name of the agent that takes it}"),
            SectionSpec("Estimated Duration", _MAY, "{When it should be done}", _OPTIONAL),
            SectionSpec("Approach", _MAY, "{How it will be done}", _OPTIONAL),
        ),
    ),
    TypeSpec(  # BRN-048 its subject, BRN-050 its ACK, BRN-051 its sections
        MessageType.HANDOFF,
        True,
        "pass work on to another agent",
        "HANDOFF: {work id or task} to {agent}",
        "Work Handoff",
        (
            SectionSpec("Item", _MUST, "{Work id or task that is passed on}"),
            SectionSpec("From", _MUST, "{Agent that gives it}"),
            SectionSpec("To", _MUST, "{Agent that takes it}"),
            SectionSpec("Reason", _MAY, "{Why it changes hands}"),
            SectionSpec("State", _SHOULD, "{How far it is}"),
            SectionSpec("Files Modified", _MAY, "{Files touched so far}"),
            SectionSpec("Next Steps", _MAY, "{What to do next}"),
        ),
    ),
    TypeSpec(  # BRN-055 its subject, BRN-057 its ACK, BRN-058 its sections
        MessageType.BLOCKED,
        True,
        "report what keeps a task from going on",
        "BLOCKED: {work id or task}",
        "Work Blocked",
        (
            SectionSpec("Item", _MUST, "{Work id or task that cannot go on}"),
            SectionSpec("Blocker", _MUST, "{What is in the way}"),
            SectionSpec(
                "Type",
                _SHOULD,
                "{Dependency | Question | Resource | External}",
                choices=("Dependency", "Question", "Resource", "External"),
            ),
            SectionSpec("Attempted", _MAY, "{What was tried already}"),
            SectionSpec("Needed", _MAY, "{What would help}"),
        ),
    ),
    TypeSpec(  # BRN-063 its subject, BRN-065 its ACK, BRN-066 its sections
        MessageType.QUESTION,
        True,
        "ask for clarification or input",
        "QUESTION: {the question in short}",
        "Question",
        (
            SectionSpec("Context", _MAY, "{What one has to know to answer}"),
            SectionSpec("Question", _MUST, "{The question itself}"),
            SectionSpec("Options", _MAY, "{Answers that come to mind}", "(if applicable)"),
            SectionSpec("Impact", _MAY, "{What depends on the answer}"),
            SectionSpec(
                "Urgency",
                _SHOULD,
                "{Blocking | Soon | Whenever}",
                choices=("Blocking", "Soon", "Whenever"),
            ),
        ),
    ),
    TypeSpec(  # BRN-070 anything, BRN-071 no ACK, BRN-072 nobody has to act
        MessageType.INFO,
        False,
        "tell something that asks for nothing",
        "INFO: {summary}",
        "Information",
        (),
        prose="{Anything, in markdown}",
    ),
)
TYPES: dict[MessageType, TypeSpec] = {spec.type: spec for spec in _ALL}


def is_ack_owed(kind: MessageType) -> bool:
    """True if a message of this type is owed an ACK: the document's table (BRN-002, BRN-073)."""
    return TYPES[kind].ack_required
