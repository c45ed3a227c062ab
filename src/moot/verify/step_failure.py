"""The one exception of the verifier: a line that fails a step of section 7.

It never leaves the package: the checker turns the first one into the verdict `tampered`.
"""

from __future__ import annotations

from typing import NamedTuple


class StreamPosition(NamedTuple):
    """A place in the ledger: the `seq`-th event of `stream`."""

    stream: str
    seq: int


class StepFailure(Exception):
    """A line fails the numbered step of section 7; the message says how, `where` says in what."""

    def __init__(self, step: int, code: str, message: str, where: str = "") -> None:
        super().__init__(message)
        self.step = step
        self.code = code
        self.message = message
        # A field's name may come from the bundle; what is plain and short is shown as it is.
        plain = where.isascii() and where.isprintable() and len(where) <= 80
        self.where = where if plain else quote_safely(where)
        self.line: int | None = None
        self.position: StreamPosition | None = None

    def at(self, line: int | None = None, position: StreamPosition | None = None) -> StepFailure:
        """The same failure with its place filled in; what is known already stays."""
        self.line = line if self.line is None else self.line
        self.position = position if self.position is None else self.position
        return self


def quote_safely(value: object) -> str:
    """Foreign text made safe for a message: quoted, escaped and short."""
    text = ascii(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
