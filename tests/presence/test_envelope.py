"""The v1 envelope: its fields, its payloads, and what is said about a bad one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from moot.core.errors import Malformed
from moot.core.findings import Severity, check_all, select_errors
from moot.core.machine import Recorded
from moot.core.record import Actor
from moot.protocols.presence import commands as ask
from moot.protocols.presence.codec import (
    ENVELOPE_RULES,
    FIELDS,
    PAYLOAD_RULES,
    OperativeEnvelope,
    check_document,
    check_payload,
    list_work_items,
    make_document,
    make_envelope,
    parse_envelope,
    searchable_text,
    write_envelope,
)
from moot.protocols.presence.model import EventType

from .envelopes import PAYLOADS as GOOD
from .envelopes import SAMPLE, document, with_payload, without_payload
from .scene import (
    CRANE,
    OTTER,
    ROOT,
    WINDOWS_ROOT,
    blocked,
    crew,
    handoff,
    new_holder,
    refusal,
    reserve,
    run,
)

GOLDEN = Path(__file__).with_name("golden") / "v1-events.golden"


def encoded(value: Any) -> bytes:
    return msgspec.json.encode(value)


@pytest.mark.requirement("OPR-050")
def test_the_documents_sample_is_a_good_envelope_without_its_payload() -> None:
    assert check_all(ENVELOPE_RULES, SAMPLE) == ()
    missing = {finding.where for finding in check_payload(SAMPLE)}
    assert missing == {f"payload.{name}" for name in GOOD["HANDOFF"]}
    assert check_document(SAMPLE) == check_payload(SAMPLE)
    with pytest.raises(Malformed) as refused:
        parse_envelope(encoded(SAMPLE))
    assert refused.value.code == "missing_field"
    assert parse_envelope(encoded(document())).payload == GOOD["HANDOFF"]


@pytest.mark.parametrize("event_type", list(GOOD))
def test_a_good_document_is_read_and_written_back_alike(event_type: str) -> None:
    given_ = document(event_type)
    envelope = parse_envelope(encoded(given_))
    assert make_document(envelope) == given_
    assert msgspec.json.decode(write_envelope(envelope)) == given_
    assert list(make_document(envelope)) == list(FIELDS)


@pytest.mark.requirement("OPR-049")
@pytest.mark.requirement("OPR-055")
@pytest.mark.parametrize("key", FIELDS)
def test_each_of_the_ten_keys_is_required(key: str) -> None:
    lacking = {name: value for name, value in document().items() if name != key}
    with pytest.raises(Malformed) as refused:
        parse_envelope(encoded(lacking))
    assert (refused.value.code, refused.value.where) == ("missing_key", key)


def marked(norm: str, code: str, **changes: Any) -> Any:
    kind = changes.pop("event_type", "HANDOFF")
    bad = {**document(kind if kind in GOOD else "HANDOFF"), "event_type": kind, **changes}
    return pytest.param(
        bad, code, marks=pytest.mark.requirement(norm), id=f"{norm} {code} {changes}"
    )


BAD_ENVELOPES = [
    marked("OPR-051", "bad_id", id=7),
    marked("OPR-051", "bad_id", id=None),
    marked("OPR-051", "bad_id", id=" "),
    marked("OPR-052", "bad_version", version="v2"),
    marked("OPR-052", "bad_version", version=1),
    marked("OPR-053", "bad_event_type", event_type="NOTE"),
    marked("OPR-053", "bad_event_type", event_type="handoff"),
    marked("OPR-054", "bad_root", project_root="codex/beadboard"),
    marked("OPR-054", "bad_root", project_root=None),
    marked("OPR-055", "bad_bead_id", bead_id=None),
    marked("OPR-055", "bad_bead_id", bead_id="", event_type="BLOCKED"),
    marked("OPR-055", "bad_bead_id", bead_id=["bb-1"]),
    marked("OPR-056", "bad_from_agent", from_agent=None),
    marked("OPR-056", "bad_from_agent", from_agent=None, event_type="BLOCKED"),
    marked("OPR-057", "bad_to_agent", to_agent=None, event_type="BLOCKED"),
    marked("OPR-057", "bad_to_agent", to_agent=None),
    marked("OPR-058", "bad_scope", scope=7),
    marked("OPR-058", "bad_scope", scope=" "),
    marked("OPR-059", "bad_created_at", created_at="yesterday"),
    marked("OPR-059", "bad_created_at", created_at="2026-02-14T18:05:11"),
    marked("OPR-059", "bad_created_at", created_at=1_771_092_311),
    marked("OPR-060", "bad_payload", payload=[]),
    marked("OPR-060", "bad_payload", payload=None),
]


@pytest.mark.parametrize(("bad", "code"), BAD_ENVELOPES)
def test_a_bad_envelope_is_refused_with_its_code(bad: dict[str, Any], code: str) -> None:
    with pytest.raises(Malformed) as refused:
        parse_envelope(encoded(bad))
    assert refused.value.code == code


@pytest.mark.requirement("OPR-056")
@pytest.mark.requirement("OPR-057")
@pytest.mark.parametrize("event_type", ["INCURSION", "RESUME"])
def test_what_the_machine_noted_may_come_from_nobody_and_belong_to_no_bead(event_type: str) -> None:
    nobody = document(event_type, from_agent=None, to_agent=None, bead_id=None)
    assert check_document(nobody) == ()


@pytest.mark.requirement("OPR-058")
def test_a_scope_is_null_where_there_is_none() -> None:
    assert check_document(document("BLOCKED", scope=None)) == ()


REQUIRED = [
    pytest.param(kind, field, marks=pytest.mark.requirement(norm))
    for kind, field, norm in [
        ("HANDOFF", "subject", "OPR-062"),
        ("HANDOFF", "summary", "OPR-062"),
        ("HANDOFF", "next_action", "OPR-062"),
        ("HANDOFF", "requires_ack", "OPR-063"),
        ("BLOCKED", "subject", "OPR-064"),
        ("BLOCKED", "blocker", "OPR-064"),
        ("BLOCKED", "requested_action", "OPR-064"),
        ("BLOCKED", "urgency", "OPR-065"),
        ("BLOCKED", "requires_ack", "OPR-066"),
        ("INCURSION", "incursion_kind", "OPR-067"),
        ("INCURSION", "owner_agent", "OPR-068"),
        ("INCURSION", "incoming_agent", "OPR-068"),
        ("INCURSION", "owner_liveness", "OPR-069"),
        ("INCURSION", "resolution_hint", "OPR-070"),
        ("RESUME", "resume_reason", "OPR-071"),
        ("RESUME", "prior_session_agent", "OPR-072"),
        ("RESUME", "adopted_agent", "OPR-072"),
        ("RESUME", "evidence", "OPR-073"),
    ]
]


@pytest.mark.parametrize(("event_type", "field"), REQUIRED)
def test_each_payload_field_is_required(event_type: str, field: str) -> None:
    with pytest.raises(Malformed) as refused:
        parse_envelope(encoded(without_payload(event_type, field)))
    assert (refused.value.code, refused.value.where) == ("missing_field", f"payload.{field}")


@pytest.mark.parametrize(
    ("event_type", "field", "value"),
    [
        pytest.param("HANDOFF", "subject", "  "),
        pytest.param("HANDOFF", "requires_ack", "yes", marks=pytest.mark.requirement("OPR-063")),
        pytest.param("BLOCKED", "urgency", "urgent", marks=pytest.mark.requirement("OPR-065")),
        pytest.param("BLOCKED", "requires_ack", False, marks=pytest.mark.requirement("OPR-066")),
        pytest.param("BLOCKED", "requires_ack", 1, marks=pytest.mark.requirement("OPR-066")),
        pytest.param(
            "INCURSION", "incursion_kind", "disjoint", marks=pytest.mark.requirement("OPR-067")
        ),
        pytest.param(
            "INCURSION", "owner_liveness", "dead", marks=pytest.mark.requirement("OPR-069")
        ),
        *(
            pytest.param(
                "INCURSION",
                field,
                value,
                marks=pytest.mark.requirement("OPR-068"),
                id=f"{field} {value!r}",
            )
            for field in ("owner_agent", "incoming_agent", "owner_alias", "incoming_alias")
            for value in ("", " ", 7, True, None, ["amber-otter"], {"name": "amber-otter"})
        ),
        pytest.param("RESUME", "resume_reason", "other", marks=pytest.mark.requirement("OPR-071")),
        pytest.param("RESUME", "evidence", [], marks=pytest.mark.requirement("OPR-073")),
        pytest.param("RESUME", "evidence", "", marks=pytest.mark.requirement("OPR-073")),
        pytest.param("RESUME", "bead_ids", "bb-1"),
        pytest.param("RESUME", "bead_ids", [7]),
        pytest.param("RESUME", "scopes", "src/a.py", marks=pytest.mark.requirement("OPR-018")),
        pytest.param("RESUME", "scopes", [""], marks=pytest.mark.requirement("OPR-018")),
    ],
)
def test_a_bad_payload_field_is_refused(event_type: str, field: str, value: Any) -> None:
    with pytest.raises(Malformed) as refused:
        parse_envelope(encoded(with_payload(event_type, **{field: value})))
    assert (refused.value.code, refused.value.where) == ("bad_field", f"payload.{field}")


@pytest.mark.requirement("OPR-069")
@pytest.mark.parametrize("liveness", ["active", "stale", "evicted"])
def test_an_owner_is_active_stale_or_evicted(liveness: str) -> None:
    given_ = with_payload("INCURSION", owner_liveness=liveness)
    assert check_document(given_) == ()
    assert parse_envelope(encoded(given_)).payload["owner_liveness"] == liveness


@pytest.mark.requirement("OPR-063")
def test_a_handoff_may_say_that_no_acceptance_is_needed() -> None:
    assert check_document(with_payload("HANDOFF", requires_ack=False)) == ()


TOLERATED = [
    pytest.param(
        document(x_trace="abc"),
        "unknown_key",
        id="an eleventh key",
        marks=pytest.mark.requirement("OPR-049"),
    ),
    *(
        pytest.param(with_payload(kind, mood="good"), "unknown_key", id=f"one in a {kind}")
        for kind in sorted(GOOD)
    ),
    pytest.param(document(created_at="2026-02-14T19:05:11+01:00"), "unusual_time", id="a zone"),
    pytest.param(document(created_at="2026-02-14T18:05:11Z"), "unusual_time", id="whole seconds"),
    pytest.param(document(project_root="C:\\Users\\x"), "backward_slashes", id="backslashes"),
    *(
        pytest.param(document(id=name), "unusual_id", marks=pytest.mark.requirement("OPR-051"))
        for name in (
            "proto_1",
            "proto_1771063511000_ab12",  # as the protocol's own project writes it
            "proto_20260214_01",
            "proto_２０２６0214_001",
            "proto_20260214_001\n",
        )
    ),
]


@pytest.mark.requirement("OPR-006")
@pytest.mark.parametrize(
    ("given", "severity"),
    [
        pytest.param(document(version="v2"), Severity.ERROR, id="MUST be v1"),
        pytest.param(document(created_at="yesterday"), Severity.ERROR, id="MUST be a time"),
        pytest.param(document(project_root="C:\\x"), Severity.WARNING, id="SHOULD be slashes"),
        pytest.param(document(scope=None), None, id="MAY be null where not applicable"),
    ],
)
def test_must_is_an_error_should_a_warning_and_may_is_nothing(
    given: dict[str, Any], severity: Severity | None
) -> None:
    found = check_document(given)
    assert {one.severity for one in found} == ({severity} if severity else set())
    if severity is Severity.ERROR:
        with pytest.raises(Malformed):
            parse_envelope(encoded(given))
    else:
        assert make_document(parse_envelope(encoded(given))) == given


@pytest.mark.requirement("OPR-006")
@pytest.mark.parametrize(("odd", "code"), TOLERATED)
def test_what_others_wrote_oddly_is_read_with_a_warning_but_never_written(
    odd: dict[str, Any], code: str
) -> None:
    assert [(one.code, one.severity) for one in check_document(odd)] == [(code, Severity.WARNING)]
    envelope = parse_envelope(encoded(odd))
    assert make_document(envelope) == odd
    with pytest.raises(Malformed) as refused:
        write_envelope(envelope)
    assert refused.value.code == code


def test_all_findings_are_reported_at_once() -> None:
    bad = document(version="v2", id="", payload={})
    assert {one.code for one in select_errors(check_document(bad))} == {
        "bad_version",
        "bad_id",
        "missing_field",
    }


@pytest.mark.parametrize("value", [[], "text", 7, None, True])
def test_what_is_no_object_is_no_event(value: Any) -> None:
    assert [one.code for one in check_document(value)] == ["not_an_object"]
    with pytest.raises(Malformed):
        parse_envelope(encoded(value))


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"", "not_json"), (b"{", "not_json"), (b"\xff", "not_json"), (b" " * 65_537, "too_large")],
)
def test_what_is_no_json_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(Malformed) as refused:
        parse_envelope(data)
    assert refused.value.code == code


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
_documents = st.builds(
    lambda kind, changes, payload, lost: {
        key: value
        for key, value in {
            **document(kind),
            **changes,
            "payload": {**GOOD[kind], **payload},
        }.items()
        if key not in lost
    },
    st.sampled_from(list(GOOD)),
    st.dictionaries(st.sampled_from(FIELDS), _json, max_size=2),
    st.dictionaries(
        st.sampled_from(sorted({k for p in GOOD.values() for k in p})), _json, max_size=2
    ),
    st.sets(st.sampled_from(FIELDS), max_size=1),
)


@given(_documents)
def test_fuzz_a_damaged_document_is_read_back_alike_or_is_malformed(
    damaged: dict[str, Any],
) -> None:
    if select_errors(check_document(damaged)):
        with pytest.raises(Malformed):
            parse_envelope(encoded(damaged))
    else:
        assert make_document(parse_envelope(encoded(damaged))) == msgspec.json.decode(
            encoded(damaged)
        )


@given(st.binary(max_size=200) | st.text(max_size=200))
@example("\ud800")
@example(encoded({**document("RESUME"), "event_type": [], "bead_id": None}))
def test_fuzz_any_bytes_or_text_raise_nothing_but_malformed(data: bytes | str) -> None:
    with pytest.raises(Malformed):
        parse_envelope(data)


def test_deeply_nested_json_is_malformed() -> None:
    with pytest.raises(Malformed):
        parse_envelope(b"[" * 60_000)


def four_events() -> list[OperativeEnvelope]:
    """One event of each type, as the machine itself records them."""
    scenario = crew(OTTER, CRANE).when(reserve("src/*", work="bb-7"))
    recorded: list[Recorded[Any]] = []
    recorded += run(scenario, handoff(scope="src/*"), OTTER).recorded
    scenario.world.clock.forward(seconds=1, millis=5)
    recorded += run(scenario, blocked(urgency="high"), OTTER).recorded
    refusal(scenario, reserve("src/lib/a.ts", work="bb-9"), CRANE)
    noted = scenario.history()[-1]
    actor = Actor(CRANE, 1, "0" * 32)
    recorded.append(Recorded(noted, "presence", 6, scenario.world.clock.now, actor, b""))
    new_holder(scenario.world, OTTER)
    evidence = ask.Evidence(("src/a.py",), (ask.Bead("bb-7", "in_progress", OTTER),))
    recorded += run(scenario, ask.Resume(evidence=evidence, project_root=ROOT), OTTER).recorded[:1]
    return [make_envelope(one) for one in recorded]


@pytest.mark.requirement("OPR-053")
@pytest.mark.requirement("OPR-061")
def test_our_own_events_are_written_byte_for_byte_as_before() -> None:
    written = b"".join(write_envelope(envelope) for envelope in four_events())
    assert written.decode() == GOLDEN.read_text()


@pytest.mark.requirement("OPR-053")
def test_every_event_we_write_holds_every_row_of_the_contract() -> None:
    envelopes = four_events()
    assert {envelope.event_type for envelope in envelopes} == set(EventType) == set(PAYLOAD_RULES)
    for envelope in envelopes:
        assert check_document(make_document(envelope)) == ()
        assert parse_envelope(write_envelope(envelope)) == envelope


@pytest.mark.requirement("OPR-059")
def test_times_are_utc_with_milliseconds() -> None:
    pattern = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")
    assert all(pattern.match(envelope.created_at) for envelope in four_events())


@pytest.mark.requirement("OPR-051")
def test_ids_are_unique_and_sorted() -> None:
    ids = [envelope.id for envelope in four_events()]
    assert ids == sorted(set(ids))


@pytest.mark.requirement("OPR-054")
def test_a_windows_root_is_written_with_slashes_and_its_own_case() -> None:
    scenario = crew(OTTER, CRANE)
    command = handoff(project_root=WINDOWS_ROOT.replace("/", "\\"), scope="Src\\App\\*")
    (recorded,) = run(scenario, command, OTTER).recorded
    envelope = make_envelope(recorded)
    assert envelope.project_root == WINDOWS_ROOT
    assert envelope.scope == "Src/App/*"
    assert check_document(make_document(envelope)) == ()


def test_an_event_is_found_by_its_work_and_its_words() -> None:
    first, *_, last = four_events()
    assert list_work_items(first) == ("bb-7",)
    assert list_work_items(last) == ("bb-7",)
    assert "finish the lexer" in searchable_text(first)
