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


def report_of(space: Workspace, named: str, how: How) -> Report:
    """The page of a decision, debate, parliament, trace or path; NotFound if it is none here."""
    for protocol, tell in REPORTS.items():
        name = named.removeprefix(f"{protocol}/")
        if _recorded(space, f"{protocol}/{name}"):
            return tell(space, name, how)
    return _story(space, named, how)


def _recorded(space: Workspace, stream: str) -> bool:
    if not STREAM.match(stream):
        return False
    with space.store.read() as view:
        return view.head(stream) is not None


def _decision(space: Workspace, name: str, _how: How) -> Report:
    from moot.flows.decisions.receipt_content import says
    from moot.flows.decisions.receipt_page import report_of as page_of

    return page_of(says(space, name))


def _debate(space: Workspace, name: str, _how: How) -> Report:
    """From the record: what stands in the file now is not asked."""
    from moot.flows.debate.record import read_events, recorded_parts
    from moot.protocols.debate.checker import check_session
    from moot.protocols.debate.report import build_report

    stream = f"debate/{name}"
    with space.store.read() as view:
        events = read_events(view, stream)
    data = b"".join(part for part, _, _ in recorded_parts(events, space.artifacts))
    file = Path(space.engine.state(stream).file).name
    return build_report(check_session(data, file_name=file), file, hashlib.sha256(data).hexdigest())


def _parliament(space: Workspace, name: str, _how: How) -> Report:
    from moot.flows.parliament.parliament_session import ParliamentSession
    from moot.flows.parliament.scripted_seats import list_scripted_agents
    from moot.protocols.parliament.documents.report import make_report

    room = ParliamentSession(space, space.root, name)
    return make_report(room.read_proceedings(), scripted=list_scripted_agents(room))


def _trace(space: Workspace, name: str, how: How) -> Report:
    from moot.flows.observed import sessions
    from moot.flows.trace import inspection
    from moot.protocols.trace.audit import page

    stream = f"trace/{name}"
    counted = sessions.count_work_during_trace(space, space.engine.state(stream))
    found = inspection.inspect_live(space.path, how, stream)
    return page.trace_page(found.events[stream], found.reports[0], counted)


def _story(space: Workspace, name: str, _how: How) -> Report:
    from moot.flows.bridges.story import story_of
    from moot.flows.bridges.story_page import report

    try:
        return report(name, story_of(space, name))
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
