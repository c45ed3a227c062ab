"""The proof of section 7, step by step, over lines that are seen once and in order.

1 to 3 for events may be done elsewhere, by the `read` that is passed in: they arrive here in the
order of their lines. 4 (chain), 5 (registry), 6 (artifacts) and 7 (proofs, checkpoint) are done
here, and what follows the last line in `after_last_line`. The first `StepFailure` ends the reading
and is the verdict; everything else is a mark, and reading goes on. The caller still owes the trust
file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from moot.verify import bundle, canonical, receipt
from moot.verify import canonical as field_rules
from moot.verify.chain import Chain
from moot.verify.check_state import BundleHeader, CallerDemands, CheckState, record_of
from moot.verify.checkpoints import read_note
from moot.verify.crypto import key_id
from moot.verify.event_reader import REGISTRY, LedgerKeys, ReadEvent, open_envelope, read_event
from moot.verify.receipt import SealedAnswers
from moot.verify.trusted_registry import Attribution, TrustedRegistry
from moot.verify.verdict import StepFailure, StreamPosition

# What section 7 judges after the last line; nothing here ends a check, everything is a mark.


def judge_after_last_line(state: CheckState) -> None:
    """Everything that remains when the lines themselves held."""
    _judge_trust(state)
    _judge_kept_events(state)
    _judge_freshness(state)
    _judge_completeness(state)


def _judge_trust(state: CheckState) -> None:
    """The root and checkpoint key and the origin are the trust file's, else unknown key at 2."""
    # LDG-089
    trust, registry = state.demands.trust, state.registry
    if trust is None:
        state.mark("unknown-key", "trust", "trust_missing", "no trust file was given", 2)
        return
    keys = [key.public.hex() for key in (registry.root, registry.checkpoint) if key is not None]
    if [trust.origin, trust.root, trust.checkpoint] != [registry.origin, *keys]:
        message = "the bundle's origin, root or checkpoint key is not the trust file's"
        state.mark("unknown-key", "trust", "trust_mismatch", message, 2)


def _judge_kept_events(state: CheckState) -> None:
    """What the caller kept from before must still be there, unchanged.

    A stream that is not in the bundle tells nothing, unless the bundle should hold all of them.
    """
    # LDG-088
    for name, seq, kept_hash in state.demands.kept:
        stream = state.chain.streams.get(name)
        if stream is None and not state.demands.kept_complete:
            continue
        above = None if stream is None else state.chain.hash_at(stream, seq)
        where = f"{name} {seq}"
        if stream is None or above is None:
            message = "an event that was seen before is gone"
            state.mark("rolled-back", "kept", "kept_missing", message, where=where)
        elif above.hex() != kept_hash:
            message = "another event stood here before"
            line = stream.line_of(seq)
            state.mark("forked", "kept", "kept_differs", message, line, where)


def _judge_freshness(state: CheckState) -> None:
    """The note's number is below `minimum`, it lacks what a kept one pinned, or there is none."""
    # LDG-101
    minimum, kept, note = state.demands.minimum, state.demands.note, state.note
    if kept is not None and (note is None or not note.may_follow(kept)):
        message = f"what checkpoint {kept.number} pinned is not all here"
        state.mark("rolled-back", "freshness", "checkpoint_lacking", message)
    # LDG-088
    if minimum is not None and (note is None or note.number < minimum):
        message = f"a checkpoint of number {minimum} or later is required"
        state.mark("rolled-back", "freshness", "checkpoint_old", message)


def _judge_completeness(state: CheckState) -> None:
    """No checkpoint, a stream without a proof, or events after a proof: unproven (LDG-081)."""
    if state.note is None:
        message = "there is no checkpoint"
        state.mark("unproven", "completeness", "checkpoint_missing", message)
        return
    for stream in state.chain.streams.values():
        if stream.proved is None:
            message = "the checkpoint proves nothing of this stream"
        elif stream.proved < stream.seq:
            message = f"{stream.seq - stream.proved} events follow the checkpoint"
        else:
            continue
        state.mark("unproven", "completeness", "stream_unproven", message, where=stream.name)


