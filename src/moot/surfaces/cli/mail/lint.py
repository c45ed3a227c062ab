"""`moot mail lint` and `moot mail template`: messages as text; no workspace is needed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from moot.core.errors import Malformed, Refused
from moot.protocols.mail.types import TYPES, MessageType
from moot.surfaces.terminal.answer import REFUSED, Answer, finding_line, paint, visible
from moot.surfaces.terminal.shell import Shell, command, document_bytes

if TYPE_CHECKING:
    from moot.protocols.mail.fix import FixedMessage
    from moot.protocols.mail.lint import LintedMessage

_STDIN = "-"


@command(None, "template", "mail.template")
@click.argument(
    "kind", metavar="TYPE", type=click.Choice([one.value for one in MessageType], False)
)
def template(shell: Shell, kind: str) -> Answer:
    """Print an empty message of a type, to be filled in.

    TYPE is KICKOFF, DELTA, COMPILED, CRITIQUE, ACK, CLAIM, HANDOFF, BLOCKED, QUESTION or INFO.

    Examples:
      moot mail template QUESTION > question.md
      moot mail template handoff --json
    """
    from moot.protocols.mail.templates import write_template as blank

    del shell
    spec = TYPES[MessageType(kind.upper())]
    made = blank(spec.type)
    data = {
        "type": spec.type.value,
        "purpose": spec.purpose,
        "subject": made.subject,
        "body": made.body,
        "ack_required": spec.ack_required,
    }
    return Answer(data, lambda: [f"<!-- subject: {made.subject} -->", made.body.rstrip("\n")])


@command(None, "lint", "mail.lint")
@click.argument("file", metavar="FILE|-")
@click.option(
    "--subject", metavar="S", help="The subject, such as 'INFO: done' (default: that in FILE)."
)
@click.option(
    "--ack-required/--no-ack",
    "ack",
    default=None,
    help="What the message will say about an ACK (default: as its type asks).",
)
@click.option("--fix", is_flag=True, help="Repair what needs no guessing; FILE is written anew.")
def lint(shell: Shell, file: str, subject: str | None, ack: bool | None, fix: bool) -> Answer:
    """Check a message: every rule, with the line and what to do.

    FILE is a body; without --subject, a whole message as `moot mail import` reads it: front matter
    with subject, from and ack_required, then the body.

    Exit 1 if it has errors; warnings and notes leave it valid. With --fix the ack flag, the case
    of headings and fixed words and missing optional headings are set right first; no sentence is
    touched. If FILE is -, the repaired text is printed.

    Examples:
      moot mail lint question.md --subject "QUESTION: which cache?"
      cat handoff.md | moot mail lint - --subject "HANDOFF: T-7 to teal-crane" --json
      moot mail lint blocked.md --subject "blocked: T-7" --fix
      moot mail lint message.md
    """
    del shell
    raw = document_bytes(file)
    draft = _draft(raw, subject, ack)
    fixed = _repair(draft) if fix else None
    if fixed is None:
        checked = _checked(draft)
        repaired: dict[str, Any] = {}
    else:
        draft = draft.mended(fixed)
        checked = _checked(draft)
        repaired = {"repairs": list(fixed.repairs), "subject": fixed.subject, "body": fixed.body}
        if file != _STDIN and draft.text.encode() != raw:
            _write(file, draft.text)
    data = _data(checked) | repaired
    code = 0 if checked.is_valid else REFUSED
    if fixed is not None and file == _STDIN:
        return Answer(data, lambda: [draft.text.removesuffix("\n")], code)
    return Answer(data, lambda: _lines(file, checked, fixed), code)


class _Draft(NamedTuple):
    """What is to be checked; `head` stands before the body, None if this cannot be written back."""

    subject: str
    body: str | bytes
    ack: bool | None
    sender: str = ""
    head: str | None = ""

    @property
    def text(self) -> str:
        return f"{self.head or ''}{self.body!s}"

    def mended(self, fixed: FixedMessage) -> _Draft:
        from moot.protocols.mail.codec import mend_front_matter

        head = mend_front_matter(self.head or "", fixed.subject, bool(fixed.ack_required))
        return self._replace(
            subject=fixed.subject, body=fixed.body, ack=fixed.ack_required, head=head
        )


def _draft(raw: bytes, subject: str | None, ack: bool | None) -> _Draft:
    """A body with the subject that was given, or a message that says its own."""
    from moot.protocols.mail.codec import find_front_matter, read_message_file

    if subject is not None:
        return _Draft(subject, raw, ack)
    try:
        message = read_message_file(raw)
    except Malformed as error:
        raise Malformed(
            f"no --subject was given, and the file says none: {error}",
            code="subject_required",
            hint="add --subject 'TYPE: words', or front matter: ---, subject: ..., ---",
        ) from None
    said = message.ack_required if ack is None else ack
    return _Draft(
        message.subject, message.body, said, message.sender, find_front_matter(raw.decode())
    )


def _checked(draft: _Draft) -> LintedMessage:
    """What was found, with the lines as they are in the file."""
    import msgspec

    from moot.protocols.mail.lint import lint_message as check

    checked = check(draft.subject, draft.body, draft.ack, sender=draft.sender)
    above = (draft.head or "").count("\n")
    moved = (
        msgspec.structs.replace(one, line=one.line + above) if one.line else one
        for one in checked.findings
    )
    return msgspec.structs.replace(checked, findings=tuple(moved)) if above else checked


def _data(checked: LintedMessage) -> dict[str, Any]:
    import msgspec

    return {
        "valid": checked.is_valid,
        "type": checked.type.value if checked.type else None,
        "ack_required": checked.ack_required,
        "findings": [msgspec.to_builtins(one) for one in checked.findings],
    }


def _lines(file: str, checked: LintedMessage, fixed: FixedMessage | None) -> Iterable[str]:
    for repair in fixed.repairs if fixed else ():
        yield f"{paint('fixed', 'green')} {visible(repair)}"
    if fixed and fixed.repairs:
        yield f"  {paint('subject:', 'bold')} {visible(fixed.subject)}"
    yield from map(finding_line, checked.findings)
    kind = checked.type.value if checked.type else "no known type"
    owed = "an ACK is owed" if checked.ack_required else "no ACK is owed"
    verdict = paint("valid", "green") if checked.is_valid else paint("not valid", "red")
    yield f"{visible(file)}: {verdict} ({kind}, {owed})"


def _repair(draft: _Draft) -> FixedMessage | None:
    """The message as repaired; None if the text cannot be read at all."""
    from moot.protocols.mail.fix import fix_message as repair

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
    return repair(draft.subject, text, draft.ack)


def _write(file: str, text: str) -> None:
    from moot.store.named_files import write_file

    write_file(Path(file), text.encode())
