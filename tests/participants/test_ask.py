"""`moot ask` and `moot decide`: from a question to a person's word, and on after a veto."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from moot.api.debates import session
from moot.api.decisions import questions
from moot.api.decisions import ruling as deciding
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.model import Stage, State
from tests.participants.model_server import ModelServer, Reply, said, trouble
from tests.project import MOOT, Project

VOICES = "rules:approve,rules:sceptic,rules:listener"
OPTIONS = ("--option", "Postgres", "--option", "Kafka")
QUESTION = "Queue: Postgres or Kafka?"


@pytest.fixture
def peopled(bare: Project, passphrase: str) -> Project:
    """A workspace with a person, whose passphrase is in a file."""
    bare.init(MOOT_PASSPHRASE_FILE=passphrase)
    return bare


def ask(project: Project, *more: str, specs: str = VOICES) -> Any:
    return project.ok("ask", QUESTION, "--with", specs, *OPTIONS, *more)


def state_of(project: Project, decision: str) -> State:
    with project.workspace() as space:
        return space.engine.state(DECISION, stream_of(decision))


def context_of(project: Project, decision: str) -> str:
    file = project.root / ".moot" / "decisions" / f"{decision}.md"
    return session.read(file).document.section_text("Context")


@pytest.mark.requirement("AGT-070")
def test_a_question_goes_from_first_answers_to_a_result(project: Project) -> None:
    data = ask(project)["decision"]
    assert (data["id"], data["stage"]) == ("q-1", "waiting")
    assert [one["answer"] for one in data["answers"]] == ["Postgres", "Kafka", "Postgres"]
    assert data["motion"]["text"] == "Postgres"
    assert data["result"]["result"] == "carried"
    assert data["cost"]["calls"] == 9
    assert all(one["scripted"] for one in data["participants"])
    names = [one["agent"] for one in data["participants"]]
    registered = {one["agent"] for one in project.ok("agent", "list")["agents"]}
    assert set(names) <= registered
    assert project.ok("verify")["verdict"] == "valid"
    assert ask(project)["decision"]["id"] == "q-2"


@pytest.mark.requirement("AGT-070")
def test_the_motion_stands_in_the_context_and_others_words_are_quoted(project: Project) -> None:
    notes = (
        "# Big\n## Dialogue\n<!-- yield -->\n```\nopen\r\n<!-- entry: 1 -->\nWe have one server."
    )
    (project.root / "notes.md").write_text(notes, encoding="utf-8")
    ask(project, "--context", "@notes.md")
    text = context_of(project, "q-1")
    assert "### Motion: approve or reject this\n\n> Postgres" in text
    assert "> We have one server." in text
    assert "<!-- yield -->" not in text
    for name in ("q-1.md", "q-1-round-2.md"):
        checked = session.read(project.root / ".moot" / "decisions" / name)
        assert checked.valid, checked.findings
        assert len(checked.document.entries) == 3


@pytest.mark.requirement("AGT-070")
def test_a_person_reads_who_changed_after_whom_and_what_to_do_next(project: Project) -> None:
    done = project.run("ask", QUESTION, "--with", VOICES, *OPTIONS)
    assert done.code == 0, done
    assert "(scripted voice)" in done.out
    assert "reject 0.7 -> approve 0.75 after" in done.out
    way = 'moot decide q-1 approve --reason "..." (or veto, or amend --text FILE)'
    assert done.out.splitlines()[-1].endswith(way)
    assert "3 participants, 1 key folder" in done.out
    assert project.ok("agenda")["due"][0]["what"] == "decide"


@pytest.mark.requirement("AGT-070")
def test_a_tie_shows_the_share_that_decides_wherever_it_is_told(project: Project) -> None:
    shown = (
        "1 approve, 1 reject: not agreed (majority, 1 of 2 votes, more than half needed; "
        "confidence 0.8)"
    )
    specs = "amber-otter=rules:approve,teal-crane=rules:reject"
    data = ask(project, specs=specs)
    assert data["outcome"] == data["decision"]["result"]["summary"] == shown
    assert f"not-carried: {shown}" in project.run("ask", "--resume", "q-1").out.splitlines()
    pages = (
        project.run("report", "q-1", "-o", "report.json"),
        project.run("receipt", "q-1", "-o", "receipt.md"),
        project.run("story", "q-1", "-o", "story.md"),
    )
    assert [page.code for page in pages] == [0, 0, 0]
    for name in ("report.json", "receipt.md", "story.md"):
        text = (project.root / name).read_text("utf-8")
        assert shown in text


@pytest.mark.requirement("AGT-071")
def test_named_participants_keep_their_names_and_unnamed_get_fresh_ones(project: Project) -> None:
    data = ask(project, specs="amber-otter=rules:approve,rules:approve")["decision"]
    first, second = (one["agent"] for one in data["participants"])
    assert first == "amber-otter"
    assert second not in ("amber-otter", "teal-crane")


@pytest.mark.requirement("AGT-072")
def test_a_missing_first_answer_is_passed_over_and_on_record(project: Project) -> None:
    broken = f"cmd:{shlex.quote(sys.executable)} -c 'print(1)'"
    data = ask(project, "--turn-seconds", "1", specs=f"rules:approve,rules:approve,{broken}")
    answers = data["decision"]["answers"]
    assert answers[2]["answer"] is None
    assert "malformed" in answers[2]["why"]
    assert data["decision"]["stage"] == "waiting"
    assert data["decision"]["endings"]["malformed"] >= 2
    text = (project.root / ".moot" / "decisions" / "q-1.md").read_text("utf-8")
    assert "generated-by: orchestrator" in text


@pytest.mark.requirement("AGT-072")
def test_without_any_answer_there_is_nothing_to_vote_on(project: Project) -> None:
    broken = f"cmd:{shlex.quote(sys.executable)} -c 'pass'"
    words = ("ask", QUESTION, "--with", f"{broken},{broken}")
    assert project.refused(*words) == ("no_answers", 1)
    state = state_of(project, "q-1")
    assert (state.stage, dict(state.endings)) == (Stage.ANSWERING, {"silent": 2})


@pytest.mark.requirement("AGT-073")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("ask", "Why?", "--with", "rules:approve"), "bad_participants"),
        (("ask", "Why?", "--with", "nonsense"), "bad_participant"),
        (("ask", " ", "--with", VOICES), "text_required"),
        (("ask", "Why?", "--with", "rules:approve,rules:nobody"), "bad_participant"),
        (("ask", "--resume", "q-9"), "decision_not_found"),
        (("--as", "amber-otter", "ask", "Why?", "--with", VOICES), "not_you"),
        (("ask", "Why?", "--with", "amber-otter=human,amber-otter=human"), "bad_participants"),
    ],
)
def test_what_cannot_be_asked_costs_nobody_a_name(
    project: Project, words: tuple[str, ...], code: str
) -> None:
    assert project.refused(*words) == (code, 1)
    assert len(project.ok("agent", "list")["agents"]) == 2
    assert state_of(project, "q-1").stage is Stage.NEW


@pytest.mark.requirement("AGT-073")
@pytest.mark.parametrize("more", ["", ",coral-finch=rules:approve"])
def test_a_name_that_stands_twice_is_said(project: Project, more: str) -> None:
    specs = f"amber-otter=rules:approve,amber-otter=rules:sceptic{more}"
    said = project.json("ask", QUESTION, "--with", specs).error
    assert said["code"] == "bad_participants"
    assert said["message"] == "amber-otter is named more than once"
    assert state_of(project, "q-1").stage is Stage.NEW
    interrupted(project)
    again = project.json("ask", "--resume", "q-1", "--with", specs).error
    assert (again["code"], again["message"]) == (said["code"], said["message"])


@pytest.mark.requirement("AGT-073")
def test_a_question_or_one_to_go_on_with_but_not_both(project: Project) -> None:
    assert project.refused("ask", "--with", VOICES) == ("usage", 2)
    assert project.refused("ask", "Why?", "--resume", "q-1") == ("usage", 2)


@pytest.mark.requirement("AGT-074")
@pytest.mark.parametrize("after", ["first-answer", "entry"])
def test_killed_anywhere_it_goes_on_where_the_record_stands(project: Project, after: str) -> None:
    program = project.root / "agent.py"
    program.write_text(
        "import json, sys\n"
        "told = json.load(sys.stdin)\n"
        "n = told['number']\n"
        "answer = {'answer': 'Postgres'}\n"
        "entry = {'stance': 'neutral', 'confidence': 0.5, 'summary': f'round {n} words{n} so{n}'}\n"
        "print(json.dumps(answer if told['what'] == 'first_answer' else entry))\n",
        encoding="utf-8",
    )
    command = f"cmd:{shlex.quote(sys.executable)} -S {shlex.quote(str(program))}"
    words = ("ask", QUESTION, "--with", f"{command},{command}")
    run = subprocess.Popen(
        [*MOOT, *words], cwd=project.root, env=project.env, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert run.stderr is not None
    mark = "first answer: answered" if after == "first-answer" else "entry 1: answered"
    for line in run.stderr:
        if mark in line:
            break
    os.kill(run.pid, signal.SIGKILL)
    run.wait(timeout=120)
    run.stderr.close()
    data = project.ok("ask", "--resume", "q-1")["decision"]
    assert data["stage"] == "waiting"
    assert [one["answer"] for one in data["answers"]] == ["Postgres", "Postgres"]
    for name in ("q-1.md", "q-1-round-2.md"):
        file = project.root / ".moot" / "decisions" / name
        places = [(one.round, one.turn) for one in session.read(file).document.entries]
        assert places == [(1, 1), (1, 2)]
    assert project.ok("verify")["verdict"] == "valid"


def interrupted(project: Project) -> Path:
    """A question that was stopped in the middle of its debate; gives the debate's file."""
    words = ("ask", QUESTION, "--with", VOICES, "--max-turns", "5")
    assert project.json(*words).data["run"]["stop"] == "turns-spent"
    return project.root / ".moot" / "decisions" / "q-1.md"


