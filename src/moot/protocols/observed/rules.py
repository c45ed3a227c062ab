"""The rules of observed work, one row each, and which of them a command must keep.

T-nn are readings in docs/readings.md: the Agent Protocol does not mention such work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from moot.core.findings import Rule
from moot.core.machine import Case, Command, KeyClass
from moot.protocols.observed import model
from moot.protocols.observed.model import State

HASH: Final = re.compile(r"[0-9a-f]{64}\Z")
MAX_FILES, MAX_TEXT = 200, 1_000

Breaches = Iterator[tuple[str, str | None]]


def already_ended(case: Case[State, Command]) -> Breaches:
    if case.state.ended:
        yield "", None


def other_agent(case: Case[State, Command]) -> Breaches:
    """Refuse anyone but the agent itself, even the workspace: only it records its tools."""
    state, actor = case.state, case.context.actor
    if not state.agent:
        if actor.kind is KeyClass.SYSTEM:
            yield "a session is begun by its agent", "actor"
    elif (actor.id, actor.epoch) != (state.agent, state.epoch):
        yield f"this is the record of {state.agent}", "actor"


def neither_agent_nor_workspace(case: Case[State, Command]) -> Breaches:
    """Let the workspace record gaps and ends: it notices when a hook or a program has exited."""
    if not (case.state.agent and case.context.actor.kind is KeyClass.SYSTEM):
        yield from other_agent(case)


def not_begun(case: Case[State, Command]) -> Breaches:
    if not case.state.agent:
        yield "", None


def already_begun(case: Case[State, model.BeginObserving]) -> Breaches:
    if case.state.agent:
        yield "", None


def bad_text(case: Case[State, Command]) -> Breaches:
    for name in case.command.__struct_fields__:
        value = getattr(case.command, name)
        texts = value if isinstance(value, tuple) else (value,)
        if any(isinstance(text, str) and _is_unusable(text) for text in texts):
            yield f"{name}: at most {MAX_TEXT} whole characters", name


def _is_unusable(text: str) -> bool:
    """True if the text is too long, or has a lone surrogate, which JSON cannot hold."""
    return len(text) > MAX_TEXT or any("\ud800" <= letter <= "\udfff" for letter in text)


def no_tool(case: Case[State, model.ObserveTool]) -> Breaches:
    if not case.command.tool.strip():
        yield "", "tool"


def no_hash(case: Case[State, model.ObserveTool]) -> Breaches:
    if not HASH.match(case.command.input_hash):
        yield "", "input_hash"


def too_many_files(case: Case[State, model.ObserveTool | model.NoteUnseenChanges]) -> Breaches:
    if len(case.command.files) > MAX_FILES:
        yield f"{len(case.command.files)} files", "files"


def no_files(case: Case[State, model.NoteUnseenChanges]) -> Breaches:
    if not case.command.files:
        yield "", "files"


def stopped_in_the_future(case: Case[State, model.StopWatching]) -> Breaches:
    if not 0 <= (case.command.since or 0) <= case.context.now:
        yield "", "since"


def bad_span(case: Case[State, model.NoteGap]) -> Breaches:
    if not 0 <= case.command.since < case.command.until <= case.context.now:
        yield "", "since"


_OPEN = Rule("T-10", "trace_ended", "this session is over", already_ended, "begin a new record")
_AGENT = Rule("T-10", "not_yours", "another agent is watched here", other_agent,
              "each session has its own record")  # fmt: skip
_AGENT_OR_WORKSPACE = Rule("T-10", "not_yours", "another agent is watched here",
                           neither_agent_nor_workspace, "each session has its own record"
                           )  # fmt: skip
_BEGUN = Rule("T-10", "not_begun", "nothing is watched here yet", not_begun, "begin with its agent")
_TEXT = Rule("T-10", "bad_text", "a text is too long or broken", bad_text, "shorten it")
_FILES = Rule("T-10", "too_many_items", "too many files", too_many_files, "name their folders")

RULES: Final[dict[type[Command], tuple[Rule[Any], ...]]] = {
    model.BeginObserving: (
        _OPEN, _AGENT_OR_WORKSPACE,
        Rule("T-10", "already_begun", "it is watched already", already_begun, "continue it"),
        _TEXT,
    ),
    model.ObserveTool: (
        _OPEN, _AGENT, _TEXT,
        Rule("T-10", "tool_missing", "say which tool was used", no_tool, "give the tool's name"),
        Rule("T-10", "input_hash_missing", "the input is recorded as its hash", no_hash,
             "64 hex digits of SHA-256; never the input itself"),
        _FILES,
    ),
    model.StopWatching: (
        _OPEN, _AGENT_OR_WORKSPACE, _BEGUN, _TEXT,
        Rule("T-11", "bad_span", "a gap ends after it began, and not in the future",
             stopped_in_the_future, "give when watching stopped and when it went on"),
    ),
    model.NoteGap: (
        _OPEN, _AGENT_OR_WORKSPACE, _BEGUN, _TEXT,
        Rule("T-11", "bad_span", "a gap ends after it began, and not in the future", bad_span,
             "give when watching stopped and when it went on"),
    ),
    model.NoteUnseenChanges: (
        _OPEN, _AGENT_OR_WORKSPACE, _BEGUN, _TEXT, _FILES,
        Rule("T-18", "no_files", "say which files changed", no_files, "name at least one"),
    ),
    model.EndObserving: (_OPEN, _AGENT_OR_WORKSPACE, _BEGUN, _TEXT),
}  # fmt: skip
