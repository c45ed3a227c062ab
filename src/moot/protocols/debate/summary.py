"""A session in short, as markdown: verdict, where everyone stands, what was said in a line each.

The text of others is quoted as plain words: nothing in it can open a block or a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from moot.core.clock import Millis
from moot.protocols.debate.checker import CheckedSession
from moot.protocols.debate.views import StatusView, view_status

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def escape_markdown(text: str) -> str:
    """Another's text on one line, with nothing left to mean anything in markdown."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def write_summary(checked: CheckedSession, now: Millis | None = None) -> str:
    """The whole page."""
    return "\n".join(_lines(view_status(checked, now))) + "\n"


def _lines(status: StatusView) -> Iterator[str]:
    result = status.consensus
    score = "no score" if result.score is None else f"score {result.score:.4g}"
    yield f"# {escape_markdown(status.title)}\n"
    rule = f"{result.mode}, {score}, threshold {result.threshold:g}"
    yield f"**{status.state}** · {result.outcome} · {rule}\n"
    yield "## Where everyone stands\n"
    for side in ("approvers", "rejecters", "neutral", "deferred", "missing"):
        if names := getattr(result, side):
            yield f"- {side}: {', '.join(names)}"
    yield "\n## What was said\n"
    for entry in status.entries:
        sure = "" if entry.confidence is None else f" {entry.confidence:g}"
        who = f"**{entry.author}** {escape_markdown(entry.stance or '')}{sure}"
        yield f"- {entry.round}.{entry.turn} {who}: {escape_markdown(entry.summary)}"
    if not status.entries:
        yield "Nothing yet."
