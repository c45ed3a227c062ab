"""What may be asked of a plan."""

from __future__ import annotations

from moot.core.machine import Command


class Amend(Command, frozen=True):
    """Put `text` in the place of the page. `version` is the one that was read, 0 for none."""

    work: str
    text: str
    version: int


COMMANDS = (Amend,)
