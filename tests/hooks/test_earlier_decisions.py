"""At its start a session is told what was decided about what it is about to edit."""

from __future__ import annotations

import pytest

from moot.api.decisions.earlier_decisions import find_names
from tests.hooks.tool_calls import call
from tests.project import CRANE, OTTER, Project

HEAD = "Earlier decisions about files that are changed or held here:"


def ask(project: Project, question: str) -> str:
    words = ("ask", question, "--with", "rules:approve,rules:approve")
    return str(project.ok(*words)["decision"]["id"])


def told_at_start(project: Project) -> list[str]:
    lines = project.hook("claude", call("claude-start", project.root)).out.splitlines()
    if HEAD not in lines:
        return []
    behind = lines[lines.index(HEAD) + 1 :]
    return [line for line in behind if line.startswith("- ")]


def change(project: Project, path: str) -> None:
    file = project.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("changed", encoding="utf-8")


def test_what_was_decided_about_a_changed_file_is_told(project: Project) -> None:
    decision = ask(project, "Shall tokens in `src/auth/tokens.py` be opaque?")
    ask(project, "Shall docs/index.md be split?")
    assert told_at_start(project) == []
    change(project, "src/auth/tokens.py")
    (line,) = told_at_start(project)
    assert line.startswith(
        "- src/auth/tokens.py: \"Shall tokens in 'src/auth/tokens.py' be opaque?\""
    )
    assert "was carried" in line
    assert f"moot report {decision}" in line
    assert project.run("report", decision).code == 0


def test_what_is_held_counts_and_so_does_a_folder_above_it(project: Project) -> None:
    ask(project, "Who owns src/auth/?")
    project.reserve(OTTER, "src/auth/login.py")
    assert [line.split(":")[0] for line in told_at_start(project)] == ["- src/auth"]


def test_a_question_that_names_the_work_belongs_to_it(project: Project) -> None:
    ask(project, "Is bb-7 worth it?")
    project.ok("--as", OTTER, "join", "--work", "bb-7")
    assert [line.split(":")[0] for line in told_at_start(project)] == ["- bb-7"]


def test_what_another_holds_is_not_told(project: Project) -> None:
    ask(project, "Shall src/auth/tokens.py be opaque?")
    project.reserve(CRANE, "src/auth")
    assert told_at_start(project) == []


def test_the_newest_three_are_told(project: Project) -> None:
    ids = [ask(project, f"Is number {number} right for src/a.py?") for number in range(4)]
    change(project, "src/a.py")
    lines = told_at_start(project)
    assert [id_ for line in lines for id_ in ids if f"report {id_}`" in line] == ids[:0:-1]


def test_a_parliament_of_its_own_and_a_debate_are_told(project: Project) -> None:
    change(project, "src/a.py")
    words = ("ask", "Does src/a.py stay?", "--with", "rules:approve,rules:approve,rules:approve")
    decision = project.ok(*words, "--chamber", "parliament")["decision"]["id"]
    assert [f"report {decision}`" in line for line in told_at_start(project)] == [True]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("see src/a.py.", ["src/a.py"]),
        ("(src/a.py)", ["src/a.py"]),
        ("./src/*", ["src"]),
        (":/src/", ["src"]),
        ("all of src", []),
        ("src/a.pyx and library/src/a.py", []),
        ("T-7: is it?", ["T-7"]),
        ("T-71", []),
        ("either/or, and/or, w/src/a.py", []),
        ("", []),
        ("/", []),
    ],
)
def test_only_whole_names_count(text: str, names: list[str]) -> None:
    assert list(find_names(text, ["src/a.py", "README.md"], "T-7")) == names
