"""The ten message types as data: when an ACK is owed, which sections a body has, what they ask.

A new type is a member of `MessageType` and a row of `TYPES`, both here. Other modules read from the
row: subject prefixes, templates, the linter's rules for sections, agents and the ACK flag, bodies
from one line, what a receiver owes and what ends it, and the lists of types in help texts. Code for
a single type is in `checks.py`, `delta_checks.py` and `body.py`.

`SectionNeed` follows the document: Required is an error when missing, Recommended a warning; the
other sections belong to the template only.
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
    """Whether a section may be missing."""

    REQUIRED = "required"
    RECOMMENDED = "recommended"
    OPTIONAL = "optional"


class AckStatus(StrEnum):
    """What an ACK says has happened (BRN-036); `COMPLETED` closes HANDOFF, BLOCKED, QUESTION."""

    ACK = "Received"
    UNDERSTOOD = "Understood"
    WILL_ACTION = "Will Action"
    COMPLETED = "Completed"


class SectionRule(msgspec.Struct, frozen=True):
    """The rule about one section; its severity follows from the section's need."""

    id: str
    code: str
    requirement: str
    hint: str = ""  # a section with choices needs none: it lists them


class SectionSpec(msgspec.Struct, frozen=True):
    """One `## Heading` of a type: a template has `note` after it and `prompt` below it.

    `names` is `agent` or `item` if the section names one; the linter then looks it up.
    """

    heading: str
    need: SectionNeed
    prompt: str
    note: str = ""
    choices: tuple[str, ...] = ()
    rule: SectionRule | None = None
    names: str = ""


class TypeSpec(msgspec.Struct, frozen=True):
    """One type: its ACK rule, what it is for, its subject and title, its sections in order.

    `one_line` is how one line becomes a body: text by heading (no heading: below the title), with
    `{line}` and `{sender}` replaced. `duty` is what a receiver owes; if `needs_completion`, only an
    ACK that says Completed ends it. `ack_rule` and its requirements replace the usual rule's.
    """

    type: MessageType
    ack_required: bool
    purpose: str
    subject: str
    title: str
    sections: tuple[SectionSpec, ...]
    prose: str = ""
    ack_rule: str = ""
    ack_requirements: tuple[str, ...] = ()
    duty: str = "acknowledge"
    needs_completion: bool = False
    answered_in_words: bool = False
    one_line: dict[str, str] = {}

    @property
    def prefix(self) -> str:
        """The subject's part before the colon, such as `DELTA[role]`."""
        return self.subject.partition(":")[0].replace("{", "").replace("}", "")

    def find_section(self, heading: str) -> SectionSpec | None:
        """Return the section of this name, whatever the case."""
        wanted = heading.casefold()
        matching = (spec for spec in self.sections if spec.heading.casefold() == wanted)
        return next(matching, None)


_MUST, _SHOULD, _MAY = SectionNeed.REQUIRED, SectionNeed.RECOMMENDED, SectionNeed.OPTIONAL
_OPTIONAL = "(optional)"
STATISTICS = ("Hypotheses", "Predictions", "Tests", "Assumptions", "Anomalies", "Critiques")

