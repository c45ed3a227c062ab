"""The tools of `moot mcp` as a way in: an operation's arguments under the names of its tool.

What no tool offers (a person's act, an option that tools leave out) the library does instead, so
that every story is told to its end; `told` says what went through a tool.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from moot.api.operation import OPERATIONS, all_operations
from moot.flows.debate import session as debate_session
from moot.surfaces.mcp.actions import ACTIONS, Action
from moot.surfaces.mcp.calls import Calls
from moot.surfaces.mcp.identity import Caller as ServerCaller
from moot.surfaces.terminal.answer import encode_json
from tests.scenarios.transports import Arguments, Caller, Library, Reply

# What the operation takes for granted when the tool does not say it.
IMPLIED: Final = {("release", "everything"): True, ("scope.release", "everything"): True}


class McpTools:
    """Calls of tools, as a server does them that was started under MOOT_AGENT."""

    def __init__(self) -> None:
        self._library = Library()
        self.told: set[str] = set()

    def offers(self, operation: str) -> bool:
        return self._library.offers(operation)

    def call(self, caller: Caller, operation: str, arguments: Arguments) -> Reply:
        found = find_tool(operation)
        given = None if found is None else tool_arguments(found[2], operation, arguments)
        if found is None or given is None or not is_agent(caller):
            return self._library.call(caller, operation, arguments)
        tool, action, _ = found
        env = {**caller.project.env, "MOOT_AGENT": str(caller.acting)}
        calls = Calls(ServerCaller(env, caller.folder or caller.project.root))
        try:
            envelope = json.loads(encode_json(calls.answer(tool, {"action": action, **given})))
        finally:
            calls.close()
        self.told.add(OPERATIONS[operation].name)
        if envelope["ok"]:
            return Reply(envelope["data"])
        return Reply(error=envelope["error"]["code"])


def is_agent(caller: Caller) -> bool:
    """No tool acts for a person, nor for somebody who has not said who they are."""
    unnamed = caller.acting is None or caller.acting == "operator"
    return not unnamed and caller.passphrase is None and caller.tool_session is None


def find_tool(operation: str) -> tuple[str, str, Action] | None:
    """The tool and its action that do this operation."""
    all_operations()
    wanted = OPERATIONS[operation]
    for tool, actions in ACTIONS.items():
        for name, action in actions.items():
            if OPERATIONS[action.operation] is wanted and not action.in_shell:
                return tool, name.partition(" ")[0], action
    return None


def tool_arguments(action: Action, operation: str, arguments: Arguments) -> dict[str, Any] | None:
    """The same arguments as the tool calls them; None if it does not take one of them."""
    names = {parameter: argument for argument, parameter in action.parameters.items()}
    given: dict[str, Any] = {}
    for parameter, value in arguments.items():
        if IMPLIED.get((operation, parameter)) == value:
            continue
        said = _as_json(parameter, value, operation in ("send", "mail.send"))
        if parameter not in names or said is None:
            return None
        given[names[parameter]] = said
    return given


def _as_json(parameter: str, value: Any, several: bool) -> Any:
    if parameter == "file" and isinstance(value, Path):
        return _debate_id(value)
    if isinstance(value, Path):
        return None
    if parameter == "confidence":
        return float(value)
    if parameter == "to" and isinstance(value, str) and several:
        return [value]
    if isinstance(value, tuple | list) and parameter == "words":
        return " ".join(value)
    return list(value) if isinstance(value, tuple) else value


def _debate_id(file: Path) -> str | None:
    return f"debate/{debate_session.read(file).document.session_id}" if file.exists() else None
