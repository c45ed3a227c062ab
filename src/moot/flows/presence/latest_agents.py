"""Who was seen last, of thousands: only those are proved who are shown.

What rows claim puts names in line; each is proved when its turn comes, and goes back in line if it
was seen earlier than claimed. So a forged time costs a look and hides nobody.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

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


def find_latest(
    names: Iterable[str],
    claimed: Mapping[str, Millis],
    most: int,
    prove: Callable[[str], Millis | None],
) -> list[str]:
    """Those `most` of `names` that were seen last, as `prove` says, the latest first; whom it gives
    no time is left out.

    No proved time is later than the claimed one, so whoever is first in line with a proved time is
    next.
    """
    line = iter(sorted(names, key=lambda name: claimed.get(name, 0), reverse=True))
    following = next(line, None)
    chosen: list[str] = []
    proved: list[tuple[Millis, str]] = []  # seen earlier than claimed: the latest of them first
    while len(chosen) < most and (proved or following is not None):
        if following is None or (proved and -proved[0][0] >= claimed.get(following, 0)):
            chosen.append(proved.pop(0)[1])
            continue
        seen_at = prove(following)
        if seen_at is not None:
            insort(proved, (-seen_at, following))
        following = next(line, None)
    return chosen
