"""A refusal of scopes says more to whoever asked: where one stands, and that one is a person."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from moot.core.errors import Refused
from moot.surfaces.cli.presence.freeing import freed_by
from moot.surfaces.cli.presence.from_root import named_from_root

if TYPE_CHECKING:
    from moot.surfaces.cli.presence.here import Here

IN_THE_WAY: Final = ("reservation_conflict", "release_forbidden")


@contextmanager
def hinted(here: Here, scopes: tuple[str, ...], verb: str = "reserve") -> Iterator[None]:
    """Whatever is refused inside gets the hint of this place; all else about it stays."""
    try:
        yield
    except Refused as refused:
        hint = _hint(refused, here, scopes, verb)
        raise Refused(refused.code, str(refused), hint=hint, findings=refused.findings) from None


def _hint(refused: Refused, here: Here, scopes: tuple[str, ...], verb: str) -> str:
    if refused.code == "scope_outside":
        return named_from_root(scopes, here, verb) or refused.hint
    freed = freed_by(scopes, here) if refused.code in IN_THE_WAY else ""
    return f"{refused.hint}; {freed}" if freed else refused.hint
