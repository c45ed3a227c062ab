"""Work items in progress, from `bd` if it is installed, else read from `.beads/issues.jsonl`.

Never written: the state of work items belongs to `bd` alone (OPR-002, OPR-004). A line that
cannot be read is passed over; what was passed over is counted.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

SECONDS: Final = 20.0
MAX_BYTES: Final = 64 * 1024 * 1024
UNAVAILABLE: Final = "beads_unavailable"


class BeadsItem(NamedTuple):
    """A work item; `owner` is its assignee, else its owner (B-03)."""

    id: str
    status: str
    owner: str


class BeadsItems(NamedTuple):
    """`items`, or None and why; `unreadable` lines of the file were passed over."""

    items: tuple[BeadsItem, ...] | None
    why: str = ""
    unreadable: int = 0


def read_beads_items(root: Path) -> BeadsItems:
    return _from_bd(root) or _from_file(root / ".beads" / "issues.jsonl")


def _from_bd(root: Path) -> BeadsItems | None:
    program = shutil.which("bd")
    if program is None or not (root / ".beads").is_dir():
        return None
    try:
        done = subprocess.run(
            [program, "list", "--json"],
            cwd=root,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
        listed = json.loads(done.stdout) if done.returncode == 0 else None
    except (OSError, subprocess.TimeoutExpired, ValueError, RecursionError):
        return None
    return _read(listed) if isinstance(listed, list) else None


def _from_file(path: Path) -> BeadsItems:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError:
        return BeadsItems(None, UNAVAILABLE)
    if len(data) > MAX_BYTES:
        return BeadsItems(None, "the beads file is too large to read")
    return _read([_parsed(line) for line in data.splitlines() if line.strip()])


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _read(listed: Iterable[Any]) -> BeadsItems:
    """The last word on an id counts, as in an append-only file."""
    found: dict[str, BeadsItem] = {}
    unreadable = 0
    for entry in listed:
        item = _item(entry)
        if item is None:
            unreadable += 1
        else:
            found[item.id] = item
    return BeadsItems(tuple(found.values()), unreadable=unreadable)


def _item(entry: Any) -> BeadsItem | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
        return None
    owner = entry.get("assignee") or entry.get("owner") or ""
    status = entry.get("status") or ""
    if not isinstance(owner, str) or not isinstance(status, str):
        return None
    return BeadsItem(entry["id"], status, owner)
