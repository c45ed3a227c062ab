"""Bodies that are written from fields: ACK, Validation Error, HANDOFF, BLOCKED, QUESTION.

Whatever text a field holds stays inside its own section: a text that would open a section, swallow
the next one or pass for unfilled template text is put into a fenced block. `read_ack` reads what
`ack_body` wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from moot.core.errors import Malformed
from moot.core.findings import Finding, errors
from moot.core.markdown import escape_comments, fence
from moot.protocols.mail.body import TEXT, Body, is_unfilled, unwrapped
from moot.protocols.mail.checks import choice
from moot.protocols.mail.subject import one_line
from moot.protocols.mail.types import TYPES, AckStatus, MessageType, Need

_ENDINGS = re.compile(r"\r\n?")


class Ack(msgspec.Struct, frozen=True):
    """What an ACK body says; `message_id` and `notes` may be empty."""

    status: AckStatus
    message_id: str = ""
    notes: str = ""


def ack_body(message_id: str, status: AckStatus, notes: str = "") -> str:
    """The body of an ACK: which message, what has happened, and perhaps a note (BRN-039)."""
    fields = {"Message ID": message_id, "Status": status.value, "Notes": notes}
    return body_of(MessageType.ACK, fields)


def read_ack(body: str) -> Ack | None:
    """The ACK in this body; None if it has no valid status."""
    read = Body(body)
    status = read.part("Status")
    word = choice(status, TYPES[MessageType.ACK].sections[1].choices) if status else None
    if word is None:
        return None
    message_id, notes = read.part("Message ID"), read.part("Notes")
    return Ack(
        AckStatus(word),
        message_id.value if message_id else "",
        unwrapped(notes.said) if notes else "",
    )


def error_subject(message_id: str) -> str:
    """`INFO: Validation error for {id}`: an INFO, so nobody owes an ACK for it."""
    return f"INFO: Validation error for {one_line(message_id) or 'a message'}"


def error_body(message_id: str, findings: Iterable[Finding]) -> str:
    """The Validation Error body of the document (BRN-080): every error, and how to mend it."""
    wrong = errors(findings)
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


def handoff_body(
    *,
    item: str,
    from_agent: str,
    to_agent: str,
    reason: str = "",
    state: str = "",
    files: Iterable[str] = (),
    next_steps: str = "",
) -> str:
    return body_of(
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


def blocked_body(
    *, item: str, blocker: str, kind: str = "", attempted: str = "", needed: str = ""
) -> str:
    return body_of(
        MessageType.BLOCKED,
        {
            "Item": item,
            "Blocker": blocker,
            "Type": kind,
            "Attempted": attempted,
            "Needed": needed,
        },
    )


def question_body(
    *,
    question: str,
    context: str = "",
    options: Iterable[str] = (),
    impact: str = "",
    urgency: str = "",
) -> str:
    return body_of(
        MessageType.QUESTION,
        {
            "Context": context,
            "Question": question,
            "Options": _write_bullets(options),
            "Impact": impact,
            "Urgency": urgency,
        },
    )


# Writing ------------------------------------------------------------------------------------------


def body_of(kind: MessageType, fields: Mapping[str, str], title: str = "") -> str:
    """Write a body of this type; empty fields are left out, Malformed if a required one is."""
    spec = TYPES[kind]
    written: dict[str, str] = {}
    for section in spec.sections:
        text = fields.get(section.heading, "")
        if section.choices and text:
            text = _canonical_choice(text, section.choices, section.heading)
        if text.strip():
            written[section.heading] = text
        elif section.need is Need.REQUIRED:
            raise Malformed(
                f"`## {section.heading}` of a {kind.value} may not be empty",
                code="field_required",
                where=section.heading,
                hint=f"say it: {section.asks.strip('{}')}",
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
    parts += (f"\n## {heading}\n{contained(text)}" for heading, text in sections.items())
    return "".join(parts)


def contained(text: str) -> str:
    """The text as the content of a section: as it is if it stays inside, else in a fenced block."""
    plain = _ENDINGS.sub("\n", text).strip("\n") + "\n"
    return plain if _stays_inside(plain) else escape_fenced(plain)


def escape_fenced(text: str) -> str:
    """A fenced block that nothing in the text can close, for readers without fences too."""
    return fence(escape_comments(text), TEXT)


def _stays_inside(text: str) -> bool:
    """True if a section with this text says just that, and the next section is found below it."""
    if "<!--" in text or is_unfilled(text):
        return False
    body = Body(f"## A\n{text}\n## B\nb\n")
    return (
        [part.key for part in body.parts] == ["a", "b"]
        and not body.titles
        and all(block.closed for block in body.blocks)
        and unwrapped(text) == text
    )


def _write_bullets(items: Iterable[str]) -> str:
    """One list item each, on one line."""
    lines = (" ".join(item.split()) for item in items)
    return "\n".join(f"- {line}" for line in lines if line)
