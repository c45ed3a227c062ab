"""Mail to measure with: a few dozen agents who write to each other in many short threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from bench.ground import Ground, opened
from moot.core.errors import MootError
from moot.engine.job import Job
from moot.protocols.mail.commands import Send
from moot.protocols.mail.model import Party, stream_of
from moot.workspace.workspace import Workspace

SENDER = "amber-otter"
READERS = tuple(f"reader-{number:03d}" for number in range(100))
A_THREAD = 10
_BATCH = 1_000
_WORDS = ("auth", "cache", "session", "token", "parser", "ledger", "report", "merge", "branch")


def filled(ground: Ground, name: str, messages: int) -> Path:
    """A workspace with so many messages, spread evenly over a hundred inboxes."""
    place = ground.new(name, (SENDER, *READERS))
    with opened(place) as space:
        for jobs in _batches(messages):
            for result in space.engine.execute_all(jobs):
                if isinstance(result, MootError):
                    raise result
    return place


def _batches(messages: int) -> Iterator[list[Job]]:
    for start in range(0, messages, _BATCH):
        yield [_job(number) for number in range(start, min(start + _BATCH, messages))]


def _job(number: int) -> Job:
    thread = f"work-{number // A_THREAD}"
    return Job(stream_of(thread), _message(number), SENDER)


def _message(number: int) -> Send:
    first, second = _WORDS[number % 9], _WORDS[number // 9 % 9]
    return Send(
        subject=f"INFO: the {first} of the {second}",
        body=f"# Information\n\nThe {first} of the {second} was looked into ({number}).\n",
        to=(Party(READERS[number % len(READERS)], 1),),
    )


def sender(space: Workspace, start: int) -> Callable[[], None]:
    """One message more with each call, in new threads of the same length."""
    numbers = iter(range(start, start + 10_000_000))

    def one() -> None:
        job = _job(next(numbers))
        space.engine.execute(job.stream, job.command, job.actor)

    return one
