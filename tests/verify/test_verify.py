"""Each verdict, what stands beside it, and the ways to ask for one."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from moot.verify import load_trust, verify_bundle, verify_records
from moot.verify.bundle import lines_of
from tests.verify.bundle_builder import AT, BIG, GONE, Ledger, Signer, small, story
from tests.verify.damaged_bundles import fork_of
from tests.verify.verdicts import LOSS, judge, losses, named, standalone_finds, trust_of

VECTORS = Path(__file__).parents[2] / "docs" / "vectors"


def test_the_published_bundle_is_valid() -> None:
    verdict = verify_bundle(VECTORS / "bundle.jsonl", load_trust(VECTORS / "trust.json"))
    assert verdict.verdict == "valid"
    assert verdict


@pytest.mark.requirement("LDG-090")
def test_a_ledger_in_which_everything_happened_is_valid() -> None:
    ledger = story()
    verdict = judge(ledger.bundle(), ledger)
    assert verdict
    assert named(verdict) == ("valid", None)
    assert verdict.last_trusted is None
    assert verdict.events == sum(map(len, ledger.streams.values()))
    assert verdict.streams == len(ledger.streams)
    assert verdict.checkpoint == 1
    assert verdict.integrity == "intact"
    assert verdict.authenticity.startswith("every event is signed")
    assert verdict.completeness == "complete up to checkpoint 1 (4 of 4 streams)"
    assert verdict.freshness == "checkpoint 1 of 2026-01-02T03:04:05.678Z"
    assert verdict.clock == "system"
    assert verdict.origin == ledger.origin


@pytest.mark.requirement("LDG-081")
def test_without_a_checkpoint_nothing_is_more_than_unproven() -> None:
    ledger = story()
    verdict = judge(ledger.bundle(proofs=False, note=False), ledger)
    assert named(verdict) == ("unproven", None)
    assert not verdict
    assert verdict.completeness == "unproven: there is no checkpoint"
    assert verdict.freshness == "none"


def test_a_stream_without_a_proof_is_unproven() -> None:
    ledger = story()
    proofs = [ledger.proof(name) for name in ledger.streams if name != "talk"]
    verdict = judge(ledger.bundle(proofs=proofs), ledger)
    assert named(verdict) == ("unproven", None)
    assert "talk" in verdict.completeness


def test_events_after_the_checkpoint_are_unproven() -> None:
    ledger = small()
    proofs, note = [ledger.proof(name) for name in ledger.streams], ledger.note()
    ledger.event("errand/tea", ledger.current["ada"])
    verdict = judge(ledger.bundle(proofs=proofs, note=note), ledger)
    assert named(verdict) == ("unproven", None)
    assert verdict.completeness == "unproven: 1 events follow the checkpoint (errand/tea)"


@pytest.mark.requirement("LDG-083")
def test_a_cut_stream_is_truncated_at_its_proof() -> None:
    ledger = small()
    bundle = ledger.bundle()
    short = bundle.drop(bundle.event("errand/tea", 1))
    assert named(judge(short, ledger)) == ("truncated", short.find("proof", 1))


def test_fewer_lines_than_promised_are_truncated() -> None:
    ledger = small()
    bundle = ledger.bundle()
    verdict = judge(bundle.cut(bundle.find("artifact")).data(lines=len(bundle.lines)), ledger)
    assert named(verdict) == ("truncated", None)
    assert "promises" in verdict.completeness


@pytest.mark.requirement("LDG-088")
@pytest.mark.parametrize("note", [True, False])
def test_a_checkpoint_below_the_minimum_or_none_is_rolled_back(note: bool) -> None:
    ledger = small()
    assert named(judge(ledger.bundle(note=note), ledger, minimum=2)) == ("rolled-back", None)


def test_who_demands_no_newer_checkpoint_is_told_what_that_leaves_open() -> None:
    ledger = small()
    for bundle, told in ((ledger.bundle(), ["info"]), (ledger.bundle(note=False), [])):
        findings = judge(bundle, ledger).findings
        assert [one.severity for one in findings if one.code == "minimum_unset"] == told


def test_a_checkpoint_at_the_minimum_is_fresh() -> None:
    ledger = small()
    verdict = judge(ledger.bundle(note=ledger.note(7)), ledger, minimum=7)
    assert verdict
    assert "minimum_unset" not in [finding.code for finding in verdict.findings]


@pytest.mark.requirement("LDG-087")
def test_two_events_signed_for_one_position_are_a_fork() -> None:
    ledger = story()
    bundle = ledger.bundle(forks=[fork_of(ledger, "errand/tea", 1)])
    verdict = judge(bundle, ledger)
    assert named(verdict) == ("forked", bundle.find("fork"))
    assert [finding.where for finding in verdict.findings if finding.code == "forked"] == [
        "errand/tea 1"
    ]


@pytest.mark.requirement("LDG-089")
def test_without_a_trust_file_no_key_is_known() -> None:
    ledger = small()
    lines = lines_of(io.BytesIO(ledger.bundle().data()))
    verdict = verify_records(lines, None)
    assert named(verdict) == ("unknown-key", 2)
    assert verdict.authenticity == "not established: no trust file was given"


@pytest.mark.requirement("LDG-089")
@pytest.mark.parametrize("pin", ["root", "checkpoint", "origin"])
def test_a_ledger_that_is_not_the_trusted_one_is_unknown(pin: str) -> None:
    ledger, other = small(), Ledger("other")
    pins = ledger.trust(**{pin: other.trust()[pin]})
    lines = lines_of(io.BytesIO(ledger.bundle().data()))
    assert named(verify_records(lines, trust_of(pins))) == ("unknown-key", 2)


def test_a_whole_forged_ledger_of_the_same_names_is_unknown() -> None:
    honest, forged = Ledger("honest"), Ledger("forged")
    forged.event("errand/tea", forged.add("ada"))
    assert named(judge(forged.bundle(), honest)) == ("unknown-key", 2)


def test_the_first_unknown_key_is_named_with_the_last_trusted_event() -> None:
    ledger = small()
    ledger.event("errand/tea", Signer("stranger"))
    bundle = ledger.bundle()
    verdict = judge(bundle, ledger)
    assert named(verdict) == ("unknown-key", bundle.event("errand/tea", 2))
    assert verdict.last_trusted is not None
    assert (verdict.last_trusted.stream, verdict.last_trusted.seq) == ("errand/tea", 1)


def test_a_flipped_signature_is_tampered_and_nothing_after_it_is_read() -> None:
    ledger = story()
    bundle = ledger.bundle()
    line = bundle.event("talk", 1)
    entry = ledger.streams["talk"][1]
    forged = {**entry.envelope, "signatures": [{"keyid": entry.keyid, "sig": "A" * 86 + "=="}]}
    verdict = judge(bundle.replace(line, forged), ledger)
    assert named(verdict) == ("tampered", line)
    assert verdict.first_bad is not None
    assert (verdict.first_bad.stream, verdict.first_bad.seq) == ("talk", 1)
    assert verdict.last_trusted is not None
    assert (verdict.last_trusted.stream, verdict.last_trusted.seq) == ("talk", 0)
    assert verdict.integrity.startswith(f"damaged at line {line} (talk 1): the signature")
    assert verdict.events == line - 2
    checks = {check.name: check.ok for check in verdict.checks}
    assert checks["signatures"] is False
    assert checks["chain"] is None
    assert checks["trust"] is None


@pytest.mark.requirement("LDG-091")
def test_the_gravest_verdict_wins() -> None:
    ledger = small()
    fork = fork_of(ledger, "errand/tea", 0)
    ledger.event("errand/tea", Signer("stranger"))
    bundle = ledger.bundle(forks=[fork], note=False)
    assert judge(bundle, ledger, minimum=9).verdict == "forked"
    assert judge(bundle.append(b"{}"), ledger, minimum=9).verdict == "tampered"
    plain = ledger.bundle(note=False)
    assert judge(plain, ledger, minimum=9).verdict == "unknown-key"


@pytest.mark.requirement("LDG-094")
def test_artifacts_that_are_erased_or_missing_are_said_and_change_nothing() -> None:
    ledger = story()
    verdict = judge(ledger.bundle(), ledger)
    assert verdict.artifacts == "4 cited: 3 present, 1 erased, 0 missing"
    assert "artifact_erased" in [finding.code for finding in verdict.findings]
    del ledger.artifacts[next(sha for sha, data in ledger.artifacts.items() if data == BIG)]
    verdict = judge(ledger.bundle(), ledger)
    assert verdict
    assert verdict.artifacts == "4 cited: 2 present, 1 erased, 1 missing"
    assert GONE not in ledger.artifacts.values()


@pytest.mark.requirement("LDG-016")
def test_one_custodian_of_several_agents_is_said() -> None:
    ledger = Ledger("custody")
    for name in ("ada", "bob", "cyd", "dan"):
        ledger.add(name)
    assert judge(ledger.bundle(), ledger).custody == (
        "4 agents, 1 custodian: which one wrote is recorded, "
        "that they could not impersonate each other is not"
    )


def test_separate_custodians_are_said() -> None:
    ledger = Ledger("custody")
    for number, name in enumerate(("ada", "bob", "cyd", "dan")):
        ledger.add(name, key=Signer(name, custodian=f"{number:032x}"))
    assert judge(ledger.bundle(), ledger).custody == "4 agents, 4 custodians"
    ledger.add("eve", key=Signer("eve", custodian=f"{0:032x}"))
    assert "impersonate another of the same custodian" in judge(ledger.bundle(), ledger).custody


def test_a_ledger_without_agents_has_nobody_to_impersonate() -> None:
    ledger = Ledger("custody")
    ledger.add("operator", "human")
    assert judge(ledger.bundle(), ledger).custody == "no agents"


@pytest.mark.requirement("LDG-016")
def test_only_keys_that_are_valid_at_the_end_are_counted_as_held() -> None:
    ledger = Ledger("custody")
    for number, name in enumerate(("ada", "bob", "cyd", "dan")):
        ledger.add(name, key=Signer(name, custodian=f"{number // 2:032x}"))
    assert "4 agents, 2 custodians: " in judge(ledger.bundle(), ledger).custody
    moved = Signer("ada moved", custodian=f"{7:032x}")
    ledger.rotate("ada", ledger.current["ada"], 0, moved)
    assert "4 agents, 3 custodians: " in judge(ledger.bundle(), ledger).custody
    ledger.retire("cyd")
    assert judge(ledger.bundle(), ledger).custody == "3 agents, 3 custodians"
    ledger.revoke(moved)
    assert judge(ledger.bundle(), ledger).custody == "2 agents, 2 custodians"


# Losses.


@pytest.mark.requirement("LDG-099")
def test_an_accepted_loss_is_said_and_changes_no_verdict() -> None:
    ledger = small()
    assert losses(judge(ledger.bundle(), ledger)) == []
    at = len(ledger.streams["registry"])
    ledger.accept_history(ledger.current["operator"])
    verdict = judge(ledger.bundle(), ledger)
    assert verdict
    said = f'a loss was accepted at event {at} of the registry on {AT}: "a test"'
    assert losses(verdict) == [said]
    (found,) = (found for found in verdict.findings if found.code == "loss_accepted")
    assert (found.severity, found.where) == ("warning", f"registry {at}")
    ledger.event("errand/tea", ledger.current["ada"])
    ledger.accept_history(ledger.current["operator"])
    assert len(losses(judge(ledger.bundle(["registry"]), ledger))) == 2


@pytest.mark.requirement("LDG-099")
@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("", '""'),
        ('two\nlines and a "word"', r'"two\nlines and a \"word\""'),
        ("x" * 201, f'"{"x" * 200}"'),
    ],
)
def test_the_reason_of_a_loss_is_a_short_quotation(reason: str, shown: str) -> None:
    ledger = Ledger("nobody is asked")
    ledger.accept_history(reason=reason)
    (said,) = losses(judge(ledger.bundle(), ledger))
    assert said.endswith(f"Z: {shown}")


@pytest.mark.requirement("LDG-099")
def test_a_loss_that_nobody_may_accept_is_not_said_to_be_accepted() -> None:
    ledger = small()
    ledger.accept_history(ledger.current["ada"])
    bundle = ledger.bundle()
    verdict = judge(bundle, ledger)
    assert verdict.verdict == "tampered"
    assert losses(verdict) == []
    other = standalone_finds(bundle.data(), ledger.trust())
    assert not any(said.startswith(LOSS) for said in other.findings)


def test_a_human_key_that_was_not_there_from_the_start_is_said_to_be_added_later() -> None:
    early, late = Ledger("early"), Ledger("late")
    operator = early.add("operator", "human")
    assert "later" not in judge(early.bundle(), early).key_status
    early.add("auditor", "human", operator)
    late.add("ada")
    late.add("operator", "human")
    assert "human key added later: auditor" in judge(early.bundle(), early).key_status
    assert "human key added later: operator" in judge(late.bundle(), late).key_status


def test_a_fixed_clock_is_said() -> None:
    ledger = small()
    verdict = judge(ledger.bundle(), ledger)
    assert verdict
    assert verdict.clock == "fixed"
    assert verdict.freshness.endswith("(fixed test clock)")
    assert "clock_fixed" in [finding.code for finding in verdict.findings]


def test_a_verdict_is_plain_data_with_the_contracts_names() -> None:
    ledger = small()
    bundle = ledger.bundle()
    plain = judge(bundle.duplicate(3), ledger).to_dict()
    assert plain["verdict"] == "tampered"
    assert plain["first_bad"] == {"line": 4, "stream": "registry", "seq": 2}
    assert plain["last_trusted"] == {"line": 3, "stream": "registry", "seq": 1}
    assert {"integrity", "authenticity", "completeness", "freshness", "key_status"} <= set(plain)
    assert {"artifacts", "custody", "checks", "findings"} <= set(plain)
    assert set(plain["checks"][0]) == {"name", "ok", "detail"}
    expected = {"rule", "code", "severity", "message", "line", "where", "hint"}
    assert set(plain["findings"][0]) == expected


def test_a_verdict_says_in_one_line_what_it_is() -> None:
    ledger = small()
    bundle = ledger.bundle()
    assert str(judge(bundle, ledger)).startswith("valid · 5 events in 2 streams · complete up to")
    told = str(judge(bundle.duplicate(3), ledger))
    assert told.startswith("tampered at line 4 (registry 2); trusted up to line 3 (registry 1)")


@pytest.mark.requirement("LDG-092")
def test_every_check_holds_or_says_why_it_was_not_made() -> None:
    ledger = story()
    verdict = judge(ledger.bundle(), ledger)
    unmade = {check.name: check.detail for check in verdict.checks if check.ok is None}
    assert unmade == {
        "freshness": "no minimum checkpoint is required",
        "kept": "nothing was kept from before",
        "policy": "not checked",
        "receipt": "this is no receipt",
    }
    assert all(check.ok is not False and check.detail for check in verdict.checks)


def test_a_file_is_checked_like_its_lines(tmp_path: Path) -> None:
    ledger = small()
    file = tmp_path / "small.bundle"
    file.write_bytes(ledger.bundle().data())
    told: list[tuple[int, int]] = []
    verdict = verify_bundle(
        file, trust_of(ledger.trust()), progress=lambda done, total: told.append((done, total))
    )
    assert verdict == judge(ledger.bundle(), ledger)
    assert told == [(11, 11)], "a bundle this short is told once"


def test_an_unreadable_file_is_the_callers_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        verify_bundle(tmp_path / "none", None)
    with pytest.raises(IsADirectoryError):
        verify_bundle(tmp_path, None)


def test_many_failures_are_counted_and_not_collected() -> None:
    ledger = small()
    stranger = Signer("stranger")
    for _ in range(50):
        ledger.event("errand/milk", stranger)
    verdict = judge(ledger.bundle(), ledger)
    told = [finding for finding in verdict.findings if finding.code == "key_unknown"]
    assert len(told) == 11
    assert told[-1].message == "and 40 more like those above"


def test_both_checkers_say_how_many_aliases_have_no_key_of_their_own() -> None:
    ledger = small()
    signer = ledger.current["ada"]
    before = judge(ledger.bundle(), ledger).key_status
    assert "alias" not in before
    for alias in (1, 2):
        data = {"alias": str(alias), "tool_id": f"t{alias}", "kind": ""}
        ledger.event("presence", signer, data, type="presence.sub_agent_began")
        ended = {"alias": str(alias), "reason": ""}
        ledger.event("presence", signer, ended, type="presence.sub_agent_ended")
        bundle = ledger.bundle()
        told = f", aliases signed by their sessions' keys: {alias}"
        assert judge(bundle, ledger).key_status == before + told
        assert standalone_finds(bundle.data(), ledger.trust(None)).key_status.endswith(told)