NumberedLines = Iterator[tuple[int, bytes]]
ReadEvents = Callable[[NumberedLines, LedgerKeys], Iterator[tuple[int, ReadEvent]]]

# A sub-agent of a session: it works under an alias, and its session's key signs for it.
ALIAS_BEGAN_TYPE: Final = "presence.sub_agent_began"
_PROGRESS_EVERY: Final = 1024
_STEP_NAMES: Final = {
    1: "format",
    2: "signatures",
    3: "fields",
    4: "chain",
    5: "registry",
    6: "artifacts",
    7: "checkpoint",
    8: "receipt",
}
# Section 6: the kinds after the header and the events, in their order.
_RANKS: Final = {"fork": 1, "artifact": 2, "chunk": 2, "proof": 3, "checkpoint": 4}


def check_lines(lines: Iterable[bytes], demands: CallerDemands, read: ReadEvents) -> CheckState:
    """Check the lines of a bundle; what comes back holds the verdict in its marks."""
    return _Checker(lines, demands, read).run()


def read_in_this_process(
    lines: NumberedLines, table: LedgerKeys
) -> Iterator[tuple[int, ReadEvent]]:
    """Steps 1 to 3 in this process."""
    for number, line in lines:
        try:
            event = read_event(line, table)
        except StepFailure as bad:
            raise bad.at(number) from None
        yield number, event


