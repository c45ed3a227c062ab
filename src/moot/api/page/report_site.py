"""All pages in one folder: every decision, debate, parliament, trace and path, with an index."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from moot.api.operation import operation
from moot.core.errors import MootError, Unavailable
from moot.core.text import Quoted, plural

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.pages import Report, Table
    from moot.workspace.workspace import Workspace


class SitePage(msgspec.Struct, frozen=True):
    """One page of the folder; `file` is its name there."""

    id: str
    kind: str
    title: Quoted
    verdict: str
    file: str


class UndrawnPage(msgspec.Struct, frozen=True):
    """A stream whose page could not be made, and why."""

    id: str
    why: str


class ReportSite(msgspec.Struct, frozen=True):
    """A folder of pages. The first fields are those of every report; `file` is its index."""

    id: str
    kind: str
    file: str
    verdict: str
    folder: str
    pages: list[SitePage]
    undrawn: list[UndrawnPage]


@operation("report.all")
def report_all(session: Session, folder: Path) -> ReportSite:
    """Write all pages into a folder, with links between them and an index.

    The folder is made if it is missing; pages of the same names are replaced, other files stay.
    `undrawn` lists pages that could not be made; the others are written anyway. Receipts are not
    made: existing files receipt-ID.html are linked.
    """
    from moot.api.page.files import write_page
    from moot.api.page.reports import INDEX_FILE, build_recorded_page, link_page, page_file_name

    workspace = session.workspace
    _make_folder(folder)
    streams = list(_streams_with_pages(workspace))
    names = {INDEX_FILE, *map(page_file_name, streams)}
    names |= {file.name for kind in ("receipt", "story") for file in folder.glob(f"{kind}-*.html")}
    pages: list[SitePage] = []
    undrawn: list[UndrawnPage] = []
    for stream in streams:
        try:
            page = build_recorded_page(session, stream)
        except MootError as error:
            undrawn.append(UndrawnPage(stream, str(error)))
            names.discard(page_file_name(stream))
            continue
        file = folder / page_file_name(stream)
        write_page(file, link_page(workspace, stream, page, names.__contains__))
        pages.append(SitePage(stream, page.kind, Quoted(page.title), page.verdict.label, file.name))
    pages += _write_track_page(workspace, folder)
    index, file = _index(session, folder, pages, undrawn), folder / INDEX_FILE
    write_page(file, index)
    return ReportSite(
        id="all",
        kind=index.kind,
        file=str(file),
        verdict=index.verdict.label,
        folder=str(folder),
        pages=pages,
        undrawn=undrawn,
    )


def _write_track_page(workspace: Workspace, folder: Path) -> list[SitePage]:
    """Write the track record, if a person has recorded how some decision turned out."""
    from moot.api.decisions.outcomes import read_track_record
    from moot.api.decisions.track_page import build_track_page
    from moot.api.page.files import write_page
    from moot.api.page.reports import INDEX_FILE, TRACK_FILE
    from moot.pages import PageLink

    record, decisions = read_track_record(workspace)
    if not record.judged:
        return []
    page = build_track_page(record, decisions)
    page = msgspec.structs.replace(page, links=(PageLink("All pages", INDEX_FILE),))
    write_page(folder / TRACK_FILE, page)
    title = Quoted(page.title)
    return [SitePage("track", page.kind, title, page.verdict.label, TRACK_FILE)]


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(
            "unwritable_file", f"{folder}: {error.strerror}", hint="name a folder you may write to"
        ) from None


def _streams_with_pages(workspace: Workspace) -> Iterator[str]:
    """Yield streams by kind, oldest first, without decisions that only record a run's costs."""
    from moot.api.bridges.story import ARGUED
    from moot.api.page.reports import PAGES
    from moot.protocols.decision.machine import MACHINE as DECISION
    from moot.protocols.decision.model import Stage

    with workspace.store.read() as view:
        streams = dict.fromkeys(stream for stream, _ in view.streams())
    for protocol in PAGES:
        for stream in streams:
            if stream.partition("/")[0] != protocol:
                continue
            if protocol == "decision":
                state = workspace.engine.state(DECISION, stream)
                if (
                    state.chamber not in ARGUED
                    or state.stage is Stage.NEW
                    or _only_records_costs(stream, streams)
                ):
                    continue
            yield stream


def _only_records_costs(decision: str, streams: Collection[str]) -> bool:
    """Return True if a session has this id: its run records its costs in such a decision."""
    name = decision.partition("/")[2]
    return f"parliament/{name}" in streams or f"debate/{name}" in streams


def _index(
    session: Session, folder: Path, pages: list[SitePage], undrawn: list[UndrawnPage]
) -> Report:
    from moot import pages as page
    from moot.usage.totals import read_usage

    blocks: list[page.Block] = [
        _table_of([each for each in pages if each.kind == kind], kind)
        for kind in dict.fromkeys(each.kind for each in pages)
    ]
    receipts = tuple(
        (page.Cell(file.stem.partition("-")[2], file_name=file.name),)
        for file in sorted(folder.glob("receipt-*.html"))
    )
    if receipts:
        blocks.append(page.Table(("Decision",), receipts, title="Receipts, with their proofs"))
    used = tuple(
        (each.work or "-", ", ".join(each.agents), each.usage.line)
        for each in read_usage(session.workspace).by_work.values()
    )
    if used:
        title = "What coding tools reported as used"
        blocks.append(page.Table(("Work", "By", "Used"), used, title=title))
    if undrawn:
        left_out = tuple((each.id, each.why) for each in undrawn)
        blocks.append(page.Table(("Id", "Why"), left_out, title="Pages that could not be made"))
    return page.Report(
        kind="index",
        title="Everything on record",
        verdict=page.VerdictBadge(plural(len(pages), "page")),
        decision=page.DecisionCard(_summary(pages), heading="What is here"),
        dissent=None,
        blocks=tuple(blocks),
        proof=None,
    )


def _table_of(pages: list[SitePage], kind: str) -> Table:
    """Return the table of all pages of a kind, with their ids if some are short enough to read."""
    from moot.pages import Cell, Table

    has_ids = any(_short_id(each.id) for each in pages)
    rows = tuple(
        (
            Cell(each.title, file_name=each.file),
            *((_short_id(each.id),) if has_ids else ()),
            each.verdict,
        )
        for each in pages
    )
    columns = ("What", "Id", "Verdict") if has_ids else ("What", "Verdict")
    return Table(columns, rows, title=_HEADINGS.get(kind, kind))


_MOST_ID = 24  # a longer id tells a reader nothing here; the page itself shows it
_HEADINGS = {
    "decision": "Decisions",
    "debate": "Debates",
    "parliament": "Parliaments",
    "trace": "Traces",
    "story": "Paths",
    "track record": "How decisions turned out",
}


def _short_id(stream: str) -> str:
    name = stream.partition("/")[2]
    return name if len(name) <= _MOST_ID else ""


def _summary(pages: list[SitePage]) -> str:
    counts: dict[str, int] = {}
    for each in pages:
        counts[each.kind] = counts.get(each.kind, 0) + 1
    names = {"story": ("path", "paths")}
    words = [plural(count, *names.get(kind, (kind,))) for kind, count in counts.items()]
    return f"{', '.join(words)}." if words else "The record has nothing with a page yet."
