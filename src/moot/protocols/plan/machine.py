"""The automaton of one plan.

(none) --amended--> written --amended--> written
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any, Final

import msgspec

from moot.core.clock import Millis, to_text
from moot.core.findings import Breach, Rule, check_all
from moot.core.machine import (
    Case,
    Command,
    Context,
    Decision,
    Event,
    Machine,
    Put,
    Recorded,
    RowChange,
    Words,
    decide_by_findings,
    no_agenda,
    refusal,
)
from moot.core.sha256 import sha256
from moot.core.text import Quoted

# The nouns: a page, and how far it has come.

PROTOCOL: Final = "plan"
MAX_TEXT_BYTES: Final = 8_192
MAX_WORK: Final = 200
_IN_STREAM: Final = re.compile(r"[A-Za-z0-9._:@+~-]{1,200}\Z")


class Stage(StrEnum):
    """A plan can always be amended; it has no end."""

    UNWRITTEN = "unwritten"
    WRITTEN = "written"


class State(msgspec.Struct, frozen=True):
    """The newest page; `version` counts from 1 and is 0 before anything was written."""

    work: str = ""
    version: int = 0
    text: str = ""
    by: str = ""
    at: Millis = 0

    @property
    def stage(self) -> Stage:
        return Stage.WRITTEN if self.version else Stage.UNWRITTEN


def stream_of(work: str) -> str:
    """Return the stream of a work item's plan; an id that fits no stream name is hashed."""
    if _IN_STREAM.match(work):
        return f"{PROTOCOL}/{work}"
    return f"{PROTOCOL}/~{sha256(work.encode('utf-8', 'replace')).hexdigest()[:32]}"


class Amend(Command, frozen=True):
    """Replace the page by `text`. `version` is the one that you read, 0 for none."""

    work: str
    text: str
    version: int


COMMANDS = (Amend,)


class PlanAmended(Event, frozen=True):
    """The actor replaced the page by `text`, which is `version` of the plan."""

    work: str
    version: int
    text: str


EVENTS = (PlanAmended,)


# The rules of a plan, one row each.

Breaches = Iterator[Breach]
PlanCase = Case[State, Amend]


def bad_work(case: PlanCase) -> Breaches:
    work = case.command.work
    named = 0 < len(work) <= MAX_WORK and work.isprintable() and " " not in work
    if not named or stream_of(work) != case.context.stream:
        yield f"{work[:60]!r} is no work item's id", "work"


def no_text(case: PlanCase) -> Breaches:
    if not case.command.text.strip():
        yield "", "text"


def long_text(case: PlanCase) -> Breaches:
    size = len(case.command.text.encode("utf-8", "surrogatepass"))
    if size > MAX_TEXT_BYTES:
        yield f"the page has {size} bytes, the limit is {MAX_TEXT_BYTES}", "text"


def older_version(case: PlanCase) -> Breaches:
    version, newest = case.command.version, case.state.version
    if version != newest:
        who = f", by {case.state.by}" if newest else ""
        message = f"you amend version {version}; the newest is {newest}{who}"
        yield message, "version", None, {"WORK": case.command.work}


RULES: Final[dict[type[Command], tuple[Rule[Any], ...]]] = {
    Amend: (
        Rule("PLN-01", "bad_work", "a plan is of one work item", bad_work,
             "such as T-7, bb-u6f.6.3, or the branch"),
        Rule("PLN-02", "text_required", "a plan says something", no_text,
             "write what is to be done, by whom, and what was agreed"),
        Rule("PLN-03", "plan_too_long", "a plan is one page", long_text,
             "shorten it: what is done may go, and tasks belong into their own list"),
        Rule("PLN-04", "plan_outdated", "only the newest version is amended", older_version,
             "read it again: `moot plan WORK`; then amend that version"),
    ),
}  # fmt: skip


TRANSITIONS: Final[dict[Stage, dict[type[Event], Stage]]] = {
    Stage.UNWRITTEN: {PlanAmended: Stage.WRITTEN},
    Stage.WRITTEN: {PlanAmended: Stage.WRITTEN},
}


def decide(state: State, command: Command, context: Context) -> Decision:
    if not isinstance(command, Amend):
        return refusal("PLN-05", "unknown_command", "a plan knows no such command", "update moot")
    findings = check_all(RULES[Amend], Case(state, command, context))
    event = PlanAmended(work=command.work, version=state.version + 1, text=command.text)
    return decide_by_findings(findings, event)


def evolve(_state: State, recorded: Recorded[Any]) -> State:
    event = recorded.event
    return State(event.work, event.version, event.text, recorded.actor.id, recorded.at)


agenda = no_agenda


def index(recorded: Recorded[Any]) -> Iterable[RowChange]:
    """Index plans by their work item, and their text for search."""
    event = recorded.event
    yield Put("plan.pages", event.work, {"version": event.version})
    yield Words("plan.pages", event.work, event.text)


MACHINE: Machine[State] = Machine(
    name=PROTOCOL,
    version=1,
    initial=State(),
    events=EVENTS,
    commands=COMMANDS,
    decide=decide,
    evolve=evolve,
    agenda=agenda,
    index=index,
)


# What people and agents read of a plan.


class PlanView(msgspec.Struct, frozen=True):
    """The newest page, written by `by`. `version` is 0 and `text` empty if there is none yet."""

    work: Quoted
    version: int
    text: Quoted
    by: str | None
    at: str | None


def view_plan(work: str, state: State) -> PlanView:
    at = to_text(state.at) if state.version else None
    return PlanView(Quoted(work), state.version, Quoted(state.text), state.by or None, at)
