"""given / when / then over the production engine.

    given(world, MACHINE, "example/today").as_("amber-otter").when(Ask(title="x", of="teal-crane"))
        .then(ErrandAsked(...)).refused("errand_not_open", on=Finish(id="e9"))

A refusal also asserts that nothing but its own events was recorded.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from moot.core.errors import Refused
from moot.core.machine import Command, Event, Machine
from moot.testing.world import World

S = TypeVar("S")


class Scenario(Generic[S]):
    def __init__(self, world: World, machine: Machine[S], stream: str) -> None:
        self.world = world
        self.machine = machine
        self.stream = stream
        self.actor = ""
        self.recorded: list[Event] = []

    def as_(self, actor: str) -> Scenario[S]:
        """Who acts from here on; registered if new."""
        if actor not in self.world.engine.registry().agents:
            self.world.agent(actor)
        self.actor = actor
        return self

    def when(self, *commands: Command) -> Scenario[S]:
        """Run commands; what they record is what `then` sees."""
        self.recorded = []
        for command in commands:
            outcome = self.world.engine.execute(self.stream, command, self.actor)
            self.recorded += [recorded.event for recorded in outcome.recorded]
        return self

    def then(self, *events: Event) -> Scenario[S]:
        assert self.recorded == list(events), f"recorded {self.recorded}"
        return self

    def refused(self, code: str, on: Command, *events: Event) -> Scenario[S]:
        """`on` is refused with `code`, and exactly `events` are left on record by it."""
        before, state = self.history(), self.state
        assert self._refusal(on) == code
        after = self.history()
        assert after[: len(before)] == before
        assert after[len(before) :] == list(events), f"recorded {after[len(before) :]}"
        if not events:
            assert self.state == state
        return self

    def _refusal(self, on: Command) -> str:
        try:
            self.world.engine.execute(self.stream, on, self.actor)
        except Refused as error:
            return error.code
        return f"{on} was not refused"

    @property
    def state(self) -> S:
        return self.world.engine.state(self.machine, self.stream)

    def history(self) -> list[Event]:
        with self.world.store.read() as view:
            bodies = [record.body for record in view.records(self.stream)]
        return [self.machine.read_event(body.type, body.data) for body in bodies]


def given(world: World, machine: Machine[S], stream: str) -> Scenario[S]:
    return Scenario(world, machine, stream)
