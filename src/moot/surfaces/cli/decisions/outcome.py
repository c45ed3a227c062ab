"""`moot outcome` and `moot track`: how decisions turned out, and whom that says to listen to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import click

from moot.api import outcomes
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.page import page_option
from moot.surfaces.terminal.shell import Shell, command, text_argument

OUTCOMES: Final = ("right", "wrong", "mixed")
_WAYS: Final = (
    ("the single best so far", "single_best"),
    ("the vote before arguing", "vote_before"),
    ("the vote after arguing", "vote_after"),
)
WIDEST_DOTS: Final = 30


class _Outcome(click.Choice[str]):
    """The last word. Without it an id stands there, and it is not the ids that are missing."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in OUTCOMES:
            raise click.UsageError(
                f"how it turned out is missing behind {value}: right, wrong or mixed", ctx
            )
        return super().convert(value, param, ctx)


@command(None, "outcome", "outcome")
@click.argument("decisions", nargs=-1, metavar="ID...")
@click.argument("outcome", type=_Outcome(OUTCOMES))
@click.option("--reason", required=True, metavar="T", help="How it is known (- or @file).")
@click.option("--answer", default="", metavar="T", help="The answer that proved right.")
def outcome(
    shell: Shell, decisions: tuple[str, ...], outcome: str, reason: str, answer: str
) -> Answer:
    """Say, later, how decisions turned out. This is a person's act, under a person's key.

    It judges the answer that was acted on; --answer names the one that proved right. What you say
    may be corrected by saying it again: the first word stays on record. `moot track` counts them.

    Examples:
      moot outcome q-7 right --reason "Half a year without an incident."
      moot outcome q-3 q-4 wrong --answer Kafka --reason "Both queues were full in May."
    """
    if not decisions:
        raise click.MissingParameter(param_hint="'ID...'", param_type="argument")
    judged = outcomes.judge(shell.session, decisions, outcome, text_argument(reason), answer=answer)
    return Answer(judged, lambda: _judged_lines(judged.judged))


def _judged_lines(judged: Sequence[outcomes.JudgedDecision]) -> Iterable[str]:
    for each in judged:
        before = f" (first called {each.first})" if each.first != each.outcome else ""
        answer = f"; {visible(each.answer)} proved right" if each.answer else ""
        said = f"{each.outcome}{before} by {each.by}{answer}"
        yield f"{each.decision}: {said}: {visible(each.reason)}"
    yield "`moot track` shows what this says of everybody's forecasts"


@command(None, "track", "track")
@page_option
def track(shell: Shell, output: Path | None) -> Answer:
    """Whom to listen to: how good forecasts were, and whether arguing made them better.

    Counts decisions whose outcome a person has judged with `moot outcome`. A score is Brier's: 0 is
    perfect, 0.25 is knowing nothing, 1 is sure and wrong. Below 30 outcomes there are dots and
    counts, and nobody is ranked: chance would do it.

    Examples:
      moot track
      moot track -o track.html --open
      moot track --json
    """
    counted = outcomes.track(shell.session, file=output)
    written = [f"written to {output}"] if output is not None else []
    return Answer(counted, lambda: (*_track_lines(counted), *written))


def _track_lines(track: outcomes.Track) -> Iterable[str]:
    unjudged = track.decisions - track.judged
    none = "has none" if unjudged == 1 else "have none"
    yield f"{track.judged} of {track.decisions} decisions have an outcome; {unjudged} {none}"
    if not track.judged:
        yield 'say how one turned out: moot outcome ID right --reason "..."'
        return
    if not track.enough:
        yield "below 30 outcomes nobody is ranked: a dot is right, an x is wrong"
    for title, records in (("participants", track.participants), ("models", track.models)):
        yield ""
        yield f"{title}:"
        yield from (_record_line(each, track.enough) for each in records)
    yield ""
    for label, field in _WAYS:
        way: outcomes.DecidingWay = getattr(track, field)
        left = f", {way.open} open" if way.open else ""
        yield f"{label}: right {way.right}, wrong {way.wrong}{left}"
    if track.voters is not None:
        voters = track.voters
        yield (
            f"{voters.participants} participants scattered like {voters.voters:.1f} independent"
            f" ones ({voters.interval.low:.1f} to {voters.interval.high:.1f})"
        )


def _record_line(record: outcomes.ParticipantRecord, is_enough: bool) -> str:
    wrong = record.scored - record.right
    if is_enough and record.last_score is not None:
        low, high = record.interval.low, record.interval.high
        counts = f"score {record.last_score:.3f} ({low:.2f} to {high:.2f}) of {record.scored}"
    elif record.right + wrong > WIDEST_DOTS:
        counts = f"{record.right} right, {wrong} wrong"
    else:
        counts = "·" * record.right + "x" * wrong or "nothing scored"
    changes = f"; changing its mind helped {record.helped}, hurt {record.hurt}"
    cost = "" if record.usd_per_right is None else f"; ${record.usd_per_right:.4f} a right one"
    moved = changes if record.helped or record.hurt else ""
    return f"  {visible(record.name)}: {counts}{moved}{cost}"
