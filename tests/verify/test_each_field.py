"""A value of no form in each field of the tables of sections 3, 4 and 6, and where it is told."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.verify.bundle_builder import Bundle, Json, Ledger, small
from tests.verify.verdicts import judge

WRONG: list[object] = [{}]  # no field of any table takes a list with an object in it


def _told(bundle: Bundle | bytes, ledger: Ledger) -> tuple[str, str | None]:
    """Under which code, and at which field."""
    verdict = judge(bundle, ledger)
    assert verdict.verdict == "tampered"
    (found,) = (one for one in verdict.findings if one.severity == "error")
    return found.code, found.where


BODY = {
    *("v", "origin", "stream", "seq", "prev", "reg", "key", "type", "at", "actor", "cause"),
    *("corr", "data", "artifacts"),
}


@pytest.mark.parametrize("field", sorted(BODY))
def test_each_field_of_an_event_has_its_form(field: str) -> None:
    ledger = small()
    ledger.event("errand/tea", ledger.current["ada"], **{field: WRONG})
    assert _told(ledger.bundle(), ledger) == ("field_invalid", field)


@pytest.mark.parametrize("field", ["epoch", "id", "kid", "role"])
def test_each_field_of_an_author_has_its_form(field: str) -> None:
    ledger = small()
    ada = ledger.current["ada"]
    actor = {**ledger.body("errand/tea", ada)["actor"], field: WRONG}
    ledger.event("errand/tea", ada, actor=actor)
    assert _told(ledger.bundle(), ledger) == ("field_invalid", "actor")


@pytest.mark.parametrize(("field", "wrong"), [("media_type", 5), ("sha256", 5), ("size", "5")])
def test_each_field_of_a_citation_has_its_form(field: str, wrong: object) -> None:
    ledger = small()
    cited = {**ledger.cite(b"tea"), field: wrong}
    ledger.event("errand/tea", ledger.current["ada"], artifacts=[cited])
    assert _told(ledger.bundle(artifacts=False), ledger) == ("field_invalid", "artifacts")


NEW_KEY = ("class", "custodian", "endorsement", "epoch", "name", "proof", "public")
# An honest event of each kind, and the fields of its data.
REGISTRY: dict[str, tuple[Callable[[Ledger], object], tuple[str, ...]]] = {
    "key_added": (lambda ledger: ledger.add("bob"), NEW_KEY),
    "key_rotated": (
        lambda ledger: ledger.rotate("ada", ledger.current["ada"]),
        (*NEW_KEY, "reason", "replaces"),
    ),
    "key_revoked": (
        lambda ledger: ledger.revoke(ledger.current["ada"]),
        ("heads", "kid", "reason"),
    ),
    "agent_retired": (lambda ledger: ledger.retire("ada"), ("epoch", "name", "reason")),
    "artifact_erased": (lambda ledger: ledger.erase(b"tea leaves"), ("reason", "sha256", "size")),
    "history_accepted": (
        lambda ledger: ledger.accept_history(ledger.current["operator"]),
        ("endorsement", "lost", "reason"),
    ),
}


@pytest.mark.parametrize(
    ("kind", "field"), [(kind, field) for kind, (_, names) in REGISTRY.items() for field in names]
)
def test_each_field_of_the_registry_has_its_form(kind: str, field: str) -> None:
    ledger = small()
    REGISTRY[kind][0](ledger)
    assert judge(ledger.bundle(), ledger).verdict == "valid"
    newest = len(ledger.streams["registry"]) - 1
    ledger.rechain(
        "registry", newest, lambda body: {**body, "data": {**body["data"], field: WRONG}}
    )
    assert _told(ledger.bundle(), ledger) == ("registry_rule", f"data.{field}")
    assert "against section 4" in judge(ledger.bundle(), ledger).integrity, "by its form alone"


@pytest.mark.parametrize("field", ["checkpoint", "checkpoint_proof", "clock", "custodian", "root"])
def test_each_field_of_a_founding_has_its_form(field: str) -> None:
    changed: Json = {field: WRONG}
    ledger = Ledger("founding", **changed)
    assert _told(ledger.bundle(), ledger) == ("registry_rule", f"data.{field}")


@pytest.mark.parametrize("field", ["kid", "sig"])
def test_each_field_of_a_consent_has_its_form(field: str) -> None:
    ledger = small()
    ada = ledger.current["ada"]
    consent = {**ledger.endorse(ada, {}), field: WRONG}
    ledger.rotate("ada", ada, endorsement=consent)
    assert _told(ledger.bundle(), ledger) == ("registry_rule", "data.endorsement")


LINES = {
    "artifact": ("sha256", "size"),
    "proof": ("hash", "index", "path", "seq", "stream"),
}


@pytest.mark.parametrize(
    ("kind", "field"), [(kind, field) for kind, fields in LINES.items() for field in fields]
)
def test_each_field_of_a_line_has_its_form(kind: str, field: str) -> None:
    ledger = small()
    bundle = ledger.bundle()
    bad = bundle.change(bundle.find(kind), **{field: WRONG})
    assert _told(bad, ledger) == ("line_malformed", None)


@pytest.mark.parametrize("kind", ["artifact", "proof", "checkpoint"])
def test_each_kind_of_line_has_its_form(kind: str) -> None:
    ledger = small()
    bundle = ledger.bundle()
    assert _told(bundle.replace(bundle.find(kind), {kind: WRONG}), ledger) == (
        "line_malformed",
        None,
    )


@pytest.mark.parametrize("field", ["digest", "format", "lines", "origin"])
def test_each_field_of_the_header_has_its_form(field: str) -> None:
    ledger = small()
    assert _told(ledger.bundle().data(**{field: WRONG}), ledger) == ("line_malformed", None)
