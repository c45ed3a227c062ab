"""`moot send`, `moot mail template`, `lint`, `send` and `import`: messages on their way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from moot.api.mail import sending, texts
from moot.surfaces.terminal.answer import (
    DONE,
    REFUSED,
    Answer,
    finding_line,
    paint,
    remarks,
    visible,
)
from moot.surfaces.terminal.derive import Values, derive, options
from moot.surfaces.terminal.shell import Shell, command, document_bytes

_OPTIONS = f"""
    --text TEXT             What to say, instead of a file.
    --thread ID             The thread (default: that of --re, or new).
    --re ID = answers       The message this one answers.
    --cc NAME,...           Who gets a copy and owes no answer.
    --ack-required/--no-ack = ack_required  Require an answer (default: as the type says).
    --importance {"|".join(sending.IMPORTANCES)}  How much it matters.
    --ack-minutes N         Minutes until the answer is due (default: 30).
    --key KEY               Idempotency key: a repeat with the same key sends nothing.
"""


def _require_workspace(shell: Shell, values: Values) -> Values:
    """Refuse before the file is read if there is no workspace to record the message in."""
    shell.session.require_workspace()
    return values


def _prepare_send(shell: Shell, values: Values) -> Values:
    usual = {"usual_ack_minutes": shell.env.get("MOOT_ACK_MINUTES", "")}
    return _require_workspace(shell, values) | usual


@derive("send", sending.send, f"""
    TO[,TO] = to
    SUBJECT:text
    [FILE|-] = body(file)
    {_OPTIONS}
""", prepare=_prepare_send)  # fmt: skip
def send(sent: sending.SentMessage) -> Iterable[str]:
    """Send a message. SUBJECT begins with its type: QUESTION, INFO, HANDOFF, ...

    {types} need no file: the subject, or --text, says it.

    Examples:
      moot send teal-crane "QUESTION: Which cache do we keep?"
      moot send teal-crane,coral-finch "KICKOFF: Why are logins slow?" kickoff.md
      moot send amber-otter "INFO: The in-process one" --re m-3f2a91c0d4:1
    """
    return _sent_lines(sent)


send.help = (send.help or "").replace("{types}", ", ".join(sending.ONE_LINE_TYPES))


@derive("mail.send", sending.send, f"""
    [FILE|-] = body(file)
    --from NAME = sender  Who sends (default: you).
    --to NAME,...         Who receives.
    --subject TEXT        Type, colon, a few words.
    {_OPTIONS}
""", prepare=_prepare_send)  # fmt: skip
def mail_send(sent: sending.SentMessage) -> Iterable[str]:
    """Check a message and send it; Moot refuses errors, with their lines and what to do.

    Examples:
      moot mail send --to teal-crane --subject "HANDOFF: T-7 to teal-crane" handoff.md
      moot mail send --from amber-otter --to teal-crane --subject "INFO: done" --text "T-7 is in"
    """
    return _sent_lines(sent)


def _sent_lines(sent: sending.SentMessage) -> Iterable[str]:
    again = " (it was sent before)" if sent.replayed else ""
    yield f"{sent.id} sent to {', '.join(map(visible, sent.to))}{again}"
    if sent.by is not None:
        yield f"an answer is due by {sent.by}"
    yield from (f"{sent.sender} holds {visible(scope)} now" for scope in sent.moved)
    yield from remarks(sent.findings)


@derive("mail.import", sending.import_message, """
    FILE|- = message(file)
    --agent NAME  Who imports it (default: --as or MOOT_AGENT).
    --thread ID   The thread (default: the message's own).
""", prepare=_require_workspace)  # fmt: skip
def import_message(imported: sending.ImportedMail) -> Iterator[str]:
    """Import a message from outside of this ledger: front matter with from, to, subject and id,
    then the body. Its author is shown as not proved. If the message breaks a rule, Moot flags it,
    and shows and keeps the answer to its sender.

    Examples:
      moot mail import message.md --agent teal-crane
    """
    again = " before" if imported.replayed else ""
    yield f"{imported.id}: imported{again}; its author is not proved"
    yield from _outside_lines(imported)
    for flag in imported.flags:
        place = f" line {flag.line}" if flag.line else ""
        yield f"{flag.severity} {flag.rule}{place}: {visible(flag.message)}"
    if imported.answer is not None:
        yield f"answer to send back ({imported.answer.id}): {visible(imported.answer.subject)}"
        yield ""
        yield from map(visible, imported.answer.body.splitlines())


def _outside_lines(imported: sending.ImportedMail) -> Iterable[str]:
    """Show the id, thread and time that the message names, and why its thread differs here."""
    has_id = not imported.outside_id.startswith("sha256:")
    own = {
        "id": imported.outside_id if has_id else "",
        "thread": imported.outside_thread,
        "sent": imported.sent,
    }
    named = ", ".join(visible(f"{name} {value}") for name, value in own.items() if value)
    if named:
        yield f"outside: {named}"
    if imported.outside_thread.lower() not in ("", imported.thread.lower()):
        yield (
            f"it is in the thread {imported.thread}: the name of its thread is not valid here; "
            "--thread ID chooses another"
        )
    missing = [
        f"its {name}" for name, value in (("id", has_id), ("time", imported.sent)) if not value
    ]
    if missing:
        sentence = {1: "it does not name {}", 2: "it names neither {} nor {}"}[len(missing)]
        yield sentence.format(*missing)


_STDIN = "-"


@derive("mail.template", texts.template, """
    TYPE = kind
""", types={"kind": click.Choice(texts.MESSAGE_TYPES, False)})  # fmt: skip
def template(empty: texts.EmptyMessage) -> Iterator[str]:
    """Print an empty message of a type, to be filled in.

    TYPE is one of {types}.

    Examples:
      moot mail template QUESTION > question.md
      moot mail template handoff --json
    """
    yield f"<!-- subject: {empty.subject} -->"
    yield empty.body.rstrip("\n")


template.help = (template.help or "").replace("{types}", ", ".join(texts.MESSAGE_TYPES))


@command(None, "lint", "mail.lint")
@options("""
    FILE|- = file
    --subject S  The subject, such as 'INFO: done' (default: that in FILE).
    --ack-required/--no-ack = ack_required  Whether the message will require an ACK \
                                            (default: as its type says).
    --fix        Fix what needs no guessing, and write FILE.
""")
def lint(
    shell: Shell,
    file: str,
    subject: str | None = None,
    ack_required: bool | None = None,
    fix: bool = False,
) -> Answer:
    """Check a message against every rule; shows the line and what to do.

    FILE is a body; without --subject, a whole message as `moot mail import` reads it: front matter
    with subject, from and ack_required, then the body.

    Exit 1 if it has errors; warnings and notes leave it valid. --fix first corrects the ack flag
    and the case of headings and fixed words, and adds missing optional headings; it changes no
    sentence. If FILE is -, the fixed text is printed.

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
        fixed = texts.fix_text(raw, subject, ack_required)
        return Answer(checked, lambda: [fixed.removesuffix("\n")], code)
    return Answer(checked, lambda: _checked_lines(file, checked), code)


def _checked_lines(file: str, checked: texts.CheckedText) -> Iterable[str]:
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
