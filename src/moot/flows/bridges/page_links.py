"""Which pages tell more about the same, and the names under which pages in one folder are found.

A decision leads to the sessions in which it was argued, its receipt and its story; a session leads
back; a path leads to everything on it. A page links to those that stand beside it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from moot.pages import PageLink, Report
from moot.protocols.decision import PROTOCOL as DECISION
from moot.protocols.decision import stream_of as decision_stream
from moot.protocols.decision.machine import MACHINE as DECISIONS
from moot.protocols.decision.machine import SESSIONS
from moot.protocols.path import stream_of as path_stream
from moot.protocols.path.machine import ITEMS
from moot.protocols.path.machine import MACHINE as PATHS
from moot.workspace.workspace import Workspace

INDEX_FILE: Final = "index.html"
TRACK_FILE: Final = "track.html"
PAGES: Final = ("decision", "debate", "parliament", "trace", "path")
_LABELS: Final = {"path": "Story of the path"}
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]")
_MOST_ID: Final = 24
_MOST_DECISIONS: Final = 20


def page_file_name(stream: str, kind: str = "") -> str:
    """`decision-q-7.html`; another `kind` of page about the same is `receipt-q-7.html`."""
    protocol, _, name = stream.partition("/")
    safe = _UNSAFE.sub("_", name)
    if safe != name:  # two ids may differ only in what a file name cannot hold
        safe = f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return f"{kind or protocol}-{safe}.html"


def link_page(
    workspace: Workspace, stream: str, page: Report, is_there: Callable[[str], bool]
) -> Report:
    """The same page with links to those beside it; `is_there` says which file names there are."""
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
