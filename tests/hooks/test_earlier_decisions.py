"""At its start a session is told what was decided about what it is about to edit."""

from __future__ import annotations

import pytest

from moot.flows.decisions.earlier_decisions import find_names
from tests.hooks.yard import CRANE, OTTER, Yard, call

HEAD = "Decided before about what is changed or held here:"


def ask(yard: Yard, question: str) -> str:
    words = ("ask", question, "--with", "rules:approve,rules:approve")
    return str(yard.ok(*words)["decision"]["id"])


def told_at_start(yard: Yard) -> list[str]:
    lines = yard.hook("claude", call("claude-start", yard.root)).out.splitlines()
    if HEAD not in lines:
        return []
    behind = lines[lines.index(HEAD) + 1 :]
    return [line for line in behind if line.startswith("- ")]


def change(yard: Yard, path: str) -> None:
    file = yard.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("changed", encoding="utf-8")


def test_what_was_decided_about_a_changed_file_is_told(yard: Yard) -> None:
    decision = ask(yard, "Shall tokens in `src/auth/tokens.py` be opaque?")
    ask(yard, "Shall docs/index.md be split?")
    assert told_at_start(yard) == []
    change(yard, "src/auth/tokens.py")
    (line,) = told_at_start(yard)
    assert line.startswith(
        "- src/auth/tokens.py: \"Shall tokens in 'src/auth/tokens.py' be opaque?\""
    )
    assert "was carried" in line
    assert f"moot report {decision}" in line
    assert yard.run("report", decision).code == 0


def test_what_is_held_counts_and_so_does_a_folder_above_it(yard: Yard) -> None:
    ask(yard, "Who owns src/auth/?")
    yard.reserve(OTTER, "src/auth/login.py")
    assert [line.split(":")[0] for line in told_at_start(yard)] == ["- src/auth"]


def test_a_question_that_names_the_work_belongs_to_it(yard: Yard) -> None:
    ask(yard, "Is bb-7 worth it?")
    yard.ok("--as", OTTER, "join", "--work", "bb-7")
    assert [line.split(":")[0] for line in told_at_start(yard)] == ["- bb-7"]


def test_what_another_holds_is_not_told(yard: Yard) -> None:
    ask(yard, "Shall src/auth/tokens.py be opaque?")
    yard.reserve(CRANE, "src/auth")
    assert told_at_start(yard) == []


def test_the_newest_three_are_told(yard: Yard) -> None:
    ids = [ask(yard, f"Is number {number} right for src/a.py?") for number in range(4)]
    change(yard, "src/a.py")
    lines = told_at_start(yard)
    assert [id_ for line in lines for id_ in ids if f"report {id_}`" in line] == ids[:0:-1]


def test_a_parliament_of_its_own_and_a_debate_are_told(yard: Yard) -> None:
    change(yard, "src/a.py")
    words = ("ask", "Does src/a.py stay?", "--with", "rules:approve,rules:approve,rules:approve")
    decision = yard.ok(*words, "--chamber", "parliament")["decision"]["id"]
    assert [f"report {decision}`" in line for line in told_at_start(yard)] == [True]


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
