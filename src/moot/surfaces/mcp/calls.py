"""One call of a tool: checked against its types, done by the library, answered with an envelope."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.core.errors import Malformed, MootError, NotFound, Refused
from moot.core.findings import fill_hint
from moot.surfaces.mcp import now
from moot.surfaces.mcp.actions import TAKE_STALE, Action, find_action
from moot.surfaces.mcp.arguments import NowArguments
from moot.surfaces.mcp.results import Answers, Reply
from moot.surfaces.mcp.tools import BY_NAME

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.surfaces.mcp.identity import Caller

Given = dict[str, Any]


class Calls:
    """All calls of one client: one at a time, except that a `now` may wait meanwhile."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._answers = Answers()

    def answer(self, tool: str, arguments: Mapping[str, Any]) -> Reply:
        """Do a call and return its reply. The outermost function: every error becomes a reply."""
        command = tool
        try:
            given = read_arguments(tool, arguments)
            command = _command_name(tool, given)
            return self._answers.done(command, self._do(tool, given))
        except MootError as error:
            return self._answers.failed(command, error)
        except Exception as error:  # noqa: BLE001 - a client must get its answer
            return self._answers.failed(command, _as_bug(error))

    def waiting_session(self, arguments: Mapping[str, Any]) -> Session | None:
        """Return the session in which a `now` waits; None if it does not wait, or fails.

        `answer` reports the failure.
        """
        try:
            return self._caller.session() if _seconds_asked(arguments) else None
        except (MootError, OSError):  # the same happens to `answer`, which says so
            return None

    def wait(
        self, session: Session, arguments: Mapping[str, Any], stop: Callable[[], bool]
    ) -> None:
        """Wait until something is due, `wait` seconds are over, or `stop` returns True."""
        with suppress(MootError):
            now.wait_until_due(session, _seconds_asked(arguments), stop)

    def refuse_duplicate(self, tool: str) -> Reply:
        """Refuse a request that has the id of another request in progress."""
        problem = Malformed("a request with this id is still in progress", code="duplicate_id")
        return self._answers.failed(tool, problem)

    def close(self) -> None:
        self._caller.leave()

    def _do(self, tool: str, given: Given) -> Any:
        if tool == "now":
            return now.look(self._caller.session())
        name = given.pop("action")
        if (tool, name) == ("record", "more"):
            return self._answers.read_on(given.get("id", ""))
        action = find_action(tool, name, given.get("id", ""))
        require_done_here(action, given)
        return run_action(self._caller.session(), action, given)


def read_arguments(tool: str, arguments: Mapping[str, Any]) -> Given:
    """Return the given arguments by name; raises Malformed if their names or types are wrong."""
    listing = BY_NAME.get(tool)
    if listing is None:
        known = ", ".join(BY_NAME)
        raise NotFound(
            "unknown_tool", f"there is no tool {tool[:60]!r}", hint=f"use one of {known}"
        )
    try:
        read = msgspec.convert(arguments, listing.arguments)
    except msgspec.ValidationError as error:
        raise Malformed(str(error)[:300], code="bad_arguments", hint=_action_hint(tool)) from None
    values = msgspec.structs.asdict(read)
    return {
        name: _named_from_root(name, value)
        for name, value in values.items()
        if value is not msgspec.UNSET
    }


def _named_from_root(name: str, value: Any) -> Any:
    """Turn `:/x` into `./x`: models copy `:/x` from hints, and here scopes start at the root."""
    if name == "paths":
        return tuple(_named_from_root("scope", path) for path in value)
    is_marked = name == "scope" and value.startswith(":/")
    return f"./{value.removeprefix(':/')}" if is_marked else value


def _seconds_asked(arguments: Mapping[str, Any]) -> float:
    try:
        return msgspec.convert(arguments, NowArguments).wait
    except msgspec.ValidationError:
        return 0.0


def _action_hint(tool: str) -> str:
    names = BY_NAME[tool].arguments.__struct_fields__
    return f"{tool} takes {', '.join(names)}"


def _command_name(tool: str, given: Given) -> str:
    """Return the dotted id of the command that does the same on the command line."""
    if tool == "now" or given["action"] == "more":
        return tool
    return find_action(tool, given["action"], given.get("id", "")).operation


def require_done_here(action: Action, given: Given) -> None:
    """Refuse an action that takes from others or ends something, with the shell command for it."""
    in_shell = TAKE_STALE if given.pop("take_stale", False) else action.in_shell
    if in_shell:
        words = {name.upper(): value for name, value in given.items() if isinstance(value, str)}
        command = fill_hint(in_shell, words)
        if "PATHS" in command:
            command = command.replace("PATHS", _as_words(given.get("paths", ())))
        raise Refused(
            "use_shell",
            "tools do not take scopes from others or end things: run this command in your shell",
            hint=command,
        )


def _as_words(scopes: tuple[str, ...]) -> str:
    from moot.api.typed_paths import typed_scope

    return " ".join(map(typed_scope, scopes))


def run_action(session: Session, action: Action, given: Given) -> Any:
    """Call the operation; raises Malformed if an argument is missing or unknown."""
    parameters = action.parameters
    missing = [name for name in action.needs if name not in given]
    surplus = [name for name in given if name not in parameters]
    if missing or surplus:
        takes = ", ".join(parameters) or "no other argument"
        raise Malformed(
            f"needs {', '.join(missing)}" if missing else f"does not take {', '.join(surplus)}",
            code="bad_arguments",
            hint=f"this action takes {takes}",
        )
    values = {parameters[name]: value for name, value in given.items()}
    return action.find_operation().function(session, **action.prepare(session, values))


_BUG: Final = "this is a bug in moot; nothing half-done was recorded"


def _as_bug(error: Exception) -> MootError:
    return MootError("internal_error", f"{type(error).__name__}: {error}"[:300], hint=_BUG)
