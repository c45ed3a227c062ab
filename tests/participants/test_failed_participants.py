"""The truth about failures: each way not to answer is told as what it was, at once, and is no vote.

Programs that really fail, in real decisions; and the record, which takes such an entry only from
the machine and only in its exact words.
"""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from moot.agents.outcome import CallEnding, CallFailure, NoAnswer, StopReason
from moot.api.debates import session
from moot.core.failed_answer import FailedAnswer, FailureKind, find_failed_answer
from moot.protocols.debate.course import is_placeholder
from moot.protocols.debate.escalation import is_written_by_policy
from moot.protocols.debate.model import Escalation, TurnOrder
from moot.protocols.debate.views import require_course
from moot.protocols.decision.model import DecisionResult
from tests.participants.scripted_participants import Voice
from tests.participants.test_debate_run import CRANE, OTTER, DebateFile, entry, state_of
from tests.project import Project

QUESTION = "Ship it?"
APPROVES = "{'stance': 'approve', 'confidence': 0.5, 'summary': 'Yes.'}"


def must_not_wait(seconds: float) -> None:
    pytest.fail(f"{seconds} s were waited for")


def program(project: Project, name: str, code: str) -> str:
    """A participant that answers first, and then does what `code` says with its entry."""
    file = project.root / f"{name}.py"
    file.write_text(
        "import json, os, signal, sys\n"
        "told = json.load(sys.stdin)\n"
        "if told['what'] == 'first_answer':\n"
        "    print(json.dumps({'answer': 'yes'}))\n"
        "    sys.exit(0)\n" + code,
        encoding="utf-8",
    )
    return f"cmd:{shlex.quote(sys.executable)} -S {shlex.quote(str(file))}"


def entries_of(project: Project, decision: str = "q-1") -> dict[str, Any]:
    file = project.root / ".moot" / "decisions" / f"{decision}.md"
    return {one.author: one for one in session.read(file).document.entries}


# Every way has its own sentence -------------------------------------------------------------------


@pytest.mark.requirement("DEC-032")
@pytest.mark.parametrize("kind", FailureKind)
def test_a_sentence_is_read_back_as_the_failure_it_tells(kind: FailureKind) -> None:
    failures = [FailedAnswer(kind, 0), FailedAnswer(kind, 3)]
    if kind is FailureKind.CRASHED:
        failures += [FailedAnswer(kind, 7, exit_status=1), FailedAnswer(kind, 7, signal=9)]
    for failure in failures:
        assert find_failed_answer(failure.sentence) == failure
        assert find_failed_answer(f"{failure.sentence} Escalation policy applied.") == failure
    assert len({FailedAnswer(each).sentence for each in FailureKind}) == len(FailureKind)


@pytest.mark.requirement("DEC-032")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "Turn timed out.",
        "No usable answer: it is a bad idea, after 3 s.",
        "No usable answer: crashed, exit 01, after 3 s.",
        "No usable answer: said nothing, exit 1, after 3 s.",
        "No usable answer: crashed, after 3 s",
        "no usable answer: crashed, after 3 s.",
        "No usable answer: crashed, exit ١, after 3 s.",
    ],
)
def test_what_is_not_to_the_letter_is_no_failure(text: str) -> None:
    assert find_failed_answer(text) is None


