"""A job pauses where its event is to be signed, so that others can be decided meanwhile.

A signature is a third of what an event costs, and libsodium releases Python's lock meanwhile. So
jobs are generators: they yield the bytes of an event and are sent its signature. The signatures of
many paused jobs are made together (`signing_pool.py`), and each job goes on to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeVar

import msgspec

from moot.core.errors import MootError
from moot.core.signing import EVENT, Signer

T = TypeVar("T")


class UnsignedEvent(msgspec.Struct, frozen=True, gc=False):
    """The bytes of an event, and who will sign them."""

    signer: Signer
    raw: bytes

    def sign(self) -> bytes:
        return self.signer.sign(EVENT, self.raw)


# A job under way: it yields the event to sign, is sent the signature, and returns its result.
Signing = Generator[UnsignedEvent, bytes, T]
# Gives the signatures in the order of the events.
SignAll = Callable[[list[UnsignedEvent]], list[bytes]]


def finish(steps: Signing[T], signature: bytes | None = None) -> T:
    """Run to the end, signing each event as it comes; `signature` answers the pause it is in."""
    try:
        unsigned = next(steps) if signature is None else steps.send(signature)
        while True:
            unsigned = steps.send(unsigned.sign())
    except StopIteration as end:
        done: T = end.value
        return done


def finish_all(jobs: Iterable[Signing[T]], sign_all: SignAll) -> list[T | MootError]:
    """Run each job up to its first event, sign those events together, then run each to its end.

    Nearly every job records one event, so the first signature of each is all there is to gain. The
    jobs must not depend on each other. One that fails is returned as its error; the others go on.
    """
    # LDG-060
    results: list[Any] = []
    paused: list[tuple[int, Signing[T]]] = []  # each with the place of its result
    unsigned: list[UnsignedEvent] = []
    for steps in jobs:
        try:
            unsigned.append(next(steps))
        except StopIteration as end:
            results.append(end.value)
        except MootError as error:
            results.append(error)
        else:
            paused.append((len(results), steps))
            results.append(None)  # until its signature is there
    for (place, steps), signature in zip(paused, sign_all(unsigned), strict=True):
        try:
            results[place] = finish(steps, signature)
        except MootError as error:
            results[place] = error
    return results


def sign_one_by_one(unsigned: list[UnsignedEvent]) -> list[bytes]:
    """Sign in the caller's own thread: for a single command a second one would cost more."""
    return [each.sign() for each in unsigned]
