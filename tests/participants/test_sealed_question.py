"""`moot ask` seals first answers: the order on record, the receipt, and both checkers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.agents.participant_kinds import RunSurroundings
from moot.api.decisions.questions import Question, put_question
from moot.api.decisions.receipt_content import TOGETHER, seal_block
from moot.api.runs.first_answers import NOT_OPENED, RunnableAnswers, SealedAnswers
from moot.core.errors import Refused
from moot.core.machine import Command
from moot.pages import Prose
from moot.protocols.decision import commands as asking
from moot.protocols.decision import stream_of
from moot.protocols.decision.rules import RULES
from moot.verify import load_trust, standalone, verify_bundle
from tests.participants.test_debate_run import CRANE, OTTER, state_of
from tests.project import Project

pytestmark = pytest.mark.requirement("DEC-038")

FINCH = "coral-finch"
VOICES = f"{OTTER}=rules:approve,{CRANE}=rules:sceptic,{FINCH}=rules:reject"
WORDS = ("ask", "Which queue?", "--option", "Postgres", "--option", "Kafka", "--with", VOICES)
SEALED, CLOSED, GIVEN = "answer_sealed", "seals_closed", "answer_given"


def types(project: Project) -> list[str]:
    events = project.ok("ledger", "log", "decision/q-1")["events"]
    ordered = sorted(events, key=lambda event: event["seq"])
    return [event["type"].removeprefix("decision.") for event in ordered]


def receipt(project: Project) -> Path:
    project.ok("receipt", "q-1", "-o", "r.json")
    return project.root / "r.json"


def export(project: Project) -> Path:
    project.ok("ledger", "export", "-o", "all.jsonl")
    return project.root / "all.jsonl"


def says(project: Project) -> Any:
    return json.loads(receipt(project).read_bytes())["says"]


def both(project: Project, file: Path) -> tuple[str, int | None]:
    """What both checkers say of a file: they must agree."""
    ours = verify_bundle(file, load_trust(project.pinned))
    theirs = standalone.verify(str(file), str(project.pinned))
    place = None if ours.first_bad is None else ours.first_bad.line
    assert (ours.verdict, place) == (theirs.verdict, theirs.first_bad and theirs.first_bad["line"])
    if ours.first_bad is not None:
        assert theirs.first_bad["seq"] == ours.first_bad.seq
    return ours.verdict, place


def test_all_are_on_record_then_a_checkpoint_then_they_are_opened(project: Project) -> None:
    project.ok(*WORDS)
    order = [name for name in types(project) if name in (SEALED, CLOSED, GIVEN)]
    assert order == [*[SEALED] * 3, CLOSED, *[GIVEN] * 3]
    assert not (project.root / ".moot" / "sealed" / "q-1").exists()
    assert both(project, receipt(project)) == ("valid", None)
    assert both(project, export(project)) == ("valid", None)


def test_the_receipt_says_what_it_proves_and_keeps_what_each_was_told(project: Project) -> None:
    project.ok(*WORDS, "--context", "We have one server.")
    seal = says(project)["seal"]
    assert (seal["sealed"], seal["unopened"], seal["refused"]) == ([OTTER, CRANE, FINCH], [], [])
    assert seal["custody"] == TOGETHER
    assert seal["custody"] == (
        "the runner says it kept them apart; it could have written any of them"
    )
    with project.workspace() as workspace:
        prompts = {
            name: b"".join(workspace.artifacts.chunks(sha256)).decode()
            for name, sha256 in seal["prompts"].items()
        }
    for name, prompt in prompts.items():
        assert prompt.startswith(f"You are {name}")
        assert "We have one server." in prompt
        assert not any(other in prompt for other in prompts if other != name)
    project.ok("receipt", "q-1", "-o", "r.md")
    page = (project.root / "r.md").read_text("utf-8")
    assert "How the first answers were kept apart" in page
    assert "The runner says it kept them apart; it could have written any of them." in page


def test_what_is_put_aside_is_for_this_user_alone(project: Project) -> None:
    with project.workspace() as workspace:
        seal_three(workspace)
        folder = workspace.path / "sealed" / "q-1"
        modes = {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir()}
        assert modes == dict.fromkeys((f"{OTTER}.json", f"{CRANE}.json", f"{FINCH}.json"), 0o600)
        log = [record.raw for record in records(workspace)]
    assert not any(b"Because of the log" in raw for raw in log)  # only the commitment is there


def records(workspace: Any) -> list[Any]:
    with workspace.store.read() as view:
        return list(view.records(stream_of("q-1")))


def seal_three(workspace: Any) -> SealedAnswers:
    """A question whose answers are sealed, and a run that ended there."""
    question = Question(text="Which queue?", participants=(VOICES,))
    put_question(workspace, question, RunSurroundings(workspace.root, {}))
    runnable = RunnableAnswers(workspace, "q-1")
    for due in runnable.dues():
        reply = {"answer": f"Answer of {due.who}", "why": "Because of the log."}
        runnable.submit(due, reply)
    assert runnable.dues() == []
    return SealedAnswers(workspace, "q-1")


def test_a_run_that_was_killed_in_between_goes_on_with_what_was_sealed(project: Project) -> None:
    with project.workspace() as workspace:
        seal_three(workspace)
    assert not state_of(project, "q-1").answers
    project.json("ask", "--resume", "q-1")
    answers = state_of(project, "q-1").answers
    assert {name: first.answer for name, first in answers.items()} == {
        name: f"Answer of {name}" for name in (OTTER, CRANE, FINCH)
    }


def test_one_whose_words_are_gone_is_absent_and_the_others_go_on(project: Project) -> None:
    with project.workspace() as workspace:
        sealed = seal_three(workspace)
        (workspace.path / "sealed" / "q-1" / f"{CRANE}.json").unlink()
        sealed.open_all()
        sealed.open_all()  # a second time is nothing
    first = state_of(project, "q-1").answers[CRANE]
    assert (first.answer, first.failure) == (None, NOT_OPENED)
    project.ok("ask", "--resume", "q-1")
    seal = says(project)["seal"]
    assert seal["unopened"] == [CRANE]
    assert both(project, receipt(project)) == ("valid", None)


def change_words(project: Project, name: str) -> None:
    file = project.root / ".moot" / "sealed" / "q-1" / f"{name}.json"
    opening = json.loads(file.read_bytes())
    file.write_text(json.dumps({**opening, "answer": "Whatever wins"}), encoding="utf-8")


def test_another_text_is_refused_on_record_and_told(project: Project) -> None:
    with project.workspace() as workspace:
        sealed = seal_three(workspace)
        change_words(project, CRANE)
        sealed.open_all()
    assert types(project).count("opening_refused") == 1
    assert state_of(project, "q-1").answers[CRANE].answer is None
    project.ok("ask", "--resume", "q-1")
    assert says(project)["seal"]["refused"] == [CRANE]
    assert both(project, receipt(project)) == ("valid", None)


def test_an_answer_that_could_not_be_opened_is_refused_before_it_is_sealed(
    project: Project,
) -> None:
    with project.workspace() as workspace:
        seal_three(workspace)
        workspace.engine.execute(
            stream_of("q-2"),
            asking.AskQuestion(
                question="Again?", seats=state_of(project, "q-1").seats, sealed=True
            ),
            "system",
        )
        runnable = RunnableAnswers(workspace, "q-2")
        due = runnable.dues()[0]
        with pytest.raises(Refused) as refused:
            runnable.submit(due, {"answer": "x" * 2_001})
    assert refused.value.code == "text_too_long"
    assert not state_of(project, "q-2").seals


# Records that no honest machine writes: the rules are taken away, the checkers stay.


def break_rules(monkeypatch: pytest.MonkeyPatch, *commands: type[Command]) -> None:
    for command in commands:
        monkeypatch.setitem(RULES, command, ())


def open_another(project: Project, workspace: Any) -> None:
    sealed = seal_three(workspace)
    change_words(project, CRANE)
    sealed.open_all()


def open_without_checkpoint(project: Project, workspace: Any) -> None:
    del project
    sealed = seal_three(workspace)
    sealed._close = lambda: None  # type: ignore[method-assign]
    sealed.open_all()


def seal_after_opening(project: Project, workspace: Any) -> None:
    del project
    sealed = seal_three(workspace)
    sealed.open_all()
    command = asking.SealAnswer(commitment="ab" * 32)
    workspace.engine.execute(stream_of("q-1"), command, CRANE)


def cover_nothing(project: Project, workspace: Any) -> None:
    del project
    sealed = seal_three(workspace)
    covered, closing = sealed._cover_seals()
    wrong = asking.CloseSeals(
        note=closing.note, number=closing.number, index=closing.index, path=("00" * 32,)
    )
    sealed._cover_seals = lambda: (covered, wrong)  # type: ignore[method-assign]
    sealed.open_all()


@pytest.mark.parametrize(
    ("forge", "bad"),
    [
        (open_another, GIVEN),
        (open_without_checkpoint, GIVEN),
        (seal_after_opening, SEALED),
        (cover_nothing, GIVEN),
    ],
)
def test_both_checkers_find_what_the_machine_would_have_refused(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    forge: Callable[[Project, Any], None],
    bad: str,
) -> None:
    break_rules(monkeypatch, asking.GiveAnswer, asking.SealAnswer)
    with project.workspace() as workspace:
        forge(project, workspace)
    project.ok("ask", "--resume", "q-1")
    file = receipt(project)
    verdict, line = both(project, file)
    assert verdict == "tampered"
    ours = verify_bundle(file, load_trust(project.pinned))
    assert ours.first_bad is not None
    assert ours.first_bad.seq is not None
    assert line is not None
    assert types(project)[ours.first_bad.seq] == bad
    assert both(project, export(project))[0] == "tampered"


@pytest.mark.requirement("DEC-038")
def test_a_page_without_seals_says_so() -> None:
    block = seal_block({"seal": None})
    assert isinstance(block, Prose)
    assert block.text.startswith("They were not sealed: nothing in the record proves")