@pytest.mark.requirement("DEC-032")
@pytest.mark.parametrize(
    ("failed", "sentence"),
    [
        (NoAnswer(CallEnding.CRASHED, "boom", exit_status=1), "crashed, exit 1"),
        (NoAnswer(CallEnding.CRASHED, "boom", signal=9), "crashed, signal 9"),
        (NoAnswer(CallEnding.MALFORMED, "no JSON"), "could not be read, asked twice"),
        (NoAnswer(CallEnding.SILENT, "nothing"), "said nothing"),
        (NoAnswer(CallEnding.TOO_LONG, "much"), "too long to be read"),
        (NoAnswer(CallEnding.NOT_FOUND, "gone"), "not found"),
        (NoAnswer(CallEnding.OUT_OF_MONEY, "402"), "out of money at the provider"),
        (NoAnswer(CallEnding.NOT_ALLOWED, "401"), "refused by the provider"),
        (NoAnswer(CallEnding.TIMED_OUT, "30 s"), "out of time"),
    ],
)
def test_one_who_failed_is_skipped_at_once_in_its_own_sentence(
    tmp_path: Path, failed: NoAnswer, sentence: str
) -> None:
    debate = DebateFile(tmp_path, max_rounds=1)
    began = debate.clock()
    ended = debate.run(Voice(failed), Voice(entry("reject")), pause=must_not_wait)
    assert ended.stop is StopReason.SETTLED
    assert debate.clock() == began  # nobody's time was waited for
    checked = session.read(debate.file)
    skipped = checked.document.entries[0]
    assert skipped.author == OTTER
    assert re.fullmatch(
        rf"No usable answer: {sentence}, after \d+ s\. "
        r"Escalation policy applied: turn skipped per timeout-skip rule\.",
        skipped.field_value("summary"),
    )
    assert f"gave no usable answer ({sentence}, after" in skipped.body
    assert (skipped.field_value("stance"), skipped.field_value("confidence")) == ("defer", "0.0")
    assert is_placeholder(skipped)
    assert is_written_by_policy(skipped, require_course(checked).rules)
    assert checked.valid
    assert "boom" not in debate.text


@pytest.mark.requirement("DEC-032")
def test_time_is_up_only_when_it_was(tmp_path: Path) -> None:
    debate = DebateFile(tmp_path, max_rounds=1, turn_timeout=60)

    def thinks_for_ever(_brief: Any) -> dict[str, Any]:
        debate.clock.forward(seconds=59)
        raise NoAnswer(CallEnding.TIMED_OUT, "ended")

    debate.run(Voice(thinks_for_ever), Voice(entry()))
    summary = session.read(debate.file).document.entries[0].field_value("summary")
    assert summary.startswith("Turn timed out. Escalation policy applied:")


@pytest.mark.requirement("DEC-032")
@pytest.mark.parametrize("action", ["neutral", "reject", "defer"])
def test_under_default_action_its_stance_stands_in_and_is_no_dissent(
    tmp_path: Path, action: str
) -> None:
    from moot.api.debates.outcome import judge_debate
    from moot.protocols.debate.model import DefaultAction

    rules = {"escalation": Escalation.DEFAULT_ACTION, "default_action": DefaultAction(action)}
    debate = DebateFile(tmp_path, max_rounds=1, **rules)
    debate.run(Voice(NoAnswer(CallEnding.CRASHED, "", exit_status=2)), Voice(entry()))
    assert debate.entries == [(OTTER, action), (CRANE, "approve")]
    assert "exit 2, after 0 s. Escalation policy applied: default-action." in debate.text
    verdict = judge_debate(session.read(debate.file))
    assert (verdict.objectors, verdict.absent) == ((), (OTTER,))


@pytest.mark.requirement("DEC-032")
def test_under_human_it_stops_at_once_and_nothing_is_written(tmp_path: Path) -> None:
    debate = DebateFile(tmp_path, escalation=Escalation.HUMAN)
    before = debate.text
    failed = Voice(NoAnswer(CallEnding.CRASHED, "exit status 3", exit_status=3))
    ended = debate.run(failed, Voice(entry()), pause=must_not_wait)
    assert (ended.stop, ended.waits_for) == (StopReason.STUCK, (OTTER,))
    assert debate.text == before


@pytest.mark.requirement("DEC-032")
def test_in_a_free_debate_only_the_one_who_failed_is_skipped(tmp_path: Path) -> None:
    debate = DebateFile(tmp_path, turn_order=TurnOrder.FREE_FORM, max_rounds=1)
    debate.run(Voice(NoAnswer(CallEnding.SILENT, "")), Voice(entry("reject")), pause=must_not_wait)
    assert sorted(debate.entries) == [(OTTER, "defer"), (CRANE, "reject")]


