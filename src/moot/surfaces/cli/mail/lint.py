"""`moot mail lint` and `moot mail template`: messages as text; no workspace is needed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from moot.api.mail import texts
from moot.surfaces.terminal.answer import DONE, REFUSED, Answer, finding_line, paint, visible
from moot.surfaces.terminal.shell import Shell, command, document_bytes

_STDIN = "-"


@command(None, "template", "mail.template")
@click.argument("kind", metavar="TYPE", type=click.Choice(texts.MESSAGE_TYPES, False))
def template(shell: Shell, kind: str) -> Answer:
    """Print an empty message of a type, to be filled in.

    TYPE is one of {types}.

    Examples:
      moot mail template QUESTION > question.md
      moot mail template handoff --json
    """
    empty = texts.template(shell.session, kind)
    lines = [f"<!-- subject: {empty.subject} -->", empty.body.rstrip("\n")]
    return Answer(empty, lambda: lines)


template.help = (template.help or "").replace("{types}", ", ".join(texts.MESSAGE_TYPES))


@command(None, "lint", "mail.lint")
@click.argument("file", metavar="FILE|-")
@click.option(
    "--subject", metavar="S", help="The subject, such as 'INFO: done' (default: that in FILE)."
)
@click.option(
    "--ack-required/--no-ack",
    "ack_required",
    default=None,
    help="What the message will say about an ACK (default: as its type asks).",
)
@click.option("--fix", is_flag=True, help="Repair what needs no guessing; FILE is written anew.")
def lint(
    shell: Shell, file: str, subject: str | None, ack_required: bool | None, fix: bool
) -> Answer:
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
    raw = document_bytes(file)
    checked = texts.lint(
        shell.session,
        raw,
        subject=subject,
        ack_required=ack_required,
        fix=fix,
        file=None if file == _STDIN else Path(file),
    )
    code = DONE if checked.valid else REFUSED
    if isinstance(checked.body, str) and file == _STDIN:
        mended = texts.mend(raw, subject, ack_required)
        return Answer(checked, lambda: [mended.removesuffix("\n")], code)
    return Answer(checked, lambda: _lines(file, checked), code)


def _lines(file: str, checked: texts.CheckedText) -> Iterable[str]:
    yield from _repair_lines(checked)
    yield from map(finding_line, checked.findings)
    owed = "an ACK is owed" if checked.ack_required else "no ACK is owed"
    verdict = paint("valid", "green") if checked.valid else paint("not valid", "red")
    yield f"{visible(file)}: {verdict} ({checked.type or 'no known type'}, {owed})"


def _repair_lines(checked: texts.CheckedText) -> Iterable[str]:
    if not isinstance(checked.repairs, tuple) or not isinstance(checked.subject, str):
        return
    yield from (f"{paint('fixed', 'green')} {visible(repair)}" for repair in checked.repairs)
    if checked.repairs:
        yield f"  {paint('subject:', 'bold')} {visible(checked.subject)}"
