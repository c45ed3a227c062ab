"""The figures as JSON, for comparing runs: `results/latest.json`, which git ignores."""

from __future__ import annotations

import os
import platform
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import nacl

from bench.figure import Figure

LATEST = Path(__file__).with_name("results") / "latest.json"


def document(figures: list[Figure], quick: bool) -> bytes:
    made: dict[str, Any] = {
        "quick": quick,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "pynacl": nacl.__version__,
        "figures": figures,
    }
    return msgspec.json.format(msgspec.json.encode(made))


def keep(data: bytes) -> Path:
    LATEST.parent.mkdir(exist_ok=True)
    LATEST.write_bytes(data + b"\n")
    return LATEST
