"""Read a debate in one markdown file: check, status, consensus, comparison, summary, report.

No workspace is needed. In a workspace a check also finds a second file with the same session, and a
status shows the liveness of the agents whose turn it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from moot.api.debates.outcome import explain_tally
from moot.api.debates.places import read_debate_file
from moot.api.operation import operation
from moot.core.errors import MootError
from moot.core.findings import Finding
from moot.core.text import Quoted
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.model import ConsensusMode, is_uuid
from moot.protocols.debate.views import (
    CheckView,
    ConsensusView,
    EntryView,
    StatusWithLiveness,
    add_liveness,
    view_check,
    view_consensus,
    view_status,
    write_summary,
)

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.pages import Report
    from moot.protocols.debate.checker import CheckedSession

__all__ = [
    "CheckView",
    "Comparison",
    "ConsensusMode",
    "ConsensusView",
    "DebateReport",
    "EntryView",
    "StatusWithLiveness",
    "Summary",
    "check",
    "compare",
    "consensus",
    "explain_tally",
    "report",
    "status",
    "summary",
]


class Comparison(msgspec.Struct, frozen=True):
    """`append_only`: the new version is the old one with at most something appended."""

    append_only: bool
    valid: bool
    findings: tuple[Finding, ...]


class Summary(msgspec.Struct, frozen=True):
    markdown: Quoted


class DebateReport(msgspec.Struct, frozen=True):
    """The data of a debate's page; `file` is where the page was written."""

    file: str | None
    report: dict[str, Any]


@operation("debate.check")
def check(
    session: Session, file: Path, *, strict_uuid: bool = False, lenient: bool = False
) -> CheckView:
    """Check a file against every rule of the protocol, to the line.

    Problems are returned as findings; only a file that cannot be read is an error. `strict_uuid`
    demands ids of version 4, `lenient` allows agent names outside the schema. If the workspace
    cannot be opened, duplicates of the session are not looked for.
    """
    from moot.api.debates.record import SessionRecord, find_duplicate

    checked = _read_checked(session, file, strict_uuid, lenient)
    duplicates: Sequence[Finding] = ()
    with suppress(MootError):
        workspace, name = session.workspace_or_none, checked.document.session_id
        if workspace is not None and is_uuid(name):
            duplicates = find_duplicate(SessionRecord(workspace, file, name))
    return view_check(msgspec.structs.replace(checked, findings=(*duplicates, *checked.findings)))


@operation("debate.status")
def status(session: Session, file: Path) -> StatusWithLiveness:
    """Show a debate's state: whose turn it is, until when, each agent's stance, how it ended.

    Refused (`invalid_session`) if its settings are invalid.
    """
    seen = view_status(_read_checked(session, file), session.clock())
    return add_liveness(seen, _liveness(session, seen.may_speak))


def _liveness(session: Session, names: Sequence[str]) -> dict[str, str]:
    """Return the liveness of the agents whose turn it is (XPR-07); empty outside a workspace."""
    from moot.api.bridges.participants import assess_liveness

    with suppress(MootError):
        workspace = session.workspace_or_none if names else None
        if workspace is not None:
            verdicts = assess_liveness(workspace, names)
            return {name: str(verdict.liveness) for name, verdict in verdicts.items()}
    return {}


@operation("debate.consensus")
def consensus(
    session: Session,
    file: Path,
    *,
    round_number: int | None = None,
    mode: ConsensusMode | None = None,
    threshold: Decimal | None = None,
    defer_in_denominator: bool | None = None,
) -> ConsensusView:
    """Count the votes of a round: the latest complete one, or the one asked for.

    The other arguments show the result under another mode or threshold, or with deferring agents
    counted. Refused if the settings are invalid; NotFound if that round has no entries.
    """
    asked_mode = None if mode is None else ConsensusMode(mode)
    checked = _read_checked(session, file)
    return view_consensus(checked, round_number, asked_mode, threshold, defer_in_denominator)


@operation("debate.compare")
def compare(session: Session, old: Path, new: Path) -> Comparison:
    """Check that `new` is `old` with at most something appended: nothing changed or removed."""
    from moot.api.debates.session_file import read_file
    from moot.protocols.debate.compare import compare as compare_versions

    del session
    findings = tuple(compare_versions(read_file(old), read_file(new)))
    return Comparison(not findings, not findings, findings)


@operation("debate.summary")
def summary(session: Session, file: Path) -> Summary:
    """Summarize a debate as markdown: the verdict, the positions, who said what."""
    return Summary(Quoted(write_summary(_read_checked(session, file), session.clock())))


@operation("debate.report")
def report(
    session: Session,
    file: Path,
    *,
    output: Path | None = None,
    receive: Callable[[Report], None] | None = None,
) -> DebateReport:
    """Report a debate: each agent's stance, who changed it and after what, the dissent in full.

    Also shows the result under other rules. With `output` the report is written as a page, in the
    format of the file's ending (.html, .md, .json). `receive` gets the page, for a caller that
    renders it itself.
    """
    import hashlib
    import json

    from moot.api.page.files import write_page
    from moot.api.page.reports import name_tools
    from moot.pages import to_json
    from moot.protocols.debate.report import build_report

    data = read_debate_file(session, file)
    checked, digest = check_session(data, file_name=file.name), hashlib.sha256(data).hexdigest()
    tools: dict[str, str] = {}
    if (workspace := session.workspace_or_none) is not None:
        stream = f"debate/{checked.document.session_id}"
        tools = name_tools(workspace, stream, checked.settings.agents)
    page = build_report(checked, file.name, digest, session.clock(), tools)
    if output is not None:
        write_page(output, page)
    if receive is not None:
        receive(page)
    return DebateReport(None if output is None else str(output), json.loads(to_json(page)))


def _read_checked(
    session: Session, file: Path, strict_uuid: bool = False, lenient: bool = False
) -> CheckedSession:
    data = read_debate_file(session, file)
    return check_session(data, strict_uuid=strict_uuid, file_name=file.name, lenient=lenient)
