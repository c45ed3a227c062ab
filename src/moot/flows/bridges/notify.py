"""Who must know, and how they are told: by mail, by the machine, once for the same words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from moot.core.errors import MootError
from moot.core.machine import KeyClass
from moot.core.names import SYSTEM
from moot.core.sha256 import sha256
from moot.flows.mail.letters import Letter, send_letter
from moot.protocols.mail.body_writer import write_blocked_body

if TYPE_CHECKING:
    from moot.flows.bridges.sources import FlowSource
    from moot.workspace.workspace import Workspace

_LINE: Final = 200


def tell_blocked(
    workspace: Workspace, path: str, flow: str, found: FlowSource, asked_by: str, error: MootError
) -> str:
    """BLOCKED to whoever asked or is concerned, and to the people; the message's id."""
    to = concerned(workspace, found.origin, asked_by)
    if not to:
        return ""
    what = f"{flow} {found.source.id}"
    body = write_blocked_body(
        item=path,
        blocker=f"{what}: {error}",
        kind="Dependency",
        attempted=f"moot flow {what}",
        needed=error.hint or "run it again once this is mended",
    )
    subject = f"BLOCKED: {' '.join(what.split())}"[:_LINE]
    said = sha256(f"{to}\n{subject}\n{body}".encode()).hexdigest()[:12]
    letter = Letter(
        to=to,
        subject=subject,
        body=body,
        thread=path,
        importance="high",
        key=f"failed-{said}",
        cause=found.source.hash,
        corr=path,
    )
    try:
        return str(send_letter(workspace, SYSTEM, letter).message.event.id)
    except MootError:
        return ""


def concerned(workspace: Workspace, *names: str) -> tuple[str, ...]:
    """Those of the names who can still read, and every person."""
    registry = workspace.engine.registry()
    people = [key.name for key in registry.human_keys()]
    found = []
    for name in dict.fromkeys((*names, *people)):
        agent = registry.agents.get(name)
        known = agent is not None and agent.kind in (KeyClass.AGENT, KeyClass.HUMAN)
        if agent is not None and known and registry.keys[agent.kid].ending is None:
            found.append(name)
    return tuple(found)
