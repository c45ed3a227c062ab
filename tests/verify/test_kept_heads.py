"""Heads that were kept from before: what was seen once must be seen again, unchanged."""

from __future__ import annotations

from tests.verify.forge import Ledger, small
from tests.verify.judge import judge, named


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
