"""Sessions of a program's own on a test's project."""

from __future__ import annotations

import moot
from moot.api.session import Session
from tests.project import Project


def open_as(project: Project, agent: str | None = None, passphrase: str | None = None) -> Session:
    """A session under a name, or under none; `passphrase` unlocks a person's key."""
    return moot.open(
        project.root, agent=agent, keys=project.keys, passphrase=lambda _name: passphrase
    )