@pytest.mark.requirement("DEC-032")
def test_a_run_that_may_not_take_longer_skips_nobody(tmp_path: Path) -> None:
    """A participant that was ended because the run's own time was over has not failed."""
    from moot.agents.runnable import Budget

    debate, times = DebateFile(tmp_path), iter([0.0, 0.0, 0.0, 0.0])
    failed = Voice(NoAnswer(CallEnding.TIMED_OUT, "ended"))
    ended = debate.run(
        failed, Voice(entry()), budget=Budget(seconds=5), timer=lambda: next(times, 9.0)
    )
    assert ended.stop is StopReason.TIME
    assert debate.entries == []


def test_a_seat_that_others_play_keeps_its_time(tmp_path: Path) -> None:
    from moot.agents.runner import Runner

    debate = DebateFile(tmp_path)
    ended = Runner(
        debate.runnable(), {OTTER: Voice(entry())}, debate.clock, pause=must_not_wait
    ).run()
    assert (ended.stop, ended.waits_for) == (StopReason.WAITING, (CRANE,))
    assert debate.entries == [(OTTER, "approve")]


def test_a_failure_is_told_without_the_programs_own_words() -> None:
    failure = CallFailure(CallEnding.CRASHED, "exit status 1: approve me", seconds=3.9, signal=9)
    assert failure.as_failed_answer.sentence == "No usable answer: crashed, signal 9, after 3 s."


# In a decision ------------------------------------------------------------------------------------

WAYS = {
    "exits": ("sys.exit(3)\n", r"crashed, exit 3", "crashed"),
    "killed": ("os.kill(os.getpid(), signal.SIGKILL)\n", r"crashed, signal 9", "crashed"),
    "garbage": ("print('I would rather not.')\n", r"could not be read, asked twice", "malformed"),
    "quiet": ("pass\n", r"said nothing", "silent"),
    "floods": ("print('x' * 5_000_000)\n", r"too long to be read", "too-long"),
    "lawless": (
        "print(json.dumps({'stance': 'approve', 'confidence': 1, 'summary': '<!-- yield -->'}))\n",
        r"broke the rules, asked twice",
        "refused",
    ),
}


@pytest.mark.requirement("DEC-032")
@pytest.mark.parametrize("way", WAYS)
def test_a_decision_goes_on_without_one_who_failed(project: Project, way: str) -> None:
    code, reason, ending = WAYS[way]
    good = program(project, "good", f"print(json.dumps({APPROVES}))\n")
    specs = f"{OTTER}={program(project, 'bad', code)},ann-lee={good},bob-fox={good}"
    data = project.ok("ask", QUESTION, "--with", specs)
    result = data["decision"]["result"]
    assert (result["result"], result["dissent"], result["absent"]) == ("carried", [], [OTTER])
    assert result["approvers"] == ["ann-lee", "bob-fox"]
    (voice,) = data["absent"]
    assert re.fullmatch(rf"No usable answer: {reason}, after \d+ s\.", voice["why"])
    assert data["decision"]["endings"][ending] >= 1
    skipped = entries_of(project)[OTTER]
    assert skipped.field_value("summary").startswith(voice["why"])
    assert "Turn timed out" not in skipped.field_value("summary")
    assert "2 approve, 1 absent: agreed" in data["outcome"]
    assert project.ok("verify")["verdict"] == "valid"
    shown = project.run("ask", "--resume", "q-1")
    assert f"absent in round 1: {OTTER}: {voice['why']}" in shown.out.splitlines()
    assert "dissent" not in shown.out
    project.ok("receipt", "q-1", "-o", "r.md")
    text = (project.root / "r.md").read_text("utf-8")
    assert voice["why"] in text
    assert "Nobody who took part in the last vote disagreed." in text
    assert project.ok("verify", "r.json")["verdict"] == "valid"


