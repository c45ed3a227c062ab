"""One report for any id: the page of the protocol it belongs to (DEC-025).

A message, a thread or an agent has no such page; its report is the story page.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.api.debates.record import read_recorded_bytes
from moot.api.decisions.receipt_content import compose_receipt
from moot.api.decisions.receipt_page import build_decision_page, describe_tool
from moot.api.observed import sessions
from moot.api.observed.guards import find_tools
from moot.api.operation import operation
from moot.api.parliaments.ruling import decisions_argued_in
from moot.core.errors import NotFound
from moot.core.names import STREAM
from moot.pages import PageLink, Report
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.machine import MACHINE as DEBATE
from moot.protocols.decision import PROTOCOL as DECISION
from moot.protocols.decision import stream_of as decision_stream
from moot.protocols.decision.machine import MACHINE as DECISIONS
from moot.protocols.decision.machine import SESSIONS
from moot.protocols.decision.model import DecisionSeat
from moot.protocols.path import stream_of as path_stream
from moot.protocols.path.machine import ITEMS
from moot.protocols.path.machine import MACHINE as PATHS
from moot.workspace.workspace import Workspace

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.workspace.integrity_check import CheckOptions


BuildPage = Callable[["Workspace", str, "CheckOptions"], Report]


class ReportPage(msgspec.Struct, frozen=True):
    """`verdict` is the badge of the page. If it was written to `file`, `report` is unset; otherwise
    `report` is the page as a value that `moot.pages` renders."""

    id: str
    kind: str
    file: str | None
    verdict: str
    report: Report | msgspec.UnsetType = msgspec.UNSET


@operation("report")
def report(session: Session, name: str, *, file: Path | None = None) -> ReportPage:
    """Return the page of a decision, debate, parliament, trace or path, by its id.

    It is made from the record, so later changes of a file do not change it. With `file` (FILE.html,
    FILE.md or FILE.json) it is written there. Raises NotFound for an unknown id.
    """
    from moot.api.page.files import require_page_name, write_page

    if file is not None:
        require_page_name(file)
    stream = find_stream_with_page(session, name)
    page = build_recorded_page(session, stream) if stream else _build_story(session, name)
    if file is None:
        return ReportPage(name, page.kind, None, page.verdict.label, page)
    write_page(file, link_neighbours(session, stream, page, file) if stream else page)
    return ReportPage(name, page.kind, str(file), page.verdict.label)


def find_stream_with_page(session: Session, named: str) -> str | None:
    """Return the stream with this name whose protocol has pages; None: only a story page."""
    for protocol in _PAGE_BUILDERS:
        stream = f"{protocol}/{named.removeprefix(f'{protocol}/')}"
        if _is_recorded(session.workspace, stream):
            return stream
    return None


def build_recorded_page(session: Session, stream: str) -> Report:
    """Return the page of a stream, made from its record."""
    from moot.workspace.integrity_check import CheckOptions

    protocol, _, name = stream.partition("/")
    return _PAGE_BUILDERS[protocol](session.workspace, name, CheckOptions(session.keys))


def link_neighbours(session: Session, stream: str, page: Report, file: Path) -> Report:
    """Return the page with links to related pages in the folder of its file."""
    folder = file.parent
    return link_page(
        session.workspace,
        stream,
        page,
        lambda name: name != file.name and (folder / name).is_file(),
    )


def _build_story(session: Session, name: str) -> Report:
    from moot.workspace.integrity_check import CheckOptions

    return _story(session.workspace, name, CheckOptions(session.keys))


def _is_recorded(workspace: Workspace, stream: str) -> bool:
    if not STREAM.match(stream):
        return False
    with workspace.store.read() as view:
        return view.head(stream) is not None


def _decision(workspace: Workspace, name: str, _how: CheckOptions) -> Report:
    from moot.api.decisions.outcomes import describe_calibrated_vote

    content = compose_receipt(workspace, name)
    return build_decision_page(content, describe_calibrated_vote(workspace, name, content))


def _debate(workspace: Workspace, name: str, _how: CheckOptions) -> Report:
    """Read the recorded text: later changes of the file do not count."""
    from moot.protocols.debate.report import build_report

    stream = f"debate/{name}"
    data = read_recorded_bytes(workspace, stream)
    file = Path(workspace.engine.state(DEBATE, stream).file).name
    checked = check_session(data, file_name=file)
    tools = name_tools(workspace, stream, checked.settings.agents)
    return build_report(checked, file, hashlib.sha256(data).hexdigest(), tools=tools)


def _parliament(workspace: Workspace, name: str, _how: CheckOptions) -> Report:
    from moot.api.parliaments.session import ParliamentSession
    from moot.protocols.parliament.documents.report import make_report

    room = ParliamentSession(workspace, workspace.root, name)
    tools = name_tools(workspace, room.stream, room.state.holders)
    return make_report(room.read_proceedings(), scripted=room.list_scripted_agents(), tools=tools)


def _trace(workspace: Workspace, name: str, how: CheckOptions) -> Report:
    from moot.api.traces import inspection
    from moot.protocols.trace.audit import page
    from moot.protocols.trace.machine import MACHINE as TRACE

    stream = f"trace/{name}"
    counted = sessions.count_work_during_trace(workspace, workspace.engine.state(TRACE, stream))
    inspected = inspection.inspect_live(workspace.path, how, stream)
    return page.trace_page(inspected.events[stream], inspected.reports[0], counted)


def _story(workspace: Workspace, name: str, _how: CheckOptions) -> Report:
    from moot.api.bridges.stories import build_story_page
    from moot.api.bridges.story import read_story

    try:
        return build_story_page(name, read_story(workspace, name))
    except NotFound:
        raise NotFound(
            "not_found",
            f"nothing here has the id {name}",
            hint="`moot ledger log` lists all ids; `moot debate report FILE` reads a file",
        ) from None


# `decision` is last: the run of a session records its costs in a decision with the session's id.
_PAGE_BUILDERS: Final[dict[str, BuildPage]] = {
    "debate": _debate,
    "parliament": _parliament,
    "trace": _trace,
    "path": _story,
    "decision": _decision,
}


# Links between pages in one folder: a decision links to the sessions in which it was argued, its
# receipt and its story; a session links back; a path links to everything on it.

INDEX_FILE: Final = "index.html"
TRACK_FILE: Final = "track.html"
PAGES: Final = ("decision", "debate", "parliament", "trace", "path")
_LABELS: Final = {"path": "Story of the path"}
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]")
_MOST_ID: Final = 24
_MOST_DECISIONS: Final = 20


def page_file_name(stream: str, kind: str = "") -> str:
    """Return `decision-q-7.html`, or for another `kind` of page about it `receipt-q-7.html`."""
    protocol, _, name = stream.partition("/")
    safe = _UNSAFE.sub("_", name)
    if safe != name:  # two ids may differ only in characters that a file name cannot have
        safe = f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return f"{kind or protocol}-{safe}.html"


def link_page(
    workspace: Workspace, stream: str, page: Report, is_there: Callable[[str], bool]
) -> Report:
    """Return the page with links to related pages; `is_there` says which files exist."""
    links = [
        PageLink(label, file_name)
        for label, file_name in _related_files(workspace, stream)
        if is_there(file_name)
    ]
    return msgspec.structs.replace(page, links=tuple(dict.fromkeys(links)))


def _related_files(workspace: Workspace, stream: str) -> Iterator[tuple[str, str]]:
    yield "All pages", INDEX_FILE
    if stream.startswith(f"{DECISION}/"):
        yield "Receipt, with its proof", page_file_name(stream, "receipt")
        yield "As a story", page_file_name(stream, "story")
    numbers: dict[str, int] = {}
    for other in dict.fromkeys(_related_streams(workspace, stream)):
        protocol = other.partition("/")[0]
        numbers[protocol] = numbers.get(protocol, 0) + 1
        if other != stream:
            yield _label(other, numbers[protocol]), page_file_name(other)


def _label(stream: str, number: int) -> str:
    protocol, _, name = stream.partition("/")
    short = name if len(name) <= _MOST_ID else str(number)
    return _LABELS.get(protocol, f"{protocol.capitalize()} {short}")


def _related_streams(workspace: Workspace, stream: str) -> Iterator[str]:
    protocol = stream.partition("/")[0]
    if protocol == DECISION:
        yield from _of_decision(workspace, stream)
    elif protocol == "path":
        yield from _of_path(workspace, stream)
    else:
        yield from _decisions_of_session(workspace, stream)
    row = _row(workspace, ITEMS, stream)
    if row is not None:
        yield path_stream(str(row["path"]))


def _of_decision(workspace: Workspace, stream: str) -> Iterator[str]:
    state = workspace.engine.state(DECISIONS, stream)
    yield from (session.id for session in state.sessions)
    for other in (state.supersedes, state.superseded_by):
        if other is not None:
            yield decision_stream(other)


def _of_path(workspace: Workspace, stream: str) -> Iterator[str]:
    for step in workspace.engine.state(PATHS, stream).steps_in_order():
        streams = (step.source.stream, *(made.stream for made in step.made))
        yield from (other for other in streams if other.partition("/")[0] in PAGES)


def _decisions_of_session(workspace: Workspace, stream: str) -> Iterator[str]:
    with workspace.store.read() as view:
        keys = [row.key for row in view.rows(SESSIONS, f"{stream} ", limit=_MOST_DECISIONS)]
    yield from (key.partition(" ")[2] for key in keys)


def _row(workspace: Workspace, space: str, key: str) -> dict[str, Any] | None:
    with workspace.store.read() as view:
        row = view.row(space, key)
    return None if row is None else dict(msgspec.json.decode(row.value))


_ELSEWHERE = "elsewhere"  # the kind of a seat that no run filled here


def name_tools(workspace: Workspace, session: str, agents: Iterable[str]) -> dict[str, str]:
    """Return the tool or model of each agent of a session, if known.

    The decision's record names those that a run started here; hooks report the others.
    """
    observed = {name: known.tool for name, known in find_tools(workspace, agents).items()}
    seated: dict[str, str] = {}
    for decision in decisions_argued_in(workspace.engine, session):
        seats = workspace.engine.state(DECISIONS, decision_stream(decision)).seats
        seated |= {seat.agent: _describe(seat) for seat in seats if seat.kind != _ELSEWHERE}
    return {name: tool for name, tool in (observed | seated).items() if tool != name}


def _describe(seat: DecisionSeat) -> str:
    return describe_tool({"model": seat.model, "kind": seat.kind, "what": seat.spec})
