"""Answer hooks from a process that already runs, so that no new one has to start.

`thin.py` is the client. It imports nothing of ours, so that it starts quickly. The running process
is the `moot run` that started the tool, or the `moot mcp` that the tool started.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.api.guard.person_notices import own_settings_file
from moot.surfaces.hooks import entry

if TYPE_CHECKING:
    from moot.api.opening import OpenWorkspaces
    from moot.api.session import Session

# The settings that affect a hook. As in thin.py.
RELEVANT_SETTINGS: Final = (
    *("MOOT_", "BB_", "GIT_"),
    *("HOME=", "PATH=", "XDG_CONFIG_HOME=", "XDG_DATA_HOME="),
)


class _HookRequest(NamedTuple):
    """What the thin client sent."""

    tool: str
    agent: str
    epoch: str
    here: str
    seconds: float
    settings: dict[str, str]
    data: bytes


def answer_hook(
    session: Session, stays_open: OpenWorkspaces, fields: Sequence[bytes]
) -> Sequence[bytes] | None:
    """Return stdout, stderr and exit code for the hook; None if it must answer itself.

    The hook answers itself if another agent asks, or if the request cannot be read.
    """
    request = _read(fields)
    if (
        request is None
        or (request.agent, request.epoch) != (session.acting, str(session.epoch))
        or request.settings.get("MOOT_AGENT") != session.acting
    ):
        return None
    env = {**request.settings, "MOOT_KEYS": str(session.keys.path)}
    env.pop("MOOT_SOCKET", None)  # the program's: the run has the keys itself
    # Only the settings of the user who started the run count, whatever the asking process sends.
    env["MOOT_CONFIG"] = own_settings_file(session)
    return _answer(request, env, stays_open)


def answer_tools_hook(
    session: Session, stays_open: OpenWorkspaces, fields: Sequence[bytes]
) -> Sequence[bytes] | None:
    """Answer for a server that the tool has started, if the hook has the same relevant settings.

    The server then finds the acting agent as the hook would: by the settings, or by the tool's
    session.
    """
    request = _read(fields)
    if request is None or _relevant_settings(request.settings) != _relevant_settings(session.env):
        return None
    return _answer(request, session.env, stays_open)


def _relevant_settings(env: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that affect a hook, without the time limit, which is sent separately."""
    return {
        name: value
        for name, value in env.items()
        if f"{name}=".startswith(RELEVANT_SETTINGS) and name != entry.SECONDS_VARIABLE
    }


def _read(fields: Sequence[bytes]) -> _HookRequest | None:
    try:
        tool, agent, epoch, here, seconds, settings, data = fields
        request = _HookRequest(
            tool.decode(),
            os.fsdecode(agent),
            os.fsdecode(epoch),
            os.fsdecode(here),
            float(seconds),
            _split(os.fsdecode(settings)),
            data,
        )
    except ValueError:
        return None
    return request if entry.knows_tool(request.tool) else None


def _split(settings: str) -> dict[str, str]:
    words = (setting.partition("=") for setting in settings.split("\0") if setting)
    return {name: value for name, _, value in words}


def _answer(
    request: _HookRequest, env: Mapping[str, str], stays_open: OpenWorkspaces
) -> Sequence[bytes]:
    reply = entry.answer_within(
        request.seconds, request.tool, request.data, env, request.here, stays_open
    )
    return entry.to_bytes(reply.out), entry.to_bytes(reply.err), b"%d" % reply.code
