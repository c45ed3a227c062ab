"""Specs of participants: split only where another one begins, and safe to put on record."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.agents.participant import ParticipantKind, Spec, read_named_specs, read_spec, read_specs
from moot.core.errors import Malformed


@pytest.mark.requirement("AGT-001")
def test_a_list_is_split_only_before_a_scheme_or_a_name() -> None:
    found = read_specs(
        "cmd:claude -p --tools a,b,amber-otter=cmd:codex exec, llm:openai/gpt-5,human"
    )
    assert found == (
        Spec(ParticipantKind.COMMAND, "claude -p --tools a,b"),
        Spec(ParticipantKind.COMMAND, "codex exec", "amber-otter"),
        Spec(ParticipantKind.MODEL, "openai/gpt-5"),
        Spec(ParticipantKind.HUMAN, ""),
    )


@pytest.mark.requirement("AGT-001")
def test_a_tools_bare_name_means_its_headless_form() -> None:
    assert read_specs("claude, codex,amber-otter=opencode,gemini") == (
        Spec(ParticipantKind.COMMAND, "claude -p"),
        Spec(ParticipantKind.COMMAND, "codex exec"),
        Spec(ParticipantKind.COMMAND, "opencode run", "amber-otter"),
        Spec(ParticipantKind.COMMAND, "gemini -p"),
    )
    (only,) = read_specs("cmd:prog --tools claude,codex-like")
    assert only.rest == "prog --tools claude,codex-like"


@pytest.mark.requirement("AGT-001")
def test_commas_and_equal_signs_inside_a_command_stay() -> None:
    (only,) = read_specs('cmd:prog --x=1,2 "a, b" C=3,D=4')
    assert only.rest == 'prog --x=1,2 "a, b" C=3,D=4'
    (model,) = read_specs("llm:openai?base_url=http://127.0.0.1:1/v1&model=a,b")
    assert model.rest == "openai?base_url=http://127.0.0.1:1/v1&model=a,b"


@pytest.mark.requirement("AGT-001")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "cmd:",
        "cmd: ",
        "sql:x",
        "amber-otter=",
        "amber-otter=foo:x",
        "x=cmd:y",
        "rules",
    ],
)
def test_anything_else_is_malformed_with_a_hint(text: str) -> None:
    with pytest.raises(Malformed) as caught:
        read_specs(text)
    assert caught.value.hint


@pytest.mark.requirement("AGT-001")
@given(st.text(max_size=80))
def test_any_text_is_read_or_malformed(text: str) -> None:
    try:
        read_specs(text)
    except Malformed:
        return


def test_a_reserved_name_is_nobodys() -> None:
    with pytest.raises(Malformed) as caught:
        read_spec("operator=rules:approve")
    assert caught.value.code == "bad_name"


def test_participants_of_a_session_are_named_and_named_once() -> None:
    assert list(read_named_specs(["one-fox=rules:approve", "two-hen=human"])) == [
        "one-fox",
        "two-hen",
    ]
    for texts in (["rules:approve"], ["one-fox=human", "one-fox=human"]):
        with pytest.raises(Malformed):
            read_named_specs(texts)


@pytest.mark.requirement("AGT-002")
@pytest.mark.parametrize(
    "text",
    [
        "cmd:prog --token hunter2 -x",
        "cmd:prog --api-key=hunter2",
        "cmd:env PASSWORD=hunter2 prog",
        "cmd:prog sk-hunter2",
        "cmd:prog " + "x" * 400 + "hunter2",
    ],
)
def test_what_looks_like_a_secret_does_not_go_on_record(text: str) -> None:
    spec = read_spec(text)
    assert "hunter2" not in spec.recordable
    assert len(spec.recordable) <= 300
    assert spec.recordable != spec.text


@pytest.mark.requirement("AGT-002")
@pytest.mark.parametrize(
    "text",
    [
        "cmd:claude -p",
        "llm:openai/gpt-5?key_env=MY_KEY&max_tokens=99",
        "llm:openai?base_url=http://127.0.0.1:8000/v1&model=a",
        "human",
    ],
)
def test_what_is_no_secret_stays_whole(text: str) -> None:
    assert read_spec(text).recordable == text
