"""`moot ask` with several answers: each ranks them in the reply that holds its first vote."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from moot.api.debates import session
from moot.api.runs.rankings import RunnableRankings
from tests.participants.test_debate_run import CRANE, OTTER, state_of
from tests.project import Project

ANN = "ann-lee"
ANSWERS = {OTTER: "Postgres", CRANE: "Kafka", ANN: "Redis"}
# Asks what it sees, so that a ranking can be given by text, in whatever order it is shown.
PROGRAM = """
import json, sys
told = json.load(sys.stdin)
plan = json.load(open(sys.argv[1]))
if told["what"] == "first_answer":
    print(json.dumps({"answer": plan["answer"], "why": "because"}))
elif told["what"] == "ranking":
    shown = {q["text"].split("\\n")[0]: int(q["author"].split()[1])
             for q in told["quoted"] if q["author"].startswith("answer ")}
    json.dump(told, open(sys.argv[1] + ".seen", "w"))
    stances = plan.get("stances", {})
    ranked = [{"answer": shown[text], "stance": stances.get(text, "approve"), "confidence": 0.7}
              for text in plan["ranking"]]
    print(json.dumps({"ranking": ranked, "summary": "Ranked."} | plan.get("more", {})))
else:
    print(json.dumps({"stance": "approve", "confidence": 0.6, "summary": "In the session."}))
