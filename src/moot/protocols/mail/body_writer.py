"""Bodies that are written from fields: ACK, Validation Error, HANDOFF, BLOCKED, QUESTION.

The text of a field stays inside its section: a text that would open a section, swallow the next
one or pass for unfilled template text is put into a fenced block. `read_ack` reads what
`write_ack_body` wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from moot.core.errors import Malformed
from moot.core.findings import Finding, select_errors
from moot.core.markdown import escape_comments, write_fence
from moot.protocols.mail.body import TEXT_FENCE, MessageBody, is_unfilled, unwrap_text_block
from moot.protocols.mail.checks import find_choice
from moot.protocols.mail.message import to_one_line
from moot.protocols.mail.types import TYPES, AckStatus, MessageType, SectionNeed

_ENDINGS = re.compile(r"\r\n?")


class Ack(msgspec.Struct, frozen=True):
    """What an ACK body says; `message_id` and `notes` may be empty."""

    status: AckStatus
    message_id: str = ""
    notes: str = ""


def write_ack_body(message_id: str, status: AckStatus, notes: str = "") -> str:
    """Return the body of an ACK: which message, what has happened, and perhaps a note (BRN-039)."""
    fields = {"Message ID": message_id, "Status": status.value, "Notes": notes}
    return write_body(MessageType.ACK, fields)


def read_ack(body: str) -> Ack | None:
    """Return the ACK in this body; None if it has no valid status."""
    read = MessageBody(body)
    status = read.find_section("Status")
    word = find_choice(status, TYPES[MessageType.ACK].sections[1].choices) if status else None
    if word is None:
        return None
    message_id, notes = read.find_section("Message ID"), read.find_section("Notes")
    return Ack(
        AckStatus(word),
        message_id.plain_value if message_id else "",
        unwrap_text_block(notes.filled_text) if notes else "",
    )


def write_error_subject(message_id: str) -> str:
    """Return `INFO: Validation error for {id}`: an INFO, so no agent owes an ACK for it."""
    return f"INFO: Validation error for {to_one_line(message_id) or 'a message'}"


def write_error_body(message_id: str, findings: Iterable[Finding]) -> str:
    """Write the Validation Error body of the document (BRN-080): every error, and its fix."""
    wrong = select_errors(findings)
    hints = dict.fromkeys(finding.hint for finding in wrong if finding.hint)
    return _write_sections(
        "Validation Error",
        {
            "Message": message_id,
            "Errors": _write_bullets(f"{e.rule}{_line_of(e)}: {e.message}" for e in wrong),
            "Suggestion": _write_bullets(hints) if len(hints) > 1 else "".join(hints),
        },
    )


def _line_of(finding: Finding) -> str:
    return f" (line {finding.line})" if finding.line else ""


def write_handoff_body(
    *,
    item: str,
    from_agent: str,
    to_agent: str,
    reason: str = "",
    state: str = "",
    files: Iterable[str] = (),
    next_steps: str = "",
) -> str:
    return write_body(
        MessageType.HANDOFF,
        {
            "Item": item,
            "From": from_agent,
            "To": to_agent,
            "Reason": reason,
            "State": state,
            "Files Modified": _write_bullets(files),
            "Next Steps": next_steps,
        },
    )


def write_blocked_body(
    *, item: str, blocker: str, kind: str = "", attempted: str = "", needed: str = ""
) -> str:
    return write_body(
        MessageType.BLOCKED,
        {
            "Item": item,
            "Blocker": blocker,
            "Type": kind,
            "Attempted": attempted,
            "Needed": needed,
        },
    )


def write_one_line_body(kind: MessageType, line: str, sender: str) -> str:
    """Write the body of a type that one line can say, as its `one_line` in `TYPES` tells."""
    spec = TYPES[kind]
    fields = {
        heading: text.format(line=line, sender=sender) for heading, text in spec.one_line.items()
    }
    prose = fields.pop("", "")
    return f"# {spec.title}\n\n{prose}\n" if prose else write_body(kind, fields)


# Writing ------------------------------------------------------------------------------------------


def write_body(kind: MessageType, fields: Mapping[str, str], title: str = "") -> str:
    """Write a body of this type; empty fields are left out, Malformed if a required one is."""
    spec = TYPES[kind]
    written: dict[str, str] = {}
    for section in spec.sections:
        text = fields.get(section.heading, "")
        if section.choices and text:
            text = _canonical_choice(text, section.choices, section.heading)
        if text.strip():
            written[section.heading] = text
        elif section.need is SectionNeed.REQUIRED:
            raise Malformed(
                f"`## {section.heading}` of a {kind.value} may not be empty",
                code="field_required",
                where=section.heading,
                hint=f"say it: {section.prompt.strip('{}')}",
            )
    return _write_sections(title or spec.title, written)


def _canonical_choice(text: str, choices: tuple[str, ...], heading: str) -> str:
    wanted = text.strip().casefold()
    for word in choices:
        if word.casefold() == wanted:
            return word
    raise Malformed(
        f"{heading} may not be {text[:40]!r}",
        code="field_invalid",
        where=heading,
        hint=f"one of {', '.join(choices)}",
    )


def _write_sections(title: str, sections: Mapping[str, str]) -> str:
    parts = [f"# {title}\n"]
    parts += (f"\n## {heading}\n{keep_inside_section(text)}" for heading, text in sections.items())
    return "".join(parts)


def keep_inside_section(text: str) -> str:
    """Return the text as content of a section: as it is if it stays inside, else fenced."""
    plain = _ENDINGS.sub("\n", text).strip("\n") + "\n"
    return plain if _stays_inside(plain) else fence_text(plain)


def fence_text(text: str) -> str:
    """Return a fenced block that nothing in the text can close, for readers without fences too."""
    return write_fence(escape_comments(text), TEXT_FENCE)


def _stays_inside(text: str) -> bool:
    """True if a section with this text says just that, and the next section is found below it."""
    if "<!--" in text or is_unfilled(text):
        return False
    body = MessageBody(f"## A\n{text}\n## B\nb\n")
    return (
        [part.key for part in body.sections] == ["a", "b"]
        and not body.titles
        and all(block.closed for block in body.blocks)
        and unwrap_text_block(text) == text
    )


def _write_bullets(items: Iterable[str]) -> str:
    """Write a list with one line for each item."""
    lines = (" ".join(item.split()) for item in items)
    return "\n".join(f"- {line}" for line in lines if line)
