"""autogen-agentchat: a round-robin team whose state is saved to a file after every turn."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import CancellationToken

from bench.peers.drivers.protocol import (
    A_RECORD,
    Measure,
    Offered,
    millis_each,
    millis_of_process,
    number_words,
    resident_megabytes,
    serve,
)

_MODULE = "bench.peers.drivers.autogen_driver"
_ONCE = f"from {_MODULE} import Debate; from pathlib import Path; Debate(Path.cwd()).take_turn()"


class Speaker(BaseChatAgent):
    """Says what is laid down beforehand, as a custom agent of its guide does."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "says what is laid down")
        self._numbers = count()

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (TextMessage,)

    async def on_messages(
        self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken
    ) -> Response:
        del messages, cancellation_token
        number = next(self._numbers)
        words = f"{A_RECORD}\n\n{number_words(range(number, number + 100))}"
        return Response(chat_message=TextMessage(content=words, source=self.name))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        del cancellation_token


class Debate:
    """Three speakers; each `take_turn` lets the next one speak and saves the team's state."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "team.json"
        speakers = [Speaker(name) for name in ("otter", "crane", "heron")]
        self._team = RoundRobinGroupChat(speakers, max_turns=1)
        self._loop = asyncio.new_event_loop()
        self._tasks = iter(["Which queue?"])

    def take_turn(self) -> None:
        self._loop.run_until_complete(self._run())

    async def _run(self) -> None:
        await self._team.run(task=next(self._tasks, None))
        self._file.write_text(json.dumps(await self._team.save_state()), encoding="utf-8")


@contextmanager
def start(folder: Path) -> Iterator[Measure]:
    yield lambda: millis_of_process([sys.executable, "-c", _ONCE], folder, {})


@contextmanager
def turn(folder: Path) -> Iterator[Measure]:
    debate = Debate(folder)
    yield lambda: millis_each(debate.take_turn, 9)


@contextmanager
def memory(folder: Path) -> Iterator[Measure]:
    Debate(folder).take_turn()
    yield resident_megabytes


OFFERED = {
    "start": Offered(start, "python -c: import, make a team, one turn saved to a file, end"),
    "turn": Offered(
        turn,
        "RoundRobinGroupChat.run with max_turns=1, then save_state to a JSON file",
        "The whole state is written again each turn, without waiting for the disk; nothing is"
        " signed, and a file cut short by a crash is lost whole.",
    ),
    "memory": Offered(memory, "after one turn"),
}

if __name__ == "__main__":
    serve(OFFERED)