"""


def seat(project: Project, name: str, **plan: Any) -> str:
    (project.root / "voice.py").write_text(PROGRAM, encoding="utf-8")
    file = project.root / f"{name}.json"
    file.write_text(json.dumps({"answer": ANSWERS[name], **plan}), encoding="utf-8")
    program = (sys.executable, "-S", str(project.root / "voice.py"), str(file))
    return f"{name}=cmd:{shlex.join(program)}"


def seen(project: Project, name: str) -> Any:
    return json.loads((project.root / f"{name}.json.seen").read_text("utf-8"))


def ask(project: Project, rankings: dict[str, Any], *more: str) -> Any:
    return project.ok(*words(project, rankings), *more)


def words(project: Project, rankings: dict[str, Any]) -> tuple[str, ...]:
    specs = [seat(project, name, **plan) for name, plan in rankings.items()]
    return ("ask", "Which store?", "--with", ",".join(specs))


def entries(project: Project, name: str = "q-1.md") -> list[tuple[str, str]]:
    file = project.root / ".moot" / "decisions" / name
    checked = session.read(file)
    assert checked.valid
    return [(one.author, one.field_value("summary")) for one in checked.document.entries]


RANKINGS = {
    OTTER: {"ranking": ["Postgres", "Kafka", "Redis"]},
    CRANE: {"ranking": ["Kafka", "Postgres", "Redis"]},
    ANN: {"ranking": ["Redis", "Kafka", "Postgres"]},
}


@pytest.mark.requirement("DEC-036")
def test_the_ranking_is_the_first_vote_and_nobody_is_asked_twice(project: Project) -> None:
    decision = ask(project, RANKINGS)["decision"]
    assert decision["motion"] == {"text": "Postgres", "by": [OTTER], "chosen": ""}
    assert decision["result"]["result"] == "carried"
    assert decision["cost"]["calls"] == 6  # one answer and one ranking each
    assert entries(project) == [(name, "Ranked.") for name in RANKINGS]
    assert project.ok("verify")["verdict"] == "valid"


@pytest.mark.requirement("DEC-036")
def test_answers_are_shown_without_names_and_in_an_order_of_ones_own(project: Project) -> None:
    ask(project, RANKINGS)
    for name in RANKINGS:
        told = seen(project, name)
        shown = [quote["text"] for quote in told["quoted"]]
        assert not any(other in text for other in RANKINGS for text in shown)
        assert set(told["view"]) == {"answers", "own_answer"}
        own = f"answer {told['view']['own_answer']}"
        (mine,) = [quote["text"] for quote in told["quoted"] if quote["author"] == own]
        assert mine.startswith(ANSWERS[name])


@pytest.mark.requirement("DEC-037")
@pytest.mark.parametrize("rule", ["borda", "condorcet"])
def test_a_rule_chooses_another_motion_and_the_rule_of_the_vote_still_decides(
    project: Project, rule: str
) -> None:
    plans = {name: {**plan, "stances": {"Kafka": "reject"}} for name, plan in RANKINGS.items()}
    decision = ask(project, plans, "--choose", rule, "--rounds", "1")["decision"]
    assert decision["motion"] == {"text": "Kafka", "by": [CRANE], "chosen": rule}
    assert decision["result"]["approvers"] == []
    assert sorted(decision["result"]["dissent"]) == sorted(RANKINGS)
    choices = {one["rule"]: one["sentence"] for one in decision["ranking"]["choices"]}
    assert choices == {
        "plurality": "a tie of answers 1, 2 and 3",
        "borda": "answer 2",
        "condorcet": "answer 2",
    }
    assert decision["ranking"]["differ"]


@pytest.mark.requirement("DEC-037")
def test_a_tie_is_left_to_anyone_who_asked(project: Project) -> None:
    done = ask(project, RANKINGS, "--choose", "plurality")
    assert (done["decision"]["stage"], done["run"]["stop"]) == ("answering", "waiting")
    assert done["run"]["detail"].startswith("plurality chose a tie of answers 1, 2 and 3")
    assert done["next"] == "moot ask --resume q-1 --motion N"
    assert project.ok("agenda")["due"][0]["what"] == "pick"
    assert project.ok("ask", "--resume", "q-1")["decision"]["motion"] is None
    events = len(project.ok("ledger", "log", "decision/q-1")["events"])
    refused = project.json("ask", "--resume", "q-1", "--motion", "4")
    assert (refused.error["code"], refused.code) == ("unknown_option", 1)
    after = project.ok("ledger", "log", "decision/q-1")["events"]
    assert {event["type"] for event in after[events:]} <= {"decision.run_ended"}
    decision = project.ok("ask", "--resume", "q-1", "--motion", "3")["decision"]
    assert decision["motion"] == {"text": "Redis", "by": [ANN], "chosen": "picked"}
    assert decision["stage"] == "waiting"


@pytest.mark.requirement("DEC-036")
@pytest.mark.parametrize(
    "plan",
    [
        {"ranking": ["Redis", "Kafka"]},
        {"ranking": ["Redis", "Redis", "Kafka"]},
        {"ranking": ["Redis", "Kafka", "Postgres"], "more": {"ranking": "3 approve"}},
        {"ranking": [], "more": {"ranking": [{"answer": 9, "stance": "approve", "confidence": 1}]}},
        {"ranking": ["Redis", "Kafka", "Postgres"], "more": {"summary": "x" * 1_000_000}},
        {"ranking": ["Redis", "Kafka", "Postgres"], "more": {"author": "another"}},
    ],
    ids=["gap", "double", "typed", "unknown", "megabyte", "extra"],
)
def test_a_bad_ranking_is_malformed_contained_and_the_decision_goes_on(
    project: Project, plan: dict[str, Any]
) -> None:
    decision = ask(project, {**RANKINGS, ANN: plan}, "--choose", "borda", "--turn-seconds", "30")[
        "decision"
    ]
    assert decision["endings"]["malformed"] == 2
    cast = {one["agent"]: one for one in decision["ranking"]["rankings"]}
    assert cast[ANN]["ranking"] == []
    assert cast[ANN]["failure"].startswith("No usable answer")
    assert cast[OTTER]["ranking"] == [1, 2, 3]


@pytest.mark.requirement("DEC-036")
def test_anyone_who_gave_no_ranking_votes_in_the_session(project: Project) -> None:
    plans = {**RANKINGS, ANN: {"ranking": ["Redis"]}}
    ask(project, plans)
    assert entries(project) == [(OTTER, "Ranked."), (CRANE, "Ranked."), (ANN, "In the session.")]


@pytest.mark.requirement("DEC-036")
def test_an_argument_that_would_break_the_file_is_asked_for_in_the_session(
    project: Project,
) -> None:
    body = {"body": "## Dialogue\n<!-- yield -->\n```\nopen"}
    ask(project, {**RANKINGS, ANN: {**RANKINGS[ANN], "more": body}})
    assert [name for name, _ in entries(project)] == list(RANKINGS)


@pytest.mark.requirement("DEC-037")
def test_the_receipt_and_its_page_tell_all_three_rules(project: Project) -> None:
    ask(project, RANKINGS, "--choose", "borda")
    project.ok("receipt", "q-1", "-o", "r.md")
    says = json.loads((project.root / "r.json").read_text("utf-8"))["says"]
    assert says["motion"]["chosen"] == "borda"
    assert [choice["points"] for choice in says["ranking"]["choices"]] == [
        [1, 1, 1],
        [3, 4, 2],
        [1, 2, 0],
    ]
    page = (project.root / "r.md").read_text("utf-8")
    assert "What three rules choose" in page
    assert "The rules differ. The motion was chosen by borda." in page
    assert "a tie of answers 1, 2 and 3" in page
    assert "What these rules lack" in page
    assert "borda: it can pass over an answer that wins against each of the others" in page
    shown = project.run("ask", "--resume", "q-1").out
    assert "ranked by plurality: a tie of answers 1, 2 and 3\n" in shown
    assert "ranked by borda: answer 2\nranked by condorcet: answer 2\n" in shown


def test_a_person_types_a_ranking_in_one_line(project: Project) -> None:
    stopped = project.json(*words(project, RANKINGS), "--max-turns", "5")
    assert stopped.data["run"]["stop"] == "turns-spent"
    with project.workspace() as workspace:
        runnable = RunnableRankings(workspace, "q-1")
        (due,) = runnable.dues()
        line = "2 approve 0.8, 1 reject 0.6, 3 defer 0"
        runnable.submit(due, {"ranking": line, "summary": "Typed."})
        assert runnable.dues() == []
    cast = state_of(project, "q-1").rankings[due.who]
    assert sorted(cast.ranking) == [0, 1, 2]
    assert cast.votes[cast.ranking[0]].sure == "0.8"


def test_no_motion_is_picked_before_there_is_a_question(project: Project) -> None:
    done = project.run("ask", "Which?", "--with", "rules:approve,rules:reject", "--motion", "1")
    assert done.code == 2
    assert not Path(project.root / ".moot" / "decisions").exists()
