"""Message templates to fill in, and the linter of messages. Neither needs a workspace."""

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
    """Return an empty message of a type, such as `QUESTION`, to fill in."""
    from moot.protocols.mail.fix import write_template

    del session
    if kind.upper() not in MESSAGE_TYPES:
        hint = f"use one of {', '.join(MESSAGE_TYPES)}"
        problem = f"{kind!r} is not a message type"
        raise Malformed(problem, code="unknown_message_type", hint=hint)
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
    """Check a message by every rule; each finding has the line and what to do.

    `message` is a body; without `subject` a whole message as `mail.import` takes it: front matter
    with subject, from and ack_required, then the body. `ack_required` defaults to what its type
    says. With `fix` everything is fixed first that needs no guessing: the ack flag, the case of
    headings and fixed words, missing optional headings; sentences stay as they are. The fixed text
    is written to `file`, if one is named and the text differs.
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
    """Return the text that `lint` with `fix` writes to its file: front matter, if any, and body.

    Raises Malformed if the message is not UTF-8 text.
    """
    draft = _read_draft(message, subject, ack_required)
    fixed = _fix(draft)
    if fixed is None:
        raise Malformed("it is not UTF-8 text", code="not_utf8", hint="save it as UTF-8 text")
    return draft.with_fixes(fixed).text


class _Draft(NamedTuple):
    """The message to check; `head` is the text before the body, None if the message is JSON and
    cannot be written back."""

    subject: str
    body: str | bytes
    ack_required: bool | None
    sender: str = ""
    head: str | None = ""

    @property
    def text(self) -> str:
        return f"{self.head or ''}{self.body!s}"

    def with_fixes(self, fixed: FixedMessage) -> _Draft:
        from moot.protocols.mail.codec import fix_front_matter

        head = fix_front_matter(self.head or "", fixed.subject, bool(fixed.ack_required))
        return self._replace(
            subject=fixed.subject, body=fixed.body, ack_required=fixed.ack_required, head=head
        )


def _read_draft(raw: bytes, subject: str | None, ack_required: bool | None) -> _Draft:
    """Read a body with the given subject, or a whole message with its own subject."""
    from moot.protocols.mail.codec import find_front_matter, read_message_file

    if subject is not None:
        return _Draft(subject, raw, ack_required)
    try:
        message = read_message_file(raw)
    except Malformed as error:
        raise Malformed(
            f"no --subject was given, and the file has none: {error}",
            code="subject_required",
            hint="add --subject 'TYPE: words', or front matter: ---, subject: ..., ---",
        ) from None
    wanted = message.ack_required if ack_required is None else ack_required
    head = find_front_matter(raw.decode())
    return _Draft(message.subject, message.body, wanted, message.sender, head)


def _check(draft: _Draft) -> CheckedText:
    """Return all findings, with line numbers of the whole text."""
    from moot.protocols.mail.message_rules import lint_message

    linted = lint_message(draft.subject, draft.body, draft.ack_required, sender=draft.sender)
    lines_before = (draft.head or "").count("\n")
    findings = tuple(
        msgspec.structs.replace(finding, line=finding.line + lines_before)
        if finding.line
        else finding
        for finding in linted.findings
    )
    kind = linted.type.value if linted.type else None
    return CheckedText(linted.is_valid, kind, linted.ack_required, findings)


def _fix(draft: _Draft) -> FixedMessage | None:
    """Return the fixed message; None if it is not UTF-8 text."""
    from moot.protocols.mail.fix import fix_message

    if draft.head is None:
        raise Refused(
            "cannot_fix",
            "Moot does not rewrite a message in JSON",
            hint="put its body into a file and give --subject",
        )
    try:
        text = draft.body if isinstance(draft.body, str) else draft.body.decode()
    except UnicodeDecodeError:
        return None
    return fix_message(draft.subject, text, draft.ack_required)
