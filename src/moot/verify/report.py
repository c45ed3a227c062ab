"""From what a check found to the verdict a person reads: every sentence of it is made here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from moot.verify.check import Checker
from moot.verify.failure import Position
from moot.verify.marks import Mark
from moot.verify.verdict import Check, Finding, Place, Verdict

_SHOWN_ARTIFACTS: Final = 10


def report(checker: Checker) -> Verdict:
    """The verdict of a check that has run."""
    marks, chain = checker.marks, checker.chain
    first_bad = marks.first_bad()
    return Verdict(
        verdict=marks.verdict(),
        integrity=_integrity(checker),
        authenticity=_authenticity(checker),
        completeness=_completeness(checker),
        freshness=_freshness(checker),
        key_status=_key_status(checker),
        artifacts=_artifacts(checker),
        custody=custody(checker),
        first_bad=None if first_bad is None else _place(checker, first_bad),
        last_trusted=_last_trusted(checker, first_bad),
        checks=tuple(_checks(checker)),
        findings=tuple(_findings(checker)),
        origin=checker.header.origin if checker.header is not None else None,
        clock=checker.registry.clock,
        events=_trusted_events(checker),
        streams=len(chain.streams),
        checkpoint=checker.note.number if checker.note is not None else None,
    )


# Places.


def _place(checker: Checker, line: int) -> Place:
    bad = checker.bad
    position: Position | None = checker.chain.position_of(line)
    if bad is not None and bad.line == line and bad.position is not None:
        position = bad.position
    return Place(line) if position is None else Place(line, *position)


def _last_trusted(checker: Checker, first_bad: int | None) -> Place | None:
    """Section 7: the last event line before `first_bad`, for the two verdicts that have one."""
    if first_bad is None or checker.marks.verdict() not in ("tampered", "unknown-key"):
        return None
    found = checker.chain.last_before(first_bad)
    return None if found is None else Place(found[0], *found[1])


def _trusted_events(checker: Checker) -> int:
    """Linked events; the one at which the registry broke was linked and does not count."""
    bad = checker.bad
    broke = bad is not None and bad.step == 5 and checker.chain.position_of(bad.line or 0)
    return checker.chain.events - (1 if broke else 0)


# Sentences.


def _integrity(checker: Checker) -> str:
    if checker.bad is None:
        return "intact"
    return f"damaged at {_place(checker, checker.bad.line or 1)}: {checker.bad.message}"


def _authenticity(checker: Checker) -> str:
    if checker.bad is not None:
        return "not established: reading stopped at the damage"
    marks = checker.marks.of_check("trust") + checker.marks.of_check("authors")
    if marks:
        return f"not established: {marks[0].message}"
    return "every event is signed by a key that chains to the trusted root"


def _completeness(checker: Checker) -> str:
    if checker.bad is not None:
        return "not established: reading stopped at the damage"
    marks = checker.marks.of_check("completeness")
    note = checker.note
    if marks:
        kind = "truncated" if checker.marks.has("truncated") else "unproven"
        first = next(mark for mark in marks if mark.verdict == kind)
        return f"{kind}: {_with_where(first)}"
    assert note is not None
    streams = f"{len(checker.chain.streams)} of {note.streams} streams"
    return f"complete up to checkpoint {note.number} ({streams})"


def _freshness(checker: Checker) -> str:
    note = checker.note
    if note is None:
        return "none"
    clock = " (fixed test clock)" if checker.registry.clock == "fixed" else ""
    return f"checkpoint {note.number} of {note.at}{clock}"


def _key_status(checker: Checker) -> str:
    registry = checker.registry
    if registry.root is None:
        return "no registry was read"
    kinds = Counter(key.kind for key in registry.keys.values())
    revoked = len(registry.revoked())
    replaced = len(registry.keys) - 2 - len(registry.names)
    retired = sum(name.retired for name in registry.names.values())
    parts = [
        f"{_count(kinds['agent'], 'agent key')}, {_count(kinds['human'], 'human key')}",
        *(f"{number} {word}" for number, word in _ENDS(replaced, revoked, retired) if number),
    ]
    late = [name for seq, name in registry.humans_added if seq != 1]
    if late:
        parts.append(f"human key added later: {', '.join(late)}")
    return "; ".join(parts)


def _ENDS(replaced: int, revoked: int, retired: int) -> list[tuple[int, str]]:  # noqa: N802
    return [(replaced, "replaced"), (revoked, "revoked"), (retired, "retired")]


def _artifacts(checker: Checker) -> str:
    if checker.bad is not None:
        return "not established: reading stopped at the damage"
    missing = _missing(checker)
    erased = [sha256 for sha256 in missing if sha256 in checker.registry.erased]
    artifacts = checker.artifacts
    return (
        f"{len(artifacts.cited)} cited: {len(artifacts.present)} present, "
        f"{len(erased)} erased, {len(missing) - len(erased)} missing"
    )


def _missing(checker: Checker) -> list[str]:
    return sorted(sha256 for sha256, _ in checker.artifacts.cited - checker.artifacts.present)


def custody(checker: Checker) -> str:
    """How many hands held the agents' keys: whoever holds two can write as either."""
    holders: dict[str, set[str]] = {}
    for key in checker.registry.keys.values():
        if key.kind == "agent":
            holders.setdefault(key.custodian, set()).add(key.name)
    agents = len(set().union(*holders.values()))
    if not agents:
        return "no agents"
    said = f"{_count(agents, 'agent')}, {_count(len(holders), 'custodian')}"
    if all(len(names) == 1 for names in holders.values()):
        return said
    others = "each other" if len(holders) == 1 else "another of the same custodian"
    return f"{said}: which one wrote is recorded, that they could not impersonate {others} is not"


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _with_where(mark: Mark) -> str:
    return f"{mark.where}: {mark.message}" if mark.where else mark.message


