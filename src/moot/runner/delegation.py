"""Pass an operation that signs with the ledger's key on to `moot run`, if only an agent's key is
here.

The `moot run` that lent the key folder runs the whole operation, as its agent and by the same
function. So the agent can do no more than otherwise, and chooses no text that the ledger signs.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from moot.core.errors import Unavailable

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.keys.folder import Loan


# Arguments that name a file to be read, or are its bytes.
READ_HERE: Final = frozenset({"draft", "message", "summary"})

Function = TypeVar("Function", bound=Callable[..., Any])


def delegated(name: str, function: Function, can_use_agent_key: bool) -> Function:
    """Return the function, or a request to `moot run` if that lent the session's key folder.

    With `can_do_without` the ledger's key, the operation runs here if there is no workspace, or if
    its files are outside of the project: `moot run` writes only inside.
    """

    @functools.wraps(function)
    def call(session: Session, *given: Any, **named: Any) -> Any:
        loan = session.keys.loan
        if loan is None:
            return function(session, *given, **named)
        from inspect import signature  # slow to load, and hooks get by without

        bound = signature(function).bind(session, *given, **named)
        arguments = dict(list(bound.arguments.items())[1:])
        if can_use_agent_key and not _concerns_project(session, arguments):
            return function(session, *given, **named)
        return _ask(loan, name, session, arguments)

    return call  # type: ignore[return-value]


def _ask(loan: Loan, name: str, session: Session, arguments: dict[str, Any]) -> Any:
    from moot.keys.runner_connection import REFUSED, ask_runner
    from moot.runner.values import decode, decode_error, encode

    request = {
        "operation": name,
        "arguments": {key: _plain(_read_here(key, value)) for key, value in arguments.items()},
        "folder": session.folder,
        "home": session.workspace_folder,
        "acting": session.acting,
        "epoch": session.epoch,
        "stale_millis": session.stale_millis,
        "clock": session.clock_text,
    }
    verdict, answer = ask_runner(Path(loan.socket), b"operation", encode(request))
    if verdict == REFUSED:
        raise decode_error(answer)
    return decode(answer, may_load=True)


def _concerns_project(session: Session, arguments: dict[str, Any]) -> bool:
    return session.workspace_or_none is not None and all(
        is_in_project(session, path) for path in paths_in(arguments)
    )


def _read_here(name: str, value: Any) -> Any:
    """Return the bytes of a file that is only read, and the absolute path of a possible file
    name."""

    if name in MAY_NAME_FILES and isinstance(value, str) and names_file(value):
        return str(Path(value).absolute())
    if name not in READ_HERE or not isinstance(value, PurePath):
        return value
    from moot.store.files import read_bounded

    return read_bounded(Path(value))


def _plain(value: Any) -> Any:
    """Make paths absolute, and drop callbacks: they would ask a person, and an agent is none."""
    if isinstance(value, PurePath):
        return Path(value).absolute()
    if isinstance(value, msgspec.Struct):
        changed = {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
        return msgspec.structs.replace(value, **changed)
    return None if callable(value) else value


# Which paths an operation's arguments name, and whether they lie in the agent's project.
#
# A tool may keep its model in a sandbox. What its `moot run` does outside of that sandbox must be
# no way out of it, so it reads and writes files in the project alone.

# Arguments that are an id, or the name of a file or folder.
MAY_NAME_FILES: Final = frozenset({"debate", "parliament"})


def paths_in(arguments: Mapping[str, Any]) -> Iterator[Path]:
    """Yield every path among the arguments, also inside of a plan."""
    for name, value in arguments.items():
        if name in MAY_NAME_FILES and isinstance(value, str) and names_file(value):
            yield Path(value)
        else:
            yield from _paths_in(value)


def names_file(text: str) -> bool:
    """True if the text is a file name: ids contain no separator and are no files."""
    return os.sep in text or Path(text).exists()


def _paths_in(value: object) -> Iterator[Path]:
    if isinstance(value, PurePath):
        yield Path(value)
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _paths_in(each)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _paths_in(getattr(value, name))
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _paths_in(each)


def is_in_project(session: Session, path: Path) -> bool:
    """True if the path, with links resolved, is in the workspace's project or in our worktree."""
    from moot.workspace.find import find_workspace

    workspace = session.workspace
    roots = [workspace.root]
    with suppress(Unavailable, OSError):  # a folder that belongs to no workspace is no project
        if find_workspace(session.folder).samefile(workspace.path):
            roots.append(session.place.worktree)
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(os.path.realpath(root)) for root in roots)
