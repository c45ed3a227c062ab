"""Stories: the whole path that something belongs to, from the record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from moot.api.operation import operation
from moot.flows.bridges.story import Story

if TYPE_CHECKING:
    from moot.api.session import Session

__all__ = ["Story", "story"]


@operation("story")
def story(session: Session, name: str, *, file: Path | None = None) -> Story:
    """The path that a name belongs to: every step, every record, who, when, by which flow.

    `name` is anything that has one: a path, a message, an event, a debate, a parliament, a trace,
    a claim; or an agent under any of its names. With `file` (FILE.html, FILE.md or FILE.json) it
    is also written as a page. NotFound (story_not_found) if nothing is called so.
    """
    from moot.api.page_files import require_page_name, write_page
    from moot.api.reports import find_stream_with_page, link_beside
    from moot.flows.bridges.story import story_of
    from moot.flows.bridges.story_page import build_story_page

    if file is not None:
        require_page_name(file)
    path_story = story_of(session.workspace, name)
    if file is not None:
        page = build_story_page(name, path_story)
        stream = find_stream_with_page(session, name)
        write_page(file, link_beside(session, stream, page, file) if stream else page)
    return path_story
