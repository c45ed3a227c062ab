"""The interface of every protocol: commands in, events out, and what is due.

    decide(state, command, context) -> Decision     may refuse; never raises; no IO, no clock
    evolve(state, recorded)         -> state        total: what is in the ledger happened
    agenda(state, now)              -> Dues         whose turn it is, by when
    index(recorded)                 -> row changes  what the store keeps findable

A decision may refuse *and* carry events (a refused overlap is itself on record): the engine
appends them in one commit and then raises `Refused`. A protocol bundles its functions in one
`Machine`; `example/` is the smallest complete one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import cache
from typing import Any, Generic, Protocol, TypeGuard, TypeVar

import msgspec

from moot.core.clock import Millis
from moot.core.errors import StoreFailed
from moot.core.findings import Finding, Severity, select_errors
from moot.core.paged_map import prepare_type
from moot.core.record import Actor, ArtifactRef

S = TypeVar("S")


class Event(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A past-tense fact. Its type in the ledger is `PROTOCOL.class_name_in_snake_case`."""


class Command(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A request to a machine. The docstring is its description in the reference."""


E = TypeVar("E", bound=Event)
E_co = TypeVar("E_co", bound=Event, covariant=True)
C = TypeVar("C", bound=Command)
Filled = TypeVar("Filled", bound=msgspec.Struct)


def fill_from(kind: type[Filled], source: Any, /, **others: Any) -> Filled:
    """Make a `kind` from `others`; copy every other field that `source` has under the same name."""
    names = _shared_fields(kind, type(source))  # type: ignore[arg-type]  # a class is hashable
    return kind(**{name: getattr(source, name) for name in names if name not in others}, **others)


@cache
def _shared_fields(kind: type[msgspec.Struct], source: type) -> tuple[str, ...]:
    return tuple(name for name in kind.__struct_fields__ if hasattr(source, name))


class KeyClass(StrEnum):
    """What a key is for. Each key has exactly one purpose."""

    AGENT = "agent"
    HUMAN = "human"
    SYSTEM = "system"
    CHECKPOINT = "checkpoint"


class VerifiedActor(msgspec.Struct, frozen=True, gc=False):
    """Who gives a command. The engine proved it by the private key, not by the name alone.

    `epoch` numbers the holders of the name; `attended` means that a person unlocked the key for
    this command.
    """

    id: str
    epoch: int
    kid: str
    kind: KeyClass
    role: str | None = None
    attended: bool = False

    def as_actor(self) -> Actor:
        return Actor(id=self.id, epoch=self.epoch, kid=self.kid, role=self.role)


class SignOfLife(msgspec.Struct, frozen=True, gc=False):
    """When an agent last showed that it is running, with the proof.

    The proof is either `event`, the hash of a signed event, or the signed text `heartbeat` with its
    `signature`.
    """

    at: Millis
    event: str | None = None
    heartbeat: str | None = None
    signature: str | None = None


class Context(msgspec.Struct, frozen=True, gc=False):
    """What a decision knows besides the state and the command.

    `signs_of_life` has the latest sign of life of each agent that `Machine.needs_signs_of` named;
    agents without one are missing.
    """

    now: Millis
    actor: VerifiedActor
    stream: str
    origin: str
    signs_of_life: dict[str, SignOfLife] = {}


class Case(msgspec.Struct, Generic[S, C], frozen=True, gc=False):
    """The input of a rule's check: the state, the command and the context of one decision.

    A protocol extends it with values that several of its rules need. The signature of a check names
    its command: `def no_title(case: Case[State, ask.Ask]) -> Breaches`.
    """

    state: S
    command: C
    context: Context


class Recorded(msgspec.Struct, Generic[E_co], frozen=True, gc=False):
    """An event with its place in the ledger: stream, position, time, signer and hash."""

    event: E_co
    stream: str
    seq: int
    at: Millis
    actor: Actor
    hash: bytes
    cause: str | None = None
    corr: str | None = None
    artifacts: tuple[ArtifactRef, ...] = ()


def is_kind(recorded: Recorded[Any], *kinds: type[E]) -> TypeGuard[Recorded[E]]:
    """True if the event has one of these types; a type checker then knows its fields."""
    return isinstance(recorded.event, kinds)


class Draft(msgspec.Struct, frozen=True, gc=False):
    """An event to append, with the artifacts that it cites."""

    event: Event
    artifacts: tuple[ArtifactRef, ...] = ()


class Decision(msgspec.Struct, frozen=True, gc=False):
    """The result of `decide`: drafts to append, findings to show, and whether it is a refusal."""

    drafts: tuple[Draft, ...] = ()
    findings: tuple[Finding, ...] = ()
    refused: bool = False


def accept(*events: Event | Draft, findings: Iterable[Finding] = ()) -> Decision:
    return Decision(tuple(map(_draft, events)), tuple(findings))


def refuse(findings: Iterable[Finding], *events: Event | Draft) -> Decision:
    """Refuse because of `findings`; `events` are appended although the command is refused."""
    return Decision(tuple(map(_draft, events)), tuple(findings), refused=True)


def refusal(rule: str, code: str, message: str, hint: str = "") -> Decision:
    """Refuse with one finding and record nothing."""
    return refuse([Finding(rule=rule, code=code, message=message, hint=hint)])


def decide_by_findings(findings: Iterable[Finding], *events: Event | Draft) -> Decision:
    """Refuse if any finding is an error; otherwise accept, with the findings as remarks."""
    found = tuple(findings)
    return refuse(found) if select_errors(found) else accept(*events, findings=found)


def _draft(event: Event | Draft) -> Draft:
    return event if isinstance(event, Draft) else Draft(event)


class Due(msgspec.Struct, frozen=True, kw_only=True):
    """Something that an agent must do: who, what, since when, and by when.

    With `command`, the machine acts by itself after `by`: the next writing command on the stream,
    or `tick`, applies the command as `system`. A reader only sees that it is due.

    With `instead`, the duty is for the holder `epoch` of the name `who`. After that holder has
    retired or another holds the name, `instead` is due in its place.

    With `owed_to`, the duty lapses when that agent (holder `owed_to_epoch` of the name) ends: its
    answer would have no reader.
    """

    who: str
    what: str
    subject: str = ""
    since: Millis | None = None
    by: Millis | None = None
    hint: str = ""
    command: Command | None = None
    epoch: int = 0
    instead: Due | None = None
    owed_to: str = ""
    owed_to_epoch: int = 0

    def is_overdue(self, now: Millis) -> bool:
        return self.by is not None and self.by <= now


class Put(msgspec.Struct, frozen=True, gc=False):
    """Set the index row `key` of `space`. Rows can be read by key and by prefix."""

    space: str
    key: str
    value: dict[str, Any]


class Drop(msgspec.Struct, frozen=True, gc=False):
    """Remove an index row. No error if there is none."""

    space: str
    key: str


class Words(msgspec.Struct, frozen=True, gc=False):
    """Add `text` to the full-text index under `key`."""

    space: str
    key: str
    text: str


RowChange = Put | Drop | Words


def no_agenda(_state: Any, _now: Millis) -> tuple[Due, ...]:
    return ()


def needs_no_signs(_state: Any, _command: Any) -> tuple[str, ...]:
    return ()


def no_index(_recorded: Recorded[Any]) -> tuple[RowChange, ...]:
    return ()


class Machine(Generic[S]):
    """One protocol, as the engine sees it.

    Raise `version` whenever `State` or `evolve` changes: the engine drops snapshots of any other
    version. `guarded` lists the commands that run a program or take something from another agent;
    before one of them the engine verifies every record since the last signed snapshot instead of
    only reading it. `timeouts` returns the overdue commands; pass a faster function than the
    default if the agenda is long. `needs_signs_of` names the agents whose latest sign of life a
    decision needs.
    """

    def __init__(
        self,
        *,
        name: str,
        version: int,
        initial: S,
        events: tuple[type[Event], ...],
        commands: tuple[type[Command], ...],
        decide: Callable[[S, Any, Context], Decision],
        evolve: Callable[[S, Recorded[Any]], S],
        agenda: Callable[[S, Millis], tuple[Due, ...]] = no_agenda,
        index: Callable[[Recorded[Any]], Iterable[RowChange]] = no_index,
        timeouts: Callable[[S, Millis], Iterable[Command]] | None = None,
        needs_signs_of: Callable[[S, Any], Iterable[str]] = needs_no_signs,
        guarded: frozenset[type[Command]] = frozenset(),
    ) -> None:
        self.name = name
        self.version = version
        self.initial = initial
        self.state_type: type[S] = type(initial)
        self.commands = commands
        self.decide = decide
        self.evolve = evolve
        self.agenda = agenda
        self.index = index
        self.timeouts = timeouts or self._overdue_commands
        self.needs_signs_of = needs_signs_of
        self.guarded = guarded
        self.type_of = {event: f"{name}.{to_snake_case(event.__name__)}" for event in events}
        self.event_of = {text: event for event, text in self.type_of.items()}

    def _overdue_commands(self, state: S, now: Millis) -> Iterable[Command]:
        dues = (due for due in self.agenda(state, now) if due.is_overdue(now))
        return tuple(due.command for due in dues if due.command is not None)

    def require_state(self, state: object) -> S:
        """Return `state` with its type. TypeError if it is a state of another protocol, which is a
        mistake in the caller."""
        if not isinstance(state, self.state_type):
            raise TypeError(f"{self.name} does not keep its state in {type(state).__qualname__}")
        return state

    def read_event(self, event_type: str, data: dict[str, Any]) -> Event:
        """Return the typed event of a body. StoreFailed if this version does not know the event."""
        try:
            kind = self.event_of[event_type]
            prepare_type(kind)
            return msgspec.convert(data, kind)
        except KeyError:
            problem = f"unknown event {event_type}"
        except msgspec.ValidationError as error:
            problem = f"{event_type}: {error}"
        raise StoreFailed(
            "newer_record", f"this record cannot be read: {problem}", hint="update moot"
        )


def to_snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def make_remark(rule: str, code: str, message: str, hint: str = "") -> Finding:
    """Make a warning, which does not refuse the command."""
    return Finding(rule=rule, code=code, message=message, hint=hint, severity=Severity.WARNING)


# Checks for any rule table: a text of the command is not empty, and not too long.


class HasCommand(Protocol):
    """The input of a rule's check, in any protocol: it has the command."""

    @property
    def command(self) -> Any: ...


Check = Callable[[HasCommand], Iterator[tuple[str, str | None]]]


def empty(*fields: str) -> Check:
    """Return a check that reports each of these fields that is empty."""

    def check(case: HasCommand) -> Iterator[tuple[str, str | None]]:
        for name in fields:
            if not getattr(case.command, name).strip():
                yield f"{name} is empty", name

    return check


def too_long(most: int, *fields: str) -> Check:
    """Return a check that reports each of these fields that has more than `most` characters."""

    def check(case: HasCommand) -> Iterator[tuple[str, str | None]]:
        for name in fields:
            if len(getattr(case.command, name)) > most:
                yield f"{name} is longer than {most} characters", name

    return check
