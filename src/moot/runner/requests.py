"""Answer the requests of a program under `moot run`: as its own agent, by the library's rules.

    operation   an operation that signs with the ledger's key, run completely, as the agent
    settle      apply what is overdue on a stream
    arrive      another `moot run`, started by the program, registers a new agent
    depart      that agent has ended
    forged      check a trace's history, and report a forged record in it
    gone        end sessions whose programs have exited on this machine
    hook        a coding tool's hook, if the starter of the run can answer it

Only one thing is taken on trust: that the program is the agent whose private folder contains the
socket. Everything else it sends is an argument of an operation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.api.opening import OpenWorkspaces
from moot.api.operation import OPERATIONS, all_operations
from moot.core.errors import Malformed, MootError, Refused
from moot.keys.runner_connection import NOT_MINE, OK, REFUSED
from moot.runner import values
from moot.runner.delegation import is_in_project, paths_in

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.keys.agent_folder import LentFolder

# Answers a hook of the session's agent from the fields that the thin client sent, with workspaces
# that stay open; None: not ours.
AnswerHook = Callable[["Session", OpenWorkspaces, list[bytes]], Sequence[bytes] | None]
# Makes a folder and a socket for one more agent, and gives the folder.
Lend = Callable[["Session", ExitStack], "LentFolder"]


class RunRequests:
    """The requests of one agent's program. `session` acts as that agent, with the user's keys."""

    def __init__(
        self, session: Session, lent: LentFolder, lend: Lend, answer_hook: AnswerHook | None
    ) -> None:
        self._session = session
        self._agent = session.actor()
        self._lent = lent
        self._lend = lend
        self._answer_hook = answer_hook
        self._stays_open = OpenWorkspaces()
        # agents that arrived by way of the program -> what ends with them
        self._arrived: dict[str, ExitStack] = {}

    def answer(self, question: list[bytes]) -> Sequence[bytes]:
        """Return one answer. Catches every exception, so that the run continues."""
        try:
            handle = _HANDLERS.get(question[0])
            if handle is None:
                return (NOT_MINE,)
            return handle(self, question[1:])
        except MootError as error:
            return REFUSED, values.encode_error(error)
        except Exception as error:  # noqa: BLE001 - the program is told; the run goes on
            problem = MootError("internal_error", f"{type(error).__name__}: {error}")
            return REFUSED, values.encode_error(problem)

    def close(self) -> None:
        for stack in self._arrived.values():
            stack.close()
        self._stays_open.close()

    def _operation(self, fields: list[bytes]) -> Sequence[bytes]:
        all_operations()
        request = msgspec.convert(values.decode(fields[0]), type=_Request, strict=True)
        entry = OPERATIONS.get(request.operation)
        if entry is None or not entry.as_ledger:
            raise Refused(
                "not_allowed",
                f"`moot run` does no {request.operation} for its program",
                hint="the program does it itself",
            )
        with self._session_for(request) as session:
            for path in paths_in(request.arguments):
                self._require_in_project(session, path)
            result = entry.function(session, **request.arguments)
        self._renew_key()
        return OK, values.encode(result)

    def _session_for(self, request: _Request) -> Session:
        """Return the agent's own session, with the keys of its user."""
        if request.acting not in (None, self._agent):
            raise Refused(
                "not_you",
                f"you are {self._agent}; this would act as {request.acting}",
                hint="leave the name away",
            )
        own = self._session
        if not os.path.samefile(request.home, own.workspace.path):
            raise Refused(
                "other_workspace",
                f"this `moot run` works in {own.workspace.path}, and this is about {request.home}",
                hint="run this yourself, outside of `moot run`",
            )
        return own.in_folder(
            request.folder,
            epoch=request.epoch if request.epoch is not None else own.epoch,
            stale_millis=request.stale_millis,
            clock=request.clock,
        )

    def _require_in_project(self, session: Session, path: Path) -> None:
        if not (path.is_absolute() and is_in_project(session, path)):
            raise Refused(
                "outside_project",
                f"{path} is not in this project: `moot run` goes nowhere else for {self._agent}",
                hint="name a file in the project, or run this yourself, outside of `moot run`",
            )

    def _renew_key(self) -> None:
        """Update the lent key, because the agent may have been given another one."""
        known = self._session.workspace.engine.registry().agents.get(self._agent)
        if known is not None:
            self._lent.renew_key(known.kid)

    def _settle(self, fields: list[bytes]) -> Sequence[bytes]:
        self._session.workspace.engine.tick(fields[0].decode())
        return (OK,)

    def _forged(self, fields: list[bytes]) -> Sequence[bytes]:
        from moot.api.traces.tracing import report_if_forged

        report_if_forged(self._session.workspace, fields[0].decode())
        return (OK,)

    def _arrive(self, fields: list[bytes]) -> Sequence[bytes]:
        from moot.api.presence.arrival import register_fresh_name
        from moot.api.presence.starting_names import register_in_family

        workspace, wanted = self._session.workspace, fields[0].decode()
        name = register_in_family(workspace, wanted) if wanted else register_fresh_name(workspace)
        stack = self._arrived[name] = ExitStack()
        epoch = workspace.engine.registry().agents[name].epoch
        lent = self._lend(self._session.acting_as(name, epoch), stack)
        return OK, name.encode(), os.fsencode(lent.path)

    def _depart(self, fields: list[bytes]) -> Sequence[bytes]:
        from moot.api.mail.lapsed_duties import lapse_duties
        from moot.api.presence.exited_agents import remove_ended_keys
        from moot.engine.registry_commands import retire

        name, reason = fields[0].decode(), fields[1].decode()
        stack = self._arrived.pop(name, None)
        if stack is None:
            raise Refused(
                "not_you",
                f"{name} did not come by way of {self._agent}",
                hint="an agent ends only itself and what it started",
            )
        with stack:
            retire(self._session.workspace.engine, name, reason)
            lapse_duties(self._session.workspace)
            remove_ended_keys(self._session.workspace)
        return (OK,)

    def _gone(self, _fields: list[bytes]) -> Sequence[bytes]:
        from moot.api.presence.exited_agents import end_exited_agents

        end_exited_agents(self._session.workspace, self._agent)
        return (OK,)

    def _hook(self, fields: list[bytes]) -> Sequence[bytes]:
        answered = (
            None
            if self._answer_hook is None
            else self._answer_hook(self._session, self._stays_open, fields)
        )
        return (NOT_MINE,) if answered is None else (OK, *answered)


class _Request(msgspec.Struct, frozen=True):
    """A request for an operation, as `delegation.py` sends it."""

    operation: str
    arguments: dict[str, Any]
    folder: Any
    home: Any
    acting: str | None
    epoch: int | None
    stale_millis: int | None
    clock: str

    def __post_init__(self) -> None:
        if not (isinstance(self.folder, Path) and isinstance(self.home, Path)):
            raise Malformed("folder and home are paths", code="bad_request")


_HANDLERS: Final[Mapping[bytes, Callable[[RunRequests, list[bytes]], Sequence[bytes]]]] = {
    b"operation": RunRequests._operation,
    b"settle": RunRequests._settle,
    b"forged": RunRequests._forged,
    b"arrive": RunRequests._arrive,
    b"depart": RunRequests._depart,
    b"gone": RunRequests._gone,
    b"hook": RunRequests._hook,
}
