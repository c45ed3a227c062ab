"""The shape every protocol shares: commands in, events out, and what is due.

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
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, Generic, TypeGuard, TypeVar

import msgspec

from moot.core.clock import Millis
from moot.core.errors import StoreFailed
from moot.core.findings import Finding, Severity, select_errors
from moot.core.prepared_types import prepare_type
from moot.core.record import Actor, ArtifactRef

S = TypeVar("S")


class Event(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A past-tense fact. Its type in the ledger is `PROTOCOL.class_name_in_snake_case`."""


class Command(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What may be asked. The docstring is the help text on every surface."""


E = TypeVar("E", bound=Event)
E_co = TypeVar("E_co", bound=Event, covariant=True)
C = TypeVar("C", bound=Command)


class KeyClass(StrEnum):
    """One purpose a key."""

    AGENT = "agent"
    HUMAN = "human"
    SYSTEM = "system"
    CHECKPOINT = "checkpoint"


class VerifiedActor(msgspec.Struct, frozen=True, gc=False):
    """Who gives a command, as the engine has established it from a private key, not from a name.

    `epoch` counts the holders of the name; `attended`: a person unlocked the key just now.
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
    """An agent's latest proved sign of life, with its proof.

    `event` is the hash of a signed event; else `heartbeat` and `signature` are the signed text.
    """

    at: Millis
    event: str | None = None
    heartbeat: str | None = None
    signature: str | None = None


class Context(msgspec.Struct, frozen=True, gc=False):
    """The outside world of one decision. `signs_of_life` holds the latest sign of life of each
    agent that the machine's `asks` named; one without any is left out."""

    now: Millis
    actor: VerifiedActor
    stream: str
    origin: str
    signs_of_life: dict[str, SignOfLife] = {}


class Case(msgspec.Struct, Generic[S, C], frozen=True, gc=False):
    """A command under check: the state it meets, and the outside world of this decision.

    A protocol extends it with what its rules look up more than once. A check says in its signature
    which command it is about: `def no_title(case: Case[State, ask.Ask]) -> Breaches`.
    """

    state: S
    command: C
    context: Context


class Recorded(msgspec.Struct, Generic[E_co], frozen=True, gc=False):
    """An event together with what the ledger knows about it."""

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
    """Is its event of one of these kinds? Then its fields can be read."""
    return isinstance(recorded.event, kinds)


class Draft(msgspec.Struct, frozen=True, gc=False):
    """An event that cites artifacts. Events that cite none stand in a decision as they are."""

    event: Event
    artifacts: tuple[ArtifactRef, ...] = ()


class Decision(msgspec.Struct, frozen=True, gc=False):
    """What was decided: drafts to append, findings to show, and whether it is a refusal."""

    drafts: tuple[Draft, ...] = ()
    findings: tuple[Finding, ...] = ()
    refused: bool = False


def accept(*events: Event | Draft, findings: Iterable[Finding] = ()) -> Decision:
    return Decision(tuple(map(_draft, events)), tuple(findings))


def refuse(findings: Iterable[Finding], *events: Event | Draft) -> Decision:
    """Refuse for `findings`; `events` are what the refusal itself leaves on record."""
    return Decision(tuple(map(_draft, events)), tuple(findings), refused=True)


def refusal(rule: str, code: str, message: str, hint: str = "") -> Decision:
    """The usual refusal: one finding, and nothing recorded."""
    return refuse([Finding(rule=rule, code=code, message=message, hint=hint)])


def decide_by_findings(findings: Iterable[Finding], *events: Event | Draft) -> Decision:
    """Refuse if any finding is an error, otherwise accept with the findings as remarks."""
    found = tuple(findings)
    return refuse(found) if select_errors(found) else accept(*events, findings=found)


def _draft(event: Event | Draft) -> Draft:
    return event if isinstance(event, Draft) else Draft(event)


class Due(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is due: from whom, what, since when and until when.

    With `command`, the machine itself acts once `by` has passed: the next writing command on the
    stream, or `tick`, applies it as `system`. Reading only shows it.

    With `instead`, it waits for the holder `epoch` of the name; once that one has retired or
    another holds the name, `instead` is due in its place. With `owed_to`, it is due only while that
    holder of a name has not ended: nobody answers into nothing.
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
    """Set the index row `key` of `space`. Rows are found by key and by prefix."""

    space: str
    key: str
    value: dict[str, Any]


class Drop(msgspec.Struct, frozen=True, gc=False):
    """Remove an index row; removing what is not there is fine."""

    space: str
    key: str


class Words(msgspec.Struct, frozen=True, gc=False):
    """Make `text` findable under `key` by full-text search."""

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

    `version` changes whenever `State` or `evolve` does: snapshots of another version are dropped.
    `guarded` names the commands that run something or take something from someone; before them
    every record since the last signed snapshot is verified, not only read. `timeouts` gives the
    commands that are overdue; a machine with a long agenda may offer a quicker way than reading it.
    `asks` names the agents whose last sign of life a decision depends on.
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
        """`state`, typed: it came from a stream of this machine. A TypeError if it did not, since
        whoever reads it was written for another protocol."""
        if not isinstance(state, self.state_type):
            raise TypeError(f"{self.name} does not keep its state in {type(state).__qualname__}")
        return state

    def read_event(self, event_type: str, data: dict[str, Any]) -> Event:
        """The typed event of a body, or StoreFailed if a newer Moot wrote it."""
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
    """A warning that travels with an accepted decision."""
    return Finding(rule=rule, code=code, message=message, hint=hint, severity=Severity.WARNING)