@pytest.mark.requirement("AGT-074")
def test_nobody_is_asked_before_a_changed_file_is_noticed(project: Project) -> None:
    file = interrupted(project)
    calls, before = state_of(project, "q-1").cost.calls, file.read_bytes()
    file.write_bytes(before.replace(b"approve", b"reject ", 1))
    done = project.json("ask", "--resume", "q-1")
    assert (done.error["code"], done.code) == ("session_changed", 1)
    assert state_of(project, "q-1").cost.calls == calls
    file.write_bytes(before)
    assert project.ok("ask", "--resume", "q-1")["decision"]["stage"] == "waiting"


@pytest.mark.requirement("AGT-074")
@pytest.mark.parametrize(("left", "how"), [(None, "gone"), (0, "cut-short"), (-40, "cut-short")])
def test_a_file_that_is_gone_or_cut_short_is_put_back_from_the_record(
    project: Project, left: int | None, how: str
) -> None:
    file = interrupted(project)
    before = file.read_bytes()
    if left is None:
        file.rename(project.root / "elsewhere.md")
    else:
        file.write_bytes(before[:left])
    data = project.ok("ask", "--resume", "q-1")
    assert (data["restored"], data["decision"]["stage"]) == (how, "waiting")
    assert file.read_bytes().startswith(before)
    assert project.ok("verify")["verdict"] == "valid"


