"""A decision pauses where its event is to be signed, so that others can be decided meanwhile.

Then the signatures of all are made together (`pens.py`), and each goes on to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

from moot.core.errors import MootError
from moot.core.signing import EVENT, Signer

T = TypeVar("T")


class Unsigned(NamedTuple):
    """The bytes of an event, and who will sign them."""

    signer: Signer
    raw: bytes

    def sign(self) -> bytes:
        return self.signer.sign(EVENT, self.raw)


Signing = Generator[Unsigned, bytes, T]
SignAll = Callable[[list[Unsigned]], list[bytes]]


def finish(steps: Signing[T], signature: bytes | None = None) -> T:
    """To the end, one signature after another; `signature` is the one it waits for already."""
    try:
        asked = next(steps) if signature is None else steps.send(signature)
        while True:
            asked = steps.send(asked.sign())
    except StopIteration as end:
        done: T = end.value
        return done


def finish_all(paused: Iterable[Signing[T]], sign_all: SignAll) -> list[T | MootError]:
    """Each up to its first signature, then those together, then each to its end, in their order.

    Whoever fails on the way holds up nobody.
    """
    begun = [_begin(steps) for steps in paused]
    signatures = iter(sign_all([one.asked for one in begun if isinstance(one, _Paused)]))
    return [_end(one, signatures) if isinstance(one, _Paused) else one for one in begun]


class _Paused(NamedTuple, Generic[T]):
    steps: Signing[T]
    asked: Unsigned


def _begin(steps: Signing[T]) -> _Paused[T] | T | MootError:
    try:
        return _Paused(steps, next(steps))
    except StopIteration as end:
        done: T = end.value
        return done
    except MootError as error:
        return error


def _end(paused: _Paused[T], signatures: Iterator[bytes]) -> T | MootError:
    try:
        return finish(paused.steps, next(signatures))
    except MootError as error:
        return error


def one_by_one(asked: list[Unsigned]) -> list[bytes]:
    return [one.sign() for one in asked]
