"""The tools of `moot mcp` as a way in: an operation's arguments under the names of its tool.

What no tool offers (a person's act, an option that tools leave out) the library does instead, so
that a story is told to its end; `Reply.carried` says what went through a tool.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

from moot.api.debates import session as debate_session
from moot.api.operation import OPERATIONS, all_operations
from moot.api.parliaments.session import id_in_files
from moot.core.errors import MootError
from moot.surfaces.mcp.actions import ACTIONS, PARTS, Action
from moot.surfaces.mcp.calls import Calls
from moot.surfaces.mcp.identity import Caller as ServerCaller
from moot.surfaces.terminal.answer import encode_json
from tests.scenarios.transports import Arguments, Caller, Library, Reply

READER: Final = "teal-crane"
FOR_THE_CALLER: Final = ("guard.check", "mail.inbox")  # reads whose answer depends on who asks
# What the operation takes for granted when the tool does not say it.
IMPLIED: Final = {("release", "everything"): True, ("scope.release", "everything"): True}


class McpTools:
    """Calls of tools, as a server does them that was started under MOOT_AGENT."""

    def __init__(self) -> None:
        self._library = Library()

    def offers(self, operation: str) -> bool:
        return find_tool(operation) is not None

    def may_tell(self, operations: Collection[str]) -> bool:
        return any(map(self.offers, operations))

    def call(self, caller: Caller, operation: str, arguments: Arguments) -> Reply:
        found = find_tool(operation)
        given = (
            None
            if found is None
            else tool_arguments(found[2], operation, in_folder(caller, arguments))
        )
        acting = acting_agent(caller, operation)
        if found is None or given is None or acting is None:
            instead = self._library.call(caller, operation, arguments)
            return instead._replace(carried=False)
        tool, action, _ = found
        env = {**caller.project.env, "MOOT_AGENT": acting}
        calls = Calls(ServerCaller(env, caller.folder or caller.project.root))
        try:
            envelope = json.loads(encode_json(calls.answer(tool, {"action": action, **given})))
        finally:
            calls.close()
        if envelope["ok"]:
            return Reply(envelope["data"])
        return Reply(error=envelope["error"]["code"])


def acting_agent(caller: Caller, operation: str) -> str | None:
    """The agent whose server is asked. No tool acts for a person; what nobody in particular reads,
    any agent reads alike."""
    if caller.passphrase is not None or caller.tool_session is not None:
        return None
    if caller.acting is None:
        entry = OPERATIONS[operation]
        return None if entry.writes or entry.name in FOR_THE_CALLER else READER
    return None if caller.acting == "operator" else caller.acting


def find_tool(operation: str) -> tuple[str, str, Action] | None:
    """The tool and its action that do this operation."""
    all_operations()
    wanted = OPERATIONS[operation]
    for tool, actions in ACTIONS.items():
        for name, action in actions.items():
            if OPERATIONS[action.operation] is wanted and not action.in_shell:
                return tool, name.partition(" ")[0], action
    return None


def in_folder(caller: Caller, arguments: Arguments) -> Arguments:
    """A relative file is the caller's."""
    folder = caller.folder or caller.project.root
    return {
        name: folder / value if isinstance(value, Path) else value
        for name, value in arguments.items()
    }


def tool_arguments(action: Action, operation: str, arguments: Arguments) -> dict[str, Any] | None:
    """The same arguments as the tool calls them; None if it does not take one of them."""
    names = {parameter: argument for argument, parameter in action.parameters.items()}
    given: dict[str, Any] = {}
    for parameter, value in _regrouped(operation, arguments).items():
        if IMPLIED.get((operation, parameter)) == value:
            continue
        said = _as_json(parameter, value, operation in ("send", "mail.send"))
        if parameter not in names or said is None:
            return None
        given[names[parameter]] = said
    return given


def _regrouped(operation: str, arguments: Arguments) -> Arguments:
    """A tool takes a trace's parts together, and the one program of an intent as a list."""
    if operation == "trace.new":
        parts = {name: arguments[name] for name in PARTS & arguments.keys()}
        rest = {name: value for name, value in arguments.items() if name not in PARTS}
        return {**rest, "parts": parts}
    if operation == "trace.intend":
        rest = {name: value for name, value in arguments.items() if name != "tool"}
        return {**rest, "tools": [arguments["tool"]]}
    return arguments


def _as_json(parameter: str, value: Any, several: bool) -> Any:
    if parameter in ("file", "folder") and isinstance(value, Path):
        return _session_id(value)
    if parameter == "message" and isinstance(value, Path):
        return value.read_text("utf-8") if value.exists() else None
    if isinstance(value, Path):
        return None
    if parameter == "confidence":
        return float(value)
    if parameter == "to" and isinstance(value, str) and several:
        return [value]
    if isinstance(value, tuple | list) and parameter == "words":
        return " ".join(value)
    return list(value) if isinstance(value, tuple) else value


def _session_id(place: Path) -> str | None:
    """What a tool calls the debate in this file, or the parliament in this folder."""
    if place.is_dir():
        parliament = id_in_files(place)
        return None if parliament is None else f"parliament/{parliament}"
    try:
        debate = debate_session.read(place).document.session_id
    except MootError:
        return None
    return f"debate/{debate}" if debate else None