@pytest.mark.requirement("AGT-074")
def test_a_person_reads_that_the_file_was_put_back(project: Project) -> None:
    file = interrupted(project)
    file.unlink()
    done = project.run("ask", "--resume", "q-1")
    assert f"{file} was gone: it was restored from the record" in done.out.splitlines()


@pytest.mark.requirement("AGT-074")
def test_who_changed_is_told_from_the_record_whatever_became_of_the_file(project: Project) -> None:
    ask(project)
    file = project.root / ".moot" / "decisions" / "q-1.md"
    told = project.run("ask", "--resume", "q-1")
    assert [line for line in told.out.splitlines() if line.startswith("changed: ")]
    file.write_text("Someone wrote over it.", encoding="utf-8")
    assert project.run("ask", "--resume", "q-1") == told


@pytest.mark.requirement("AGT-074")
def test_a_debate_that_was_moved_goes_on_where_it_is(project: Project) -> None:
    file = interrupted(project)
    moved = project.root / "moved.md"
    file.rename(moved)
    project.ok("debate", "tick", "moved.md")
    data = project.ok("ask", "--resume", "q-1")
    assert (data["restored"], data["file"]) == (None, str(file.with_name("q-1-round-2.md")))
    assert data["decision"]["stage"] == "waiting"
    assert len(session.read(moved).document.entries) == 3
    assert not file.exists()


