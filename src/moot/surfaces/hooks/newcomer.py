"""A session without a name gets one: a generated name, with a key in the key folder."""

from __future__ import annotations

from typing import Final

from moot.core.errors import Refused
from moot.core.machine import KeyClass
from moot.engine.agents import register
from moot.presence import nameforge
from moot.workspace.workspace import Workspace

_TRIES: Final = 8


def newcomer(space: Workspace) -> str:
    """Register the next free name; another session may take one between the look and the act."""
    for _ in range(_TRIES - 1):
        try:
            return _enter(space)
        except Refused as refused:
            if refused.code != "name_taken":
                raise
    return _enter(space)


def _enter(space: Workspace) -> str:
    folder, origin = space.folder, space.trust.origin
    name = nameforge.fresh(str(space.root), space.engine.registry().agents)
    signer = folder.add(origin, name, KeyClass.AGENT)
    try:
        register(space.engine, name, signer, custodian=folder.custodian)
    except BaseException:
        folder.forget(origin, name, signer.kid)
        raise
    return name
