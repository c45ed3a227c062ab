"""Write a page as HTML, markdown or JSON, by the ending of the file name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from moot.core.errors import Malformed
from moot.store.files import write_file

if TYPE_CHECKING:
    from moot.pages import Report

FORMS: Final = (".html", ".md", ".json")


def write_page(file: Path, report: Report) -> None:
    """Write the page, completely or not at all; raise Malformed for another file ending."""
    from moot.pages import to_html, to_json, to_markdown

    require_page_name(file)
    if file.suffix == ".json":
        write_file(file, to_json(report))
    else:
        write_file(file, (to_html if file.suffix == ".html" else to_markdown)(report).encode())


def require_page_name(file: Path | None) -> None:
    """Raise Malformed for another file ending; callers check this before they record anything."""
    if file is not None and file.suffix not in FORMS:
        hint = f"end the file name with {', '.join(FORMS)}"
        problem = f"{file} does not end like a page"
        raise Malformed(problem, code="bad_page_name", hint=hint)
