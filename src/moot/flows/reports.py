"""One report for any id: which protocol it belongs to, and that protocol's own page (DEC-025).

What has no page of its own (a message, a thread, an agent) is told as a story.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

from moot.core.errors import NotFound
from moot.core.names import STREAM
from moot.pages import Report
from moot.workspace.check import How
from moot.workspace.workspace import Workspace

Tell = Callable[[Workspace, str, How], Report]


def report_of(workspace: Workspace, named: str, how: How) -> Report:
    """The page of a decision, debate, parliament, trace or path; NotFound if it is none here."""
    for protocol, tell in REPORTS.items():
        name = named.removeprefix(f"{protocol}/")
        if _recorded(workspace, f"{protocol}/{name}"):
            return tell(workspace, name, how)
    return _story(workspace, named, how)


def _recorded(workspace: Workspace, stream: str) -> bool:
    if not STREAM.match(stream):
        return False
    with workspace.store.read() as view:
        return view.head(stream) is not None


def _decision(workspace: Workspace, name: str, _how: How) -> Report:
    from moot.flows.decisions.receipt_content import says
    from moot.flows.decisions.receipt_page import report_of as page_of

    return page_of(says(workspace, name))


def _debate(workspace: Workspace, name: str, _how: How) -> Report:
    """From the record: what stands in the file now is not asked."""
    from moot.flows.debate.record import history, segments
    from moot.protocols.debate.checker import check_session
    from moot.protocols.debate.report import build_report

    stream = f"debate/{name}"
    with workspace.store.read() as view:
        events = history(view, stream)
    data = b"".join(part for part, _, _ in segments(events, workspace.artifacts))
    file = Path(workspace.engine.state(stream).file).name
    return build_report(check_session(data, file_name=file), file, hashlib.sha256(data).hexdigest())


def _parliament(workspace: Workspace, name: str, _how: How) -> Report:
    from moot.flows.parliament.chamber import Room
    from moot.flows.parliament.voices import scripted
    from moot.protocols.parliament.documents.report import make_report

    room = Room(workspace, workspace.root, name)
    return make_report(room.proceedings(), scripted=scripted(room))


def _trace(workspace: Workspace, name: str, how: How) -> Report:
    from moot.flows.observed import watching
    from moot.flows.trace import inspection
    from moot.protocols.observed.views import count_work
    from moot.protocols.trace.audit import page

    stream = f"trace/{name}"
    state = workspace.engine.state(stream)
    watched = [one.state for one in watching.sessions_during_trace(workspace, state)]
    counted = count_work(state.completed + state.failures, watched)
    found = inspection.inspect_live(workspace.path, how, stream)
    return page.trace_page(found.events[stream], found.reports[0], counted)


def _story(workspace: Workspace, name: str, _how: How) -> Report:
    from moot.flows.bridges.story import story_of
    from moot.flows.bridges.story_page import report

    try:
        return report(name, story_of(workspace, name))
    except NotFound:
        raise NotFound(
            "not_found",
            f"nothing here is called {name}",
            hint="`moot ledger log` lists what there is; `moot debate report FILE` takes a file",
        ) from None


# A session that was run by itself has its books in a decision of the same id: that comes last.
REPORTS: Final[dict[str, Tell]] = {
    "debate": _debate,
    "parliament": _parliament,
    "trace": _trace,
    "path": _story,
    "decision": _decision,
}
