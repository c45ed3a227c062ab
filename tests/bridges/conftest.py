"""A project with four agents who have joined, and a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bridges.payments_project import AGENTS, PaymentsProject


@pytest.fixture
def project(tmp_path: Path, passphrase: str) -> PaymentsProject:
    """A workspace under the test clock."""
    made = PaymentsProject(tmp_path, passphrase)
    made.root.mkdir()
    made.init()
    made.ok("agent", "register", "operator", "--human", **made.person)
    for name in AGENTS:
        made.ok("join", "--register", name)
    return made
