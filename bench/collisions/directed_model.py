"""A model of our own that a coding tool talks to: a worker in this process decides its turns."""

from __future__ import annotations

from queue import Queue
from threading import Lock
from typing import Final

from tests.real_tools.scripted_model import END, Model, Turn, Use

_SECONDS: Final = 180.0


class DirectedModel(Model):
    """What the worker wants done is the model's next turn; what came of it is handed back."""

    def __init__(self) -> None:
        super().__init__()
        self._turns = Queue[list[Use] | str]()
        self._results = Queue[str]()
        self._answered: dict[int, list[Use] | str] = {}
        self._one_at_a_time = Lock()

    def use(self, use: Use) -> str:
        """Let the tool do it; everything that it has told the model until then."""
        self._turns.put([use])
        return self._results.get(timeout=_SECONDS)

    def end(self) -> None:
        self._turns.put(END)

    def answer(self, turn: Turn) -> list[Use] | str:
        """A request that comes again gets the same answer; side requests are offered no tools."""
        if not turn.offered:
            return END
        heard = self.heard_last
        with self._one_at_a_time:
            if turn.number not in self._answered:
                if turn.number:
                    self._results.put(heard)
                self._answered[turn.number] = self._turns.get(timeout=_SECONDS)
            return self._answered[turn.number]
