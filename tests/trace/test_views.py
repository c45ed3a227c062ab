"""What people read: the status, the story, what rests on what; and the tables of rules."""

from __future__ import annotations

import re

import pytest

from moot.core.findings import Rule
from moot.core.text import Quoted
from moot.protocols.trace import commands as ask
from moot.protocols.trace.rules import GUARDS, RULES, WORDING_RULES
from moot.protocols.trace.views import ProposalView, view_status, view_timeline

from .scene import EXECUTOR, Trace

ROWS = [
    *GUARDS,
    *(rule for rows in (*RULES.values(), *WORDING_RULES.values()) for rule in rows),
]


@pytest.mark.parametrize("rule", ROWS, ids=lambda rule: f"{rule.id}:{rule.code}")
def test_a_row_says_what_is_wrong_and_what_to_do(rule: Rule[object]) -> None:
    assert re.fullmatch(r"(TRC-[0-9]{3}|[ET]-[0-9]{2})", rule.id)
    assert re.fullmatch(r"[a-z][a-z0-9_]*", rule.code)
    assert rule.sentence
    assert rule.hint


def test_the_status_says_where_it_stands_and_who_is_next() -> None:
    trace = Trace().to("executing")
    trace.intend("p1", risk="critical")
    shown = view_status(trace.state, "trace/t1", 0)
    assert shown.state == "executing"
    assert shown.roles["critic"] == "teal-crane"
    assert shown.proposals == (ProposalView("p1", Quoted("run the tests"), "approved"),)
    assert shown.intents[0].waits_for_critic == ("risk",)
    assert shown.next[0].who == "teal-crane"


def test_the_story_has_a_line_for_each_event_and_marks_ours() -> None:
    trace = Trace().to("executing")
    name = trace.intend("p1", risk="high")
    trace.consent(name)
    lines = view_timeline(trace.history())
    assert [line.what for line in lines][-1] == "tool_intent_reviewed"
    assert [line.ours for line in lines] == [False, False, False, False, True]
    assert lines[3].says == "i1 (high) under p1: pytest -q"


def test_text_with_braces_is_shown_as_it_is() -> None:
    trace = Trace().to("planning")
    trace.propose(objective="use {task} and {0} and {}")
    assert view_timeline(trace.history())[-1].says == "p1: use {task} and {0} and {}"


def test_a_recovered_run_reads_as_what_it_was() -> None:
    trace = Trace().to("executing")
    started = trace.start(trace.intend("p1"))
    trace.run(ask.RecoverExecution(execution_id=started, evidence=("gone",)), EXECUTOR)
    assert view_timeline(trace.history())[-1].says.startswith("x1 failed (died): the process")
