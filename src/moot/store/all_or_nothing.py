"""A change that is written whole or not at all, even by a caller that swallows its errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from moot.core.errors import StoreFailed


class Writing(Protocol):
    """A change under way. `is_whole`: none of its writes has failed half-way, and it is not
    over."""

    is_whole: bool

    def require_whole(self) -> None: ...


P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound=Writing)


def all_or_nothing(write: Callable[Concatenate[C, P], T]) -> Callable[Concatenate[C, P], T]:
    """Decorates a method that writes: if it fails half-way, the change cannot be committed any
    more (LDG-069)."""

    @wraps(write)
    def guarded(change: C, /, *args: P.args, **kwargs: P.kwargs) -> T:
        change.require_whole()
        try:
            return write(change, *args, **kwargs)
        except BaseException:
            change.is_whole = False
            raise

    return guarded


def write_failed_before() -> StoreFailed:
    return StoreFailed("store_failed", "a write has failed; nothing of it can be kept")
