"""The agent's manual, and where each tool reads it.

Claude Code has skills, one file each; the others read a file of notes in the project, in which ours
is a marked block, so that what people wrote there stays.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from moot.coding_tools.tool import CodingTool

BEGIN: Final = "<!-- moot: begin (moot hook uninstall removes this block) -->"
END: Final = "<!-- moot: end -->"
_SKILL: Final = """---
name: moot
description: How to share this repository with other agents. Read it when an edit was refused by \
moot, before larger changes, and to hand work over or ask another agent for a file.
---

"""


_BEADS: Final = "- Work items: change them with `bd` only; never write `.beads/issues.jsonl`.\n"


def manual(*, beads: bool) -> str:
    """Return the manual's text, with the states, enums and labels of the protocol (OPR-097)."""
    text = Path(__file__).with_name("MANUAL.md").read_text("utf-8")
    return text + _BEADS if beads else text


def has_beads(root: Path) -> bool:
    return (root / ".beads").is_dir()


def with_manual(tool: CodingTool, before: str | None, *, beads: bool = False) -> str:
    """Return the file with the current manual."""
    text = manual(beads=beads)
    if tool.has_skills:
        return _SKILL + text if before is None or before.startswith(_SKILL) else before
    ours = f"{BEGIN}\n{text}{END}\n"
    text = without_manual(tool, before or "") or ""
    gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}{ours}"


def without_manual(tool: CodingTool, text: str) -> str | None:
    """Return the file without our part; None if nothing else is in it."""
    if tool.has_skills:
        return None if text.startswith(_SKILL) else text
    before, begin, rest = text.partition(BEGIN)
    _ours, end, after = rest.partition(END)
    if not begin or not end:
        return text
    left = before.rstrip("\n") + "\n" * bool(before.strip()) + after.removeprefix("\n")
    return left or None


def is_only_ours(tool: CodingTool, text: str) -> bool:
    """True if the file contains nothing but our manual."""
    return without_manual(tool, text) is None