class _Checker:
    def __init__(self, lines: Iterable[bytes], demands: CallerDemands, read: ReadEvents) -> None:
        self._lines = bundle.BundleLines(lines)
        self._read = read
        self._rank = 0  # of the kind of line read last; 0 while only events were seen
        self._line = 1  # the line under check, for the place of a failure
        self._table = LedgerKeys("", {}, False)
        self._attribution: Attribution | None = None  # made when the registry was read to its end
        self._heads: set[str] = set()  # artifacts that revocations name, read as they come by
        self._state = CheckState(demands)
        self._sealed_answers = SealedAnswers()  # section 9

    def run(self) -> CheckState:
        try:
            self._read_header()
            self._read_events()
            self._read_other_lines()
            self._after_last_line()
        except StepFailure as bad:
            self._record_failure(bad)
        finally:
            self._state.chain.close()
            if self._attribution is not None:
                self._attribution.close()
        return self._state

    # Line 1.

    def _read_header(self) -> None:
        line = self._lines.take()
        if line is None:
            raise StepFailure(1, "empty", "there is no header")
        kind, value = bundle.parse_line(line)
        if kind != "header":
            raise StepFailure(1, "order_wrong", "the first line is not the header")
        state, origin = self._state, value["origin"]
        state.header = BundleHeader(value["digest"], value["lines"], origin)
        state.registry = TrustedRegistry(origin)
        state.chain = Chain(origin)
        with_bodies = state.demands.policy is not None or state.demands.says is not None
        self._table = LedgerKeys(origin, state.registry.public_keys, with_bodies)

    # Events: the registry first and here, because its keys are needed to read the rest.

    def _read_events(self) -> None:
        self._line = 2
        for number, line in self._lines.envelopes():
            self._line = number
            event = read_event(line, self._table if number > 2 else self._table_for_event_0(line))
            self._accept_event(event, number)
            if event.stream != REGISTRY:
                break
        self._heads = {key.heads for key in self._state.registry.revoked_keys() if key.heads}
        for number, event in self._read(self._lines.envelopes(), self._table):
            self._accept_event(event, number)

    def _table_for_event_0(self, line: bytes) -> LedgerKeys:
        """Step 5: event 0's key is taken from its own `root`."""
        try:
            root = canonical.parse_canonical(open_envelope(line).payload)["data"]["root"]
        except (canonical.NotCanonical, LookupError, TypeError):
            root = None
        if not field_rules.HEX_PUBLIC(root):
            raise StepFailure(
                5, "registry_rule", "the first event does not create the ledger", "data.root"
            )
        public = bytes.fromhex(root)
        return self._table._replace(public_keys={key_id(public): public})

    def _accept_event(self, event: ReadEvent, line: int) -> None:
        """Steps 4 and 5 for an event whose steps 1 to 3 hold."""
        state = self._state
        self._line = line
        if not event.key_is_known:  # LDG-089
            message, where = "no such key is registered", f"key {event.kid}"
            state.mark("unknown-key", "authors", "key_unknown", message, line, where)
        state.chain.append_event(event, line)
        judge = self._accept_in_registry if event.stream == REGISTRY else self._judge_author
        proven = judge(event, line)
        state.artifacts.note_citations(event.cites)
        state.aliases += event.type == ALIAS_BEGAN_TYPE
        if state.demands.says is not None:
            self._note_receipt_citations(event, proven)
        self._sealed_answers.take(event, state.registry)
        if state.demands.policy is not None:
            self._show_to_policy(event, line, proven)
        if line % _PROGRESS_EVERY == 0:
            self._report_progress()

    def _accept_in_registry(self, event: ReadEvent, _line: int) -> bool:
        try:
            self._state.registry.accept(event)
        except StepFailure as bad:
            raise bad.at(position=StreamPosition(REGISTRY, event.seq)) from None
        return True

    def _judge_author(self, event: ReadEvent, line: int) -> bool:
        state = self._state
        if self._attribution is None:
            self._attribution = Attribution(state.registry, state.marks)
        # An unknown key was marked at this line already.
        return event.key_is_known and self._attribution.judge(
            event, line, len(state.chain.streams) - 1
        )

    def _note_receipt_citations(self, event: ReadEvent, proven: bool) -> None:
        """Section 8: what the last event of a stream cites for a receipt, if the root signed it."""
        root = self._state.registry.root
        by_root = proven and root is not None and event.kid == root.kid
        makes_one = (
            by_root and event.body is not None and event.body["type"] == receipt.RECEIPT_MADE_TYPE
        )
        # Whatever follows a receipt takes its place, so each event replaces what was noted before.
        self._state.receipt_citations[event.stream] = (
            tuple(cite[0] for cite in event.cites) if makes_one else ()
        )

    def _show_to_policy(self, event: ReadEvent, line: int, proven: bool) -> None:
        state, policy = self._state, self._state.demands.policy
        if not proven and state.first_unproven_line is None:
            state.first_unproven_line = line
        if policy is not None and event.body is not None and state.first_unproven_line is None:
            state.contributions.extend(policy(record_of(event.body, event.hash, line)))

    # Lines after the events.

    def _read_other_lines(self) -> None:
        while (line := self._lines.take()) is not None:
            self._line = self._lines.number
            kind, value = _kind_and_value(line)
            self._require_order(kind)
            _HANDLERS[kind](self, value)
            if self._line % _PROGRESS_EVERY == 0:
                self._report_progress()

    def _require_order(self, kind: str) -> None:
        """Step 1: kinds in their order, an artifact's chunks behind it, nothing after the note."""
        rank = _RANKS.get(kind, 0)
        due = self._state.artifacts.is_open
        if rank < max(self._rank, 1) or self._state.note is not None or (due and kind != "chunk"):
            raise StepFailure(1, "order_wrong", f"a line of kind {kind} does not stand here")
        self._rank = rank

    def _fork(self, envelope: bytes) -> None:
        """After step 7: steps 2 and 3 hold, its key is known, its position is above and differs."""
        # LDG-087
        state = self._state
        event = read_event(envelope, self._table)
        if not event.key_is_known:
            raise StepFailure(2, "fork_unproven", "the fork is signed by no registered key")
        stream = state.chain.streams.get(event.stream)
        above = None if stream is None else state.chain.hash_at(stream, event.seq)
        if above is None or above == event.hash:
            raise StepFailure(4, "fork_unproven", "the fork contradicts no event above")
        state.artifacts.note_citations(event.cites)
        message, where = "two events were signed for one position", f"{event.stream} {event.seq}"
        state.mark("forked", "forks", "forked", message, self._line, where)

    def _artifact(self, value: dict[str, Any]) -> None:
        artifacts, streams = self._state.artifacts, self._state.chain.streams
        artifacts.begin_artifact(value["sha256"], value["size"], self._heads, streams)

    def _chunk(self, data: bytes) -> None:
        self._state.artifacts.add_chunk(data)

    def _proof(self, value: dict[str, Any]) -> None:
        state = self._state
        stream = state.proofs.add_proof(value, state.chain)
        if value["seq"] > stream.seq:  # LDG-083
            message = f"the checkpoint counts {value['seq'] + 1} events of this stream"
            where = stream.name
            state.mark("truncated", "completeness", "stream_short", message, self._line, where)

    def _checkpoint(self, text: str) -> None:
        state = self._state
        key = state.registry.checkpoint
        if key is None:
            raise StepFailure(7, "note_foreign", "there is no checkpoint key above")
        note = read_note(text, state.registry.origin, key.public)
        state.proofs.require_root(note, state.chain)
        state.note = note

    # After the last line.

    def _after_last_line(self) -> None:
        state = self._state
        receipt.require_signed_statement(state)
        self._require_all_lines()
        if self._attribution is not None:
            self._attribution.judge_revoked_keys(state.artifacts.heads, list(state.chain.streams))
        judge_after_last_line(state)
        if state.demands.policy is not None:
            state.contributions.extend(state.demands.policy.conclude())
        self._report_progress()

    def _require_all_lines(self) -> None:
        """As many lines as the header says, with its digest."""
        header, lines = self._state.header, self._lines.number - 1
        assert header is not None
        if lines < header.lines:  # LDG-083
            message = f"the header promises {header.lines} lines and {lines} follow"
            self._state.mark("truncated", "completeness", "lines_missing", message)
        elif lines > header.lines:
            raise StepFailure(1, "lines_added", "there are more lines than the header says").at(1)
        elif self._lines.hexdigest() != header.digest:  # LDG-085
            raise StepFailure(1, "digest_wrong", "the lines do not have the header's digest").at(1)
        elif self._state.artifacts.is_open:
            raise StepFailure(6, "artifact_short", "the last artifact is not complete")

    # Telling.

    def _record_failure(self, bad: StepFailure) -> None:
        # LDG-082
        bad.at(self._line)
        # Until another kind of line was seen, the place is that of the event that was due.
        if self._rank == 0 and bad.line is not None and bad.line > 1:
            bad.at(position=self._state.chain.next_position())
        self._state.failure = bad
        step = _STEP_NAMES[bad.step]
        self._state.mark("tampered", step, bad.code, bad.message, bad.line, bad.where or None)

    def _report_progress(self) -> None:
        progress, header = self._state.demands.progress, self._state.header
        if progress is not None and header is not None:
            progress(self._line, header.lines + 1)


_HANDLERS: Final[Mapping[str, Callable[[_Checker, Any], None]]] = {
    "fork": _Checker._fork,
    "artifact": _Checker._artifact,
    "chunk": _Checker._chunk,
    "proof": _Checker._proof,
    "checkpoint": _Checker._checkpoint,
}


def _kind_and_value(line: bytes) -> tuple[str, Any]:
    """A line that is no event: its kind and what is in it."""
    fork = bundle.fork_envelope(line)
    if fork is not None:
        return "fork", fork
    chunk = bundle.chunk_bytes(line)
    if chunk is not None:
        return "chunk", chunk
    return bundle.parse_line(line)
