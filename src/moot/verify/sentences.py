"""The sentences of a verdict: one function each, for people, and short enough for one line."""

from __future__ import annotations

from collections import Counter

from moot.verify import canonical
from moot.verify.check_state import CheckState
from moot.verify.trusted_registry import AcceptedLoss, TrustedRegistry
from moot.verify.verdict import BundlePlace
from moot.verify.verdict_marks import VerdictMark

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
    """How many hands hold the agents' valid keys: whoever holds two can write as either."""
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