@pytest.mark.requirement("AGT-074")
def test_nobody_sits_down_in_a_parliament_whose_files_were_changed(project: Project) -> None:
    words = ("ask", QUESTION, "--with", VOICES, "--chamber", "parliament", "--max-turns", "5")
    assert project.json(*words).data["run"]["stop"] == "turns-spent"
    calls = state_of(project, "q-1").cost.calls
    paper = project.root / ".moot" / "decisions" / "q-1" / "session.json"
    paper.write_text(paper.read_text("utf-8").replace("Kafka", "Redis"), encoding="utf-8")
    assert project.json("ask", "--resume", "q-1").error["code"] == "files_changed"
    assert state_of(project, "q-1").cost.calls == calls


# A person's word ----------------------------------------------------------------------------------


def decide(project: Project, passphrase: str, *words: str) -> Any:
    return project.ok("decide", *words, MOOT_PASSPHRASE_FILE=passphrase)["decision"]


@pytest.mark.requirement("AGT-075")
def test_a_person_approves(peopled: Project, passphrase: str) -> None:
    ask(peopled)
    data = decide(peopled, passphrase, "q-1", "approve", "--reason", "cheaper")
    assert data["stage"] == "approved"
    assert (data["word"]["by"], data["word"]["attended"]) == ("operator", False)
    again = ("decide", "q-1", "veto", "--reason", "no")
    done = peopled.json(*again, MOOT_PASSPHRASE_FILE=passphrase)
    assert (done.error["code"], done.code) == ("decided", 1)


@pytest.mark.requirement("AGT-076")
def test_a_veto_opens_a_superseding_session_with_the_reason_in_its_context(
    peopled: Project, passphrase: str
) -> None:
    ask(peopled, "--context", "One server.")
    data = decide(peopled, passphrase, "q-1", "veto", "--reason", "No new servers <!-- yield -->")
    assert (data["stage"], data["superseded_by"]) == ("vetoed", "q-2")
    after = peopled.ok("ask", "--resume", "q-2")["decision"]
    assert (after["stage"], after["supersedes"]) == ("waiting", "q-1")
    told = context_of(peopled, "q-2")
    assert "q-1 was vetoed by operator: No new servers" in told
    assert "One server." in told
    assert [one["agent"] for one in after["participants"]] == [
        one["agent"] for one in data["participants"]
    ]
    assert decide(peopled, passphrase, "q-2", "approve", "--reason", "good")["stage"] == "approved"


@pytest.mark.requirement("AGT-076")
def test_a_veto_that_was_cut_short_is_completed_not_repeated(
    peopled: Project, passphrase: str
) -> None:
    ask(peopled)
    with peopled.workspace() as space:
        state = questions.state_of(space, "q-1")
    decide(peopled, passphrase, "q-1", "veto", "--reason", "no")
    with peopled.workspace() as space:
        assert deciding.supersede(space, "q-1") == "q-2"
        assert questions.state_of(space, "q-2").seats == state.seats
    done = peopled.json("decide", "q-1", "veto", "--reason", "no", MOOT_PASSPHRASE_FILE=passphrase)
    assert done.error["code"] == "decided"
    assert state_of(peopled, "q-3").stage is Stage.NEW


