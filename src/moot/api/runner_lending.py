"""What a program of `moot run` finds beside its name: a key folder of its own, and who listens."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final

from moot.api.runner_requests import AnswerHook, RunRequests
from moot.core.errors import StoreFailed

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.keys.agent_folder import LentFolder

SOCKET_VARIABLE: Final = "MOOT_SOCKET"
KEYS_VARIABLE: Final = "MOOT_KEYS"


def can_listen() -> bool:
    """Sockets in folders are not to be had everywhere; there programs share the user's folder."""
    return hasattr(socket, "AF_UNIX")


@contextmanager
def lent_settings(session: Session, answer_hook: AnswerHook | None) -> Iterator[dict[str, str]]:
    """Variables for the program of the session's agent: its key folder, and our socket.

    In a run that another run's program started, these are what that one has lent already.
    """
    loan = session.keys.loan
    if loan is not None:
        yield {KEYS_VARIABLE: str(session.keys.path), SOCKET_VARIABLE: loan.socket}
        return
    if not can_listen():
        yield {}
        return
    with ExitStack() as stack:
        lent = _lend(session, stack, answer_hook)
        yield {KEYS_VARIABLE: str(lent.path), SOCKET_VARIABLE: str(lent.socket)}


def _lend(session: Session, stack: ExitStack, answer_hook: AnswerHook | None) -> LentFolder:
    from moot.api.runner_listening import Listening
    from moot.keys.agent_folder import lend_folder

    name = session.actor()
    kid = session.require_agent(name).kid
    origin = session.workspace.trust.origin
    lent = stack.enter_context(lend_folder(session.keys, origin, name, kid))
    requests = RunRequests(
        session, lent, lambda other, ends: _lend(other, ends, answer_hook), answer_hook
    )
    try:
        listening = Listening(lent.socket, requests.answer)
    except OSError as error:
        raise StoreFailed(
            "socket_failed",
            f"`moot run` cannot listen at {lent.socket}: {error.strerror or error}",
            hint="check space and permissions there",
        ) from error
    stack.callback(requests.close)
    stack.callback(listening.close)
    return lent
