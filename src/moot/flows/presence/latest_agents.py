"""Who was seen last, of thousands: only those are proved who are shown.

What rows claim puts names in line; each is proved when its turn comes, and goes back in line if it
was seen earlier than claimed. So a forged time costs a look and hides nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

from moot.core.clock import Millis
from moot.core.machine import SignOfLife

if TYPE_CHECKING:
    from moot.engine.engine import Engine


class ProvedSigns(Mapping[str, SignOfLife]):
    """Signs of life by name, each proved when it is first asked for."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._signs: dict[str, SignOfLife | None] = {}

    def __getitem__(self, name: str) -> SignOfLife:
        if name not in self._signs:
            self._signs[name] = self._engine.signs((name,)).get(name)
        sign = self._signs[name]
        if sign is None:
            raise KeyError(name)
        return sign

    def __iter__(self) -> Iterator[str]:
        """Those that were asked for."""
        return (name for name, sign in self._signs.items() if sign is not None)

    def __len__(self) -> int:
        return sum(1 for _name in self)


class Claim(NamedTuple):
    """That a name was seen at a time. Names of a lower `group` come before all others."""

    group: int
    at: Millis
    name: str


def find_latest(
    claims: Iterable[Claim], most: int, prove: Callable[[str], Millis]
) -> tuple[str, ...]:
    """The first `most` names, by group and then the latest first, as `prove` says.

    No proved time is later than the claimed one, so whoever is first in line with a proved time is
    next.
    """
    line = [(claim.group, -claim.at, claim.name) for claim in claims]
    heapify(line)
    chosen: list[str] = []
    proved: set[str] = set()
    while line and len(chosen) < most:
        group, negative, name = heappop(line)
        seen_at = -negative if name in proved else prove(name)
        if seen_at >= -negative:
            chosen.append(name)
        else:
            proved.add(name)
            heappush(line, (group, -seen_at, name))
    return tuple(chosen)
