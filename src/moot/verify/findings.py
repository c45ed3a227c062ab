"""The findings of a verdict: what is worth telling, how grave it is, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from moot.verify.check_state import CheckState
from moot.verify.event_reader import REGISTRY
from moot.verify.sentences import absent_artifacts, describe_loss
from moot.verify.verdict import VerdictFinding

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
