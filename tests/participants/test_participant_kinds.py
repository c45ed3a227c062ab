"""Scripts, voices by rule, people: three kinds that need no program and no model."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.agents.brief import Brief
from moot.agents.outcome import CallEnding, NoAnswer
from moot.agents.participant import read_spec
from moot.agents.participant_kinds import HumanParticipant, RunSurroundings, make_participant
from moot.agents.scripted import VOICES, RuleParticipant, ScriptParticipant, read_script
from moot.core.errors import Malformed, Unavailable
from tests.participants.scripted_participants import brief


def script(folder: Path, text: str) -> ScriptParticipant:
    file = folder / "script.json"
    file.write_text(text, encoding="utf-8")
    return ScriptParticipant(str(file), "script:script.json")


@pytest.mark.requirement("AGT-007")
def test_a_script_goes_on_by_how_often_one_has_answered(tmp_path: Path) -> None:
    voice = script(tmp_path, '[{"a": 1}, {"a": 2}]')
    assert voice.reply(brief(), 1).reply == {"a": 1}
    assert voice.reply(brief(), 1).reply == {"a": 1}
    assert voice.reply(brief(number=1), 1).reply == {"a": 2}
    with pytest.raises(NoAnswer) as caught:
        voice.reply(brief(number=2), 1)
    assert caught.value.ending is CallEnding.SILENT


@pytest.mark.requirement("AGT-007")
def test_a_script_may_answer_each_kind_of_thing_by_itself(tmp_path: Path) -> None:
    voice = script(tmp_path, json.dumps({"answer": [{"a": 1}], "entry": [{"b": 2}]}))
    assert voice.reply(brief(what="answer"), 1).reply == {"a": 1}
    assert voice.reply(brief(what="entry"), 1).reply == {"b": 2}
    lines = script(tmp_path, '{"a": 1}\n\n{"a": 2}\n')
    assert lines.reply(brief(number=1), 1).reply == {"a": 2}


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"entry": {}}', '{"entry": [1]}', "7"])
def test_a_script_that_is_none_is_malformed(text: str) -> None:
    with pytest.raises(Malformed):
        read_script(text.encode())


@given(st.binary(max_size=100))
def test_any_bytes_are_a_script_or_malformed(raw: bytes) -> None:
    try:
        read_script(raw)
    except Malformed:
        return


def test_a_script_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        make_participant(
            read_spec("script:none.json"), "amber-otter", RunSurroundings(tmp_path, {})
        )


@pytest.mark.requirement("AGT-008")
@pytest.mark.parametrize("name", VOICES)
def test_a_voice_by_rule_says_the_same_in_the_same_situation(name: str) -> None:
    told = brief(view={"positions": {"a-x": "approve", "b-y": "reject"}}, number=1)
    voice = RuleParticipant(name)
    assert voice.reply(told, 1) == RuleParticipant(name).reply(told, 1)
    assert voice.nature.scripted
    assert "scripted voice" in voice.nature.label
    assert "scripted voice" in voice.reply(told, 1).reply["body"]
    assert (
        voice.reply(brief(what="first_answer", view={"options": ["x", "y"]}), 1).reply["answer"]
        in "xy"
    )
    with pytest.raises(NoAnswer):
        voice.reply(brief(what="something-new"), 1)


def test_a_sceptic_gives_way_and_a_listener_listens() -> None:
    yes = {"positions": {"a-x": "approve", "amber-otter": "reject"}}
    assert RuleParticipant("sceptic").reply(brief(), 1).reply["stance"] == "reject"
    assert (
        RuleParticipant("sceptic").reply(brief(number=1, view=yes), 1).reply["stance"] == "approve"
    )
    assert RuleParticipant("listener").reply(brief(), 1).reply["stance"] == "defer"
    no = {"positions": {"a-x": "reject", "b-y": "reject", "c-z": "approve"}}
    assert RuleParticipant("majority").reply(brief(view=no), 1).reply["stance"] == "reject"


def test_an_unknown_voice_is_malformed() -> None:
    with pytest.raises(Malformed) as caught:
        RuleParticipant("nobody")
    assert "approve" in caught.value.hint


class TypingPerson:
    """Someone who types."""

    def __init__(self, *typed: str) -> None:
        self.typed = list(typed)
        self.shown: list[Brief] = []

    def is_present(self) -> bool:
        return bool(self.typed)

    def show(self, shown: Brief) -> None:
        self.shown.append(shown)

    def ask(self, label: str, choices: tuple[str, ...], default: str | None) -> str:
        del label, choices
        return self.typed.pop(0) or default or ""


@pytest.mark.requirement("AGT-009")
def test_a_person_is_asked_for_each_field() -> None:
    schema: dict[str, Any] = {
        "properties": {
            "stance": {"enum": ["approve", "reject"]},
            "confidence": {"type": "number"},
            "body": {"type": "string", "default": ""},
            "evidence": {"type": "string", "default": "n/a"},
        },
        "required": ["stance", "confidence"],
    }
    terminal = TypingPerson("approve", "0.8", "", "")
    said = HumanParticipant(terminal).reply(brief(schema=schema), 1).reply
    assert said == {"stance": "approve", "confidence": 0.8, "evidence": "n/a"}
    assert len(terminal.shown) == 1
    said = (
        HumanParticipant(TypingPerson("approve", "much", "", ""))
        .reply(brief(schema=schema), 1)
        .reply
    )
    assert said["confidence"] == "much"  # for the machine to refuse


@pytest.mark.requirement("AGT-009")
def test_without_a_terminal_nobody_is_waited_for() -> None:
    for terminal in (None, TypingPerson()):
        with pytest.raises(NoAnswer) as caught:
            HumanParticipant(terminal).reply(brief(), 1)
        assert caught.value.ending is CallEnding.NO_TERMINAL


def test_every_kind_has_its_seat(tmp_path: Path) -> None:
    room = RunSurroundings(tmp_path, {"PATH": os.environ["PATH"]}, TypingPerson("present"))
    for text in ("rules:approve", "human", "cmd:sh"):
        assert make_participant(read_spec(text), "amber-otter", room).nature.spec == text
