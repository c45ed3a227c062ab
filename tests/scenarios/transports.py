"""The ways in. Each takes an operation by its name and gives back data or an error.

A new one is a class with `offers` and `call`, and a row in `TRANSPORTS`.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol
from urllib.parse import quote, urlencode

import click
import msgspec

from moot.api.operation import OPERATIONS, all_operations
from moot.api.session import Session, ToolSession
from moot.core.errors import MootError
from moot.core.machine import KeyClass
from moot.keys.folder import KeyFolder, Passphrase
from moot.surfaces.cli.main import cli
from moot.surfaces.terminal.answer import encode_json
from moot.surfaces.terminal.derive import ROWS, Row
from moot.surfaces.web.routes import ROUTES
from tests.project import Project
from tests.scenarios.lending_process import LendingProcess
from tests.web.server import ServerThread, Visitor

Arguments = Mapping[str, Any]


class Reply(NamedTuple):
    """What came back: `data` as plain JSON values, or the code of the error.

    `carried` is False if the library answered instead of the transport that was asked.
    """

    data: Any = None
    error: str | None = None
    carried: bool = True


class Caller(NamedTuple):
    """Who calls, and from which project. `passphrase` unlocks a person's key.

    `tool_session` is the key of a coding tool's session, of which only hooks know; `sub_agent` is
    which of its sub-agents calls.
    """

    project: Project
    acting: str | None = None
    passphrase: str | None = None
    folder: Path | None = None
    tool_session: str | None = None
    sub_agent: str = ""


class Transport(Protocol):
    def offers(self, operation: str) -> bool: ...  # by itself: what the library does is not meant

    def may_tell(self, operations: Collection[str]) -> bool: ...  # a story of these operations

    def call(self, caller: Caller, operation: str, arguments: Arguments) -> Reply: ...


class Library:
    """Python calls Python."""

    def offers(self, operation: str) -> bool:
        all_operations()
        return operation in OPERATIONS

    def may_tell(self, operations: Collection[str]) -> bool:
        return all(map(self.offers, operations))

    def call(self, caller: Caller, operation: str, arguments: Arguments) -> Reply:
        all_operations()
        before = Path.cwd()
        os.chdir(caller.folder or caller.project.root)  # relative files are the caller's
        try:
            with self._session(caller) as session:
                result = OPERATIONS[operation].function(session, **arguments)
                return Reply(json.loads(encode_json(result)))
        except MootError as error:
            return Reply(error=error.code)
        finally:
            os.chdir(before)

    def _session(self, caller: Caller) -> Session:
        text, key = caller.passphrase, caller.tool_session
        tool = None
        if key is not None:
            tool = ToolSession(key.partition(":")[0], (key,), caller.sub_agent)
        return Session(
            caller.folder or caller.project.root,
            acting=caller.acting,
            tool_session=tool,
            keys=KeyFolder(caller.project.keys),
            ask_passphrase=None if text is None else lambda _: Passphrase(text, attended=False),
            clock=caller.project.env.get("MOOT_CLOCK", ""),
            env=caller.project.env,
        )


class CommandLine:
    """The same as words: options and arguments are found by the names of their parameters."""

    def offers(self, operation: str) -> bool:
        return _command(operation) is not None

    def may_tell(self, operations: Collection[str]) -> bool:
        return all(map(self.offers, operations))

    def call(self, caller: Caller, operation: str, arguments: Arguments) -> Reply:
        operation, arguments = _unfold(operation, arguments)
        settings = {} if caller.acting is None else {"MOOT_AGENT": caller.acting}
        if caller.passphrase is not None:
            file = caller.project.keys.parent / "typed-passphrase"
            file.write_text(caller.passphrase)
            file.chmod(0o600)
            settings["MOOT_PASSPHRASE_FILE"] = str(file)
        typed = {name: _typed(caller, operation, name, arguments[name]) for name in arguments}
        done = caller.project.json(*_words(operation, typed), cwd=caller.folder, **settings)
        if done.envelope["ok"]:
            return Reply(done.data)
        return Reply(error=done.error["code"])


class OwnFolder:
    """The command line, where an agent acts in the key folder that its `moot run` has lent it.

    All other actors have the user's own folder. A lender is a process of its own, in another
    folder, and ends with the story.
    """

    def __init__(self) -> None:
        self._lenders: dict[tuple[Path, str], LendingProcess] = {}

    def offers(self, operation: str) -> bool:
        return _command(operation) is not None

    def may_tell(self, operations: Collection[str]) -> bool:
        return all(map(self.offers, operations))

    def call(self, caller: Caller, operation: str, arguments: Arguments) -> Reply:
        if caller.acting is None or caller.passphrase is not None or not _is_agent(caller):
            instead = TRANSPORTS["command line"].call(caller, operation, arguments)
            return instead._replace(carried=False)
        lent = self._lent_to(caller.project, caller.acting)
        env = {**caller.project.env, **lent}
        own = Project(caller.project.root, caller.project.keys)
        own.env = env
        return TRANSPORTS["command line"].call(caller._replace(project=own), operation, arguments)

    def _lent_to(self, project: Project, name: str) -> dict[str, str]:
        known = (project.root, name)
        if known not in self._lenders:
            clock = project.env.get("MOOT_CLOCK", "")
            self._lenders[known] = LendingProcess(project.root, project.keys, name, clock)
        return self._lenders[known].settings

    def close(self) -> None:
        for lending in self._lenders.values():
            lending.end()
        self._lenders.clear()


class Http:
    """Reads over HTTP from a real server beside the project; the library does what HTTP does not.

    A page reads for nobody in particular, so an operation goes this way if nobody acts and the
    address can say all its arguments.
    """

    def __init__(self) -> None:
        self._servers: dict[Path, tuple[ServerThread, Visitor]] = {}

    def offers(self, operation: str) -> bool:
        return any(route.operation == operation for route in ROUTES)

    def may_tell(self, operations: Collection[str]) -> bool:
        return any(map(self.offers, operations))

    def call(self, caller: Caller, operation: str, arguments: Arguments) -> Reply:
        address = _address(operation, arguments)
        nobody_acts = caller.acting is None and caller.tool_session is None
        if address is None or not nobody_acts or caller.passphrase is not None:
            instead = TRANSPORTS["library"].call(caller, operation, arguments)
            return instead._replace(carried=False)
        envelope = self._visitor(caller.project).get(address).envelope
        if envelope["ok"]:
            assert envelope["command"] == operation
            return Reply(envelope["data"])
        return Reply(error=envelope["error"]["code"])

    def _visitor(self, project: Project) -> Visitor:
        if project.root not in self._servers:
            server = ServerThread(project)
            visitor = Visitor(server.address)
            visitor.enter()
            self._servers[project.root] = (server, visitor)
        return self._servers[project.root][1]

    def close(self) -> None:
        for server, _ in self._servers.values():
            server.stop()
        self._servers.clear()


def _address(operation: str, arguments: Arguments) -> str | None:
    """Where HTTP offers this, with its arguments; None if it does not."""
    for route in ROUTES:
        words = {argument.name: (name, argument) for name, argument in route.query.items()}
        asked = {name: arguments[name] for name in arguments if name != route.path_argument}
        if route.operation != operation or route.prefix or not asked.keys() <= words.keys():
            continue
        if any(isinstance(each, msgspec.Struct | Path | list | tuple) for each in asked.values()):
            continue
        if any(
            argument.most and not argument.least <= asked[name] <= argument.most
            for name, (_, argument) in words.items()
            if name in asked
        ):
            continue
        inside = quote(str(arguments.get(route.path_argument, "")), safe="")
        before, _, after = route.path.partition("{")
        path = f"{before}{inside}{after.partition('}')[2]}" if after else before
        query = urlencode({words[name][0]: value for name, value in asked.items()})
        return f"{path}?{query}" if query else path
    return None


def _is_agent(caller: Caller) -> bool:
    with caller.project.workspace() as workspace:
        known = workspace.engine.registry().agents.get(caller.acting or "")
        return known is not None and known.kind is KeyClass.AGENT


HTTP: Final = Http()
TRANSPORTS: Final[dict[str, Transport]] = {
    "library": Library(),
    "command line": CommandLine(),
    "http": HTTP,
}
OWN_FOLDER: Final = OwnFolder()

# Where a command that is not derived calls an argument differently than the library: (operation,
# argument) or the argument alone -> the name of the click parameter.
PARAMETERS: Final[dict[tuple[str, str] | str, str]] = {
    ("mail.lint", "message"): "file",
    ("debate.report", "file"): "file",
    ("ask", "text"): "question",
    ("ask.resume", "decision"): "resume",
    ("report.all", "folder"): "output",
    ("undo.show", "path"): "show",
    ("undo.list", "path"): "listed",
    "name": "named",
    "file": "output",
    "wait_seconds": "wait",
    "ttl_minutes": "ttl",
    "take_stale": "takeover_stale",
}
# What the command line does by an option of another operation's command.
COMMANDS: Final = {
    "ask.resume": "ask",
    "parliament.say": "parliament.vote",
    "report.all": "report",
    "plan.amend": "plan",
    "init.join": "init",
    **dict.fromkeys(("undo.list", "undo.show", "undo.restore"), "undo"),
}
# The option by which it is then asked for, where no argument of its own says so.
OPTIONS: Final = {"report.all": ("--all",)}
# Texts that the command line reads from a file whose name is typed.
READ_FROM_FILES: Final = {("mail.lint", "message"), ("plan.amend", "text")}


def _unfold(operation: str, arguments: Arguments) -> tuple[str, Arguments]:
    """Each short form of a parliament is a command of its own, and its words are its parameters."""
    if operation != "parliament.say":
        return operation, arguments
    rest = {name: value for name, value in arguments.items() if name in ("folder", "sender")}
    return f"parliament.{arguments['form']}", {**rest, **arguments["words"]}


def _command(operation: str) -> click.Command | None:
    found: click.Command | None = cli
    for word in _command_words(operation):
        if not isinstance(found, click.Group):
            return None
        found = found.get_command(click.Context(found), word)
    return found


def _command_words(operation: str) -> list[str]:
    return COMMANDS.get(operation, operation).replace("_", "-").split(".")


def _rows(operation: str) -> Collection[Row]:
    """The rows of a derived command, whose module registers them when it is imported."""
    _command(operation)
    return ROWS.get(operation, ())


def _typed(caller: Caller, operation: str, name: str, value: Any) -> Any:
    """An argument as it is typed: of bytes or a long text only the name of a file with them."""
    is_file = any(row.name == name and row.is_file for row in _rows(operation))
    is_file = is_file or (operation, name) in READ_FROM_FILES
    if not isinstance(value, bytes) and not is_file:
        return value
    file = caller.project.keys.parent / f"typed-{name}.md"
    file.write_bytes(value if isinstance(value, bytes) else value.encode())
    return file


def _parts(arguments: Arguments) -> dict[str, Any]:
    """A value that is made of parts (a question, a plan) is typed as those that were given."""
    given: dict[str, Any] = {}
    for name, value in arguments.items():
        if not isinstance(value, msgspec.Struct):
            given[name] = value
            continue
        for field in msgspec.structs.fields(value):
            part = getattr(value, field.name)
            if part not in (field.default, ()):
                given[field.name] = part
    return given


def _words(operation: str, arguments: Arguments) -> list[str]:
    command = _command(operation)
    assert command is not None, f"the command line has no {operation}"
    by_name = {parameter.name: parameter for parameter in command.params if parameter.name}
    options: list[str] = []
    positional: dict[str, list[str]] = {}
    for name, value in _parts(arguments).items():
        parameter = by_name[_parameter(operation, name, by_name)]
        if isinstance(parameter, click.Option):
            options += _option(parameter, value)
        else:
            assert parameter.name is not None
            positional[parameter.name] = _texts(value)
    ordered = [p.name for p in command.params if isinstance(p, click.Argument) and p.name]
    tail = [word for name in ordered for word in positional.get(name, ())]
    asked = OPTIONS.get(operation, ())
    return [*_command_words(operation), *asked, *options, "--", *tail]


def _parameter(operation: str, name: str, known: Collection[str]) -> str:
    for row in _rows(operation):
        if row.name == name and row.made.name is not None:
            return row.made.name
    for key in ((operation, name), name):
        if key in PARAMETERS and PARAMETERS[key] in known:
            return PARAMETERS[key]
    assert name in known, f"{operation} has no parameter for {name}: {sorted(known)}"
    return name


def _option(option: click.Option, value: Any) -> list[str]:
    flag = option.opts[-1]
    if option.is_flag or value is True:  # an option whose value may be left out is one, too
        return [flag] if value else list(option.secondary_opts[-1:])
    if isinstance(value, Mapping):
        value = [f"{name}={text}" for name, text in value.items()]
    values = value if option.multiple else [_joined(value)]
    if isinstance(value, list | tuple) and not option.multiple:
        value = ",".join(value)  # a list that is typed as one word
    values = value if option.multiple else [value]
    return [word for one in values for word in (flag, str(one))]


def _joined(value: Any) -> Any:
    """Several names for an option that is given once: `--to amber-otter,teal-crane`."""
    return ",".join(value) if isinstance(value, list | tuple) else value


def _texts(value: Any) -> list[str]:
    if isinstance(value, str | Path | int | float):
        return [str(value)]
    return [] if value is None else [str(one) for one in value]


def parameters_of(operation: str) -> list[str]:
    """The library's own names for what an operation takes, without the session."""
    return list(inspect.signature(OPERATIONS[operation].function).parameters)[1:]
