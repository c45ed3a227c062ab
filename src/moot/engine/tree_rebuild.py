"""The head tree made anew from what the newest checkpoint pins, for a file whose nodes are damaged.

The list of pinned events lies in the same file and is not signed. So the tree made of it counts
only if its root is the one that the checkpoint signed. Nothing here writes.
"""

from __future__ import annotations

import msgspec

from moot.core import headtree
from moot.core.errors import Tampered
from moot.core.ledger import Head, View
from moot.core.note import Checkpoint
from moot.engine.checkpoints import newest_checkpoint
from moot.engine.keys import LedgerTrust
from moot.engine.rollback import RESTORE_OR_ACCEPT_HINT, holds_event

SHOWN = 5
_RESTORE = "keep the file as it is; restore .moot/ledger.db from a backup"
Nodes = dict[headtree.Position, bytes]


class RebuiltTree(msgspec.Struct, frozen=True):
    """The tree as it should be stored, and how what is stored differs from it."""

    checkpoint: int
    nodes: Nodes
    wrong: int
    missing: int
    foreign: int

    @property
    def description(self) -> str:
        """For people: how many nodes differ, and in what way."""
        counts = f"{self.wrong} nodes are wrong, {self.missing} missing, {self.foreign} too many"
        return f"of the tree of heads {counts}"


def rebuild_tree(view: View, trust: LedgerTrust) -> RebuiltTree | None:
    """The right tree if another one is stored, else None; Tampered if the pinned events do not give
    the root that the newest checkpoint signed (LDG-100)."""
    last = newest_checkpoint(view, trust)
    if last is None:
        return None
    expected, stored = _expected_nodes(view, last), dict(view.all_nodes())
    if stored == expected:
        return None
    both = expected.keys() & stored.keys()
    wrong = sum(stored[place] != expected[place] for place in both)
    return RebuiltTree(
        last.number, expected, wrong, len(expected) - len(both), len(stored) - len(both)
    )


def _expected_nodes(view: View, last: Checkpoint) -> Nodes:
    heads = list(view.pinned_heads())
    _require_counted(last, heads)
    for name, head in heads:
        if not holds_event(view, name, head.seq, head.hash):
            why = f"event {head.seq} of {name} is gone, or another"
            raise _damaged(last, why, name, RESTORE_OR_ACCEPT_HINT)
    leaves = [(head.number, headtree.leaf_hash(name, head.seq, head.hash)) for name, head in heads]
    nodes = headtree.changed_nodes({}, last.streams, leaves)
    if headtree.root_hash(nodes, last.streams) != last.root:
        raise _damaged(
            last, f"these heads do not give its root{_describe_moved(view, nodes, heads)}"
        )
    return nodes


def _require_counted(last: Checkpoint, heads: list[tuple[str, Head]]) -> None:
    if len(heads) != last.streams:
        raise _damaged(last, f"it counts {last.streams} histories, and {len(heads)} are pinned")
    for number, (name, head) in enumerate(heads):
        if head.number != number:
            raise _damaged(last, f"{name} stands in the place of another", name)


def _describe_moved(view: View, nodes: Nodes, heads: list[tuple[str, Head]]) -> str:
    """The streams whose stored leaf is another. If the stored nodes are right, these were
    changed."""
    stored = dict(view.all_nodes())
    names = [name for name, h in heads if stored.get((0, h.number)) != nodes[0, h.number]]
    if not names:
        return ""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f", nor does the stored tree have them: {', '.join(names[:SHOWN])}{more}"


def _damaged(last: Checkpoint, why: str, stream: str = "", hint: str = _RESTORE) -> Tampered:
    return Tampered(
        f"what checkpoint {last.number} pins is not as it was signed: {why}",
        code="tree_damaged",
        stream=stream,
        hint=hint,
    )
