"""docs/traces.md and docs/readings.md say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from moot.api.workspace.explaining import explain_code
from moot.core.errors import NotFound
from moot.protocols.trace.audit.report import GRADES, PROFILES
from moot.protocols.trace.audit.verification import CHECKS, NamedCheck
from moot.protocols.trace.model import Profile
from moot.protocols.trace.policy import DEFAULT_POLICY, Policy, parse_policy, policy_document

from .test_views import ROWS

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "traces.md").read_text("utf-8")
READINGS = (DOCS / "readings.md").read_text("utf-8")


@pytest.mark.parametrize("key", Policy.__struct_fields__)
def test_every_key_of_a_policy_is_listed_with_its_default(key: str) -> None:
    (row,) = re.findall(rf"^\| `{key}` \| (.*?) \|", TEXT, re.MULTILINE)
    value = policy_document(DEFAULT_POLICY)[key]
    if isinstance(value, str | int):
        assert row.strip("`") == str(value).replace("True", "true").replace("False", "false")


def test_the_policy_shown_can_be_used() -> None:
    (shown,) = re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)
    assert parse_policy(shown).min_evidence == 2


def test_the_checks_are_listed_in_their_order() -> None:
    assert re.findall(r"^\| `(CHK_[A-Z_]+)`", TEXT, re.MULTILINE) == [row.id for row in CHECKS]


def test_every_code_is_listed_with_what_each_profile_makes_of_it() -> None:
    rows = re.findall(r"^\| (`[a-z_`, ]+`) \| (\w+) \| (\w+) \| (\w+) \|$", TEXT, re.MULTILINE)
    said = {code: tuple(rest) for codes, *rest in rows for code in re.findall(r"`(\w+)`", codes)}
    order = (Profile.DEFAULT, Profile.STRICT, Profile.LENIENT)
    assert said == {
        code: tuple(str(PROFILES[profile].get(code, grade.usual)) for profile in order)
        for code, grade in GRADES.items()
    }


def test_every_reading_a_rule_names_is_listed() -> None:
    named = {rule.id for rule in ROWS if not rule.id.startswith("TRC")}
    assert named <= set(re.findall(r"^\| ([ET]-[0-9]{2}) \|", READINGS, re.MULTILINE))


# The ids of the checks that `moot trace verify` prints can be explained.


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_every_check_of_a_trace_is_explained(check: NamedCheck) -> None:
    for typed in (check.id, check.id.lower()):
        (told,) = explain_code(typed)
        assert (told.code, told.protocol, told.sentence) == (check.id, "trace", check.about)


def test_a_slip_in_the_id_of_a_check_is_led_to_the_nearest() -> None:
    with pytest.raises(NotFound) as unknown:
        explain_code("CHK_CHAIN_CONTINUTY")
    assert unknown.value.hint == "did you mean `moot explain CHK_CHAIN_CONTINUITY`?"
