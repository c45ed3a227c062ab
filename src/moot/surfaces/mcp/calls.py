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
    """Everything that one client asks for. One call at a time, but for a `now` that waits."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._answers = Answers()

    def answer(self, tool: str, arguments: Mapping[str, Any]) -> Reply:
        """Do it. The outermost function of a call: whatever happens becomes an answer."""
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
        """The session in which a `now` waits; None if it asks for no waiting, or cannot be done.

        What is wrong is told by its answer.
        """
        try:
            return self._caller.session() if _seconds_asked(arguments) else None
        except (MootError, OSError):  # the same happens to `answer`, which says so
            return None

    def wait(
        self, session: Session, arguments: Mapping[str, Any], stop: Callable[[], bool]
    ) -> None:
        """Let a `now` wait until something is due, as long as it asks for, or until `stop`."""
        with suppress(MootError):
            now.wait_until_due(session, _seconds_asked(arguments), stop)

    def refuse_duplicate(self, tool: str) -> Reply:
        """The answer to a request whose id another one has that is under way."""
        problem = Malformed("a request with this id is under way", code="duplicate_id")
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
    """What was given, by name; Malformed if the tool does not take it in this form."""
    listing = BY_NAME.get(tool)
    if listing is None:
        known = ", ".join(BY_NAME)
        raise NotFound("unknown_tool", f"no tool is called {tool[:60]!r}", hint=f"one of {known}")
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
    """Scopes are named from the root here, so `:/x`, as hints write it for a shell, is `./x`."""
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
    """The dotted id of the command that does the same, as the command line calls it."""
    if tool == "now" or given["action"] == "more":
        return tool
    return find_action(tool, given["action"], given.get("id", "")).operation


def require_done_here(action: Action, given: Given) -> None:
    """Refused, with the command for a shell, if it takes from others or ends something."""
    in_shell = TAKE_STALE if given.pop("take_stale", False) else action.in_shell
    if in_shell:
        words = {name.upper(): value for name, value in given.items() if isinstance(value, str)}
        command = fill_hint(in_shell, words)
        if "PATHS" in command:
            command = command.replace("PATHS", _as_words(given.get("paths", ())))
        raise Refused(
            "use_shell",
            "no tool takes from others or ends something: your shell does, where you are asked",
            hint=command,
        )


def _as_words(scopes: tuple[str, ...]) -> str:
    from moot.api.typed_paths import typed_scope

    return " ".join(map(typed_scope, scopes))


def run_action(session: Session, action: Action, given: Given) -> Any:
    """Call the operation with what was given; Malformed if something is missing or too much."""
    parameters = action.parameters
    missing = [name for name in action.needs if name not in given]
    surplus = [name for name in given if name not in parameters]
    if missing or surplus:
        takes = ", ".join(parameters) or "nothing else"
        raise Malformed(
            f"needs {', '.join(missing)}" if missing else f"does not take {', '.join(surplus)}",
            code="bad_arguments",
            hint=f"it takes {takes}",
        )
    values = {parameters[name]: value for name, value in given.items()}
    return action.find_operation().function(session, **action.prepare(session, values))


_BUG: Final = "this is a bug in moot; nothing half-done was recorded"


def _as_bug(error: Exception) -> MootError:
    return MootError("internal_error", f"{type(error).__name__}: {error}"[:300], hint=_BUG)
