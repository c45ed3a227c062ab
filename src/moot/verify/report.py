"""From what a check found to the verdict that is handed out: places, checks, and the assembly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from moot.verify import canonical
from moot.verify.check_state import CheckState
from moot.verify.event_reader import REGISTRY
from moot.verify.trusted_registry import AcceptedLoss, TrustedRegistry
from moot.verify.verdict import (
    BundlePlace,
    BundleVerdict,
    VerdictCheck,
    VerdictFinding,
    VerdictMark,
)

# The sentences of a verdict: one function each, for people, and short enough for one line.

_STOPPED = "not established: reading stopped at the damage"


def describe_integrity(state: CheckState, first_bad: BundlePlace | None) -> str:
    """Whether the bytes are as they were written."""
    if state.failure is None:
        return "intact"
    return f"damaged at {first_bad}: {state.failure.message}"


def describe_authenticity(state: CheckState) -> str:
    """Whether it is known who wrote them."""
    if state.failure is not None:
        return _STOPPED
    marks = state.marks.failures_of_check("trust") + state.marks.failures_of_check("authors")
    if marks:
        return f"not established: {marks[0].message}"
    return "every event is signed by a key that chains to the trusted root"


def describe_completeness(state: CheckState) -> str:
    """Whether anything is missing at the end."""
    if state.failure is not None:
        return _STOPPED
    marks = state.marks.failures_of_check("completeness")
    if marks:
        kind = "truncated" if state.marks.has("truncated") else "unproven"
        first = next(mark for mark in marks if mark.verdict == kind)
        return f"{kind}: {describe_mark(first)}"
    note = state.note
    assert note is not None
    streams = f"{len(state.chain.streams)} of {note.streams} streams"
    return f"complete up to checkpoint {note.number} ({streams})"


def describe_freshness(state: CheckState) -> str:
    """Up to when."""
    note = state.note
    if note is None:
        return "none"
    clock = " (fixed test clock)" if state.registry.clock == "fixed" else ""
    return f"checkpoint {note.number} of {note.at}{clock}"


def describe_demanded_freshness(state: CheckState) -> str:
    """How new the caller wants it to be; nothing if they do not care."""
    minimum, kept = state.demands.minimum, state.demands.note
    if kept is not None:
        return f"not behind checkpoint {kept.number}, as kept"
    return "" if minimum is None else f"at least checkpoint {minimum}"


def describe_keys(state: CheckState) -> str:
    """Which keys there are and what became of them; and who signed without one of their own."""
    registry = state.registry
    if registry.root is None:
        return "no registry was read"
    kinds = Counter(key.kind for key in registry.keys.values())
    became = {
        "replaced": kinds["agent"] + kinds["human"] - len(registry.names),
        "revoked": len(registry.revoked_keys()),
        "retired": sum(name.retired for name in registry.names.values()),
    }
    parts = [count_noun(kinds["agent"], "agent key"), count_noun(kinds["human"], "human key")]
    parts += [f"{number} {word}" for word, number in became.items() if number]
    late = [name for seq, name in registry.humans_added if seq != 1]
    if late:
        parts.append(f"human key added later: {' '.join(late)}")
    if state.aliases:
        parts.append(f"aliases signed by their sessions' keys: {state.aliases}")
    return ", ".join(parts)


def describe_artifacts(state: CheckState) -> str:
    """Which of the cited artifacts are there (LDG-094)."""
    if state.failure is not None:
        return _STOPPED
    missing = absent_artifacts(state)
    erased = sum(sha256 in state.registry.erased for sha256 in missing)
    cited, present = len(state.artifacts.cited), len(state.artifacts.present)
    gone = len(missing) - erased
    return f"{cited} cited: {present} present, {erased} erased, {gone} missing"


def absent_artifacts(state: CheckState) -> list[str]:
    """The hashes of artifacts that are cited and not in the bundle."""
    return sorted(sha256 for sha256, _ in state.artifacts.cited - state.artifacts.present)


def describe_custody(registry: TrustedRegistry) -> str:
    """Say how many custodians hold the agents' valid keys: one with two can write as either."""
    # LDG-016
    valid = [key for key in registry.keys.values() if key.kind == "agent" and key.ended is None]
    if not valid:
        return "no agents"
    holders = {key.custodian for key in valid}
    counts = f"{count_noun(len(valid), 'agent')}, {count_noun(len(holders), 'custodian')}"
    if len(holders) == len(valid):
        return counts
    others = "each other" if len(holders) == 1 else "another of the same custodian"
    return f"{counts}: which one wrote is recorded, that they could not impersonate {others} is not"


def describe_loss(accepted: AcceptedLoss) -> str:
    """Section 7: that something is missing, and that it was said so; the reason is a quotation."""
    # LDG-099
    reason = canonical.write_canonical(accepted.reason).decode()
    place = f"event {accepted.seq} of the registry on {accepted.at}"
    return f"a loss was accepted at {place}: {reason}"