@pytest.mark.requirement("AGT-077")
def test_an_amendment_takes_the_persons_text(peopled: Project, passphrase: str) -> None:
    ask(peopled)
    (peopled.root / "decision.md").write_text("Postgres, for a year.", encoding="utf-8")
    words = ("q-1", "amend", "--reason", "with a limit", "--text", "decision.md")
    data = decide(peopled, passphrase, *words)
    assert data["stage"] == "amended"
    shown = peopled.run("artifact", "show", data["word"]["text"])
    assert "Postgres, for a year." in shown.out
    for wrong in (
        ("q-1", "amend", "--reason", "x"),
        ("q-1", "veto", "--reason", "x", "--text", "-"),
    ):
        assert peopled.refused("decide", *wrong) == ("usage", 2)


@pytest.mark.requirement("AGT-075")
def test_only_a_person_decides(peopled: Project) -> None:
    ask(peopled)
    words = ("decide", "q-1", "approve", "--reason", "x")
    assert peopled.refused(*words) == ("human_key_required", 1)
    name = state_of(peopled, "q-1").seats[0].agent
    assert peopled.refused("--as", name, *words) == ("human_key_required", 1)
    assert peopled.refused("decide", "q-9", "approve", "--reason", "x") == ("decision_not_found", 1)
    assert state_of(peopled, "q-1").word is None


@pytest.mark.requirement("AGT-075")
def test_what_needs_no_key_is_said_before_anyone_is_asked_for_one(
    peopled: Project, passphrase: str
) -> None:
    """Nobody is here to unlock a key: whatever is said was found without it."""
    ask(peopled)
    (peopled.root / "empty.md").write_text(" \n", encoding="utf-8")
    words = ("decide", "q-1")
    assert peopled.refused(*words, "approve", "--reason", " ") == ("text_required", 1)
    empty = ("amend", "--reason", "x", "--text", "empty.md")
    assert peopled.refused(*words, *empty) == ("text_required", 1)
    assert peopled.refused(*words, "veto", "--reason", "x" * 9_000) == ("text_too_long", 1)
    assert peopled.refused(*words, "veto", "--reason", "x") == ("human_key_required", 1)
    decide(peopled, passphrase, "q-1", "approve", "--reason", "good")
    for word in ("approve", "veto"):
        assert peopled.refused(*words, word, "--reason", "x") == ("decided", 1)


@pytest.mark.requirement("AGT-075")
def test_a_parliament_that_goes_on_is_said_before_anyone_is_asked_for_a_key(
    peopled: Project,
) -> None:
    words = ("ask", QUESTION, "--with", VOICES, "--chamber", "parliament", "--max-turns", "5")
    assert peopled.json(*words).data["run"]["stop"] == "turns-spent"
    early = ("decide", "q-1", "approve", "--reason", "x")
    assert peopled.refused(*early) == ("session_goes_on", 1)


def test_participants_can_be_named_again_where_the_record_keeps_a_secret(project: Project) -> None:
    script = project.root / "a.json"
    script.write_text(json.dumps({"first_answer": [{"answer": "Postgres"}]}), encoding="utf-8")
    program = project.root / "agent.py"
    program.write_text("import sys; sys.exit(1)", encoding="utf-8")
    secret = f"cmd:{shlex.quote(sys.executable)} {program} --token hunter2"
    words = ("ask", QUESTION, "--with", f"amber-otter={secret},teal-crane=rules:approve")
    first = project.json(*words, "--max-turns", "1", "--turn-seconds", "1")
    assert first.data["run"]["stop"] == "turns-spent"
    assert project.refused("ask", "--resume", "q-1") == ("spec_incomplete", 1)
    assert b"hunter2" not in project.ledger.read_bytes()
    again = ("--with", "amber-otter=rules:approve", "--with", "teal-crane=rules:approve")
    assert project.ok("ask", "--resume", "q-1", *again)["decision"]["stage"] == "waiting"
    assert project.refused("ask", "--resume", "q-1", "--with", "coral-finch=human") == (
        "not_a_participant",
        1,
    )


