"""Take the name that a program works under, with its lock, before the program starts.

If an agent's own program starts another one, the `moot run` around it registers the new name. It
never gives a name that was used before, so an agent cannot take over another's name.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from moot.api.presence import joining as adoption
from moot.api.presence.arrival import register_fresh_name
from moot.api.presence.joining import collect_evidence, require_adoptable, require_endorser
from moot.core.errors import Refused, Unavailable
from moot.keys.folder import KeyFolder
from moot.keys.running_names import hold_name

if TYPE_CHECKING:
    from moot.api.presence.arrival import JoinDetails
    from moot.api.session import Session
    from moot.keys.folder import Loan
    from moot.keys.running_names import NameLock
    from moot.protocols.presence.commands import Evidence


# A `moot run` started by the program of another: the first one registers the new agent.
#
# It lends a folder and a socket for that agent, too, so that every agent has its own, and keeps
# both until the second run ends.


class RegisteredAgent:
    """A newly registered agent: the session that has its key, and its name."""

    def __init__(self, session: Session, name: str, loan: Loan | None = None) -> None:
        self.session = session
        self.name = name
        self._loan = loan

    def end(self, reason: str) -> None:
        """End the agent; if another run registered it, that run retires the name."""
        if self._loan is not None:
            self.session.close()
            _ask(self._loan, b"depart", self.name.encode(), reason.encode())


def register_by_runner(session: Session, loan: Loan, name: str | None) -> RegisteredAgent:
    """Let the run that lent our folder register a new agent, and get a folder with its key."""
    answer = _ask(loan, b"arrive", (name or "").encode())
    folder = KeyFolder(Path(os.fsdecode(answer[1])))
    return RegisteredAgent(session.with_keys(folder), answer[0].decode(), loan)


def _ask(loan: Loan, *fields: bytes) -> list[bytes]:
    from moot.keys.runner_connection import OK, REFUSED, ask_runner
    from moot.runner.values import decode_error

    verdict, *answer = ask_runner(Path(loan.socket), *fields)
    if verdict == REFUSED:
        raise decode_error(answer[0])
    if verdict != OK:
        raise Unavailable("runner_away", "the `moot run` that has the ledger's key is another one")
    return answer


# Is told a name and what of it is unfinished; True: continue that work under the name.
MayAdopt = Callable[[str, str], bool]


class NameRequest(NamedTuple):
    """The name that a start asks for; None for a generated one.

    `must_adopt`: continue its unfinished work, or refuse. Otherwise `may_adopt` decides, if there
    is any. `scopes` count for what is unfinished.
    """

    name: str | None
    place: JoinDetails
    scopes: tuple[str, ...] = ()
    must_adopt: bool = False
    may_adopt: MayAdopt | None = None


class TakenName(NamedTuple):
    """A name that this process has locked; `agent` has the session with its key.

    `has_adopted`: it continues the work of an earlier session and has joined.
    """

    agent: RegisteredAgent
    lock: NameLock
    has_adopted: bool = False


def take_name(session: Session, request: NameRequest) -> TakenName:
    """Take the requested name, or the next of its family, with its lock.

    Refused, with nothing changed, if its work must be continued and may not be.
    """
    from moot.api.presence import starting_names

    if request.must_adopt and request.name is not None:
        session.require_self_or_person(request.name)
    if session.keys.loan is not None or request.name is None:
        _require_no_adoption(request)
        agent = _register_new(session, request.name)
        workspace = agent.session.workspace
        lock = hold_name(workspace.folder, workspace.trust.origin, agent.name)
        return TakenName(agent, lock)
    workspace, adoption = session.workspace, _Adoption(session, request)
    if request.must_adopt:
        start = starting_names.take_for_adoption(workspace, request.name, adoption.judge)
    else:
        is_own = session.acting in (None, request.name) or session.acts_as_person()
        may_adopt = request.may_adopt if is_own and request.may_adopt is not None else _never_adopt
        start = starting_names.take_name(workspace, request.name, adoption.judge, may_adopt)
    if start.adopts:
        try:
            adoption.adopt(start.name)
        except BaseException:
            start.lock.release()
            raise
    return TakenName(RegisteredAgent(session, start.name), start.lock, start.adopts)


def _require_no_adoption(request: NameRequest) -> None:
    """Refuse adoption to an agent's own program: an agent cannot take over another's name."""
    if request.must_adopt:
        raise Refused(
            "adoption_rejected",
            f"the program of an agent adopts nobody's work, also not that of {request.name}",
            hint=f"in a terminal of your own: `moot run --adopt {request.name} -- COMMAND`",
        )


def _never_adopt(_name: str, _unfinished: str) -> bool:
    return False


def _register_new(session: Session, name: str | None) -> RegisteredAgent:
    """Register a new agent; for an agent's own program, its `moot run` does it."""
    if session.keys.loan is not None:
        return register_by_runner(session, session.keys.loan, name)
    return RegisteredAgent(session, register_fresh_name(session.workspace))


class _Adoption:
    """Checks and makes an adoption; asks git and beads once, if needed."""

    def __init__(self, session: Session, request: NameRequest) -> None:
        self._session = session
        self._wish = request

    @cached_property
    def _evidence(self) -> Evidence:
        return collect_evidence(self._wish.place.worktree)

    def judge(self, name: str) -> str:
        workspace, request = self._session.workspace, self._wish
        return require_adoptable(
            workspace, name, request.place, self._evidence, request.scopes, has_lock=True
        )

    def adopt(self, name: str) -> None:
        request, endorser = self._wish, require_endorser(self._session, name)
        adoption.adopt(
            self._session.workspace,
            name,
            request.place,
            self._evidence,
            request.scopes,
            endorser,
            has_lock=True,
        )
