"""What section 7 judges after the last line; nothing here ends a check, everything is a mark."""

from __future__ import annotations

from moot.verify.check_state import CheckState


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
