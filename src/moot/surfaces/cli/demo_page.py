"""The page that `moot demo` leaves behind: what happened, and what the checkers said of it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from moot.core import report as page

if TYPE_CHECKING:
    from moot.surfaces.cli.demo_story import Story

_TONES: dict[str, page.Tone] = {"valid": "good", "tampered": "bad"}


def demo_page(story: Story, record: bytes) -> page.Report:
    intact = story.verdicts[0]
    digest = hashlib.sha256(record).hexdigest()
    statement = f"{intact['events']} events, {intact['completeness'].partition(' (')[0]}."
    return page.Report(
        kind="demonstration",
        title="Three agents, one list of errands",
        subtitle="Every event below is signed by its author; two checkers looked at three files.",
        verdict=page.Verdict("INTACT", "good", "the export as it was written"),
        decision=page.Decision(statement, (page.Fact("custody", intact["custody"]),), "Verdict"),
        dissent=None,
        blocks=(
            page.Timeline(tuple(map(_moment, story.events)), title="What is on record"),
            page.Table(
                ("File", "What was done to it", "Verdict", "First bad event"),
                tuple(_row(verdict) for verdict in story.verdicts),
                title="What both checkers say",
                caption="The header of the edited files was made to fit: it needs no key.",
            ),
        ),
        proof=page.Proof("record.moot", digest, "moot verify record.moot --trust trust.json"),
    )


def _moment(event: dict[str, Any]) -> page.Moment:
    said = ", ".join(f"{key}: {value}" for key, value in event["data"].items())
    tone: page.Tone = "caution" if event["type"].endswith("meddled") else "plain"
    return page.Moment(event["at"], event["actor"], event["type"], said, event["hash"][:12], tone)


def _row(verdict: dict[str, Any]) -> tuple[str | page.Cell, ...]:
    place = verdict["first_bad"]
    where = f"event {place['line'] - 1}" if place else "none"
    badge = page.Cell(verdict["verdict"], _TONES.get(verdict["verdict"], "caution"))
    return verdict["file"], verdict["what"], badge, where
