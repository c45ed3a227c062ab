"""Who the server acts as: the agent that started it, else one that joins with the first call.

Under MOOT_AGENT the server acts like a shell command: any number of servers may be that agent, and
each call checks that no one has adopted the name since. Without it, the server and the hooks of the
same coding tool process are one agent; an agent that joined here is present while the server runs,
and leaves when the input ends. A person's key is never used.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Final

from moot.api.session import Session
from moot.core.errors import Refused
from moot.runner.moot_run import WITHHELD, in_tool_session, present_in_tool
from moot.runner.tool_answering import answering_hooks
from moot.surfaces.environment import read_epoch, read_stale_time
from moot.surfaces.hooks.hook_server import answer_tools_hook
from moot.surfaces.terminal.answer import say_aside
from moot.system.process_tree import find_tool_process
from moot.workspace.workspace import key_folder

MESSAGES_PER_MINUTE: Final = 10
REASON: Final = "its MCP client went away"


class Caller:
    """The agent that calls through this server. Only this class reads the environment."""

    def __init__(self, env: Mapping[str, str], folder: Path) -> None:
        self._env = {
            name: value
            for name, value in env.items()
            if name not in WITHHELD and value != f"${name}"  # a client left its placeholder
        }
        self._folder = folder
        self._presence = ExitStack()
        self._joined: Session | None = None
        self._process = None if self._env.get("MOOT_AGENT") else find_tool_process()

    def session(self) -> Session:
        """Return the session for one call; the first call joins. Refused if another has the name.

        Each call gets a new session over the one open workspace: the branch may have changed.
        """
        if self._joined is None:
            self._joined = self._join()
        joined = self._joined
        if self._process is not None:
            joined = in_tool_session(joined, self._process) or joined
        name = joined.actor()
        return joined.acting_as(name, joined.epoch)

    def answering_hooks(self) -> AbstractContextManager[None]:
        """Answer the hooks of the same tool in this process, on a machine that joined a keeper."""
        return answering_hooks(self._open(), answer_tools_hook)

    def _join(self) -> Session:
        session = self._open()
        if session.acting is None:
            with ExitStack() as presence:
                presence.callback(session.close)
                joined = presence.enter_context(
                    present_in_tool(session, self._process, reason=REASON, failed=_say_failed)
                )
                self._presence = presence.pop_all()
            return joined
        if session.acts_as_person():
            session.close()
            raise Refused(
                "not_an_agent",
                f"{session.acting} is a person, and a model must not act with a person's key",
                hint="start the tool with `moot run -- TOOL`",
            )
        return session

    def _open(self) -> Session:
        acting = self._env.get("MOOT_AGENT") or None
        stale_millis, remarks = read_stale_time(self._env)
        return Session(
            self._folder,
            acting=acting,
            epoch=read_epoch(self._env, acting),
            home=Path(self._env["MOOT_HOME"]) if self._env.get("MOOT_HOME") else None,
            keys=lambda: key_folder(self._env),
            stale_millis=stale_millis,
            remarks=remarks,
            clock=self._env.get("MOOT_CLOCK", ""),
            env=self._env,
            messages_per_minute=MESSAGES_PER_MINUTE,
        )

    def leave(self) -> None:
        """Release what the agent holds if it joined here, and close the workspace."""
        try:
            self._presence.close()
        finally:
            if self._joined is not None:
                self._joined.close()
                self._joined = None


def _say_failed(what: str, error: Exception) -> None:
    say_aside(f"moot: {what}: {error}")


def withhold_passphrase() -> None:
    """Remove a person's passphrase from the environment of this server and its children."""
    for name in WITHHELD:
        os.environ.pop(name, None)
