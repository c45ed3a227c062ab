"""The tables are whole: rules have their ground, commands their rules, events their place."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from moot.core.findings import Rule
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament.command_events import _COMMANDS
from moot.protocols.parliament.evolution import _EVOLVE
from moot.protocols.parliament.messages.contents import Kind, SessionStatus
from moot.protocols.parliament.phases import TRANSITIONS
from moot.protocols.parliament.rules import RULES

ROOT = Path(__file__).parents[2]
ROWS = [rule for rows in RULES.values() for rule in rows]


def known() -> set[str]:
    manifest = (ROOT / "tests/requirements/parliament.toml").read_text("utf-8")
    ids = {row["id"] for row in tomllib.loads(manifest)["requirement"]}
    readings = (ROOT / "docs/readings.md").read_text("utf-8").partition("## Parliament")[2]
    return ids | set(re.findall(r"^\| ([CS]-\d\d) \|", readings, re.MULTILINE))


@pytest.mark.parametrize(
    "rule",
    {(one.id, one.code): one for one in ROWS}.values(),
    ids=lambda rule: f"{rule.id}:{rule.code}",
)
def test_a_rule_has_its_ground(rule: Rule[Any]) -> None:
    assert rule.id in known()


def test_no_two_rows_of_a_table_say_the_same() -> None:
    for rows in RULES.values():
        said = [(rule.id, rule.code, rule.sentence) for rule in rows]
        assert len(set(said)) == len(said)


def test_every_command_has_its_rules_and_every_event_its_place() -> None:
    messages = {ask.Submit, ask.Announce, ask.Decide}
    assert set(ask.COMMANDS) - messages == {key for key in RULES if isinstance(key, type)}
    assert set(ask.COMMANDS) - messages - {ask.ReportUnreadable} == set(_COMMANDS)
    assert set(RULES) >= set(Kind)
    silent = {did.DebateOpened, did.BillPassed, did.BillDefeated, did.SessionCompleted}
    silent |= {did.StatementsOpened, did.StatementsClosed}
    assert set(did.EVENTS) - set(_EVOLVE) == silent


def test_the_table_of_statuses_is_whole() -> None:
    assert set(TRANSITIONS) == set(SessionStatus)
    assert TRANSITIONS[SessionStatus.COMPLETE] == {}
    reached = {after for row in TRANSITIONS.values() for after in row.values()}
    assert reached == set(SessionStatus) - {SessionStatus.SETUP}