def count_noun(number: int, word: str) -> str:
    """`1 event`, `2 events`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def describe_mark(mark: VerdictMark) -> str:
    """A mark as a sentence, with what it is about."""
    return f"{mark.message} ({mark.where})" if mark.where else mark.message


# The findings of a verdict: what is worth telling, how grave it is, and what to do about it.

_SHOWN_ARTIFACTS: Final = 10

# By code where one needs its own advice, else by verdict.
_HINTS: Final[Mapping[str, str]] = {
    "trust_missing": "Give the ledger's trust file, obtained by another way than the bundle.",
    "trust_mismatch": "Make sure that the trust file is of this ledger.",
    "tampered": "Trust nothing from this line on; obtain the bundle again from its source.",
    "forked": "Keep both events as evidence and ask the holder of the key.",
    "unknown-key": "Do not attribute this; ask the ledger's owner about the key.",
    "checkpoint_lacking": "Obtain a newer bundle; if there is none, history was withdrawn: "
    "keep the note, which proves it.",
    "truncated": "Obtain the whole bundle again.",
    "rolled-back": "Obtain a newer bundle; if there is none, history was withdrawn.",
    "unproven": "Export again with a checkpoint to prove that nothing is missing.",
}


def findings_of(state: CheckState) -> Iterator[VerdictFinding]:
    """Everything found, the gravest first: marks, artifacts, general remarks, the policies'."""
    yield from _of_marks(state)
    if state.failure is None:
        yield from _of_artifacts(state)
    yield from _of_the_whole(state)
    yield from (found for found in state.contributions if isinstance(found, VerdictFinding))


def _of_marks(state: CheckState) -> Iterator[VerdictFinding]:
    for mark in state.marks.shown:
        yield VerdictFinding(
            rule=f"format-7/{mark.check}",
            code=mark.code,
            severity="warning" if mark.verdict == "unproven" else "error",
            message=mark.message,
            line=mark.line,
            where=mark.where,
            hint=_HINTS.get(mark.code, _HINTS[mark.verdict]),
        )
    for code, number in state.marks.unshown_counts().items():
        yield VerdictFinding("format-7", code, "info", f"and {number} more like those above")


def _of_artifacts(state: CheckState) -> Iterator[VerdictFinding]:
    missing = absent_artifacts(state)
    for sha256 in missing[:_SHOWN_ARTIFACTS]:
        if sha256 in state.registry.erased:
            message = "the artifact was erased; its hash stays"
            yield VerdictFinding(
                "format-7/artifacts", "artifact_erased", "info", message, where=sha256
            )
        else:
            yield VerdictFinding(
                rule="format-7/artifacts",
                code="artifact_missing",
                severity="warning",
                message="the artifact is cited and not in the bundle",
                where=sha256,
                hint="Ask for a bundle with its artifacts if you need the content.",
            )
    more = len(missing) - _SHOWN_ARTIFACTS
    if more > 0:
        message = f"and {more} more that are not in the bundle"
        yield VerdictFinding("format-7/artifacts", "artifact_missing", "info", message)


def _of_the_whole(state: CheckState) -> Iterator[VerdictFinding]:
    for accepted in state.registry.losses:
        yield VerdictFinding(
            rule="format-4",
            code="loss_accepted",
            severity="warning",
            message=describe_loss(accepted),
            where=f"{REGISTRY} {accepted.seq}",
            hint="What was lost is gone from every later record; only an older copy can show it.",
        )
    if state.registry.clock == "fixed":
        message = "the ledger was created under a fixed test clock: its times mean nothing"
        yield VerdictFinding("format-4", "clock_fixed", "warning", message)
    undemanding = state.demands.minimum is None and state.demands.note is None
    if state.note is not None and undemanding:
        yield VerdictFinding(
            rule="format-6",
            code="minimum_unset",
            severity="info",
            message="the ledger's owner could have withdrawn newer history",
            hint="Against the owner only a checkpoint kept elsewhere helps: bring its note.",
        )


def report_verdict(state: CheckState) -> BundleVerdict:
    """The verdict of a check that has run."""
    first_bad = _first_bad(state)
    return BundleVerdict(
        verdict=state.marks.verdict(),
        integrity=describe_integrity(state, first_bad),  # LDG-092
        authenticity=describe_authenticity(state),
        completeness=describe_completeness(state),
        freshness=describe_freshness(state),
        key_status=describe_keys(state),
        artifacts=describe_artifacts(state),
        custody=describe_custody(state.registry),
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
    ("artifacts", describe_artifacts, ""),
    (
        "checkpoint",
        lambda s: describe_freshness(s) if s.note else "",
        "the bundle holds none",
    ),
)
_AT_THE_END: Final[tuple[_Row, ...]] = (
    ("authors", lambda _: "every author's key was valid when it signed", ""),
    ("trust", lambda _: "the root and checkpoint keys are the trust file's", ""),
    ("forks", lambda _: "no position was signed twice", ""),
    ("completeness", describe_completeness, ""),
    ("freshness", describe_demanded_freshness, "no minimum checkpoint is required"),
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
        return VerdictCheck(name, False, describe_mark(failed[0]))
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
