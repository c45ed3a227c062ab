"""The proof of section 7, step by step, over lines that are seen once and in order.

Steps 1 to 3 for events may be done elsewhere, by the `read` that is passed in; they arrive here in
the order of their lines. Steps 4 to 7 and what follows the last line are done here. The first
`Bad` ends the reading and is the verdict; everything else is a mark, and reading goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from moot.verify import bundle, canonical, fields, tree
from moot.verify.artifacts import Artifacts
from moot.verify.attribution import Attribution
from moot.verify.chain import Chain
from moot.verify.crypto import kid
from moot.verify.failure import Bad
from moot.verify.keys import Registry
from moot.verify.marks import Mark, Marks
from moot.verify.note import Note, read_note
from moot.verify.policy import Contribution, Policy, record_of
from moot.verify.records import REGISTRY, Event, Table, open_envelope, read_event
from moot.verify.trust import Trust
from moot.verify.verdict import VerdictName

NumberedLines = Iterator[tuple[int, bytes]]
ReadEvents = Callable[[NumberedLines, Table], Iterator[tuple[int, Event]]]
Progress = Callable[[int, int], None]
Kept = Iterable[tuple[str, int, str]]

_PROGRESS_EVERY: Final = 1024
_STEP_NAMES: Final = {
    1: "format",
    2: "signatures",
    3: "fields",
    4: "chain",
    5: "registry",
    6: "artifacts",
    7: "checkpoint",
}
# Section 6: the kinds after the header and the events, in their order.
_RANKS: Final = {"fork": 1, "artifact": 2, "chunk": 2, "proof": 3, "checkpoint": 4}


class Header(NamedTuple):
    """The first line."""

    digest: str
    lines: int
    origin: str


class Proof(NamedTuple):
    """A proof that waits for its checkpoint; a path too long for any tree is not kept."""

    index: int
    leaf: bytes
    path: tuple[bytes, ...] | None


class Demands(NamedTuple):
    """What the caller brings to a check beside the lines."""

    trust: Trust | None = None
    policy: Policy | None = None
    progress: Progress | None = None
    kept: Kept = ()
    kept_complete: bool = False


def read_here(lines: NumberedLines, table: Table) -> Iterator[tuple[int, Event]]:
    """Steps 1 to 3 in this process."""
    for number, line in lines:
        try:
            event = read_event(line, table)
        except Bad as bad:
            raise bad.at(number) from None
        yield number, event


class Checker:
    """One check of one bundle; `run` once, then read what it found."""

    def __init__(self, lines: Iterable[bytes], demands: Demands, read: ReadEvents) -> None:
        self._lines = bundle.Lines(lines)
        self._read = read
        self._rank = 0
        self._line = 0
        self.demands = demands
        self.marks = Marks()
        self.artifacts = Artifacts()
        self.header: Header | None = None
        self.registry = Registry("")
        self.chain = Chain("")
        self.attribution: Attribution | None = None
        self.proofs: dict[str, Proof] = {}
        self.note: Note | None = None
        self.bad: Bad | None = None
        self.contributions: list[Contribution] = []
        self.unshown_from: int | None = None

    def run(self) -> None:
        """Read everything; afterwards `marks` holds the verdict."""
        try:
            self._header()
            self._events()
            self._others()
            self._after_last_line()
        except Bad as bad:
            self._stop(bad)
        finally:
            self.chain.close()
            if self.attribution is not None:
                self.attribution.close()

    # Line 1.

    def _header(self) -> None:
        line = self._lines.take()
        if line is None:
            raise Bad(1, "empty", "there is no header").at(1)
        self._line = 1
        kind, value = bundle.parse_line(line)
        if kind != "header":
            raise Bad(1, "order_wrong", "the first line is not the header")
        self.header = Header(value["digest"], value["lines"], value["origin"])
        self.registry = Registry(self.header.origin)
        self.chain = Chain(self.header.origin)

    # Events: the registry first and here, because its keys are needed to read the rest.

    def _events(self) -> None:
        self._table = Table(self.registry.origin, self.registry.publics, self._with_bodies())
        for number, line in self._lines.envelopes():
            self._line = number
            event = read_event(line, self._table if self.chain.streams else self._first(line))
            self._take(event, number)
            if event.stream != REGISTRY:
                break
        for number, event in self._read(self._lines.envelopes(), self._table):
            self._take(event, number)
        self._line = self._lines.number

    def _with_bodies(self) -> bool:
        return self.demands.policy is not None

    def _first(self, line: bytes) -> Table:
        """Step 5: event 0's key is taken from its own `root`."""
        try:
            body = canonical.parse(open_envelope(line).payload)
            root = body["data"]["root"]
        except (canonical.NotCanonical, KeyError, TypeError, IndexError):
            root = None
        if not fields.HEX_PUBLIC(root):
            raise Bad(5, "registry_rule", "the first event does not create the ledger", "data.root")
        public = bytes.fromhex(root)
        return self._table._replace(publics={kid(public): public})

    def _take(self, event: Event, line: int) -> None:
        """Steps 4 and 5 for an event whose steps 1 to 3 hold."""
        self._line = line
        if not event.known:
            self._mark("unknown-key", "authors", "key_unknown", "no such key is registered", line)
        self.chain.link(event, line)
        proven = event.known
        if event.stream == REGISTRY:
            self.registry.accept(event)
        else:
            proven = self._attribute(event, line) and proven
        self.artifacts.cite(event.cites)
        self._show(event, line, proven)
        self._tell(line)

    def _attribute(self, event: Event, line: int) -> bool:
        if self.attribution is None:
            self.attribution = Attribution(self.registry, self.marks)
        # An unknown key was marked at this line already.
        if not event.known:
            return False
        return self.attribution.judge(event, line, len(self.chain.streams) - 1)

    def _show(self, event: Event, line: int, proven: bool) -> None:
        policy = self.demands.policy
        if policy is None or self.unshown_from is not None:
            return
        if not proven:
            self.unshown_from = line
            return
        assert event.body is not None
        self.contributions.extend(policy(record_of(event.body, event.hash, line)))

    # Lines after the events.

    def _others(self) -> None:
        while (line := self._lines.take()) is not None:
            self._line = self._lines.number
            kind, value = _open(line)
            self._in_order(kind)
            getattr(self, f"_{kind}")(value)
            self._tell(self._line)

    def _in_order(self, kind: str) -> None:
        rank = _RANKS.get(kind, 0)
        due = self.artifacts.is_open
        if rank < max(self._rank, 1) or self.note is not None or (due and kind != "chunk"):
            raise Bad(1, "order_wrong", f"a line of kind {kind} does not stand here")
        self._rank = rank

    def _fork(self, envelope: bytes) -> None:
        event = read_event(envelope, self._table)
        stream = self.chain.streams.get(event.stream)
        above = None if stream is None else self.chain.hash_at(stream, event.seq)
        if not event.known:
            raise Bad(2, "fork_unproven", "the fork is signed by no registered key")
        if above is None or above == event.hash:
            raise Bad(4, "fork_unproven", "the fork contradicts no event above")
        self.artifacts.cite(event.cites)
        where = f"{event.stream} {event.seq}"
        message = "two events were signed for one position"
        self._mark("forked", "forks", "forked", message, self._line, where)

    def _artifact(self, value: dict[str, Any]) -> None:
        wanted = {key.heads for key in self.registry.revoked() if key.heads is not None}
        self.artifacts.begin(value["sha256"], value["size"], wanted, self.chain.streams)

    def _chunk(self, data: bytes) -> None:
        self.artifacts.chunk(data)

    def _proof(self, value: dict[str, Any]) -> None:
        """Step 7: the stream is above, and the event that is proved has the hash it has above."""
        stream = self.chain.streams.get(value["stream"])
        if stream is None:
            raise Bad(7, "proof_foreign", "the proof is of a stream that is not above")
        highest = max((proof.index for proof in self.proofs.values()), default=-1)
        if value["index"] <= highest or value["stream"] in self.proofs:
            raise Bad(1, "order_wrong", "proofs ascend by index, one a stream")
        event_hash, seq = bytes.fromhex(value["hash"]), value["seq"]
        above = self.chain.hash_at(stream, seq)
        if above is None:
            message = f"the stream was {seq + 1} events long when the checkpoint was made"
            where = stream.name
            self._mark("truncated", "completeness", "stream_short", message, self._line, where)
        elif above != event_hash:
            raise Bad(7, "proof_mismatch", "the proof is of another event than the one above")
        stream.proved = seq
        fits = len(value["path"]) <= tree.MAX_PATH
        path = tuple(map(bytes.fromhex, value["path"])) if fits else None
        self.proofs[stream.name] = Proof(
            value["index"], tree.leaf(stream.name, seq, event_hash), path
        )

    def _checkpoint(self, text: str) -> None:
        """Step 7: the note holds, every proof leads to its root, and its events are counted."""
        key = self.registry.checkpoint
        if key is None:
            raise Bad(7, "note_foreign", "there is no checkpoint key above")
        note = read_note(text, self.registry.origin, key.public)
        for proof in self.proofs.values():
            if proof.path is None or note.root != tree.root_of(
                proof.leaf, proof.index, note.streams, proof.path
            ):
                raise Bad(7, "proof_broken", f"proof {proof.index} does not lead to the checkpoint")
        if len(self.chain.streams) == note.streams and not self.marks.has("truncated"):
            proved = [stream.proved for stream in self.chain.streams.values()]
            if note.events != sum(seq + 1 for seq in proved if seq is not None):
                raise Bad(7, "count_wrong", "the checkpoint counts another number of events")
        self.note = note

    # After the last line.

    def _after_last_line(self) -> None:
        header = self.header
        assert header is not None
        self._line = self._lines.number
        found = self._lines.number - 1
        if found < header.lines:
            message = f"the header promises {header.lines} lines and {found} follow"
            self._mark("truncated", "completeness", "lines_missing", message)
        elif self.artifacts.is_open:
            raise Bad(6, "artifact_short", "the last artifact is not complete")
        elif found > header.lines:
            raise Bad(1, "lines_added", "there are more lines than the header says").at(1)
        elif self._lines.hexdigest() != header.digest:
            raise Bad(1, "digest_wrong", "the lines do not have the header's digest").at(1)
        if self.attribution is not None:
            self.attribution.settle(self.artifacts.heads, list(self.chain.streams))
        self._judge_trust()
        self._judge_kept()
        self._judge_freshness()
        self._judge_completeness()
        if self.demands.policy is not None:
            self.contributions.extend(self.demands.policy.conclude())
        self._tell(self._line, last=True)

    def _judge_trust(self) -> None:
        trust, registry = self.demands.trust, self.registry
        if trust is None:
            self._mark("unknown-key", "trust", "trust_missing", "no trust file was given", 2)
            return
        keys = [key.public.hex() for key in (registry.root, registry.checkpoint) if key is not None]
        if [trust.origin, trust.root, trust.checkpoint] != [registry.origin, *keys]:
            message = "the bundle's origin, root or checkpoint key is not the trust file's"
            self._mark("unknown-key", "trust", "trust_mismatch", message, 2)

    def _judge_kept(self) -> None:
        """What the caller kept from before must still be there, unchanged."""
        for name, seq, kept_hash in self.demands.kept:
            stream = self.chain.streams.get(name)
            if stream is None and not self.demands.kept_complete:
                continue
            above = None if stream is None else self.chain.hash_at(stream, seq)
            where = f"{name} {seq}"
            if stream is None or above is None:
                message = "an event that was seen before is gone"
                self._mark("rolled-back", "kept", "kept_missing", message, where=where)
            elif above.hex() != kept_hash:
                message, line = "another event stood here before", stream.line_of(seq)
                self._mark("forked", "kept", "kept_differs", message, line, where)

    def _judge_freshness(self) -> None:
        minimum = self.demands.trust.minimum if self.demands.trust is not None else None
        if minimum is not None and (self.note is None or self.note.number < minimum):
            message = f"a checkpoint of number {minimum} or later is required"
            self._mark("rolled-back", "freshness", "checkpoint_old", message)

    def _judge_completeness(self) -> None:
        if self.note is None:
            message = "there is no checkpoint"
            self._mark("unproven", "completeness", "checkpoint_missing", message)
            return
        for stream in self.chain.streams.values():
            if stream.proved is None:
                message = "the checkpoint proves nothing of this stream"
            elif stream.proved < stream.seq:
                message = f"{stream.seq - stream.proved} events follow the checkpoint"
            else:
                continue
            self._mark("unproven", "completeness", "stream_unproven", message, where=stream.name)

    # Telling.

    def _mark(
        self,
        verdict: VerdictName,
        check: str,
        code: str,
        message: str,
        line: int | None = None,
        where: str | None = None,
    ) -> None:
        self.marks.set(Mark(verdict, check, code, message, line, where))

    def _stop(self, bad: Bad) -> None:
        here = self.chain.next_position() if self._rank == 0 and self.header else None
        self.bad = bad.at(self._line, here)
        self._mark("tampered", _STEP_NAMES[bad.step], bad.code, bad.message, bad.line, bad.where)

    def _tell(self, line: int, last: bool = False) -> None:
        progress = self.demands.progress
        if progress is not None and self.header and (last or line % _PROGRESS_EVERY == 0):
            progress(line, self.header.lines + 1)


def _open(line: bytes) -> tuple[str, Any]:
    """A line that is no event: its kind and what is in it."""
    fork = bundle.fork_in(line)
    if fork is not None:
        return "fork", fork
    chunk = bundle.chunk_in(line)
    if chunk is not None:
        return "chunk", chunk
    return bundle.parse_line(line)