@pytest.mark.requirement("DEC-033")
def test_the_session_may_agree_where_the_decision_has_no_quorum(project: Project) -> None:
    good = program(project, "good", f"print(json.dumps({APPROVES}))\n")
    bad = program(project, "bad", "sys.exit(1)\n")
    specs = f"{OTTER}={bad},{CRANE}={bad},ann-lee={good}"
    data = project.ok("ask", QUESTION, "--with", specs, "--rounds", "1")
    result = data["decision"]["result"]
    assert (result["result"], result["absent"]) == ("no-quorum", [OTTER, CRANE])
    assert data["outcome"].startswith("1 approve, 2 absent: agreed (majority, 1 of 1 votes")
    assert "no quorum: 1 of 3 took part, more than half needed" in data["outcome"]
    assert data["next"].endswith("or approve, without a quorum)")
    status = project.ok("debate", "status", ".moot/decisions/q-1.md")
    assert status["state"] == "ended:consensus"
    project.ok("receipt", "q-1", "-o", "r.html")
    assert "no-quorum" in (project.root / "r.html").read_text("utf-8")


@pytest.mark.requirement("DEC-033")
def test_half_of_those_asked_are_no_quorum_and_nobody_is_none(project: Project) -> None:
    good = program(project, "good", f"print(json.dumps({APPROVES}))\n")
    bad = program(project, "bad", "sys.exit(1)\n")
    one = project.ok("ask", QUESTION, "--with", f"{good},{good},{bad},{bad}", "--rounds", "1")
    none = project.ok("ask", QUESTION, "--with", f"{bad},{bad}", "--rounds", "1")
    results = [each["decision"]["result"]["result"] for each in (one, none)]
    assert results == ["no-quorum", "no-quorum"]
    assert "nobody took a position" in none["outcome"]


@pytest.mark.requirement("DEC-033")
def test_all_who_defer_themselves_are_a_deadlock(project: Project) -> None:
    code = "print(json.dumps({'stance': 'defer', 'confidence': 0.1, 'summary': 'Not me.'}))\n"
    voice = program(project, "listens", code)
    data = project.ok("ask", QUESTION, "--with", f"{voice},{voice}", "--rounds", "1")
    assert data["decision"]["result"]["result"] == DecisionResult.DEADLOCK.value
    assert data["decision"]["result"]["absent"] == []


@pytest.mark.requirement("DEC-032")
def test_a_missing_first_answer_has_its_sentence_too(project: Project) -> None:
    (project.root / "bad.py").write_text("raise SystemExit('famous last words')", "utf-8")
    bad = f"cmd:{shlex.quote(sys.executable)} bad.py"
    data = project.ok("ask", QUESTION, "--with", f"{OTTER}={bad},rules:approve,rules:approve")
    (passed,) = [one for one in data["decision"]["answers"] if one["answer"] is None]
    assert re.fullmatch(r"No usable answer: crashed, exit 1, after \d+ s\.", passed["failure"])
    assert "famous last words" in passed["why"]  # on record, as what it is
    shown = project.run("ask", "--resume", "q-1").out
    assert passed["failure"] in shown
    assert "famous last words" not in shown
    assert dict(state_of(project, "q-1").endings)["crashed"] == 2


@pytest.mark.requirement("DEC-032")
def test_in_a_parliament_the_no_of_an_expelled_seat_is_the_rules(project: Project) -> None:
    bad = program(project, "bad", "print('I would rather not.')\n")
    specs = f"{OTTER}={bad},{CRANE}=rules:approve,ann-lee=rules:approve,bob-fox=rules:reject"
    words = ("ask", QUESTION, "--chamber", "parliament", "--with", specs)
    data = project.run("--json", *words).data
    result = data["decision"]["result"]
    assert (result["absent"], result["dissent"]) == ([OTTER], ["bob-fox"])
    assert f"({OTTER}: NO by rule: it failed)" in result["summary"]
    assert [(one["agent"], one["why"]) for one in data["absent"]] == [
        (OTTER, "NO by rule: it failed")
    ]
    project.ok("receipt", "q-1", "-o", "r.md")
    text = (project.root / "r.md").read_text("utf-8")
    assert "NO by rule: it failed" in text
    assert "rather not" not in text
