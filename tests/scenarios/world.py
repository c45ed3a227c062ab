"""What a story is told in: a project, agents in it, and one transport."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.project import Project
from tests.scenarios.transports import Caller, Reply, Transport

PASSPHRASE = "correct horse battery staple"


class Story(NamedTuple):
    """A story, with what it says that it does and what it sees refused."""

    tell: Callable[[World], None]
    does: frozenset[str]
    refuses: frozenset[str]


STORIES: list[Story] = []


def story(does: str = "", refuses: str = "") -> Callable[[Callable[[World], None]], None]:
    """Register a story; operations are listed with spaces between them."""

    def register(tell: Callable[[World], None]) -> None:
        STORIES.append(Story(tell, frozenset(does.split()), frozenset(refuses.split())))

    return register


def tell(story: Story, world: World) -> None:
    """Tell a story: it does what it says it does, and the transport carries a part of it."""
    story.tell(world)
    assert (world.done, world.refused) == (set(story.does), set(story.refuses))
    assert world.carried, "the library did all of it: list the story where it is parametrised"


class World:
    """Does operations as someone, over one transport, and remembers which were done or refused."""

    def __init__(self, project: Project, transport: Transport) -> None:
        self.project = project
        self.transport = transport
        self.done: set[str] = set()
        self.refused: set[str] = set()
        self.carried: set[str] = set()  # what the transport itself answered
        self.tool_session: str | None = None  # the coding tool's session that calls, if one does
        self.sub_agent = ""  # and which of its sub-agents does; empty: its main agent

    def do(self, operation: str, acting: str | None = None, **arguments: Any) -> Any:
        """The data of an operation that must succeed."""
        reply = self._call(operation, acting, arguments)
        assert reply.error is None, f"{operation}: {reply.error}"
        self.done.add(operation)
        return reply.data

    def refuse(self, operation: str, acting: str | None = None, **arguments: Any) -> str:
        """The code with which an operation is refused; nothing else may have been recorded."""
        before = self.events()
        reply = self._call(operation, acting, arguments)
        assert reply.error is not None, f"{operation} was not refused: {reply.data}"
        assert self.events() == before, f"{operation} was refused and left something on record"
        self.refused.add(operation)
        return reply.error

    def refuse_on_record(self, operation: str, acting: str | None = None, **arguments: Any) -> str:
        """The code with which an operation is refused that leaves its refusal on record."""
        before = self.events()
        reply = self._call(operation, acting, arguments)
        assert reply.error is not None, f"{operation} was not refused: {reply.data}"
        assert self.events() > before, f"{operation} was refused and left nothing on record"
        self.refused.add(operation)
        return reply.error

    def as_person(self, operation: str, **arguments: Any) -> Any:
        """The data of an operation that a person does, whose key is unlocked for it."""
        reply = self._send(Caller(self.project, None, PASSPHRASE), operation, arguments)
        assert reply.error is None, f"{operation}: {reply.error}"
        self.done.add(operation)
        return reply.data

    def events(self) -> int:
        """How many events are on record."""
        ledger = self.project.ledger
        if not (ledger.exists() or ledger.with_name("database.json").exists()):
            return 0
        with self.project.workspace() as workspace, workspace.store.read() as view:
            return view.count_streams_and_events()[1]

    def _call(self, operation: str, acting: str | None, arguments: dict[str, Any]) -> Reply:
        caller = Caller(
            self.project, acting, tool_session=self.tool_session, sub_agent=self.sub_agent
        )
        return self._send(caller, operation, arguments)

    def _send(self, caller: Caller, operation: str, arguments: dict[str, Any]) -> Reply:
        reply = self.transport.call(caller, operation, arguments)
        if reply.carried:
            self.carried.add(operation)
        return reply
