"""Is a trace true? The ledger's checker proves the bytes, then the trace's own audit follows.

One way for both, a live workspace and an exported file: the checker, which shares no code with
what it checks, goes through all lines and shows every proven event; what it says of the bytes
becomes the facts of the audit. Nothing is written by looking.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from moot.core.clock import from_text
from moot.core.errors import MootError
from moot.core.machine import Recorded
from moot.core.names import REGISTRY, protocol_of
from moot.core.record import Actor, ArtifactRef
from moot.trace import audit
from moot.trace.audit import Facts, Report, Seen
from moot.trace.machine import MACHINE
from moot.trace.model import Profile
from moot.trace.model import Verdict as Audited
from moot.verify import Contribution, Record, Verdict
from moot.verify.bundle import lines_of
from moot.workspace.check import How, check_file, check_live, stored

PROTOCOL: Final = "trace"
_ARTIFACT: Final = b'{"artifact":{"sha256":"'
_PROOF: Final = b'{"proof":'
_HEX: Final = 64


class Inspected(NamedTuple):
    """What the checker says of the bytes, and the audit of each trace in them."""

    verdict: Verdict
    reports: tuple[Report, ...]
    events: dict[str, list[Recorded[Any]]]

    @property
    def holds(self) -> bool:
        failed = any(report.verdict is Audited.FAIL for report in self.reports)
        return bool(self.verdict) and not failed


def inspect_file(file: Path, how: How, profile: Profile = Profile.DEFAULT) -> Inspected:
    """Every trace in an exported file; no workspace is needed."""
    watcher = _Watcher()
    verdict = check_file(file, how._replace(watcher=watcher))
    if verdict.verdict == "tampered":  # reading stopped there; what follows is only listed
        with file.open("rb") as opened:
            watcher.list_artifacts(lines_of(opened))
    return _inspected(watcher, verdict, profile)


def inspect_live(
    place: Path,
    how: How,
    stream: str,
    profile: Profile = Profile.DEFAULT,
    subject: tuple[str, int] | None = None,
) -> Inspected:
    """One trace of a workspace; `subject` (head and number of events) leaves out what follows."""
    watcher = _Watcher(only=stream, subject=subject)
    verdict = check_live(place, how._replace(watcher=watcher), stream)
    watcher.expect(stream)
    if verdict.verdict == "tampered":
        watcher.list_stored(place)
    return _inspected(watcher, verdict, profile)


def _inspected(watcher: _Watcher, verdict: Verdict, profile: Profile) -> Inspected:
    reports = tuple(
        audit.audit(events, watcher.facts(stream, verdict), profile)
        for stream, events in watcher.events.items()
    )
    return Inspected(verdict, reports, watcher.events)


class _Proof(msgspec.Struct):
    hash: str
    seq: int
    stream: str


class _ProofLine(msgspec.Struct):
    proof: _Proof


class _Watcher:
    """Collects what the checker has proven, and which artifacts and proofs pass by."""

    def __init__(self, only: str | None = None, subject: tuple[str, int] | None = None) -> None:
        self.events: dict[str, list[Recorded[Any]]] = {}
        self._only = only
        self._subject = subject
        self._places: dict[int, tuple[str, int]] = {}
        self._unreadable: dict[str, dict[int, str]] = {}
        self._artifacts: set[str] = set()
        self._last_artifact = ""
        self._erased: set[str] = set()
        self._proofs: dict[str, _Proof] = {}
        self._in_charge: set[str] = set()

    def expect(self, stream: str) -> None:
        """It was asked for: its absence is a finding too."""
        self.events.setdefault(stream, [])

    # What passes by.

    def lines(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        source = iter(lines)
        for line in source:
            if line.startswith(_ARTIFACT):
                self._last_artifact = _hash_in(line)
                self._artifacts.add(self._last_artifact)
            elif line.startswith(_PROOF):
                self._prove(line)
            yield line

    def list_artifacts(self, lines: Iterable[bytes]) -> None:
        """What a damaged file says it holds: present, though nobody has read it."""
        self._artifacts.update(_hash_in(line) for line in lines if line.startswith(_ARTIFACT))

    def list_stored(self, place: Path) -> None:
        cited = (
            ref.sha256 for events in self.events.values() for e in events for ref in e.artifacts
        )
        self._artifacts.update(stored(place, cited))

    def _prove(self, line: bytes) -> None:
        try:
            proof = msgspec.json.decode(line, type=_ProofLine).proof
        except (msgspec.DecodeError, UnicodeDecodeError):
            return  # the checker says what is wrong with it
        self._proofs[proof.stream] = proof

    # What is proven.

    def __call__(self, record: Record, /) -> Iterable[Contribution]:
        if record.stream == REGISTRY:
            self._register(record)
        elif protocol_of(record.stream) == PROTOCOL and self._only in (None, record.stream):
            self._collect(record)
        return ()

    def conclude(self) -> Iterable[Contribution]:
        return ()

    def _register(self, record: Record) -> None:
        data = record.data
        if record.seq == 0:
            self._in_charge.add(_kid(data["root"]))
        elif data.get("class") == "human":
            self._in_charge.add(_kid(data["public"]))
        elif record.type == "registry.artifact_erased":
            self._erased.add(data["sha256"])

    def _collect(self, record: Record) -> None:
        if self._subject is not None and record.seq >= self._subject[1]:
            return
        self._places[record.line] = (record.stream, record.seq)
        events = self.events.setdefault(record.stream, [])
        try:
            events.append(recorded_of(record))
        except MootError as error:
            self._unreadable.setdefault(record.stream, {})[record.seq] = str(error)

    # What follows from it for the audit.

    def facts(self, stream: str, verdict: Verdict) -> Facts:
        head, count = self._ledger_says(stream)
        found: dict[str, Any] = {"unreadable": dict(self._unreadable.get(stream, {}))}
        for seq, kind, why in self._problems(stream, verdict):
            found.setdefault(kind, {})[seq] = why
        return Facts(
            trace=stream,
            head=head,
            events=count,
            artifacts=self._seen(verdict),
            in_charge=frozenset(self._in_charge),
            anchored=_ANCHORED.get(verdict.verdict),
            **found,
        )

    def _ledger_says(self, stream: str) -> tuple[str, int]:
        """What should be here: what is verified, what the checkpoint names, else what is there."""
        if self._subject is not None:
            return self._subject
        events = self.events[stream]
        unread = len(self._unreadable.get(stream, {}))
        here = (events[-1].hash.hex() if events else "", len(events) + unread)
        proof = self._proofs.get(stream)
        return (proof.hash, proof.seq + 1) if proof and proof.seq + 1 > here[1] else here

    def _problems(self, stream: str, verdict: Verdict) -> Iterator[tuple[int, str, str]]:
        """What the checker found, by position in this trace."""
        for finding in verdict.findings:
            check = finding.rule.partition("/")[2]
            kind = _KINDS.get(check)
            if finding.severity != "error" or kind is None:
                continue
            seq = self._seq(stream, finding.line, verdict)
            if seq is not None:
                revoked = finding.code == "key_revoked"
                yield seq, kind, "revoked" if revoked else finding.message

    def _seq(self, stream: str, line: int | None, verdict: Verdict) -> int | None:
        """The event a finding is about; what shakes the list of keys shakes every event."""
        place = self._places.get(line or 0)
        if place is not None:
            return place[1] if place[0] == stream else None
        bad = verdict.first_bad
        if bad is None or bad.line != line:
            return None
        if bad.stream == stream:
            return bad.seq
        return 0 if bad.stream in (None, REGISTRY) else None

    def _seen(self, verdict: Verdict) -> dict[str, Seen]:
        seen = dict.fromkeys(self._artifacts, Seen.PRESENT)
        if any(finding.code == "artifact_hash" for finding in verdict.findings):
            seen[self._last_artifact] = Seen.DIFFERS
        seen.update((sha, Seen.ERASED) for sha in self._erased if sha not in seen)
        return seen


_ANCHORED: Final = {"valid": True, "unproven": False}
# Which fact a failed check of the bytes is.
_KINDS: Final = {
    "format": "unreadable",
    "fields": "unreadable",
    "signatures": "signatures",
    "chain": "chain",
    "authors": "keys",
    "registry": "keys",
    "trust": "keys",
    "forks": "chain",
    "kept": "chain",
}


def recorded_of(record: Record) -> Recorded[Any]:
    """A proven event as the trace's own; MootError if this Moot cannot read it."""
    actor = record.actor
    return Recorded(
        event=MACHINE.read_event(record.type, dict(record.data)),
        stream=record.stream,
        seq=record.seq,
        at=from_text(record.at),
        actor=Actor(actor["id"], actor["epoch"], actor["kid"], actor["role"]),
        hash=bytes.fromhex(record.hash),
        cause=record.cause,
        corr=record.corr,
        artifacts=tuple(
            ArtifactRef(one["sha256"], one["size"], one["media_type"]) for one in record.artifacts
        ),
    )


def _hash_in(line: bytes) -> str:
    return line[len(_ARTIFACT) : len(_ARTIFACT) + _HEX].decode("latin-1")


def _kid(public: str) -> str:
    return hashlib.sha256(bytes.fromhex(public)).hexdigest()[:32]
