"""Commands into records, under the write lock, for one caller or a thousand.

Each job reads the state its predecessors in the batch left, is decided, sealed and kept in
memory; `flush` writes all of it. A job that fails or is refused does not disturb the others.
Nothing is acknowledged before the store has committed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import msgspec

from moot.core.clock import Millis, to_text
from moot.core.errors import Malformed, MootError, Refused, Tampered
from moot.core.ledger import Change, Entry
from moot.core.machine import Command, Context, Decision, Draft, Machine, Put, Recorded
from moot.core.names import CHECKPOINT, REGISTRY, SYSTEM, stream_name
from moot.core.record import Actor, Body, Record, encode_body
from moot.core.registry.model import State as Registry
from moot.core.signing import key_id
from moot.engine.checkpoints import require_streams
from moot.engine.evidence import Evidence
from moot.engine.job import REFUSED_MARK, Job, Outcome, Repeat, repeat_of
from moot.engine.keys import Hand, Hands, Keys
from moot.engine.replay import (
    SNAPSHOT_EVERY,
    Loaded,
    Replay,
    keys_lost,
    read_record,
    take_snapshot,
)
from moot.engine.signatures import SignAll, Signing, Unsigned, finish, finish_all
from moot.engine.signs import SEEN, signs_of
from moot.store.artifacts import Artifacts

if TYPE_CHECKING:
    from moot.core.debug import DebugLog

MAX_TIMEOUTS = 1_000
SEEN_EVERY: Millis = 1_000
MAX_DESCRIBED = 5  # events that a line of MOOT_DEBUG names

Result = Outcome | MootError
_Recorded = tuple[Recorded[Any], ...]


class Batch:
    def __init__(
        self,
        change: Change,
        replay: Replay,
        keys: Keys,
        hands: Hands,
        now: Millis,
        artifacts: Artifacts | None = None,
        evidence: Evidence | None = None,
        debug: DebugLog | None = None,
    ) -> None:
        self._change = change
        self._replay = replay
        self._keys = keys
        self._hands = hands
        self._now = now
        self._at = to_text(now)
        self._artifacts = artifacts
        self._evidence = evidence
        self._debug = debug
        self._origin = replay.trust.origin
        self._streams: dict[str, Loaded] = {}
        self._began: dict[str, int] = {}
        self._entries: list[Entry] = []
        self._seen: set[tuple[str, int]] = set()
        self._unproved: dict[str, MootError] = {}

    @property
    def count(self) -> int:
        return len(self._entries)

    def run_all(
        self, jobs: Iterable[Job], guarded: Iterable[str], sign_all: SignAll
    ) -> list[Result]:
        """Decide each in turn, on proved history where a stream is in `guarded`.

        Refusals and failures come back as values: others share the batch.
        """
        self._prove(guarded)
        results: list[Result] = []
        for wave in _waves(jobs):
            results += finish_all([self._run(job) for job in wave], sign_all)
        return results

    def run_chain(
        self, first: Job, then: Iterable[Callable[[Outcome], Job]], guarded: Collection[str]
    ) -> list[Outcome]:
        """Each job from the outcome before it; the first that fails ends them all."""
        self._prove(guarded)
        done = [self._require(finish(self._run(first)))]
        for job in then:
            done.append(self._require(self._run_further(job(done[-1]), guarded)))
        return done

    def _run_further(self, job: Job, guarded: Collection[str]) -> Result:
        if job.stream not in guarded and self._replay.guards(job.stream, job.command):
            raise TypeError(
                f"{type(job.command).__name__} must come first: it needs proved history"
            )
        return finish(self._run(job))

    def _require(self, result: Result) -> Outcome:
        if isinstance(result, MootError):
            raise result
        return result

    def tick(self, stream: str) -> Outcome:
        """Only what is overdue on `stream`; for callers that have nothing else to ask."""
        self._load(stream)
        recorded = finish(self._apply_timeouts(stream))
        return Outcome(stream, recorded, self._streams[stream].state)

    def _prove(self, streams: Iterable[str]) -> None:
        """Load these with every signature checked, before any job relies on them."""
        for stream in streams:
            try:
                self._load(stream, proved=True)
            except MootError as error:
                self._unproved[stream] = error

    def flush(self) -> None:
        """Everything decided, in one go, with snapshots where they are due."""
        if not self._entries:
            return
        self._change.append(self._entries)
        if self._debug is not None:
            self._debug("append", _describe_entries(self._entries))
        for stream, loaded in self._streams.items():
            began = self._began[stream]
            if began < 0 <= loaded.seq:
                self._require_new(stream)
            if (loaded.seq + 1) // SNAPSHOT_EVERY > (began + 1) // SNAPSHOT_EVERY:
                self._snapshot(stream, loaded)

    def _require_new(self, stream: str) -> None:
        """Its number is one that no checkpoint counts, or it takes the place of another."""
        head = self._change.head(stream)
        assert head is not None, "its first event was appended"
        require_streams(self._change, self._replay.trust, head.number)

    def commit_to(self, replay: Replay) -> None:
        """After the store's commit: the new states are the truth."""
        for stream, loaded in self._streams.items():
            if loaded.seq != self._began[stream]:  # else it is kept already
                replay.keep(stream, loaded)
                if self._evidence is not None:
                    self._evidence.wrote(stream, loaded.seq, loaded.hash)
        if self._seen:
            replay.seen.update(dict.fromkeys(self._seen, self._now))

    def _run(self, job: Job) -> Signing[Result]:
        loaded = self._load(job.stream)
        self._check(job, loaded.machine)
        repeat = repeat_of(self._keys_of, job) if job.key is not None else None
        if repeat is not None and repeat.done_at:
            return self._replayed(job, loaded, repeat)
        hand = self._hand(job.actor, job.role)
        yield from self._apply_timeouts(job.stream)
        decision = self._decide(job.stream, job.command, hand)
        if repeat is not None and repeat.refused_before and decision.refused:
            return Refused.of(decision.findings)
        key = repeat.key if repeat is not None else None
        mark = REFUSED_MARK if decision.refused and key else ""
        signed_key = f"{key}{mark}" if key else None
        recorded = yield from self._record(job, hand, decision.drafts, signed_key)
        if decision.refused:
            return Refused.of(decision.findings)
        return Outcome(job.stream, recorded, self._streams[job.stream].state, decision.findings)

    def _check(self, job: Job, machine: Machine[Any]) -> None:
        if type(job.command) not in machine.commands:
            name = type(job.command).__name__
            raise Malformed(f"{machine.name} knows no {name}", code="unknown_command")
        if job.stream in self._unproved and type(job.command) in machine.guarded:
            raise self._unproved[job.stream]

    def _load(self, stream: str, proved: bool = False) -> Loaded:
        loaded = self._streams.get(stream)
        if loaded is None:
            stream_name(stream)
            loaded = self._load_whole(stream, proved)
            self._streams[stream] = loaded
            self._began[stream] = loaded.seq
            if self._debug is not None:
                self._debug(
                    "load", f"{stream}#{loaded.seq}" if loaded.seq >= 0 else f"{stream} (new)"
                )
        return loaded

    def _load_whole(self, stream: str, proved: bool) -> Loaded:
        """Nothing is decided on a history whose end was cut off."""
        if self._evidence is None:
            return self._replay.load(self._change, stream, proved)
        self._evidence.before_loading(self._change, stream)
        loaded = self._replay.load(self._change, stream, proved)
        self._evidence.loaded(stream, loaded.seq, loaded.hash)
        return loaded

    def _hand(self, name: str, role: str | None) -> Hand:
        registry: Registry = self._load(REGISTRY).state
        return self._hands.of(registry, self._keys, name, role)

    def _decide(self, stream: str, command: Command, hand: Hand) -> Decision:
        loaded = self._streams[stream]
        asked = loaded.machine.asks(loaded.state, command)
        seen = signs_of(self._change, self._replay, asked) if asked else {}
        context = Context(self._now, hand.acting, stream, self._origin, seen)
        decision = loaded.machine.decide(loaded.state, command, context)
        if self._debug is not None:
            result = _describe_decision(decision, loaded.machine)
            self._debug("decide", f"{stream} {type(command).__name__}: {result}")
        return decision

    def _keys_of(self, stream: str, prefix: str) -> list[tuple[str, int]]:
        """Earlier runs in the store, and in this very batch."""
        waiting = [(e.key, e.record.seq) for e in self._entries if e.record.stream == stream]
        fresh = [(key, seq) for key, seq in waiting if key is not None and key.startswith(prefix)]
        return self._change.keys(stream, prefix) + fresh

    def _replayed(self, job: Job, loaded: Loaded, repeat: Repeat) -> Outcome:
        """What the first run recorded: from the store, or waiting in this batch.

        They were found by an index; the key that counts is the signed one.
        """
        first, last = repeat.done_at[0], repeat.done_at[-1]
        stored = self._change.records(job.stream, after=first - 1)
        found = list(takewhile(lambda record: record.seq <= last, stored))
        waiting = (entry.record for entry in self._entries if entry.record.stream == job.stream)
        found += (record for record in waiting if first <= record.seq <= last)
        for record in found:
            if record.body.key != repeat.key:
                raise Tampered(
                    f"{job.stream} event {record.seq} was not signed under this key",
                    stream=job.stream,
                    seq=record.seq,
                )
        recorded = tuple(read_record(loaded.machine, record) for record in found)
        return Outcome(job.stream, recorded, loaded.state, replayed=True)

    def _apply_timeouts(self, stream: str) -> Signing[_Recorded]:
        """What is overdue on this stream happens first, by `system`, if its key is here."""
        done: _Recorded = ()
        while len(done) < MAX_TIMEOUTS:
            loaded = self._streams[stream]
            overdue = loaded.machine.timeouts(loaded.state, self._now) if loaded.seq >= 0 else ()
            if not overdue:
                break
            recorded: _Recorded = ()
            for command in overdue:
                recorded = yield from self._apply(stream, command)
                if recorded:
                    break  # a refused one holds up nobody
            if not recorded:
                break
            done += recorded
        return done

    def _apply(self, stream: str, command: Command) -> Signing[_Recorded]:
        try:
            hand = self._hand(SYSTEM, None)
        except Refused:
            return ()  # without the system key it stays due
        decision = self._decide(stream, command, hand)
        if decision.refused:
            return ()
        return (yield from self._record(Job(stream, command, SYSTEM), hand, decision.drafts, None))

    def _record(
        self, job: Job, hand: Hand, drafts: tuple[Draft, ...], key: str | None
    ) -> Signing[_Recorded]:
        """Seal all drafts, or none: a draft that cannot be sealed undoes its predecessors."""
        before = self._streams[job.stream]
        recorded: list[Recorded[Any]] = []
        entries: list[Entry] = []
        try:
            for draft in drafts:
                body = self._body(job, hand, draft, key)
                raw = encode_body(body)
                signature = yield Unsigned(hand.signer, raw)
                record = Record(body.stream, body.seq, hand.signer.kid, raw, signature)
                recorded.append(self._advance(record, body, draft))
                entries.append(Entry(record, key, tuple(before.machine.index(recorded[-1]))))
        except MootError:
            self._streams[job.stream] = before
            raise
        if recorded:
            self._saw(hand.actor, entries)
            self._entries += entries
        return tuple(recorded)

    def _saw(self, who: Actor, entries: list[Entry]) -> None:
        """Any signed event is a sign of life; a row says where one of the newest stands.

        Who was written down within the last second is not written down again.
        """
        holder = (who.id, who.epoch)
        last = self._now if holder in self._seen else self._replay.seen.get(holder)
        if last is None or not last <= self._now < last + SEEN_EVERY:
            newest = entries[-1]
            changes = (*newest.changes, Put(SEEN, who.id, {"at": self._now}))
            entries[-1] = msgspec.structs.replace(newest, changes=changes)
            self._seen.add(holder)

    def _require_stored(self, draft: Draft) -> None:
        """What an event cites is durable before the event."""
        for ref in draft.artifacts:
            if self._artifacts is None or self._artifacts.size(ref.sha256) != ref.size:
                raise Refused(
                    "artifact_missing",
                    f"the artifact {ref.sha256[:12]}… is not stored here",
                    hint="store it first",
                )

    def _body(self, job: Job, hand: Hand, draft: Draft, key: str | None) -> Body:
        if draft.artifacts:
            self._require_stored(draft)
        loaded = self._streams[job.stream]
        machine = loaded.machine
        seq = loaded.seq + 1
        reg = self._load(REGISTRY).seq if job.stream != REGISTRY else (seq - 1 if seq else None)
        if loaded.reg > (-1 if reg is None else reg):
            raise keys_lost(job.stream, loaded)
        return Body(
            origin=self._origin,
            stream=job.stream,
            seq=seq,
            prev=loaded.hash.hex(),
            reg=reg,
            key=key,
            type=machine.type_of[type(draft.event)],
            at=self._at,
            actor=hand.actor,
            cause=job.cause,
            corr=job.corr,
            data=msgspec.to_builtins(draft.event),
            artifacts=draft.artifacts,
        )

    def _advance(self, record: Record, body: Body, draft: Draft) -> Recorded[Any]:
        loaded = self._streams[record.stream]
        recorded: Recorded[Any] = Recorded(
            draft.event,
            record.stream,
            record.seq,
            self._now,
            body.actor,
            record.hash,
            body.cause,
            body.corr,
            body.artifacts,
        )
        state = loaded.machine.evolve(loaded.state, recorded)
        reg = loaded.reg if body.reg is None else body.reg
        self._streams[record.stream] = Loaded(
            loaded.machine, record.seq, record.hash, reg, state, loaded.proved
        )
        return recorded

    def _snapshot(self, stream: str, loaded: Loaded) -> None:
        held = self._keys.find(CHECKPOINT, key_id(self._replay.trust.checkpoint))
        if held is None:  # whoever has the checkpoint key will make one
            return
        if not loaded.proved:  # a signed snapshot is believed without a second look
            try:
                loaded = self._replay.load(self._change, stream, proved=True)
            except Tampered:
                return
            self._streams[stream] = loaded
        self._change.put_snapshot(take_snapshot(self._origin, stream, loaded, held.signer))


def _waves(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """Jobs in their order, as many at a time as rest on nothing that another of them records."""
    wave: dict[str, Job] = {}
    for job in jobs:
        if job.stream in wave or REGISTRY in wave:
            yield list(wave.values())
            wave = {}
        wave[job.stream] = job
    yield list(wave.values())


def _describe_decision(decision: Decision, machine: Machine[Any]) -> str:
    """For MOOT_DEBUG: codes and types of events only, never what anybody wrote."""
    if decision.refused:
        return f"refused, {Refused.of(decision.findings).code}"
    types = [machine.type_of[type(draft.event)] for draft in decision.drafts]
    return ", ".join(types) or "nothing to record"


def _describe_entries(entries: list[Entry]) -> str:
    places = (f"{entry.record.stream}#{entry.record.seq}" for entry in entries[:MAX_DESCRIBED])
    more = f" and {len(entries) - MAX_DESCRIBED} more" if len(entries) > MAX_DESCRIBED else ""
    return f"{', '.join(places)}{more}"
