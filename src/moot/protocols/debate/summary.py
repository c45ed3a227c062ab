"""A session in short, as markdown: verdict, where everyone stands, what was said in a line each.

The text of others is quoted as plain words: nothing in it can open a block or a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from moot.core.clock import Millis
from moot.protocols.debate.checker import Checked
from moot.protocols.debate.views import status_data

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def plain(text: str) -> str:
    """Another's text on one line, with nothing left to mean anything in markdown."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def summary(checked: Checked, now: Millis | None = None) -> str:
    """The whole page."""
    return "\n".join(_lines(status_data(checked, now))) + "\n"


def _lines(data: dict[str, Any]) -> Iterator[str]:
    found = data["consensus"]
    score = "no score" if found["score"] is None else f"score {found['score']:.4g}"
    yield f"# {plain(data['title'])}\n"
    rule = f"{found['mode']}, {score}, threshold {found['threshold']:g}"
    yield f"**{data['state']}** · {found['outcome']} · {rule}\n"
    yield "## Where everyone stands\n"
    for kind in ("approvers", "rejecters", "neutral", "deferred", "missing"):
        if found[kind]:
            yield f"- {kind}: {', '.join(found[kind])}"
    yield "\n## What was said\n"
    for entry in data["entries"]:
        sure = "" if entry["confidence"] is None else f" {entry['confidence']:g}"
        place = f"{entry['round']}.{entry['turn']}"
        who = f"**{entry['author']}** {plain(entry['stance'] or '')}{sure}"
        yield f"- {place} {who}: {plain(entry['summary'])}"
    if not data["entries"]:
        yield "Nothing yet."
