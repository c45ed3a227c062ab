"""What a flow starts from."""

from __future__ import annotations

from typing import NamedTuple

from moot.path.model import Source


class Found(NamedTuple):
    """The record a flow starts from, what it is about, whose need it is, and its file if any."""

    source: Source
    title: str
    origin: str
    corr: str | None = None
    file: str = ""
