"""Wrong usage exits with 2, wherever it is noticed; 1 is for refusals."""

from __future__ import annotations

import pytest

from tests.project import Project


@pytest.mark.parametrize(
    "words",
    [
        ("ask", "Ship it?"),
        ("ask",),
        ("mail", "ack", "x:1", "--agent", "amber-otter", "--status", "done"),
        ("blocked", "teal-crane", "--urgency", "x"),
        ("release",),
        ("no-such-command",),
        ("status", "--no-such-option"),
    ],
)
def test_it_ends_with_2_and_says_where_help_is(project: Project, words: tuple[str, ...]) -> None:
    done = project.json(*words)
    assert (done.error["code"], done.code) == ("usage", 2)
    assert "--help`" in done.error["hint"]


@pytest.mark.parametrize(("option", "value"), [("--as", "NAME"), ("--home", "FOLDER")])
def test_an_option_of_all_commands_says_where_it_stands(
    project: Project, option: str, value: str
) -> None:
    done = project.json("scope", "reserve", "a.py", option, "x")
    assert (done.error["code"], done.code) == ("usage", 2)
    assert done.error["message"] == f"{option} belongs before the command"
    assert done.error["hint"] == f"moot {option} {value} scope reserve ..."


def test_what_may_be_said_is_named(project: Project) -> None:
    said = project.json("mail", "ack", "x:1", "--agent", "amber-otter", "--status", "done")
    assert "'Received', 'Understood', 'Will Action', 'Completed'" in said.error["message"]
    assert "--with" in project.json("ask", "Ship it?").error["message"]


def test_of_an_outcome_it_is_said_which_word_is_missing(project: Project) -> None:
    for words in (("q-1",), ("q-1", "q-2", "--reason", "x")):
        said = project.json("outcome", *words)
        assert (said.error["code"], said.code) == ("usage", 2)
        told = f"say how it turned out, after {words[-3] if len(words) > 1 else words[0]}"
        assert said.error["message"] == f"{told}: right, wrong or mixed"
    said = project.json("outcome", "right", "--reason", "x")
    assert (said.error["code"], said.code) == ("usage", 2)
    assert "Missing argument 'ID...'" in said.error["message"]
