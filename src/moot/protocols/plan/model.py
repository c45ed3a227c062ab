"""The nouns: a page, and how far it has come."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

import msgspec

from moot.core.clock import Millis
from moot.core.sha256 import sha256

PROTOCOL: Final = "plan"
MAX_TEXT_BYTES: Final = 8_192
MAX_WORK: Final = 200
_IN_STREAM: Final = re.compile(r"[A-Za-z0-9._:@+~-]{1,200}\Z")


class Stage(StrEnum):
    """A plan is amended for as long as anybody likes; it has no end."""

    UNWRITTEN = "unwritten"
    WRITTEN = "written"


class State(msgspec.Struct, frozen=True):
    """The newest page; `version` counts from 1 and is 0 before anything was written."""

    work: str = ""
    version: int = 0
    text: str = ""
    by: str = ""
    at: Millis = 0

    @property
    def stage(self) -> Stage:
        return Stage.WRITTEN if self.version else Stage.UNWRITTEN


def stream_of(work: str) -> str:
    """Where the plan of a work item stands; an id that no stream can have is known by its hash."""
    if _IN_STREAM.match(work):
        return f"{PROTOCOL}/{work}"
    return f"{PROTOCOL}/~{sha256(work.encode('utf-8', 'replace')).hexdigest()[:32]}"
