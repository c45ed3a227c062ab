"""All peers take turns at one question, so that a busy minute of the machine hits them alike."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple

from bench.peers.driver_process import DriverFailed, DriverProcess
from bench.peers.rows import Offer, Row

READY_SECONDS: Final = 240.0
ROUND_SECONDS: Final = 150.0


class Limits(NamedTuple):
    """How long preparing and one round may take."""

    ready: float = READY_SECONDS
    round: float = ROUND_SECONDS


class Contender(NamedTuple):
    """A peer that is installed, what it offers, and how its driver is started."""

    name: str
    offers: Sequence[Offer]
    command: Callable[[str], list[str]]


def ask_for_offers(
    name: str, command: Callable[[str], list[str]], folder: Path, limits: Limits
) -> Contender:
    """Raises `DriverFailed` if the driver cannot even say what it offers."""
    with DriverProcess(command("offers"), folder) as process:
        return Contender(name, process.list_offers(limits.ready), command)


def measure_question(
    question: str,
    contenders: Sequence[Contender],
    folder: Path,
    rounds: int,
    limits: Limits | None = None,
) -> list[Row]:
    """A row for each who offers an answer. Preparing is not timed; who begins, changes."""
    limits = limits or Limits()
    with ExitStack() as stack:
        racers = [
            _Racer(contender, offer, folder / contender.name / question, stack, limits)
            for contender in contenders
            for offer in contender.offers
            if offer.question == question
        ]
        for racer in racers:
            racer.prepare()
        for number in range(rounds + 1):  # the first is to get warm, and not kept
            start = number % len(racers) if racers else 0
            for racer in (*racers[start:], *racers[:start]):
                racer.take_turn(is_kept=number > 0)
        return [racer.row() for racer in racers]


class _Racer:
    """One driver in the race; out of it as soon as it fails."""

    def __init__(
        self, contender: Contender, offer: Offer, folder: Path, stack: ExitStack, limits: Limits
    ) -> None:
        self._name, self._offer, self._limits = contender.name, offer, limits
        self._process = stack.enter_context(
            DriverProcess(contender.command(offer.question), folder)
        )
        self._values: list[float] = []
        self._failure = ""

    def prepare(self) -> None:
        self._attempt(lambda: self._process.wait_until_ready(self._limits.ready))

    def take_turn(self, *, is_kept: bool) -> None:
        def run() -> None:
            value = self._process.measure_round(self._limits.round)
            if is_kept:
                self._values.append(value)

        self._attempt(run)

    def _attempt(self, step: Callable[[], None]) -> None:
        if self._failure:
            return
        try:
            step()
        except DriverFailed as error:
            self._failure = str(error)
            print(f"  {self._name}, {self._offer.question}: {error}", file=sys.stderr)

    def row(self) -> Row:
        values = [] if self._failure else self._values
        offer = self._offer
        words = offer.how, offer.caveat, self._failure
        return Row(self._name, offer.question, offer.way, values, *words)