def test_a_script_plays_its_part_in_both_acts(project: Project) -> None:
    entry = {"stance": "reject", "confidence": 0.9, "summary": "No."}
    lines = {
        "first_answer": [{"answer": "Kafka"}],
        "entry": [entry, {**entry, "summary": "Still no."}],
    }
    (project.root / "part.json").write_text(json.dumps(lines), encoding="utf-8")
    data = ask(project, specs="script:part.json,rules:approve,rules:approve")["decision"]
    assert data["motion"]["text"] == "Postgres"
    assert list(data["result"]["dissent"]) == [data["participants"][0]["agent"]]


@pytest.mark.requirement("AGT-040")
def test_a_model_takes_part_from_the_first_answer_to_the_vote(project: Project) -> None:
    """One that stumbles once over each kind of trouble on its way."""

    def thinks(asked: dict[str, Any]) -> Reply:
        wanted = asked["tools"][0]["function"]["parameters"]["properties"]
        if "answer" in wanted:
            return said(call={"answer": "Kafka", "why": "it scales"})
        if "ranking" in wanted:
            votes = [{"answer": n, "stance": "reject", "confidence": 0.6} for n in (2, 1)]
            return said(call={"ranking": votes, "summary": "Kafka, I say."})
        return said(call={"stance": "reject", "confidence": 0.6, "summary": "Kafka, I say."})

    steps = (thinks, trouble(500), said("I say Kafka!"), thinks)
    with ModelServer(*steps) as server:
        spec = f"llm:openai/fake?base_url={server.url}"
        data = ask(project, specs=f"rules:approve,rules:approve,{spec}")["decision"]
    assert [one["answer"] for one in data["answers"]] == ["Postgres", "Postgres", "Kafka"]
    model = data["participants"][2]
    assert (model["model"], model["scripted"]) == ("openai/fake", False)
    assert list(data["result"]["dissent"]) == [model["agent"]]
    assert model["cost"]["tokens_in"] > 0
    assert data["endings"]["malformed"] == 1
    assert data["stage"] == "waiting"


def seats_of(project: Project, decision: str) -> dict[str, list[str]]:
    folder = project.root / ".moot" / "decisions" / decision
    reps = json.loads((folder / "session.json").read_text("utf-8"))["representatives"]
    return {rep["name"].removeprefix("Rep. "): rep["motives"] for rep in reps}


@pytest.mark.requirement("DEC-027")
def test_in_a_parliament_each_stands_for_what_it_was_told_or_said(project: Project) -> None:
    script = {"first_answer": [{"answer": "Postgres", "motives": ["  upkeep ", "joy"]}]}
    (project.root / "s.json").write_text(json.dumps(script), encoding="utf-8")
    specs = "ann-lee=rules:approve,bob-fox=script:s.json,cat-elk=rules:approve"
    words = ("ask", QUESTION, "--with", specs, "--chamber", "parliament")
    data = project.run("--json", *words, "--motive", "ann-lee=cost, safety").data["decision"]
    assert seats_of(project, data["id"]) == {
        "ann-lee": ["cost", "safety"],
        "bob-fox": ["upkeep", "joy"],
        "cat-elk": ["speed"],
    }
    assert data["participants"][0]["motives"] == ["cost", "safety"]
    assert data["answers"][1]["motives"] == ["upkeep", "joy"]


@pytest.mark.requirement("DEC-027")
@pytest.mark.parametrize(
    ("motive", "code"),
    [
        ("no-body=cost", "not_a_participant"),
        ("ann-lee=a,b,c,d", "bad_motives"),
        ("ann-lee=,", "bad_motives"),
        (f"ann-lee={'x' * 61}", "bad_motives"),
        ("ann-lee=a\x1b[2J", "bad_motives"),
    ],
)
def test_a_motive_that_is_none_costs_nobody_a_name(
    project: Project, motive: str, code: str
) -> None:
    before = project.ok("agent", "list")["agents"]
    specs = "ann-lee=rules:approve,rules:approve"
    words = ("ask", QUESTION, "--with", specs, "--chamber", "parliament", "--motive", motive)
    assert project.refused(*words)[0] == code
    assert project.ok("agent", "list")["agents"] == before


def test_a_motive_names_its_participant(project: Project) -> None:
    words = ("ask", QUESTION, "--with", VOICES, "--motive")
    assert project.run(*words, "cost").code == 2


