"""Who is measured: what people would pick instead, by the name under which pip installs it."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
MOOT: Final = "moot"
MOOT_MCP: Final = "moot mcp"


class Peer(NamedTuple):
    """`requirement` is what pip is given; `package` is whose version is named. Peers of one
    package share an environment."""

    name: str
    requirement: str
    package: str
    driver: str
    what: str


def _from_index(name: str, driver: str, what: str) -> Peer:
    return Peer(name, name, name, driver, what)


PEERS: Final = (
    Peer(
        MOOT,
        str(ROOT),
        "moot",
        "moot_driver",
        "this checkout, called from a program",
    ),
    Peer(MOOT_MCP, str(ROOT), "moot", "moot_mcp_driver", "the same, as an agent calls it"),
    _from_index(
        "mcp-agent-mail",
        "agent_mail_driver",
        "mail and advisory file reservations for coding agents, by an MCP server",
    ),
    _from_index("ag2", "ag2_driver", "conversations of agents, in a program"),
    _from_index("autogen-agentchat", "autogen_driver", "teams of agents, in a program"),
    _from_index("eventsourcing", "eventsourcing_driver", "a library for event-sourced programs"),
    _from_index("signet-auth", "signet_driver", "signed receipts for the tool calls of agents"),
    _from_index("bernstein", "bernstein_driver", "runs coding agents in worktrees, and merges"),
)
