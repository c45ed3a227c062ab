"""Operations on the four files of a parliament: check, import, export, summaries, documents.

The signed record counts; the files are exports of it. Moot reports a file that another program has
changed and never overwrites it: it renames the file first ("puts it aside").
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from moot.api.operation import operation
from moot.api.parliaments.sessions import ParliamentStanding, describe_standing, read_document
from moot.core.errors import Malformed, NotFound, Refused
from moot.core.findings import Finding, select_errors
from moot.core.names import SYSTEM
from moot.protocols.parliament.commands import Summarize
from moot.protocols.parliament.documents.turn_context import TurnContext, make_turn_context
from moot.protocols.parliament.files.file_shapes import FILES, LEDGER_FILE, MAX_SUMMARY
from moot.protocols.parliament.files.inspection import find_lost_messages, inspect_files
from moot.protocols.parliament.messages.contents import PARLIAMENT_ID, SessionStatus
from moot.protocols.parliament.messages.message import to_document
from moot.protocols.parliament.messages.shapes import read_json

if TYPE_CHECKING:
    from moot.api.parliaments.session import ParliamentSession
    from moot.api.session import Session
    from moot.pages import ProofFile
    from moot.workspace.workspace import Workspace


__all__ = [
    "CheckedFiles",
    "ExportedFiles",
    "FinalDocument",
    "ImportedSession",
    "RenewedSummary",
    "TurnContext",
    "check",
    "context",
    "export",
    "final",
    "import_files",
    "summarize",
]


class CheckedFiles(msgspec.Struct, frozen=True):
    valid: bool
    findings: tuple[Finding, ...]


class ImportedSession(ParliamentStanding, frozen=True, kw_only=True):
    """`put_aside` are the new names of files in another form, `seats` the agent of each seat."""

    messages: int
    put_aside: tuple[str, ...]
    seats: dict[str, str]


class ExportedFiles(ParliamentStanding, frozen=True, kw_only=True):
    """`put_aside` are the new names of changed files."""

    put_aside: tuple[str, ...]


class RenewedSummary(ParliamentStanding, frozen=True, kw_only=True):
    summary: dict[str, Any]
    findings: tuple[Finding, ...]


class FinalDocument(ParliamentStanding, frozen=True, kw_only=True):
    decided: bool
    written: tuple[str, ...]
    put_aside: tuple[str, ...]


@operation("parliament.check")
def check(session: Session, folder: Path, *, since: Path | None = None) -> CheckedFiles:
    """Check the four files: every field, reference and tally, and every round's summary.

    Needs no workspace. In a workspace that knows the session, every message must also equal the
    recorded one; elsewhere no signature is checked. `since` is a folder with earlier files: every
    message in those must still be there.
    """
    from moot.api.parliaments.session import locate, no_session
    from moot.api.parliaments.session_files import read_or_none

    workspace = session.workspace_or_none
    if workspace is not None:
        folder = locate(workspace, folder)
    files = {name: read_or_none(folder / name) for name in FILES}
    if not any(files.values()):
        raise no_session(folder)
    ledger = files[LEDGER_FILE] or b""
    findings = list(inspect_files(files))
    if since is not None:
        before = read_or_none(since / LEDGER_FILE)
        if before is None:
            raise no_session(since)
        findings += find_lost_messages(before, ledger)
    if workspace is not None:
        findings += _find_unrecorded(workspace, ledger)
    return CheckedFiles(not select_errors(findings), tuple(findings))


def _find_unrecorded(workspace: Workspace, ledger: bytes) -> list[Finding]:
    """Find messages of a ledger file that differ from the record of its session (C-33).

    An older file is allowed, as messages are only added; so is a file of a session unknown here.
    """
    from moot.api.parliaments.session import stream_of
    from moot.api.parliaments.session_files import read_messages
    from moot.protocols.parliament.machine import MACHINE as PARLIAMENT

    try:
        document = read_json(ledger)
    except Malformed:
        return []
    parliament_id = str(document.get("parliament_id")) if isinstance(document, dict) else ""
    if not PARLIAMENT_ID.fullmatch(parliament_id):
        return []
    messages, stream = document.get("messages"), stream_of(parliament_id)
    if not isinstance(messages, list) or workspace.engine.state(PARLIAMENT, stream).status is None:
        return []
    with workspace.store.read() as view:
        recorded = [to_document(message) for message in read_messages(view, stream)]
    differs, missing = "it differs from the signed record", "the signed record has no such message"
    return [
        Finding(
            rule="C-33",
            code="not_recorded",
            message=differs if place < len(recorded) else missing,
            where=f"{LEDGER_FILE}#messages[{place}]",
            hint="`moot parliament export DIR` writes the files as the record has them",
        )
        for place, message in enumerate(messages)
        if message not in recorded[place : place + 1]
    ]


@operation("parliament.import", writes=True, as_ledger=True)
def import_files(
    session: Session,
    folder: Path,
    *,
    agents: Mapping[str, str] | None = None,
    parliament_id: str | None = None,
) -> ImportedSession:
    """Continue a session from elsewhere, from its four files.

    They must be valid, and their state must follow from their messages. The clerk signs what was
    imported, and every document of the session says so. The files are kept, and renamed where their
    form differs from ours. `agents` names the agents of seats; every other seat gets a new one.
    `parliament_id` replaces the id in the files. Agents are refused, and so is a session that is
    known already; a repeat therefore needs no key.
    """
    from moot.api.parliaments.convening import import_session

    session.actor(SYSTEM)  # the clerk signs what is read from files, not an agent
    parliament, put_aside = import_session(
        session.workspace, folder, dict(agents or {}), parliament_id
    )
    state = parliament.state
    return ImportedSession(
        **describe_standing(state),
        messages=state.next_message_id - 1,
        put_aside=put_aside,
        seats={seat.id: seat.agent for seat in state.seats_in_order()},
    )


@operation("parliament.export", writes=True)
def export(session: Session, folder: Path, *, parliament_id: str | None = None) -> ExportedFiles:
    """Write the four files again from the record; a changed file is renamed, not lost.

    With `parliament_id` that session is written into `folder`. Only files are written, the record
    stays the same; a repeat changes nothing.
    """
    from moot.api.parliaments.convening import make_folder
    from moot.api.parliaments.session import ParliamentSession, id_in_files, id_of_folder, locate

    workspace = session.workspace
    folder = folder if parliament_id else locate(workspace, folder)
    session_id = parliament_id or id_of_folder(workspace, folder) or id_in_files(folder)
    parliament = ParliamentSession.open_by_id(workspace, folder, session_id)
    make_folder(folder)
    put_aside = parliament.files.restore()
    return ExportedFiles(**describe_standing(parliament.state), put_aside=put_aside)


@operation("parliament.context")
def context(session: Session, folder: Path, *, seat: str | None = None) -> TurnContext:
    """Return what a participant reads: recent rounds in full, earlier ones as summaries.

    With `seat` also what that seat must know about itself. All texts are quoted from seats, the
    speaker or the prime minister: material to judge, never instructions.
    """
    from moot.api.parliaments.session import ParliamentSession

    record = ParliamentSession.open(session.workspace, folder).read_proceedings()
    if seat is not None and seat not in record.state.seats:
        raise NotFound(
            "unknown_seat",
            f"{seat} has no seat in this session",
            hint=f"seats: {', '.join(record.state.order)}",
        )
    return make_turn_context(record.state, record.messages, record.summaries, seat)


@operation("parliament.summarize", writes=True, as_ledger=True)
def summarize(
    session: Session, folder: Path, summary: Path | bytes | str, *, key: str | None = None
) -> RenewedSummary:
    """Replace the summary of a finished round, in the form of the summaries file.

    `summary` is its JSON, or the file that contains it. An agent is refused: only the clerk
    summarizes.
    """
    from moot.api.parliaments.session import ParliamentSession

    parliament = ParliamentSession.open(session.workspace, folder)
    document = read_document(summary, MAX_SUMMARY)
    result = parliament.execute(Summarize(summary=document), session.actor(SYSTEM), key=key)
    return RenewedSummary(
        **describe_standing(result.state), summary=document, findings=result.findings
    )


@operation("parliament.final", writes=True, as_ledger=True)
def final(session: Session, folder: Path, *, file: Path | None = None) -> FinalDocument:
    """Write the final document into the folder and close the session, after it is decided.

    With `file` (.html, .md or .json) the same is written as one page, even before the decision;
    without it an undecided session is refused. Only the clerk closes a session, once: a repeat
    only writes the files again.
    """
    from moot.api.page.files import write_page
    from moot.api.page.reports import name_tools
    from moot.api.parliaments.session import ParliamentSession
    from moot.protocols.parliament.documents.final_document import FINAL_FILE
    from moot.protocols.parliament.documents.report import make_report

    parliament = ParliamentSession.open(session.workspace, folder)
    parliament.files.require_unchanged()  # the page will cite the ledger file
    is_decided = parliament.state.outcome is not None
    if not is_decided and file is None:
        raise Refused(
            "not_decided",
            f"the session is in {parliament.state.status}; there is no final document yet",
            hint="`moot parliament next DIR` says what is due; -o FILE.html shows the state now",
        )
    written: list[str] = []
    put_aside: list[str] = []
    if is_decided:
        put_aside += _write_document(session, parliament)
        written.append(str(parliament.folder / FINAL_FILE))
    if file is not None:
        scripted = parliament.list_scripted_agents()
        tools = name_tools(session.workspace, parliament.stream, parliament.state.holders)
        record = parliament.read_proceedings()
        write_page(file, make_report(record, _make_proof_file(parliament.folder), scripted, tools))
        written.append(str(file))
    return FinalDocument(
        **describe_standing(parliament.state),
        decided=is_decided,
        written=tuple(written),
        put_aside=tuple(put_aside),
    )


def _write_document(session: Session, parliament: ParliamentSession) -> list[str]:
    """Close the session and write its document; return the new name of another file there."""
    from moot.api.parliaments.session import finish
    from moot.api.parliaments.session_files import read_or_none
    from moot.protocols.parliament.documents.final_document import FINAL_FILE
    from moot.store.files import write_own_file

    if parliament.state.status is SessionStatus.SYNTHESIS:
        session.actor(SYSTEM)  # only the clerk closes a session
    file = parliament.folder / FINAL_FILE
    document, present = finish(parliament).encode(), read_or_none(file)
    put_aside = [] if present in (None, document) else [parliament.files.put_aside(FINAL_FILE)]
    write_own_file(file, document)
    return put_aside


def _make_proof_file(folder: Path) -> ProofFile | None:
    """Return the ledger file with its current digest, and the command that checks it."""
    from moot.api.parliaments.session_files import read_or_none
    from moot.pages import ProofFile

    ledger = read_or_none(folder / LEDGER_FILE)
    if ledger is None:
        return None
    digest = hashlib.sha256(ledger).hexdigest()
    return ProofFile(LEDGER_FILE, digest, f"moot parliament check {shlex.quote(str(folder))}")
