"""Policies: defaults, what is refused, and any bytes at all."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from moot.core.errors import Malformed
from moot.core.names import SYSTEM
from moot.core.secrets import SecretPattern
from moot.protocols.trace import commands as ask
from moot.protocols.trace.policy import (
    DEFAULT_POLICY,
    FIRST_POLICY,
    OnForgery,
    Policy,
    Risk,
    find_problems,
    parse_policy,
    policy_document,
)
from moot.protocols.trace.tool_checks import risk_by_policy

from .scene import Trace


def test_the_defaults_are_the_documents_and_the_safer_ones() -> None:
    assert DEFAULT_POLICY.approval_required_from is Risk.HIGH
    assert (DEFAULT_POLICY.max_attempts, DEFAULT_POLICY.min_evidence) == (3, 1)
    assert DEFAULT_POLICY.allow_fallback
    assert DEFAULT_POLICY.on_invalid_signature is OnForgery.FAIL
    assert DEFAULT_POLICY.distinct_roles
    assert find_problems(DEFAULT_POLICY) == ()


def test_an_empty_object_is_the_default_policy() -> None:
    assert parse_policy(b"{}") == DEFAULT_POLICY


def test_a_policy_reads_back_as_written() -> None:
    policy = Policy(min_evidence=2, approval_required_from=Risk.MEDIUM, secrets=())
    assert parse_policy(json.dumps(policy_document(policy))) == policy


@pytest.mark.parametrize(
    ("document", "code", "where"),
    [
        ("", "not_json", ""),
        ("[]", "bad_policy", ""),
        ("{", "not_json", ""),
        ('{"max_attempts": 0}', "bad_policy", "max_attempts"),
        ('{"max_attempts": 2.5}', "bad_policy", ""),
        ('{"min_evidence": 0}', "bad_policy", "min_evidence"),
        ('{"approval_required_from": "never"}', "bad_policy", ""),
        ('{"no_such_key": 1}', "bad_policy", ""),
        ('{"tools": [{"tool": "", "risk": "low"}]}', "bad_policy", "tools"),
        (
            '{"tools": [{"tool": "a", "risk": "low"}, {"tool": "a", "risk": "high"}]}',
            "bad_policy",
            "tools",
        ),
        ('{"tools": [{"tool": "a", "risk": "low", "commands": [[]]}]}', "bad_policy", "tools"),
        ('{"environment": ["A=B"]}', "bad_policy", "environment"),
        ('{"secrets": [["Bad Name", "x"]]}', "bad_policy", ""),
        ('{"secrets": [{"name": "Bad Name", "expression": "x"}]}', "bad_policy", "secrets"),
        ('{"secrets": [{"name": "x", "expression": "("}]}', "bad_policy", "secrets.x"),
        ('{"secrets": [{"name": "x", "expression": "a*"}]}', "bad_policy", "secrets.x"),
        ('{"secrets": [{"name": "x", "expression": ""}]}', "bad_policy", "secrets.x"),
        ('{"default_timeout_ms": 99999999}', "bad_policy", "default_timeout_ms"),
        ('{"max_output_bytes": 1}', "bad_policy", "max_output_bytes"),
        (" " * 20_000, "too_large", ""),
    ],
)
def test_a_bad_policy_says_what_is_wrong(document: str, code: str, where: str) -> None:
    with pytest.raises(Malformed) as caught:
        parse_policy(document)
    assert caught.value.code == code
    if where:
        assert caught.value.where == where


@given(st.binary(max_size=300) | st.text(max_size=300))
@example(b"\xff\xfe{}")
@example("[" * 5_000)
@example('{"tools":' + "[" * 200 + "]" * 200 + "}")
def test_any_bytes_are_a_policy_or_malformed(data: bytes | str) -> None:
    try:
        policy = parse_policy(data)
    except Malformed:
        return
    assert find_problems(policy) == ()


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
_keys = st.sampled_from([*Policy.__struct_fields__, "other"])


@given(st.dictionaries(_keys, _values, max_size=4))
def test_any_values_under_its_keys_are_a_policy_or_malformed(document: dict[str, Any]) -> None:
    try:
        data = msgspec.json.encode(document)
    except (UnicodeEncodeError, OverflowError, msgspec.MsgspecError):
        return
    try:
        policy = parse_policy(data)
    except Malformed:
        return
    trace = Trace()
    trace.run(ask.OpenTrace(task="t", roles=trace.bindings(), policy=policy), SYSTEM)


def test_an_unusable_policy_opens_no_trace() -> None:
    trace = Trace()
    bad = Policy(max_attempts=0, secrets=(SecretPattern("x", "("),))
    command = ask.OpenTrace(task="t", roles=trace.bindings(), policy=bad)
    assert trace.refused(command, SYSTEM) == "bad_policy"


def test_the_policy_stands_in_the_first_event_with_its_hash() -> None:
    trace = Trace()
    policy = Policy(min_evidence=2)
    event = trace.run(ask.OpenTrace(task="t", roles=trace.bindings(), policy=policy), SYSTEM)
    assert event.policy == trace.state.policy == policy
    assert len(event.policy_sha256) == 64


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("python -m pytest", Risk.MEDIUM),
        ("python3.12 tool.py", Risk.MEDIUM),
        ("node build.js", Risk.MEDIUM),
        ("perl clean.pl", Risk.MEDIUM),
        ("make test", Risk.MEDIUM),
        ("find . -name x", Risk.MEDIUM),
        ("Rscript a.R", Risk.MEDIUM),
        ("/usr/bin/node build.js", Risk.MEDIUM),
        ("python -c print()", Risk.HIGH),
        ("python3.11 -I -c print()", Risk.HIGH),
        ("node -e 1", Risk.HIGH),
        ("perl -e 1", Risk.HIGH),
        ("find . -exec rm x", Risk.HIGH),
        ("find . -delete", Risk.HIGH),
        ("sh build.sh", Risk.HIGH),
        ("pytest -q", Risk.LOW),
    ],
)
def test_what_runs_other_programs_is_not_of_low_risk(command: str, risk: Risk) -> None:
    words = tuple(command.split())
    assert risk_by_policy(DEFAULT_POLICY, words[0], words) is risk
    told_less = parse_policy(b'{"max_attempts": 2}')
    assert risk_by_policy(told_less, words[0], words) is risk


def test_a_record_that_says_nothing_means_what_it_meant_at_first() -> None:
    """What new traces begin with may become stricter; what was signed keeps its meaning."""
    words = ("python", "-c", "print()")
    assert risk_by_policy(Policy(), "python", words) is Risk.LOW
    assert Policy() == FIRST_POLICY
    assert {pattern.name for pattern in FIRST_POLICY.secrets} < {
        pattern.name for pattern in DEFAULT_POLICY.secrets
    }
