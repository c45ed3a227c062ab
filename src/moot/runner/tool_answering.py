"""Answer hooks from the `moot mcp` of the same coding tool, over its socket.

On a machine that joined a keeper a hook would load all of TLS for one question; the server, which
the tool starts and ends, has done so already. It runs the same code as the hook, and the calling
session decides who acts. It answers only programs that can read the key folder
(`keys/agent_folder.py`) and that the tool's own process started. A process in between that is no
shell, such as a sandbox for a model's commands, is not answered.
"""

from __future__ import annotations

import hmac
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Final

from moot.api.opening import OpenWorkspaces
from moot.core.errors import MootError
from moot.keys.runner_connection import NOT_MINE, OK
from moot.runner.lending import SocketServer, can_listen
from moot.system.process_tree import find_tool, read_process

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.runner.requests import AnswerHook

REQUEST: Final = b"hook_beside"


@contextmanager
def answering_hooks(session: Session, answer_hook: AnswerHook) -> Iterator[None]:
    """Answer the tool's hooks during the block, where that is useful and possible."""
    with ExitStack() as stack:
        with suppress(MootError, OSError):
            if _is_useful(session):
                _listen(session, answer_hook, stack)
        yield


def _is_useful(session: Session) -> bool:
    """False without a joined keeper, where it saves little, and below a `moot run`, which answers
    itself. Only Linux: elsewhere, identifying the asking process needs another process."""
    from moot.api.guard.guarded_paths import find_guarded_folder
    from moot.workspace.find import is_joined

    if session.env.get("MOOT_OTEL"):
        return False  # each hook exports its own span
    if not can_listen() or sys.platform != "linux" or session.keys.loan is not None:
        return False
    guarded = find_guarded_folder(session.folder, session.home)
    return guarded is not None and is_joined(guarded.workspace)


def _listen(session: Session, answer_hook: AnswerHook, stack: ExitStack) -> None:
    from moot.keys.agent_folder import ToolNote

    tool = find_tool()
    if tool is None:
        return
    stays_open = OpenWorkspaces()
    note = ToolNote(session.keys, f"{tool.number}-{tool.started}")
    stack.callback(note.withdraw)

    def answer(question: list[bytes]) -> Sequence[bytes]:
        if len(question) < 2 or question[0] != REQUEST:
            return (NOT_MINE,)
        if not hmac.compare_digest(question[1], note.secret):
            return (NOT_MINE,)
        answered = answer_hook(session, stays_open, question[2:])
        return (NOT_MINE,) if answered is None else (OK, *answered)

    server = SocketServer(note.socket, answer, lambda program: find_tool(program) == tool)
    stack.callback(stays_open.close)
    stack.callback(server.close)
    note.publish(_is_alive)


def _is_alive(process: str) -> bool:
    """True if the process with that number and start time still runs."""
    number, _, started = process.partition("-")
    facts = read_process(int(number)) if number.isdigit() else None
    return facts is not None and facts.started == started
