"""The files of the page, read once and given by name: no path of a request reaches the disk."""

from __future__ import annotations

import gzip
import hashlib
import re
from importlib.resources import files
from typing import Final, NamedTuple

from moot.pages.style import CSS

TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
PAGE: Final = "index.html"
REPORT_STYLE: Final = "report.css"


class StaticFile(NamedTuple):
    body: bytes
    compressed: bytes
    content_type: str
    etag: str


def read_static_files() -> dict[str, StaticFile]:
    """Every file in `static/`, by its name, and the style of reports."""
    found = {REPORT_STYLE: _static_file(REPORT_STYLE, _report_style().encode())}
    for file in files("moot.surfaces.web").joinpath("static").iterdir():
        if file.name.rpartition(".")[2] in TYPES:
            found[file.name] = _static_file(file.name, file.read_bytes())
    return found


def _static_file(name: str, body: bytes) -> StaticFile:
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    content_type = TYPES[name.rpartition(".")[2]]
    return StaticFile(body, gzip.compress(body, mtime=0), content_type, etag)


def _report_style() -> str:
    """The stylesheet of a report, for one that stands inside the page in a tree of its own: there
    its outermost element is the host."""
    return re.sub(r"(?<![\w.#-])(:root|html|body)\{", ":host{", CSS)
