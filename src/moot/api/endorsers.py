"""Who consents to a new key for an old name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moot.core.errors import Refused

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.signing import Signer


def require_endorser(session: Session, name: str) -> Signer:
    """Whoever consents to the new key: the name's old key, or a person's."""
    workspace = session.workspace
    agent = workspace.engine.registry().agents[name]
    held = workspace.keys.find(name, agent.kid)
    signer = held.signer if held is not None else session.person_signer()
    if signer is None:
        raise Refused(
            "not_endorsed",
            f"neither {name}'s old key nor a person's key is here",
            hint="run this where the old key is, or let a person unlock theirs",
        )
    return signer
