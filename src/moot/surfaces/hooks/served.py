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

# What affects a hook apart from its input. As in thin.py.
GOES_BY: Final = (
    *("MOOT_", "BB_", "GIT_"),
    *("HOME=", "PATH=", "XDG_CONFIG_HOME=", "XDG_DATA_HOME="),
)


class _Asked(NamedTuple):
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

    That is so if another agent asks, or if the question cannot be read.
    """
    asked = _read(fields)
    if (
        asked is None
        or (asked.agent, asked.epoch) != (session.acting, str(session.epoch))
        or asked.settings.get("MOOT_AGENT") != session.acting
    ):
        return None
    env = {**asked.settings, "MOOT_KEYS": str(session.keys.path)}
    env.pop("MOOT_SOCKET", None)  # the program's: the run has the keys itself
    # Only the settings of the user who started the run count, whatever the asking process sends.
    env["MOOT_CONFIG"] = own_settings_file(session)
    return _answer(asked, env, stays_open)


def answer_beside(
    session: Session, stays_open: OpenWorkspaces, fields: Sequence[bytes]
) -> Sequence[bytes] | None:
    """Answer for a server that the tool has started, if its environment is the hook's in all that
    counts.

    The server then finds the acting agent as the hook would: by the settings, or the tool's
    session.
    """
    asked = _read(fields)
    if asked is None or _what_counts(asked.settings) != _what_counts(session.env):
        return None
    return _answer(asked, session.env, stays_open)


def _what_counts(env: Mapping[str, str]) -> dict[str, str]:
    """Return what affects a hook, without the time that is left, which is sent separately."""
    return {
        name: value
        for name, value in env.items()
        if f"{name}=".startswith(GOES_BY) and name != entry.SECONDS_VARIABLE
    }


def _read(fields: Sequence[bytes]) -> _Asked | None:
    try:
        tool, agent, epoch, here, seconds, settings, data = fields
        asked = _Asked(
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
    return asked if entry.knows_tool(asked.tool) else None


def _split(settings: str) -> dict[str, str]:
    words = (setting.partition("=") for setting in settings.split("\0") if setting)
    return {name: value for name, _, value in words}


def _answer(asked: _Asked, env: Mapping[str, str], stays_open: OpenWorkspaces) -> Sequence[bytes]:
    reply = entry.answer_within(asked.seconds, asked.tool, asked.data, env, asked.here, stays_open)
    return entry.to_bytes(reply.out), entry.to_bytes(reply.err), b"%d" % reply.code
