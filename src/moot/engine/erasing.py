"""Erasing an artifact: first the event that says so, then the bytes. docs/decisions/0007.

A crash between the two leaves the bytes in place; erasing again finishes the work and records
nothing twice.
"""

from __future__ import annotations

from moot.core.errors import Refused
from moot.core.names import REGISTRY, SYSTEM
from moot.core.registry.commands import EraseArtifact
from moot.engine.engine import Engine
from moot.store.artifacts import Artifacts, artifact_not_found


def erase_artifact(
    engine: Engine, artifacts: Artifacts, sha256: str, reason: str, actor: str = SYSTEM
) -> bool:
    """Remove an artifact's bytes for good; False if that was recorded before (LDG-094)."""
    registry = engine.registry()
    if any(key.heads == sha256 for key in registry.keys.values()):
        raise Refused(
            "artifact_needed",
            "a revoked key's events are judged by this artifact; without it none of them counts",
            hint="it holds positions and hashes, nothing that anyone wrote",
        )
    recorded = sha256 in registry.erased
    if not recorded:
        size = artifacts.size(sha256)
        if size is None:
            raise artifact_not_found(sha256)
        engine.execute(REGISTRY, EraseArtifact(sha256=sha256, size=size, reason=reason), actor)
    artifacts.erase(sha256)
    return not recorded
