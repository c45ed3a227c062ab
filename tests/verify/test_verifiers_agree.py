"""Two checkers, written apart from one document, name the same verdict and the same line.

`judge` compares them on every bundle of the other tests; here they are compared on ledgers that
nobody thought of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.verify import BundleVerdict
from tests.sampling import examples
from tests.verify.bundle_builder import Entry, Json, Ledger, Signer, canon, seal
from tests.verify.damaged_bundles import fork_of
from tests.verify.verdicts import judge_pinned

NAMES = ["ada", "bob", "operator", "auditor", "system"]
STREAMS = ["errand/a", "errand/b", "talk"]


class Chaos:
    """A ledger to which anything may happen; draws say what."""

    def __init__(self, draw: st.DataObject) -> None:
        self._draw = draw
        self.ledger = Ledger("chaos")
        self.keys = [self.ledger.root, self.ledger.note_key, Signer("stranger")]
        self.kept: list[bytes] = []

    def pick(self, options: list[Any]) -> Any:
        return self._draw.draw(st.sampled_from(options))

    def key(self) -> Signer:
        """Most keys are registered ones; a few are not meant to sign."""
        found: Signer = self.pick([*self.ledger.current.values(), *self.keys])
        return found

    def add(self) -> None:
        name = self.pick(NAMES)
        kind = "human" if name in ("operator", "auditor") else "agent"
        key = Signer(f"key {len(self.keys)}")
        self.ledger.add(name, kind, self.pick([None, None, *self.keys]), key)
        self.keys.append(key)

    def rotate(self) -> None:
        name = self.pick([*self.ledger.current, "ada"])
        if name in self.ledger.current:
            key = Signer(f"key {len(self.keys)}")
            by = self.pick([self.ledger.current[name], self.key()])
            self.ledger.rotate(name, by, self.pick([0, 1]), key)
            self.keys.append(key)

    def revoke(self) -> None:
        less = self.pick([0, 0, 1])
        heads = {name: [max(0, at[0] - less), at[1]] for name, at in self.ledger.heads().items()}
        self.ledger.revoke(self.key(), self.pick([None, None, *self.keys]), heads)

    def retire(self) -> None:
        self.ledger.retire(self.pick(NAMES))

    def accept(self) -> None:
        self.ledger.accept_history(self.pick([None, *self.keys]))

    def write(self) -> None:
        stream, newest = self.pick(STREAMS), len(self.ledger.streams["registry"]) - 1
        changes: Json = self.pick([{}, {}, {"reg": max(0, newest - 1)}, {"reg": newest + 1}])
        self.ledger.event(stream, self.key(), {"text": "x"}, **changes)

    def keep(self) -> None:
        self.kept.append(self.ledger.note(self.pick([0, 1, 1, 2])).encode())

    def fork(self) -> list[Entry]:
        stream = self.pick(list(self.ledger.streams))
        seq = self.pick(list(range(len(self.ledger.streams[stream]))))
        fork = fork_of(self.ledger, stream, seq)
        forks: list[Entry] = self.pick([[], [], [], [fork], [seal(canon(fork.body), self.key())]])
        return forks

    def judge(self) -> BundleVerdict:
        ledger = self.ledger
        note, proofs = ledger.note(), [ledger.proof(name) for name in ledger.streams]
        for _ in range(self.pick([0, 0, 1])):
            self.write()
        for stream in self.pick([[], [], list(ledger.streams)[-1:]]):
            ledger.streams[stream] = ledger.streams[stream][:-1] or ledger.streams[stream]
        bundle = ledger.bundle(
            self.pick([None, None, ["registry", "errand/a"]]),
            forks=self.fork(),
            artifacts=self.pick([True, True, False]),
            proofs=self.pick([True, proofs]),
            note=self.pick([True, note, False]),
        )
        pins = ledger.trust(self.pick([None, None, 1, 2]))
        return judge_pinned(bundle.data(), pins, self.pick([None, *self.kept]))


_ACTS: list[Callable[[Chaos], None]] = [
    Chaos.add,
    Chaos.add,
    Chaos.rotate,
    Chaos.revoke,
    Chaos.retire,
    Chaos.accept,
    Chaos.keep,
    Chaos.write,
    Chaos.write,
    Chaos.write,
]


@pytest.mark.requirement("LDG-095")
@settings(max_examples=examples(200))
@given(st.data())
def test_ledgers_to_which_anything_happened_are_judged_alike(draw: st.DataObject) -> None:
    chaos = Chaos(draw)
    for act in draw.draw(st.lists(st.sampled_from(_ACTS), max_size=10)):
        act(chaos)
    chaos.judge()
