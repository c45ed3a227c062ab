"""Projects, as the command line's own tests have them; and a shop with a person."""

from __future__ import annotations

import pytest

from tests.cli.conftest import bare, passphrase
from tests.cli.founding import found
from tests.cli.project import Project
from tests.flows.stage import AGENTS, NOON, Shop

__all__ = ["bare", "passphrase"]


@pytest.fixture
def shop(bare: Project, passphrase: str) -> Shop:
    """A workspace under the test clock: four agents who are here, and a person."""
    bare.env["MOOT_CLOCK"] = NOON
    found(bare)
    bare.ok("agent", "register", "operator", "--human", MOOT_PASSPHRASE_FILE=passphrase)
    for name in AGENTS:
        bare.ok("join", "--register", name)
    return Shop(bare, passphrase)
