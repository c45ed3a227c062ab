"""Tests of the command line that are about the ledger's file, or about the machine that keeps it.

Each with the reason why it says nothing about a ledger that lies elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ONLY_HERE: Final[Mapping[str, Mapping[str, str]]] = {
    "postgres": {},
    "joined": {},
}
