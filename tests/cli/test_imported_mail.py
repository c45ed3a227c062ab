"""What a message from outside brings along is kept and shown; what is not merged is counted."""

from __future__ import annotations

import json

import pytest

from tests.cli.test_mail import DELTA, NOON, THREAD, otter
from tests.project import Project


@pytest.fixture
def mail(bare: Project) -> Project:
    bare.env["MOOT_CLOCK"] = NOON
    bare.init("amber-otter", "teal-crane")
    return bare


def crane(*words: str) -> tuple[str, ...]:
    return ("--as", "teal-crane", *words)


def message(project: Project, name: str, **head: str) -> str:
    fields = {"from": "RedCreek", "to": "teal-crane", "subject": "INFO: hello", **head}
    body = fields.pop("body", "# Information\n\nHi.\n")
    lines = "".join(f"{key}: {json.dumps(value)}\n" for key, value in fields.items())
    (project.root / name).write_text(f"---\n{lines}---\n{body}", "utf-8")
    return name


def test_id_thread_and_time_from_outside_are_kept_and_shown(mail: Project) -> None:
    file = message(
        mail, "a.md", id="ext-7", thread_id="Lab Notes/7", created_at="2025-12-30T10:00:00+01:00"
    )
    taken = mail.ok(*crane("mail", "import", file))
    outside = {key: taken[key] for key in ("outside_id", "outside_thread", "sent")}
    assert outside == {
        "outside_id": "ext-7",
        "outside_thread": "Lab Notes/7",
        "sent": "2025-12-30T10:00:00+01:00",
    }
    assert taken["thread"] != "Lab Notes/7"  # no thread of ours may be called so
    shown = mail.ok("mail", "show", taken["id"])["message"]
    assert {key: shown[key] for key in outside} == outside
    text = mail.run("mail", "show", taken["id"]).out
    assert "outside  id ext-7, thread Lab Notes/7, sent 2025-12-30T10:00:00+01:00" in text


def test_the_text_says_what_of_it_could_not_be_kept(mail: Project) -> None:
    file = message(mail, "a.md", thread_id="Lab Notes/7")
    said = mail.run(*crane("mail", "import", file)).out
    assert "outside: thread Lab Notes/7" in said
    assert "the name of its thread is not valid here; --thread ID chooses another" in said
    assert "it names neither its id nor its time" in said
    sound = mail.run(*crane("mail", "import", message(mail, "b.md", id="ext-8", thread_id="lab")))
    assert "no thread here" not in sound.out
    capital = mail.run(
        *crane("mail", "import", message(mail, "c.md", id="ext-9", thread_id="RS-20251215-mRNA"))
    )
    assert "no thread here" not in capital.out
    assert mail.ok("mail", "thread", "RS-20251215-mRNA")["thread"] == "RS-20251215-mrna"
    assert "it does not name its time" in sound.out


def test_a_thread_id_that_holds_a_control_character_is_refused(mail: Project) -> None:
    file = message(mail, "a.md", id="ext-7", thread_id="a\u202eb")
    before = mail.ok("ledger", "log")
    assert mail.refused(*crane("mail", "import", file)) == ("bad_outside_name", 1)
    assert mail.ok("ledger", "log") == before


def test_compiling_counts_what_it_leaves_out_and_says_why(mail: Project) -> None:
    body = mail.root / "delta.md"
    body.write_text(DELTA % "ours", "utf-8")
    mail.ok(*otter("send", "teal-crane", "DELTA[opus]: x", str(body), "--thread", THREAD))
    for number in range(3):
        file = message(
            mail,
            f"{number}.md",
            id=f"ext-{number}",
            thread_id=THREAD,
            subject="DELTA[opus]: y",
            body=DELTA % "theirs",
        )
        mail.ok(*crane("mail", "import", file))
    compiled = mail.ok(*otter("mail", "compile", THREAD))
    assert (compiled["left_out"], compiled["statistics"]["hypothesis_slate"]) == (3, 1)
    (remark,) = [row for row in compiled["findings"] if row["code"] == "delta_not_proved"]
    assert remark["message"].startswith("left out 3 contributions from outside")
    assert "whose authors are not proved" in remark["message"]
    assert [f"{THREAD}:{number}" in remark["message"] for number in (2, 3, 4)] == [True] * 3


def test_a_thread_of_outside_contributions_alone_says_so(mail: Project) -> None:
    file = message(mail, "a.md", thread_id=THREAD, subject="DELTA[opus]: y", body=DELTA % "theirs")
    mail.ok(*crane("mail", "import", file))
    error = mail.json(*otter("mail", "compile", THREAD)).error
    assert error["code"] == "nothing_to_compile"
    assert "left out 1 contribution from outside" in error["message"]


@pytest.mark.parametrize(
    ("sender", "words"),
    [
        ("Operator", "Operator is a reserved name"),
        ("system", "system is a reserved name"),
        ("Amber-Otter", "Amber-Otter is an agent here"),
    ],
)
def test_a_reserved_name_is_not_called_an_agent(
    mail: Project,
    sender: str,
    words: str,
) -> None:
    before = mail.ok("ledger", "log")
    error = mail.json(*crane("mail", "import", message(mail, "a.md", **{"from": sender}))).error
    assert error["code"] == "forged_sender"
    assert words in error["message"]
    assert mail.ok("ledger", "log") == before