# Checks: one row each, in the order of section 7; the function says what holds if nothing failed.

_Say = Callable[[Checker], str]

_BY_LINE: Final[Mapping[str, _Say]] = {
    "format": lambda c: "every line is canonical, in order, and counted by the header",
    "signatures": lambda c: f"{_count(c.chain.events, 'event')} signed",
    "fields": lambda c: "every event has the fields of the format",
    "chain": lambda c: f"{_count(len(c.chain.streams), 'stream')} linked without a gap",
    "registry": lambda c: f"{_count(len(c.registry.keys), 'key')} registered by the rules",
    "artifacts": _artifacts,
    "checkpoint": lambda c: _freshness(c) if c.note is not None else "",
}
_AT_THE_END: Final[Mapping[str, _Say]] = {
    "authors": lambda c: "every author's key was valid when it signed",
    "trust": lambda c: "the root and checkpoint keys are the trust file's",
    "forks": lambda c: "no position was signed twice",
    "completeness": _completeness,
    "freshness": lambda c: (
        "the checkpoint is not older than required" if _minimum(c) is not None else ""
    ),
    "kept": lambda c: "all that was kept from before is there" if c.demands.kept else "",
    "clock": lambda c: (
        "" if c.registry.clock == "fixed" else "times are the authors' claims, never used for order"
    ),
}


def _minimum(checker: Checker) -> int | None:
    return checker.demands.trust.minimum if checker.demands.trust is not None else None


_UNCHECKED: Final = {
    "checkpoint": "the bundle holds none",
    "freshness": "no minimum checkpoint is required",
    "kept": "nothing was kept from before",
    "clock": "the ledger was created under a fixed test clock",
}


def _checks(checker: Checker) -> Iterator[Check]:
    stopped = checker.bad is not None
    reached = f"held up to line {(checker.bad.line or 1) - 1}" if checker.bad is not None else ""
    for name, say in _BY_LINE.items():
        yield _check(checker, name, say, reached if stopped else None)
    for name, say in _AT_THE_END.items():
        yield _check(checker, name, say, "not reached" if stopped else None)
    yield from _policy_checks(checker)


def _check(checker: Checker, name: str, say: _Say, stopped: str | None) -> Check:
    failed = checker.marks.of_check(name)
    if failed:
        return Check(name, False, _with_where(failed[0]))
    if stopped is not None:
        return Check(name, None, stopped)
    said = say(checker)
    return Check(name, True, said) if said else Check(name, None, _UNCHECKED[name])


def _policy_checks(checker: Checker) -> Iterator[Check]:
    given = [found for found in checker.contributions if isinstance(found, Check)]
    if checker.demands.policy is None:
        yield Check("policy", None, "not checked")
    elif checker.bad is not None or checker.unshown_from is not None:
        line = checker.unshown_from or (checker.bad.line if checker.bad is not None else None)
        yield Check("policy", None, f"checked up to line {line}, which is not proven")
    else:
        yield Check("policy", True, f"{_count(checker.chain.events, 'record')} replayed")
    yield from given


# Findings.

_HINTS: Final[Mapping[str, str]] = {
    "tampered": "Trust nothing from this line on; obtain the bundle again from its source.",
    "forked": "Keep both events as evidence and ask the holder of the key.",
    "unknown-key": "Do not attribute this; ask the ledger's owner about the key.",
    "truncated": "Obtain the whole bundle again.",
    "rolled-back": "Obtain a newer bundle; if there is none, history was withdrawn.",
    "unproven": "Export again with a checkpoint to prove that nothing is missing.",
    "trust_missing": "Give the ledger's trust file, obtained by another way than the bundle.",
    "trust_mismatch": "Make sure that the trust file is of this ledger.",
}


def _findings(checker: Checker) -> Iterator[Finding]:
    for mark in checker.marks.shown:
        severity = "warning" if mark.verdict == "unproven" else "error"
        hint = _HINTS.get(mark.code, _HINTS[mark.verdict])
        yield Finding(
            f"format-7/{mark.check}", mark.code, severity, mark.message, mark.line, mark.where, hint
        )
    for code, count in checker.marks.unshown().items():
        yield Finding("format-7", code, "error", f"and {count} more like the ones above")
    if checker.bad is None:
        yield from _artifact_findings(checker)
    yield from _general_findings(checker)
    yield from (found for found in checker.contributions if isinstance(found, Finding))


def _artifact_findings(checker: Checker) -> Iterator[Finding]:
    missing = _missing(checker)
    for sha256 in missing[:_SHOWN_ARTIFACTS]:
        if sha256 in checker.registry.erased:
            message = "the artifact was erased; its hash stays"
            yield Finding("format-7", "artifact_erased", "info", message, where=sha256)
        else:
            message = "the artifact is cited and not in the bundle"
            hint = "Ask for a bundle with its artifacts if you need the content."
            yield Finding("format-7", "artifact_missing", "warning", message, None, sha256, hint)
    if len(missing) > _SHOWN_ARTIFACTS:
        more = len(missing) - _SHOWN_ARTIFACTS
        yield Finding("format-7", "artifact_missing", "info", f"and {more} more absent artifacts")


def _general_findings(checker: Checker) -> Iterator[Finding]:
    if checker.registry.clock == "fixed":
        message = "the ledger was created under a fixed test clock: its times mean nothing"
        yield Finding("format-4", "clock_fixed", "warning", message)
    if checker.note is not None and _minimum(checker) is None:
        message = "the ledger's owner could have withdrawn newer history"
        hint = "Against the owner only a checkpoint kept elsewhere helps: set `minimum` from it."
        yield Finding("format-6", "minimum_unset", "info", message, hint=hint)
