"""A `moot run` started by the program of another: the first one registers the new agent.

It lends a folder and a socket for that agent, too, so that every agent has its own, and keeps both
until the second run ends.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.errors import Unavailable

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.keys.folder import Loan


class Arrived:
    """A new agent is registered: the session that has its key, and its name."""

    def __init__(self, session: Session, name: str, loan: Loan | None = None) -> None:
        self.session = session
        self.name = name
        self._loan = loan

    def end(self, reason: str) -> None:
        """The agent has left; if another run registered it, that one retires the name."""
        if self._loan is not None:
            self.session.close()
            _ask(self._loan, b"depart", self.name.encode(), reason.encode())


def arrive_by_runner(session: Session, loan: Loan, name: str | None) -> Arrived:
    """Let the run that lent our folder register a new agent, and get a folder with its key."""
    from moot.keys.folder import KeyFolder

    answer = _ask(loan, b"arrive", (name or "").encode())
    folder = KeyFolder(Path(os.fsdecode(answer[1])))
    return Arrived(session.with_keys(folder), answer[0].decode(), loan)


def _ask(loan: Loan, *fields: bytes) -> list[bytes]:
    from moot.api.runner_values import decode_error
    from moot.keys.runner_line import OK, REFUSED, ask_runner

    verdict, *answer = ask_runner(Path(loan.socket), *fields)
    if verdict == REFUSED:
        raise decode_error(answer[0])
    if verdict != OK:
        raise Unavailable("runner_away", "the `moot run` that has the ledger's key is another one")
    return answer
