"""`script:FILE`: replies written beforehand, for demos and tests. Labelled as such everywhere.

The file holds a JSON list of replies, one JSON object a line, or an object with such a list for
each kind of thing that is asked (`{"first_answer": [...], "entry": [...]}`). Which reply is next
follows from how often the agent has answered before, by the record: nothing is remembered here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from moot.agents.brief import Brief
from moot.agents.cost import Cost
from moot.agents.outcome import CallEnding, NoAnswer
from moot.agents.participant import Nature, ParticipantKind, ParticipantReply
from moot.core.errors import Malformed, Unavailable

MOST_BYTES: Final = 16 * 1024 * 1024
_HINT: Final = "a JSON list of replies, or an object with a list for each kind of thing asked"


class ScriptParticipant:
    def __init__(self, file: str, spec: str) -> None:
        self.nature = Nature(ParticipantKind.SCRIPT, spec)
        self._replies = read_script(_bytes(Path(file)), file)

    def reply(self, brief: Brief, seconds: float) -> ParticipantReply:
        del seconds
        mine = self._replies.get(brief.what, self._replies.get("", []))
        if brief.number >= len(mine):  # AGT-007: counted by the record
            raise NoAnswer(CallEnding.SILENT, f"the script has no more than {len(mine)} replies")
        return ParticipantReply(mine[brief.number], Cost(calls=1))

    def stop(self) -> None:
        """Nothing runs."""


def read_script(raw: bytes, name: str = "script") -> dict[str, list[dict[str, Any]]]:
    """Replies by what they answer; under an empty name those for anything."""
    try:
        text = raw.decode("utf-8-sig")
        lines = [line for line in text.splitlines() if line.strip()]
        found = json.loads(text) if not _is_lines(lines) else [json.loads(line) for line in lines]
    except (ValueError, RecursionError) as error:
        raise Malformed(f"{name}: {error}", code="bad_script", hint=_HINT) from None
    lists = found if isinstance(found, dict) else {"": found}
    for what, replies in lists.items():
        good = isinstance(replies, list) and all(isinstance(one, dict) for one in replies)
        if not good:
            place = what or "the list"
            raise Malformed(f"{name}: {place} holds no replies", code="bad_script", hint=_HINT)
    return lists


def _is_lines(lines: list[str]) -> bool:
    """More than one line, and the first is an object by itself."""
    try:
        return len(lines) > 1 and isinstance(json.loads(lines[0]), dict)
    except (ValueError, RecursionError):
        return False


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unavailable(
            "unreadable_file", f"{path}: {error.strerror or error}", hint="check the path"
        ) from None
    if len(raw) > MOST_BYTES:
        raise Malformed(f"{path} is longer than {MOST_BYTES} bytes", code="too_large", hint=_HINT)
    return raw
