"""The figures of a run, added up from its rows: what the table, the page and the test read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median, quantiles
from typing import Final

import msgspec

from bench.loss.simulation import PERSON_EDITS, Row

MOST_NEEDLESS: Final = 0.01


class KindFigures(msgspec.Struct, frozen=True):
    """One kind of act: how often it was tried, would have harmed somebody, and was held back."""

    kind: str
    tried: int
    harmful: int
    held_back: int
    needless: int
    saved: int
    lost: int


class Millis(msgspec.Struct, frozen=True):
    """How long the hooks of one call took together, before and after it."""

    calls: int
    median: float
    nineteen_of_twenty: float


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """All figures. `lost` and `saved` are bytes of others that an act destroyed: `lost` are those
    that neither the disk nor git has any more. `harmless` are the calls that harm nobody."""

    steps: int
    seed: int
    calls: int
    destructive: int
    harmful: int
    held_back: int
    slipped_past: int
    lost: int
    saved: int
    undone: int
    not_undone: int
    due: int
    unrecorded: int
    misnamed: int
    causeless: int
    harmless: int
    needless: int
    needless_after_unseen_read: int
    in_process: Millis
    as_process: Millis
    kinds: tuple[KindFigures, ...]

    @property
    def needless_share(self) -> float:
        return self.needless / self.harmless if self.harmless else 0.0

    @property
    def recorded_share(self) -> float:
        return 1 - self.unrecorded / self.due if self.due else 1.0


def add_up(rows: Sequence[Row], seed: int) -> Figures:
    calls = [row for row in rows if row.hook_millis]
    harmful = [row for row in calls if row.is_harmful]
    needless = [row for row in calls if row.is_needless]
    return Figures(
        steps=len(rows),
        seed=seed,
        calls=len(calls),
        destructive=sum(row.is_destructive for row in rows),
        harmful=len(harmful),
        held_back=sum(row.is_refused for row in harmful),
        slipped_past=sum(not row.is_refused for row in harmful),
        lost=sum(row.lost for row in rows),
        saved=sum(row.saved for row in rows),
        undone=sum(row.undone for row in rows),
        not_undone=sum(len(row.not_undone) for row in rows),
        due=sum(row.due for row in rows),
        unrecorded=sum(len(row.unrecorded) for row in rows),
        misnamed=sum(len(row.misnamed) for row in rows),
        causeless=sum(len(row.causeless) for row in rows),
        harmless=len(calls) - len(harmful),
        needless=sum(not row.is_unseen_read for row in needless),
        needless_after_unseen_read=sum(row.is_unseen_read for row in needless),
        in_process=_millis(row.hook_millis for row in calls if not row.as_process),
        as_process=_millis(row.hook_millis for row in calls if row.as_process),
        kinds=tuple(_kinds(rows)),
    )


def _millis(times: Iterable[float]) -> Millis:
    taken = sorted(times)
    if len(taken) < 2:
        return Millis(len(taken), sum(taken), sum(taken))
    return Millis(len(taken), median(taken), quantiles(taken, n=20, method="inclusive")[-1])


def _kinds(rows: Sequence[Row]) -> Iterable[KindFigures]:
    kinds = dict.fromkeys(
        row.kind for row in rows if row.is_destructive or row.kind in ("edit", PERSON_EDITS)
    )
    for kind in sorted(kinds):
        chosen = [row for row in rows if row.kind == kind]
        yield KindFigures(
            kind=kind,
            tried=len(chosen),
            harmful=sum(row.is_harmful for row in chosen),
            held_back=sum(row.is_refused and row.is_harmful for row in chosen),
            needless=sum(row.is_needless for row in chosen),
            saved=sum(row.saved for row in chosen),
            lost=sum(row.lost for row in chosen),
        )
