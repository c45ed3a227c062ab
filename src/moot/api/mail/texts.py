"""Messages as texts: empty ones to fill in, and what is wrong with one. No workspace is needed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.api.operation import operation
from moot.core.errors import Malformed, Refused
from moot.core.findings import Finding
from moot.core.text import Quoted
from moot.protocols.mail.types import TYPES, MessageType

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.protocols.mail.fix import FixedMessage

MESSAGE_TYPES: Final = tuple(kind.value for kind in MessageType)


class EmptyMessage(msgspec.Struct, frozen=True):
    """A message of a type, with `{what to write}` in place of content."""

    type: str
    purpose: str
    subject: str
    body: str
    ack_required: bool


class CheckedText(msgspec.Struct, frozen=True):
    """`valid`: no finding is an error. If it was fixed, `repairs` says how, and `subject` and
    `body` are the fixed ones."""

    valid: bool
    type: str | None
    ack_required: bool
    findings: tuple[Finding, ...]
    repairs: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    subject: Quoted | msgspec.UnsetType = msgspec.UNSET
    body: Quoted | msgspec.UnsetType = msgspec.UNSET


@operation("mail.template")
def template(session: Session, kind: str) -> EmptyMessage:
    """An empty message of a type, such as `QUESTION`, to be filled in."""
    from moot.protocols.mail.fix import write_template

    del session
    if kind.upper() not in MESSAGE_TYPES:
        hint = f"one of {', '.join(MESSAGE_TYPES)}"
        raise Malformed(f"{kind!r} is no type of message", code="unknown_message_type", hint=hint)
    spec = TYPES[MessageType(kind.upper())]
    text = write_template(spec.type)
    return EmptyMessage(spec.type.value, spec.purpose, text.subject, text.body, spec.ack_required)


@operation("mail.lint")
def lint(
    session: Session,
    message: str | bytes,
    *,
    subject: str | None = None,
    ack_required: bool | None = None,
    fix: bool = False,
    file: Path | None = None,
) -> CheckedText:
    """Check a message by every rule, with the line and what to do.

    `message` is a body; without `subject` a whole message as `mail.import` takes it: front matter
    with subject, from and ack_required, then the body. `ack_required` is as its type asks, if it
    is None. With `fix` what needs no guessing is fixed first: the ack flag, the case of headings
    and fixed words, missing optional headings; no sentence is touched. The fixed text is then
    written to `file`, if one is named and it differs.
    """
    del session
    raw = message.encode() if isinstance(message, str) else message
    draft = _read_draft(raw, subject, ack_required)
    fixed = _fix(draft) if fix else None
    if fixed is None:
        return _check(draft)
    draft = draft.with_fixes(fixed)
    if file is not None and draft.text.encode() != raw:
        from moot.store.files import write_file

        write_file(file, draft.text.encode())
    return msgspec.structs.replace(
        _check(draft),
        repairs=fixed.repairs,
        subject=Quoted(fixed.subject),
        body=Quoted(fixed.body),
    )


def fix_text(message: bytes, subject: str | None = None, ack_required: bool | None = None) -> str:
    """The text that `lint` with `fix` writes to its file: front matter, if there is any, and the
    body. What cannot be read as text is Malformed."""
    draft = _read_draft(message, subject, ack_required)
    fixed = _fix(draft)
    if fixed is None:
        raise Malformed("it is no UTF-8 text", code="not_utf8", hint="save it as UTF-8 text")
    return draft.with_fixes(fixed).text


class _Draft(NamedTuple):
    """What is to be checked; `head` stands before the body, None if this cannot be written back."""

    subject: str
    body: str | bytes
    ack_required: bool | None
    sender: str = ""
    head: str | None = ""

    @property
    def text(self) -> str:
        return f"{self.head or ''}{self.body!s}"

    def with_fixes(self, fixed: FixedMessage) -> _Draft:
        from moot.protocols.mail.codec import mend_front_matter

        head = mend_front_matter(self.head or "", fixed.subject, bool(fixed.ack_required))
        return self._replace(
            subject=fixed.subject, body=fixed.body, ack_required=fixed.ack_required, head=head
        )


def _read_draft(raw: bytes, subject: str | None, ack_required: bool | None) -> _Draft:
    """A body with the subject that was given, or a message that says its own."""
    from moot.protocols.mail.codec import find_front_matter, read_message_file

    if subject is not None:
        return _Draft(subject, raw, ack_required)
    try:
        message = read_message_file(raw)
    except Malformed as error:
        raise Malformed(
            f"no --subject was given, and the file says none: {error}",
            code="subject_required",
            hint="add --subject 'TYPE: words', or front matter: ---, subject: ..., ---",
        ) from None
    wanted = message.ack_required if ack_required is None else ack_required
    head = find_front_matter(raw.decode())
    return _Draft(message.subject, message.body, wanted, message.sender, head)


def _check(draft: _Draft) -> CheckedText:
    """All findings, with the lines as they are in the whole text."""
    from moot.protocols.mail.message_rules import lint_message

    linted = lint_message(draft.subject, draft.body, draft.ack_required, sender=draft.sender)
    above = (draft.head or "").count("\n")
    findings = tuple(
        msgspec.structs.replace(finding, line=finding.line + above) if finding.line else finding
        for finding in linted.findings
    )
    kind = linted.type.value if linted.type else None
    return CheckedText(linted.is_valid, kind, linted.ack_required, findings)


def _fix(draft: _Draft) -> FixedMessage | None:
    """The message as repaired; None if the text cannot be read at all."""
    from moot.protocols.mail.fix import fix_message

    if draft.head is None:
        raise Refused(
            "cannot_fix",
            "a message in JSON is not rewritten",
            hint="put its body into a file and give --subject",
        )
    try:
        text = draft.body if isinstance(draft.body, str) else draft.body.decode()
    except UnicodeDecodeError:
        return None
    return fix_message(draft.subject, text, draft.ack_required)
