"""A page as a file, in the form that its name asks for: HTML, markdown or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from moot.core.errors import Malformed
from moot.store.files import write_file

if TYPE_CHECKING:
    from moot.pages import Report

FORMS: Final = (".html", ".md", ".json")


def write_page(file: Path, report: Report) -> None:
    """Write it, whole or not at all; Malformed if the name says no form that is known."""
    from moot.pages import to_html, to_json, to_markdown

    require_page_name(file)
    if file.suffix == ".json":
        write_file(file, to_json(report))
    else:
        write_file(file, (to_html if file.suffix == ".html" else to_markdown)(report).encode())


def require_page_name(file: Path | None) -> None:
    """Malformed if the name says no form that is known: asked before something is recorded."""
    if file is not None and file.suffix not in FORMS:
        forms = ", ".join(FORMS)
        raise Malformed(
            f"{file} names no form of a page", code="bad_page_name", hint=f"end it with {forms}"
        )
