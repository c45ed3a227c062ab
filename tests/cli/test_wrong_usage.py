"""Whatever was typed wrongly ends with 2, whoever notices it: 1 is for what is refused."""

from __future__ import annotations

import pytest

from tests.cli.project import Project


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


def test_what_may_be_said_is_named(project: Project) -> None:
    said = project.json("mail", "ack", "x:1", "--agent", "amber-otter", "--status", "done")
    assert "'Received', 'Understood', 'Will Action', 'Completed'" in said.error["message"]
    assert "--with" in project.json("ask", "Ship it?").error["message"]
