"""One report for any id: the page of the protocol it belongs to (DEC-025).

What has no page of its own (a message, a thread, an agent) is told as a story.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.operation import operation
from moot.core.errors import NotFound
from moot.core.names import STREAM
from moot.pages import Report

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.workspace.check import CheckOptions
    from moot.workspace.workspace import Workspace

BuildPage = Callable[["Workspace", str, "CheckOptions"], Report]


class ReportPage(msgspec.Struct, frozen=True):
    """`verdict` is the badge of the page. With `file` it was written there, and `report` is not
    given; without, `report` is the page as a value that `moot.pages` draws."""

    id: str
    kind: str
    file: str | None
    verdict: str
    report: Report | msgspec.UnsetType = msgspec.UNSET


@operation("report")
def report(session: Session, name: str, *, file: Path | None = None) -> ReportPage:
    """How it went: the page of a decision, debate, parliament, trace or path, by its id.

    It is drawn from the record, so a file that was changed since does not change it. With `file`
    (FILE.html, FILE.md or FILE.json) it is written there. NotFound if nothing is called so.
    """
    from moot.api.page_files import require_page_name, write_page

    if file is not None:
        require_page_name(file)
    stream = find_stream_with_page(session, name)
    page = build_recorded_page(session, stream) if stream else _tell_story(session, name)
    if file is None:
        return ReportPage(name, page.kind, None, page.verdict.label, page)
    write_page(file, link_beside(session, stream, page, file) if stream else page)
    return ReportPage(name, page.kind, str(file), page.verdict.label)


def find_stream_with_page(session: Session, named: str) -> str | None:
    """The stream of that name whose protocol has pages; None if it can only be told as a story."""
    for protocol in _PAGES:
        stream = f"{protocol}/{named.removeprefix(f'{protocol}/')}"
        if _is_recorded(session.workspace, stream):
            return stream
    return None


def build_recorded_page(session: Session, stream: str) -> Report:
    """The page of a stream, from its record."""
    from moot.workspace.check import CheckOptions

    protocol, _, name = stream.partition("/")
    return _PAGES[protocol](session.workspace, name, CheckOptions(session.keys))


def link_beside(session: Session, stream: str, page: Report, file: Path) -> Report:
    """The page with links to those that stand in the folder of its file."""
    from moot.flows.bridges.page_links import link_page

    folder = file.parent
    return link_page(
        session.workspace,
        stream,
        page,
        lambda name: name != file.name and (folder / name).is_file(),
    )


def _tell_story(session: Session, named: str) -> Report:
    from moot.workspace.check import CheckOptions

    return _story(session.workspace, named, CheckOptions(session.keys))


def _is_recorded(workspace: Workspace, stream: str) -> bool:
    if not STREAM.match(stream):
        return False
    with workspace.store.read() as view:
        return view.head(stream) is not None


def _decision(workspace: Workspace, name: str, _how: CheckOptions) -> Report:
    from moot.flows.decisions.outcomes import describe_calibrated_vote
    from moot.flows.decisions.receipt_content import compose_receipt
    from moot.flows.decisions.receipt_page import build_decision_page

    content = compose_receipt(workspace, name)
    return build_decision_page(content, describe_calibrated_vote(workspace, name, content))


def _debate(workspace: Workspace, name: str, _how: CheckOptions) -> Report:
    """From the record: what stands in the file now does not count."""
    from moot.api.session_tools import name_tools
    from moot.flows.debate.record import read_recorded_bytes
    from moot.protocols.debate.checker import check_session
    from moot.protocols.debate.machine import MACHINE as DEBATE
    from moot.protocols.debate.report import build_report

    stream = f"debate/{name}"
    data = read_recorded_bytes(workspace, stream)
    file = Path(workspace.engine.state(DEBATE, stream).file).name
    checked = check_session(data, file_name=file)
    tools = name_tools(workspace, stream, checked.settings.agents)
    return build_report(checked, file, hashlib.sha256(data).hexdigest(), tools=tools)


def _parliament(workspace: Workspace, name: str, _how: CheckOptions) -> Report:
    from moot.api.session_tools import name_tools
    from moot.flows.parliament.parliament_session import ParliamentSession
    from moot.flows.parliament.scripted_seats import list_scripted_agents
    from moot.protocols.parliament.documents.report import make_report

    room = ParliamentSession(workspace, workspace.root, name)
    tools = name_tools(workspace, room.stream, room.state.holders)
    return make_report(room.read_proceedings(), scripted=list_scripted_agents(room), tools=tools)


def _trace(workspace: Workspace, name: str, how: CheckOptions) -> Report:
    from moot.flows.observed import sessions
    from moot.flows.trace import inspection
    from moot.protocols.trace.audit import page
    from moot.protocols.trace.machine import MACHINE as TRACE

    stream = f"trace/{name}"
    counted = sessions.count_work_during_trace(workspace, workspace.engine.state(TRACE, stream))
    inspected = inspection.inspect_live(workspace.path, how, stream)
    return page.trace_page(inspected.events[stream], inspected.reports[0], counted)


def _story(workspace: Workspace, name: str, _how: CheckOptions) -> Report:
    from moot.flows.bridges.story import story_of
    from moot.flows.bridges.story_page import build_story_page

    try:
        return build_story_page(name, story_of(workspace, name))
    except NotFound:
        raise NotFound(
            "not_found",
            f"nothing here is called {name}",
            hint="`moot ledger log` lists what there is; `moot debate report FILE` takes a file",
        ) from None


# A session that was run by itself keeps its costs in a decision of the same id: that comes last.
_PAGES: Final[dict[str, BuildPage]] = {
    "debate": _debate,
    "parliament": _parliament,
    "trace": _trace,
    "path": _story,
    "decision": _decision,
}