_HANDOFF_AGENTS = SectionRule(
    "MB-008",
    "missing_handoff_agents",
    "BRN-053",
    "one agent's name under each of `## From` and `## To`",
)
_ALL = (
    TypeSpec(  # BRN-006 its subject, BRN-007 its ACK, BRN-008 its sections
        MessageType.KICKOFF, True, "start a research session or a piece of work",
        "KICKOFF: {what it is about}", "{Title of the session or the work}",
        (
            SectionSpec("Research Question", _MUST, "{The problem in one sentence}",
                        rule=SectionRule("MB-002", "missing_research_question", "BRN-009",
                                         "write it as `# Title` or under `## Research Question`")),
            SectionSpec("Context", _MUST, "{What one has to know, in 2 to 4 sentences}",
                        rule=SectionRule("MB-003", "missing_context", "BRN-010",
                                         "say under `## Context` what one has to know")),
            SectionSpec("Excerpt", _SHOULD, "{The passages this rests on, cited as §n}",
                        rule=SectionRule("MBX-020", "no_excerpt", "BRN-011",
                                         "quote what this rests on, such as: §42")),
            SectionSpec("Initial Hypotheses", _MAY, "{First guesses, to be refined}", _OPTIONAL),
            SectionSpec("Constraints", _MAY, "{Limits of time, scope and focus}", _OPTIONAL),
            SectionSpec("Requested Outputs", _MAY, "{What shall be delivered}"),
        ),
        ack_rule="MB-010", ack_requirements=("BRN-007", "BRN-014"), duty="confirm the start",
    ),
    TypeSpec(  # BRN-015 its subject, BRN-016 no ACK, BRN-017 its parts
        MessageType.DELTA, False, "contribute to a research artifact",
        "DELTA[{role}]: {what it adds or changes}", "Delta Contribution",
        (SectionSpec("Deltas", _MAY, ""),),
        prose="{What this contributes, in a few words; may be left out}",
        ack_requirements=("BRN-016",),
    ),
    TypeSpec(  # BRN-022 its subject, BRN-023 no ACK, BRN-024 its sections
        MessageType.COMPILED, False, "post the merged artifact", "COMPILED: v{N} {what is new}",
        "Compiled Artifact v{N}",
        (
            SectionSpec("Summary", _MAY, "{What changed in this version}"),
            SectionSpec("Contributors", _MUST, "{Whose deltas were merged, one name a line}",
                        rule=SectionRule("MBX-041", "no_contributors", "BRN-028",
                                         "list under `## Contributors` whose deltas were merged")),
            SectionSpec("Statistics", _SHOULD,
                        "\n".join(f"- {kind}: {{N}}" for kind in STATISTICS),
                        rule=SectionRule("MBX-042", "no_statistics", "BRN-029",
                                         "such as `- Hypotheses: 3`")),
            SectionSpec("Validation Status", _MAY, "{What the checks found}"),
            SectionSpec("Full Artifact", _MAY, "{The artifact, or a link to it}"),
        ),
        ack_requirements=("BRN-023",),
    ),
    TypeSpec(  # BRN-030 its subject, BRN-031 its ACK, BRN-032 its sections
        MessageType.CRITIQUE, True, "attack the current state of an artifact",
        "CRITIQUE: {what is wrong}", "Critique: {Title}",
        (
            SectionSpec("Target", _MUST, "{What is attacked: an artifact, a section, H2, ...}",
                        rule=SectionRule("MB-006", "missing_target", "BRN-033",
                                         "name under `## Target` what is attacked")),
            SectionSpec("Attack", _MUST, "{The objection itself}",
                        rule=SectionRule("MB-007", "missing_attack", "BRN-034",
                                         "put the objection under `## Attack`")),
            SectionSpec("Evidence", _MAY, "{Why it deserves an answer}"),
            SectionSpec("Proposed Resolution", _MAY, "{A way to settle it}", _OPTIONAL),
            SectionSpec("Severity", _SHOULD, "{Critical | Major | Minor}",
                        choices=("Critical", "Major", "Minor"),
                        rule=SectionRule("MBX-050", "no_severity", "BRN-035")),
        ),
        ack_requirements=("BRN-031",), duty="answer the critique",
    ),
    TypeSpec(  # BRN-037 its subject, BRN-038 no ACK, BRN-039 its sections
        MessageType.ACK, False, "confirm that a message was received, understood or done",
        "ACK: {the subject that is answered}", "Acknowledgement",
        (
            SectionSpec("Message ID", _SHOULD, "{Id of the message that is answered}",
                        rule=SectionRule(
                            "MBX-061", "no_message_id", "BRN-040",
                            "`moot inbox` shows the id of the message that is answered")),
            SectionSpec("Status", _MUST, "{Received | Understood | Will Action | Completed}",
                        choices=tuple(status.value for status in AckStatus),
                        rule=SectionRule("MBX-060", "invalid_status", "BRN-041")),
            SectionSpec("Notes", _MAY, "{An answer, or anything else}", _OPTIONAL),
        ),
        ack_rule="MB-009", ack_requirements=("BRN-038", "BRN-042"),
    ),
    TypeSpec(  # BRN-043 its subject, BRN-044 no ACK, BRN-045 its sections
        MessageType.CLAIM, False, "say that you take a piece of work",
        "CLAIM: {work id or task}", "Work Claim",
        (
            SectionSpec("Item", _MUST, "{Work id, or the task in words}",
                        rule=SectionRule("MBX-070", "missing_item", "BRN-046",
                                         "name a work id or the task under `## Item`"),
                        names="item"),
            SectionSpec("Agent", _MUST, "{Name of the agent that takes it}",
                        rule=SectionRule("MBX-071", "missing_agent", "BRN-047",
                                         "put your own name under `## Agent`"),
                        names="agent"),
            SectionSpec("Estimated Duration", _MAY, "{When it should be done}", _OPTIONAL),
            SectionSpec("Approach", _MAY, "{How it will be done}", _OPTIONAL),
        ),
        ack_requirements=("BRN-044",), one_line={"Item": "{line}", "Agent": "{sender}"},
    ),
    TypeSpec(  # BRN-048 its subject, BRN-050 its ACK, BRN-051 its sections
        MessageType.HANDOFF, True, "pass work on to another agent",
        "HANDOFF: {work id or task} to {agent}", "Work Handoff",
        (
            SectionSpec("Item", _MUST, "{Work id or task that is passed on}",
                        rule=SectionRule("MBX-080", "missing_item", "BRN-052",
                                         "name what is passed on under `## Item`"),
                        names="item"),
            SectionSpec("From", _MUST, "{Agent that gives it}", rule=_HANDOFF_AGENTS,
                        names="agent"),
            SectionSpec("To", _MUST, "{Agent that takes it}", rule=_HANDOFF_AGENTS, names="agent"),
            SectionSpec("Reason", _MAY, "{Why it changes hands}"),
            SectionSpec("State", _SHOULD, "{How far it is}",
                        rule=SectionRule("MBX-081", "no_state", "BRN-054",
                                         "say under `## State` how far it is")),
            SectionSpec("Files Modified", _MAY, "{Files touched so far}"),
            SectionSpec("Next Steps", _MAY, "{What to do next}"),
        ),
        ack_requirements=("BRN-050",), duty="finish what was passed on", needs_completion=True,
    ),
    TypeSpec(  # BRN-055 its subject, BRN-057 its ACK, BRN-058 its sections
        MessageType.BLOCKED, True, "report what keeps a task from going on",
        "BLOCKED: {work id or task}", "Work Blocked",
        (
            SectionSpec("Item", _MUST, "{Work id or task that cannot go on}",
                        rule=SectionRule("MBX-090", "missing_item", "BRN-059",
                                         "name what cannot go on under `## Item`"),
                        names="item"),
            SectionSpec("Blocker", _MUST, "{What is in the way}",
                        rule=SectionRule("MBX-091", "missing_blocker", "BRN-060",
                                         "say under `## Blocker` what hinders it")),
            SectionSpec("Type", _SHOULD, "{Dependency | Question | Resource | External}",
                        choices=("Dependency", "Question", "Resource", "External"),
                        rule=SectionRule("MBX-092", "no_blocker_type", "BRN-061")),
            SectionSpec("Attempted", _MAY, "{What was tried already}"),
            SectionSpec("Needed", _MAY, "{What would help}"),
        ),
        ack_rule="MB-012", ack_requirements=("BRN-057", "BRN-062"), duty="give input",
        needs_completion=True, answered_in_words=True,
    ),
    TypeSpec(  # BRN-063 its subject, BRN-065 its ACK, BRN-066 its sections
        MessageType.QUESTION, True, "ask for clarification or input",
        "QUESTION: {the question in short}", "Question",
        (
            SectionSpec("Context", _MAY, "{What one has to know to answer}"),
            SectionSpec("Question", _MUST, "{The question itself}",
                        rule=SectionRule("MBX-100", "missing_question", "BRN-067",
                                         "ask under `## Question`; the title does not count")),
            SectionSpec("Options", _MAY, "{Answers that come to mind}", "(if applicable)"),
            SectionSpec("Impact", _MAY, "{What depends on the answer}"),
            SectionSpec("Urgency", _SHOULD, "{Blocking | Soon | Whenever}",
                        choices=("Blocking", "Soon", "Whenever"),
                        rule=SectionRule("MBX-101", "no_urgency", "BRN-068")),
        ),
        ack_rule="MB-011", ack_requirements=("BRN-065", "BRN-069"), duty="answer",
        needs_completion=True, answered_in_words=True,
        one_line={"Question": "{line}", "Urgency": "Soon"},
    ),
    TypeSpec(  # BRN-070 anything, BRN-071 no ACK, BRN-072 nobody has to act
        MessageType.INFO, False, "tell something that asks for nothing", "INFO: {summary}",
        "Information",
        (),
        prose="{Anything, in markdown}", ack_requirements=("BRN-071",), one_line={"": "{line}"},
    ),
)  # fmt: skip
TYPES: dict[MessageType, TypeSpec] = {spec.type: spec for spec in _ALL}


def is_ack_owed(kind: MessageType) -> bool:
    """True if a message of this type is owed an ACK: the document's table (BRN-002, BRN-073)."""
    return TYPES[kind].ack_required
