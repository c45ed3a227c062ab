"""An operation that signs with the ledger's own key, called where only an agent's key is.

The `moot run` that lent the key folder does the whole of it, as its agent and by the same function:
so the agent gets nothing that it might not do, and chooses no word that the ledger signs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from moot.core.errors import Refused

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.keys.folder import Loan

# Arguments that name a file to be read, or are its bytes.
READ_HERE: Final = frozenset({"draft", "message", "summary"})

Function = TypeVar("Function", bound=Callable[..., Any])


def delegated(name: str, function: Function, runs_programs: bool) -> Function:
    """The function, or a question to `moot run` if the session's key folder was lent by it."""

    @functools.wraps(function)
    def call(session: Session, *given: Any, **named: Any) -> Any:
        loan = session.keys.loan
        if loan is None:
            return function(session, *given, **named)
        if runs_programs:
            raise _not_for_programs(name)
        from inspect import signature  # slow to load, and hooks get by without

        bound = signature(function).bind(session, *given, **named)
        return _ask(loan, name, session, dict(list(bound.arguments.items())[1:]))

    return call  # type: ignore[return-value]


def _ask(loan: Loan, name: str, session: Session, arguments: dict[str, Any]) -> Any:
    from moot.api.runner.values import decode, decode_error, encode
    from moot.keys.runner_line import REFUSED, ask_runner

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


def _read_here(name: str, value: Any) -> Any:
    """The bytes of a file that is only read: the run reads no file for its program."""
    if name not in READ_HERE or not isinstance(value, PurePath):
        return value
    from moot.store.named_files import read_bounded

    return read_bounded(Path(value))


def _plain(value: Any) -> Any:
    """Paths as seen from here. What would ask a person is left out: an agent is none."""
    if isinstance(value, PurePath):
        return Path(value).absolute()
    if isinstance(value, msgspec.Struct):
        changed = {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
        return msgspec.structs.replace(value, **changed)
    return None if callable(value) else value


def _not_for_programs(name: str) -> Refused:
    return Refused(
        "key_missing",
        f"`{name.replace('.', ' ')}` starts programs and signs with the ledger's own key;"
        " that key is not in this key folder, which `moot run` lent to one agent",
        hint="run this yourself, outside of `moot run`",
    )