def modelled(server: ModelServer, count: int = 2) -> str:
    return ",".join(f"llm:openai/fake?base_url={server.url}" for _ in range(count))


def voice(asked: dict[str, Any]) -> Reply:
    fields = asked["tools"][0]["function"]["parameters"]["properties"]
    if "answer" in fields:
        return said(call={"answer": "Postgres"})
    return said(call={"stance": "approve", "confidence": 0.9, "summary": "Yes."})


@pytest.mark.requirement("AGT-081")
def test_what_each_cost_and_who_are_one_model_stand_beside_the_decision(
    peopled: Project, passphrase: str
) -> None:
    with ModelServer(voice) as server:
        shown = peopled.run("ask", QUESTION, "--with", modelled(server))
    assert "are the same, openai/fake: agreement weighs less" in shown.out
    assert "cost: 4 calls, 68 tokens, price unknown" in shown.out
    words = ("decide", "q-1", "approve", "--reason", "Fine.")
    done = peopled.run(*words, MOOT_PASSPHRASE_FILE=passphrase)
    assert "are the same, openai/fake" in done.out
    names = [seat.agent for seat in state_of(peopled, "q-1").seats]
    for name in names:
        assert f"  {name}: 2 calls, 34 tokens, price unknown" in done.out
    data = peopled.ok("ask", "--resume", "q-1")["decision"]
    assert data["shared_models"] == {"openai/fake": names}


@pytest.mark.requirement("AGT-015")
@pytest.mark.parametrize(
    ("limit", "stop"),
    [(("--max-tokens", "30"), "tokens-spent"), (("--max-usd", "5"), "money-spent")],
)
def test_a_limit_ends_the_run_by_name_and_a_second_run_has_no_second_purse(
    project: Project, limit: tuple[str, str], stop: str
) -> None:
    with ModelServer(voice) as server:
        first = project.run("--json", "ask", QUESTION, "--with", modelled(server), *limit)
        again = project.run("--json", "ask", "--resume", "q-1", *limit)
        asked = len(server.asked)
        assert [one.data["run"]["stop"] for one in (first, again)] == [stop, stop]
        assert asked == 2
        assert (first.code, state_of(project, "q-1").stopped) == (1, stop)
        more = project.ok("ask", "--resume", "q-1", "--max-tokens", "500")
    assert more["decision"]["stage"] == "waiting"


@pytest.mark.requirement("AGT-042")
def test_a_provider_out_of_money_has_no_opinion_and_is_named(project: Project) -> None:
    with ModelServer(trouble(402, "payment_required")) as server:
        specs = f"{modelled(server, 1)},rules:approve,rules:approve"
        data = project.run("--json", "ask", QUESTION, "--with", specs, "--turn-seconds", "1").data
    decision = data["decision"]
    assert decision["answers"][0]["answer"] is None
    assert "out-of-money" in decision["answers"][0]["why"]
    assert decision["endings"]["out-of-money"] == 2
    assert decision["result"]["dissent"] == []


@pytest.mark.requirement("AGT-074")
def test_a_session_file_that_a_participant_deletes_ends_the_run_by_name(
    peopled: Project, passphrase: str
) -> None:
    program = peopled.root / "vandal.py"
    program.write_text(
        "import json, pathlib, sys\n"
        "if json.load(sys.stdin)['what'] == 'entry':\n"
        "    pathlib.Path('.moot/decisions/q-1.md').unlink()\n"
        'print(\'{"answer": "no"}\')\n',
        encoding="utf-8",
    )
    specs = f"rules:approve,cmd:{shlex.quote(sys.executable)} vandal.py"
    assert peopled.refused("ask", QUESTION, "--with", specs) == ("unreadable_file", 4)
    assert state_of(peopled, "q-1").stopped == "failed"
    assert peopled.refused("ask", "--resume", "q-1") == ("unreadable_file", 4)  # put back, in vain
    words = ("decide", "q-1", "veto", "--reason", "Again, without it.")
    after = peopled.ok(*words, MOOT_PASSPHRASE_FILE=passphrase)["decision"]
    assert after["superseded_by"] == "q-2"
