"""The files of the page, read once and given by name: no path of a request reaches the disk."""

from __future__ import annotations

import gzip
import hashlib
from importlib.resources import files
from typing import Final, NamedTuple

TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
PAGE: Final = "index.html"


class StaticFile(NamedTuple):
    body: bytes
    compressed: bytes
    content_type: str
    etag: str


def read_static_files() -> dict[str, StaticFile]:
    """Every file in `static/`, by its name."""
    found = {}
    for file in files("moot.surfaces.web").joinpath("static").iterdir():
        kind = file.name.rpartition(".")[2]
        if kind in TYPES:
            body = file.read_bytes()
            etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
            compressed = gzip.compress(body, mtime=0)
            found[file.name] = StaticFile(body, compressed, TYPES[kind], etag)
    return found
