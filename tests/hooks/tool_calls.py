"""What coding tools send to their hooks, and what the answers say.

`calls/*.json` are events as each tool really sends them, with `$ROOT` for the session's folder
and `$FILE` for the file that is edited.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from moot.surfaces.hooks.entry import Reply

CALLS = Path(__file__).parent / "calls"


def call(name: str, root: Path, file: str = "a.txt", **more: Any) -> dict[str, Any]:
    """A captured event; `more` replaces fields of it."""
    text = (CALLS / f"{name}.json").read_text("utf-8")
    said: dict[str, Any] = json.loads(text.replace("$ROOT", str(root)).replace("$FILE", file))
    return {**said, **more}


def reason(reply: Reply) -> str:
    """The reason of a refusal, which must be the answer that blocks in every tool."""
    assert (reply.code, reply.err) == (0, "")
    said = json.loads(reply.out)
    text: str = said["reason"]
    inner = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": text,
    }
    assert said == {"decision": "block", "reason": text, "hookSpecificOutput": inner}
    return text


def told(reply: Reply) -> str:
    """The text a reply puts into the model's context, by JSON."""
    assert (reply.code, reply.err) == (0, "")
    text: str = json.loads(reply.out)["hookSpecificOutput"]["additionalContext"]
    return text
