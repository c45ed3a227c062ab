"""From what a check found to the verdict that is handed out: places, checks, and the assembly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from moot.verify import sentences
from moot.verify.check_state import CheckState
from moot.verify.findings import findings_of
from moot.verify.sentences import count_noun
from moot.verify.verdict import BundlePlace, BundleVerdict, VerdictCheck


def report_verdict(state: CheckState) -> BundleVerdict:
    """The verdict of a check that has run."""
    first_bad = _first_bad(state)
    return BundleVerdict(
        verdict=state.marks.verdict(),
        integrity=sentences.describe_integrity(state, first_bad),  # LDG-092
        authenticity=sentences.describe_authenticity(state),
        completeness=sentences.describe_completeness(state),
        freshness=sentences.describe_freshness(state),
        key_status=sentences.describe_keys(state),
        artifacts=sentences.describe_artifacts(state),
        custody=sentences.describe_custody(state.registry),
        first_bad=first_bad,
        last_trusted=_last_trusted(state, first_bad),  # LDG-091
        checks=tuple(_checks(state)),
        findings=tuple(findings_of(state)),
        origin=state.header.origin if state.header is not None else None,
        clock=state.registry.clock,
        events=_count_sound_events(state),
        streams=len(state.chain.streams),
        checkpoint=state.note.number if state.note is not None else None,
        checkpoint_streams=state.note.streams if state.note is not None else None,
        fingerprint=None if state.demands.trust is None else state.demands.trust.fingerprint(),
        says=_proved_statement(state),
    )


def _first_bad(state: CheckState) -> BundlePlace | None:
    line, bad = state.marks.first_bad(), state.failure
    if line is None:
        return None
    position = bad.position if bad is not None else state.chain.position_of(line)
    return BundlePlace(line) if position is None else BundlePlace(line, *position)


def _last_trusted(state: CheckState, first_bad: BundlePlace | None) -> BundlePlace | None:
    """Section 7: the last event line before `first_bad`, for the two verdicts that have one."""
    if first_bad is None or state.marks.verdict() not in ("tampered", "unknown-key"):
        return None
    last = state.chain.last_event_before(first_bad.line)
    return None if last is None else BundlePlace(last[0], *last[1])


def _proved_statement(state: CheckState) -> dict[str, Any] | None:
    """Section 8: what is not proved is not repeated."""
    says, proved = state.demands.says, state.marks.verdict() in ("valid", "unproven")
    return says.summary if says is not None and proved else None


def _count_sound_events(state: CheckState) -> int:
    """Events that hold; one that breaks a rule of the registry was linked before it was judged."""
    broken = (
        state.failure is not None and state.chain.position_of(state.failure.line or 0) is not None
    )
    return state.chain.events - int(broken)


# Checks: a row each, in the order of section 7. The function says what holds if nothing failed;
# an empty answer means that there was nothing to check, and the third column says why.

_Row = tuple[str, Callable[[CheckState], str], str]

_BY_LINE: Final[tuple[_Row, ...]] = (
    ("format", lambda _: "every line is canonical, in order, and counted by the header", ""),
    ("signatures", lambda s: f"{count_noun(s.chain.events, 'event')} signed", ""),
    ("fields", lambda _: "every event has the fields of the format", ""),
    ("chain", lambda s: f"{count_noun(len(s.chain.streams), 'stream')} without a gap", ""),
    (
        "registry",
        lambda s: f"{count_noun(len(s.registry.keys), 'key')} registered by the rules",
        "",
    ),
    ("artifacts", sentences.describe_artifacts, ""),
    (
        "checkpoint",
        lambda s: sentences.describe_freshness(s) if s.note else "",
        "the bundle holds none",
    ),
)
_AT_THE_END: Final[tuple[_Row, ...]] = (
    ("authors", lambda _: "every author's key was valid when it signed", ""),
    ("trust", lambda _: "the root and checkpoint keys are the trust file's", ""),
    ("forks", lambda _: "no position was signed twice", ""),
    ("completeness", sentences.describe_completeness, ""),
    ("freshness", sentences.describe_demanded_freshness, "no minimum checkpoint is required"),
    (
        "kept",
        lambda s: "all that was kept from before is there" if s.demands.kept else "",
        "nothing was kept from before",
    ),
    (
        "receipt",
        lambda s: "it says what its record cites" if s.demands.says else "",
        "this is no receipt",
    ),
    (
        "clock",
        lambda s: "" if s.registry.clock == "fixed" else "the authors' own; never used for order",
        "the ledger was created under a fixed test clock",
    ),
)


def _checks(state: CheckState) -> Iterator[VerdictCheck]:
    stopped = None if state.failure is None else f"held up to line {(state.failure.line or 1) - 1}"
    yield from (_check(state, row, stopped) for row in _BY_LINE)
    unreached = None if state.failure is None else "not reached"
    yield from (_check(state, row, unreached) for row in _AT_THE_END)
    yield _policy(state)
    yield from (found for found in state.contributions if isinstance(found, VerdictCheck))


def _check(state: CheckState, row: _Row, stopped: str | None) -> VerdictCheck:
    name, say, unchecked = row
    failed = state.marks.failures_of_check(name)
    if failed:
        return VerdictCheck(name, False, sentences.describe_mark(failed[0]))
    if stopped is not None:
        return VerdictCheck(name, None, stopped)
    said = say(state)
    return VerdictCheck(name, True, said) if said else VerdictCheck(name, None, unchecked)


def _policy(state: CheckState) -> VerdictCheck:
    """What the policies were shown; what they found follows as checks of their own."""
    if state.demands.policy is None:
        return VerdictCheck("policy", None, "not checked")
    unshown = state.first_unproven_line or (
        state.failure.line if state.failure is not None else None
    )
    if unshown is not None:
        return VerdictCheck("policy", None, f"checked up to line {unshown}, which is not proven")
    return VerdictCheck(
        "policy", True, f"{count_noun(state.chain.events, 'record')} shown to the policies"
    )
