"""Policies: a protocol sees every proven record in order, and adds what it finds."""

from __future__ import annotations

from collections.abc import Iterable

from moot.verify import (
    AllPolicies,
    Contribution,
    ProvenRecord,
    VerdictCheck,
    VerdictFinding,
    Workers,
)
from tests.verify.bundle_builder import Ledger, Signer, small, story
from tests.verify.verdicts import judge


class Watching:
    """Remembers what it was shown, and contributes what it was told to."""

    def __init__(self, *concluded: Contribution) -> None:
        self.seen: list[ProvenRecord] = []
        self._concluded = concluded

    def __call__(self, record: ProvenRecord, /) -> Iterable[Contribution]:
        self.seen.append(record)
        return ()

    def conclude(self) -> Iterable[Contribution]:
        return self._concluded


def test_a_policy_sees_every_record_in_order_as_it_was_signed() -> None:
    ledger, policy = story(), Watching()
    assert judge(ledger.bundle(), ledger, policy=policy)
    entries = [entry for entries in ledger.streams.values() for entry in entries]
    assert [record.hash for record in policy.seen] == [entry.hash.hex() for entry in entries]
    assert [record.line for record in policy.seen] == list(range(2, len(entries) + 2))
    for record, entry in zip(policy.seen, entries, strict=True):
        for name in ("stream", "seq", "type", "at", "actor", "data", "artifacts", "cause"):
            assert getattr(record, name) == entry.body[name]


def test_a_policy_sees_the_same_through_workers() -> None:
    ledger, here, there = story(), Watching(), Watching()
    with Workers(2, batch_lines=2) as workers:
        workers.start()
        assert judge(ledger.bundle(), ledger, policy=there, workers=workers)
    assert judge(ledger.bundle(), ledger, policy=here)
    assert here.seen == there.seen


def test_what_a_policy_finds_is_told_and_a_failed_check_makes_the_result_falsy() -> None:
    ledger = small()
    good, bad = (
        VerdictCheck("mail", True, "3 threads"),
        VerdictCheck("debate", False, "spoke out of turn"),
    )
    finding = VerdictFinding("R10", "out_of_turn", "error", "spoke out of turn", 5)
    verdict = judge(
        ledger.bundle(), ledger, policy=AllPolicies(Watching(good), Watching(bad, finding))
    )
    assert verdict.verdict == "valid"
    assert not verdict
    assert [check for check in verdict.checks if check.name in ("mail", "debate")] == [good, bad]
    assert VerdictCheck("policy", True, "5 records shown to the policies") in verdict.checks
    assert finding in verdict.findings
    assert judge(ledger.bundle(), ledger, policy=Watching(good))


def test_without_a_policy_the_list_says_so() -> None:
    ledger = small()
    verdict = judge(ledger.bundle(), ledger)
    assert VerdictCheck("policy", None, "not checked") in verdict.checks


def test_showing_stops_at_damage() -> None:
    ledger, policy = small(), Watching(VerdictCheck("mail", True, "concluded"))
    bundle = ledger.bundle()
    verdict = judge(bundle.duplicate(4), ledger, policy=policy)
    assert [record.line for record in policy.seen] == [2, 3, 4]
    assert {check.name: check.ok for check in verdict.checks}["policy"] is None
    assert "mail" not in [check.name for check in verdict.checks]


def test_showing_stops_at_the_first_record_that_nobody_answers_for() -> None:
    ledger = Ledger("unknown")
    ada, policy = ledger.add("ada"), Watching()
    for signer in (ada, Signer("stranger"), ada):
        ledger.event("errand/tea", signer)
    verdict = judge(ledger.bundle(), ledger, policy=policy)
    assert verdict.verdict == "unknown-key"
    assert [record.stream for record in policy.seen] == ["registry", "registry", "errand/tea"]
    told = {check.name: check.detail for check in verdict.checks}["policy"]
    assert told == "checked up to line 5, which is not proven"


def test_a_record_answers_as_it_is_shown() -> None:
    class Strict(Watching):
        def __call__(self, record: ProvenRecord, /) -> Iterable[Contribution]:
            if record.data.get("kettle") == "off":
                yield VerdictFinding("R1", "cold", "warning", "the kettle is off", record.line)

    ledger = small()
    verdict = judge(ledger.bundle(), ledger, policy=Strict())
    assert ("cold", 6) in [(finding.code, finding.line) for finding in verdict.findings]
