"""A checkpoint that somebody kept: a bundle that lacks what it pinned was rolled back.

`judge` asks both checkers, with the same note; they must say the same, in the same words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from moot.verify import BundleVerdict
from tests.sampling import QUARTERS
from tests.verify.bundle_builder import Bundle, Ledger, Signer, b64, small
from tests.verify.damaged_bundles import damaged, light_story
from tests.verify.test_checkpoint import sealed_too_long
from tests.verify.verdicts import NoNote, judge, judge_pinned, lacking, named


class Growing:
    """A ledger with a bundle and a note of each of its days, numbered from 1."""

    def __init__(self, days: int = 3) -> None:
        self.ledger = Ledger("growing")
        ada = self.ledger.add("ada")
        self.notes: dict[int, bytes] = {}
        self.bundles: dict[int, Bundle] = {}
        for day in range(1, days + 1):
            self.ledger.event("errand/tea", ada, {"day": day})
            self.ledger.event(f"errand/day-{day}", ada, {})
            note = self.ledger.note(day)
            self.notes[day] = note.encode()
            self.bundles[day] = self.ledger.bundle(note=note)

    def judge(self, bundle: int, note: int) -> BundleVerdict:
        return judge(self.bundles[bundle], self.ledger, note=self.notes[note])

    def lacks(self, **changes: Any) -> tuple[str, list[str]]:
        """The verdict on day 2 for someone whose note of that day says something else."""
        other = self.ledger_of(2).note(**{"number": 2, **changes}).encode()
        verdict = judge(self.bundles[2], self.ledger, note=other)
        return verdict.verdict, lacking(verdict)

    def ledger_of(self, day: int) -> Ledger:
        return Growing(day).ledger


GROWING = Growing()
LACKS_2 = ("rolled-back", ["what checkpoint 2 pinned is not all here"])


@pytest.mark.parametrize("day", [1, 2, 3])
def test_a_bundle_with_the_very_note_that_was_kept_is_valid(day: int) -> None:
    assert GROWING.judge(day, day)


@pytest.mark.parametrize(("bundle", "note"), [(2, 1), (3, 1), (3, 2)])
def test_a_bundle_that_has_grown_since_the_note_is_valid(bundle: int, note: int) -> None:
    verdict = GROWING.judge(bundle, note)
    assert verdict
    assert "minimum_unset" not in {found.code for found in verdict.findings}
    (freshness,) = (check for check in verdict.checks if check.name == "freshness")
    assert (freshness.ok, freshness.detail) == (True, f"not behind checkpoint {note}, as kept")


@pytest.mark.requirement("LDG-101")
@pytest.mark.parametrize(("bundle", "note"), [(1, 2), (1, 3), (2, 3)])
def test_a_bundle_from_before_the_note_is_rolled_back(bundle: int, note: int) -> None:
    verdict = GROWING.judge(bundle, note)
    assert named(verdict) == ("rolled-back", None)
    assert lacking(verdict) == [f"what checkpoint {note} pinned is not all here"]


def test_a_bundle_without_a_checkpoint_is_rolled_back() -> None:
    bundle = GROWING.ledger.bundle(note=False, proofs=False)
    assert judge(bundle, GROWING.ledger).verdict == "unproven"
    assert judge(bundle, GROWING.ledger, note=GROWING.notes[1]).verdict == "rolled-back"


@pytest.mark.requirement("LDG-101")
def test_another_root_under_the_same_number_is_rolled_back() -> None:
    """Both are signed by the checkpoint key: one of the two histories was put away."""
    assert GROWING.lacks(root=bytes(32)) == LACKS_2


@pytest.mark.parametrize(
    "changes",
    [
        {"number": 1, "root": bytes(32), "events": 99},
        {"number": 1, "root": bytes(32), "streams": 99},
        {"number": 1, "root": bytes(32)},
        {"number": 3, "root": bytes(32), "events": 1, "streams": 1},
    ],
    ids=["fewer events", "fewer streams", "as many events under another root", "an older number"],
)
def test_a_bundle_that_cannot_have_grown_from_the_note_is_rolled_back(
    changes: dict[str, Any],
) -> None:
    lacks = f"what checkpoint {changes['number']} pinned is not all here"
    assert GROWING.lacks(**changes) == ("rolled-back", [lacks])


def test_a_ledger_that_grew_in_the_streams_it_had_holds_what_was_kept() -> None:
    ledger = small()
    kept = ledger.note(1).encode()
    ledger.event("errand/tea", ledger.current["ada"])
    assert judge(ledger.bundle(note=ledger.note(2)), ledger, note=kept).verdict == "valid"


def test_the_same_root_holds_the_same_whatever_its_number() -> None:
    assert GROWING.lacks(number=7) == ("valid", [])


def test_a_newer_checkpoint_is_believed_by_its_counts_alone() -> None:
    """The limit of a note: its root says nothing of a larger tree. A kept bundle would show it."""
    rewritten = Growing(0)
    ada = rewritten.ledger.current["ada"]
    for number in range(9):
        rewritten.ledger.event("errand/other", ada, {"day": number})
        rewritten.ledger.event(f"errand/other-{number}", ada, {})
    bundle = rewritten.ledger.bundle(note=rewritten.ledger.note(4))
    assert judge(bundle, GROWING.ledger, note=GROWING.notes[3])


def test_a_bundle_of_some_streams_is_compared_by_its_note() -> None:
    ledger = GROWING.ledger
    part = ledger.bundle(["registry", "errand/tea"], note=GROWING.notes[3].decode())
    assert judge(part, ledger, note=GROWING.notes[2])
    older = GROWING.ledger_of(2)
    part = older.bundle(["registry", "errand/tea"], note=older.note(2))
    assert judge(part, ledger, note=GROWING.notes[3]).verdict == "rolled-back"


def test_a_minimum_and_a_note_are_both_demanded() -> None:
    bundle, note = GROWING.bundles[2], GROWING.notes[2]
    assert judge(bundle, GROWING.ledger, minimum=2, note=note)
    verdict = judge(bundle, GROWING.ledger, minimum=3, note=note)
    assert (verdict.verdict, lacking(verdict)) == ("rolled-back", [])


def test_what_is_graver_than_a_rollback_stays_the_verdict() -> None:
    note, bundle = GROWING.notes[3], GROWING.bundles[1]
    assert named(judge(bundle.drop(2), GROWING.ledger, note=note)) == ("tampered", 2)
    stranger = Ledger("another")
    stranger.add("ada")
    verdict = judge(stranger.bundle(), GROWING.ledger, note=note)
    assert named(verdict) == ("unknown-key", 2)


# A note that is none ------------------------------------------------------------------------------

OTHER = "moot.ledger/" + "0" * 32
NONE: dict[str, Callable[[Ledger], bytes]] = {
    "nothing": lambda _: b"",
    "garbage": lambda _: b"\xff\x00garbage",
    "JSON": lambda ledger: str(ledger.trust()).encode(),
    "huge": lambda ledger: ledger.note().encode() * 100_000,
    "huge and nothing": lambda _: bytes(10_000_000),
    "CRLF": lambda ledger: ledger.note().replace("\n", "\r\n").encode(),
    "no newline at the end": lambda ledger: ledger.note().encode()[:-1],
    "more after it": lambda ledger: ledger.note().encode() + b"\n",
    "two of them": lambda ledger: ledger.note().encode() * 2,
    "another encoding": lambda ledger: ledger.note().encode("utf-16"),
    "another origin": lambda ledger: ledger.note(origin=OTHER).encode(),
    "another ledger's": lambda _: Ledger("another").note().encode(),
    "another signer's name": lambda ledger: ledger.note(signer=OTHER).encode(),
    "signed by another key": lambda ledger: ledger.note(key=Signer("a thief")).encode(),
    "signed by the root": lambda ledger: ledger.note(key=ledger.root).encode(),
    "a forged signature": lambda ledger: _changed(ledger.note(), -10).encode(),
    "a forged number": lambda ledger: ledger.note().replace("moot 1 ", "moot 9 ").encode(),
    "a forged root": lambda ledger: _changed(ledger.note(), 50).encode(),
    "a root that is not canonical": lambda ledger: ledger.note(
        root=b64(bytes(32))[:-2] + "B="
    ).encode(),
    "a seal with a byte too many": lambda ledger: sealed_too_long(ledger).encode(),
    "a number too long": lambda ledger: ledger.note(number="9" * 17).encode(),
}


def _changed(text: str, at: int) -> str:
    letters = list(text)
    letters[at] = "A" if letters[at] != "A" else "B"
    return "".join(letters)


@pytest.mark.requirement("LDG-101")
@pytest.mark.parametrize("make", NONE.values(), ids=NONE)
def test_a_note_that_is_none_of_the_trusted_ledger_gives_no_verdict(
    make: Callable[[Ledger], bytes],
) -> None:
    """Neither a false alarm nor a silence: what was asked cannot be answered."""
    ledger = small()
    with pytest.raises(NoNote):
        judge(ledger.bundle(), ledger, note=make(ledger))


# Agreement ----------------------------------------------------------------------------------------


@pytest.mark.requirement("LDG-095")
@pytest.mark.parametrize("shard", QUARTERS)
@pytest.mark.parametrize("label", ["small", "story"])
def test_every_damaged_bundle_is_judged_alike_with_a_note_that_was_kept(
    label: str, shard: int
) -> None:
    ledger = small() if label == "small" else light_story()
    notes = [ledger.note(0, events=1), ledger.note(), ledger.note(root=bytes(32)), ledger.note(2)]
    ledger.event("errand/tea", ledger.current["ada"])
    notes.append(ledger.note(2))
    bundles = [one for name, one in damaged().items() if name.startswith(label) and one.trust]
    bundles = bundles if label == "small" else bundles[::3]  # the long ones take long
    for number, (data, trust) in list(enumerate(bundles))[shard::4]:
        judge_pinned(data, trust, notes[number % len(notes)].encode())


# Heads that were kept from before: what was seen once must be seen again, unchanged.


def _heads(ledger: Ledger) -> list[tuple[str, int, str]]:
    return [(name, seq, found) for name, (seq, found) in ledger.heads().items()]


def test_a_ledger_that_only_grew_holds_what_was_kept() -> None:
    ledger = small()
    kept = _heads(ledger)
    ledger.event("errand/tea", ledger.current["ada"])
    ledger.event("errand/milk", ledger.current["ada"])
    verdict = judge(ledger.bundle(), ledger, kept=kept, kept_complete=True)
    assert verdict
    assert {check.name: check.ok for check in verdict.checks}["kept"] is True


def test_a_restored_older_ledger_is_rolled_back() -> None:
    ledger = small()
    ledger.event("errand/tea", ledger.current["ada"])
    kept = _heads(ledger)
    ledger.streams["errand/tea"].pop()
    verdict = judge(ledger.bundle(), ledger, kept=kept)
    assert named(verdict) == ("rolled-back", None)
    assert [f.where for f in verdict.findings if f.code == "kept_missing"] == ["errand/tea 2"]


def test_a_rewritten_event_is_a_fork_at_its_line() -> None:
    ledger = small()
    kept = _heads(ledger)
    ledger.rechain("errand/tea", 1, lambda body: {**body, "key": "another"})
    ledger.event("errand/tea", ledger.current["ada"])
    bundle = ledger.bundle()
    verdict = judge(bundle, ledger, kept=kept)
    assert named(verdict) == ("forked", bundle.event("errand/tea", 1))


def test_an_absent_stream_counts_only_if_all_streams_are_there() -> None:
    ledger = small()
    ledger.event("errand/milk", ledger.current["ada"])
    kept = _heads(ledger)
    bundle = ledger.bundle(["registry", "errand/tea"])
    assert judge(bundle, ledger, kept=kept)
    assert judge(bundle, ledger, kept=kept, kept_complete=True).verdict == "rolled-back"


def test_a_key_that_is_unknown_is_graver_than_a_history_that_is_gone() -> None:
    ledger = small()
    kept = [("errand/tea", 9, "0" * 64)]
    stranger = Ledger("stranger")
    assert judge(ledger.bundle(), stranger, kept=kept).verdict == "unknown-key"
    assert judge(ledger.bundle(), ledger, kept=iter(kept)).verdict == "rolled-back"
