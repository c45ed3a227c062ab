"""Templates: the subject and body of each type, with `{what to write}` in place of content.

Template text never passes for content: a required section that still holds it is missing.
"""

from __future__ import annotations

from typing import NamedTuple

from moot.protocols.mail.types import TYPES, MessageType, SectionSpec

_DELTA_BLOCK = """\
```delta
{
  "operation": "ADD",
  "section": "hypothesis_slate",
  "target_id": null,
  "payload": {
    "name": "{a short name}",
    "claim": "{what is claimed}",
    "mechanism": "{how it would work}",
    "anchors": ["§1"]
  },
  "rationale": "{why this belongs into the artifact}"
}
```
"""


class MessageTemplate(NamedTuple):
    subject: str
    body: str


def write_template(kind: MessageType) -> MessageTemplate:
    """What one starts from to write a message of this type: its title and its sections.

    The sections are those of `TYPES` (BRN-008, BRN-017, BRN-024, BRN-032, BRN-039, BRN-045,
    BRN-051, BRN-058, BRN-066).
    """
    spec = TYPES[kind]
    parts = [f"# {spec.title}\n"]
    if spec.prose:
        parts.append(f"\n{spec.prose}\n")
    parts += (_write_section(section) for section in spec.sections)
    if kind is MessageType.DELTA:
        parts.append(f"\n{_DELTA_BLOCK}")
    return MessageTemplate(spec.subject, "".join(parts))


def _write_section(section: SectionSpec) -> str:
    asks = f"{section.prompt}\n" if section.prompt else ""
    return f"\n{write_heading(section)}\n{asks}"


def write_heading(section: SectionSpec) -> str:
    """The heading as a template has it, `(optional)` included."""
    return f"## {section.heading} {section.note}".rstrip()
