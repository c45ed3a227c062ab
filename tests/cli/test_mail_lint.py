"""`moot mail lint` and `template` on bare files: envelopes, exit codes, what happens to bytes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from moot.protocols.mail.types import TYPES, MessageType
from tests.mail.bodies import body_of, subject_of
from tests.mail.scene import handoff
from tests.project import MOOT, Project


def write(bare: Project, body: str | bytes, name: str = "m.md") -> Path:
    file = bare.root / name
    file.write_bytes(body if isinstance(body, bytes) else body.encode())
    return file


@pytest.mark.requirement("BRN-003")
@pytest.mark.parametrize("kind", [one.value for one in MessageType])
def test_a_good_message_is_valid_without_a_workspace(bare: Project, kind: str) -> None:
    write(bare, body_of(kind))
    data = bare.ok("mail", "lint", "m.md", "--subject", subject_of(kind))
    expected = TYPES[MessageType(kind)].ack_required
    assert data == {"valid": True, "type": kind, "ack_required": expected, "findings": []}
    assert [path.name for path in bare.root.iterdir()] == ["m.md"]


def test_a_bad_message_ends_with_1_and_says_rule_line_and_hint(bare: Project) -> None:
    file = write(bare, "# Why?\n\n## Context\n\n## Excerpt\n§1\n")
    done = bare.json("mail", "lint", "m.md", "--subject", "KICKOFF: x")
    assert done.code == 1
    assert done.data["valid"] is False
    (finding,) = done.data["findings"]
    assert finding == {
        "rule": "MB-003",
        "code": "missing_context",
        "severity": "error",
        "message": "`## Context` is empty",
        "line": 3,
        "where": "## Context",
        "hint": "say under `## Context` what one has to know",
    }
    said = bare.run("mail", "lint", "m.md", "--subject", "KICKOFF: x")
    assert said.code == 1
    assert "MB-003 line 3" in said.out
    assert said.out.endswith("m.md: not valid (KICKOFF, an ACK is owed)\n")
    assert file.read_bytes() == b"# Why?\n\n## Context\n\n## Excerpt\n\xc2\xa71\n"


def test_a_subject_without_a_type_is_no_reason_to_fail(bare: Project) -> None:
    write(bare, "text")
    done = bare.json("mail", "lint", "m.md", "--subject", "hello")
    assert (done.code, done.data["type"]) == (1, None)
    assert done.data["findings"][0]["code"] == "invalid_subject_prefix"


@pytest.mark.parametrize(
    ("flag", "owed", "rules"),
    [((), True, []), (("--ack-required",), True, []), (("--no-ack",), False, ["MB-011"])],
)
def test_the_flag_is_checked(
    bare: Project, flag: tuple[str, ...], owed: bool, rules: list[str]
) -> None:
    write(bare, body_of("QUESTION"))
    data = bare.ok("mail", "lint", "m.md", "--subject", "QUESTION: x", *flag)
    assert data["ack_required"] is owed
    assert [finding["rule"] for finding in data["findings"]] == rules


def test_fix_fixes_the_file_and_says_what_it_did(bare: Project) -> None:
    file = write(bare, "# Q\r\n\r\n## QUESTION\r\nWhy?\r\n\r\n## urgency\r\nsoon\r\n")
    words = ("mail", "lint", "m.md", "--subject", "question: x", "--no-ack", "--fix")
    done = bare.run(*words)
    assert done.code == 0, done
    assert "fixed the heading reads `## Question`" in done.out
    assert "subject: QUESTION: x" in done.out
    assert b"## Question\r\nWhy?\r\n" in file.read_bytes()
    assert b"## Urgency\r\nSoon\r\n" in file.read_bytes()
    before = file.read_bytes()
    again = bare.ok("mail", "lint", "m.md", "--subject", "QUESTION: x", "--fix")
    assert (again["repairs"], again["subject"]) == ([], "QUESTION: x")
    assert file.read_bytes() == before == again["body"].encode()


def test_fix_of_what_needs_a_person_leaves_it_invalid(bare: Project) -> None:
    write(bare, "# Q\n\n## urgency\nsoon\n")
    done = bare.json("mail", "lint", "m.md", "--subject", "QUESTION: x", "--fix")
    assert done.code == 1
    assert [finding["rule"] for finding in done.data["findings"]] == ["MBX-100"]


def test_standard_input_is_linted_and_fixed_to_standard_output(bare: Project) -> None:
    words = ["mail", "lint", "-", "--subject", "blocked: auth-7", "--fix"]
    body = body_of("BLOCKED").replace("Dependency", "DEPENDENCY")
    done = subprocess.run(
        [*MOOT, *words],
        cwd=bare.root,
        env=bare.env,
        input=body.encode(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done
    assert done.stdout.decode() == body_of("BLOCKED")


def test_bytes_that_are_no_text_are_a_finding_and_never_written(bare: Project) -> None:
    file = write(bare, b"# A\n\xff\n")
    for more in ((), ("--fix",)):
        done = bare.json("mail", "lint", "m.md", "--subject", "INFO: x", *more)
        assert done.code == 1
        assert [one["rule"] for one in done.data["findings"]] == ["MBX-005"]
    assert file.read_bytes() == b"# A\n\xff\n"


def test_a_file_that_cannot_be_read_ends_with_4(bare: Project) -> None:
    for name in ("none.md", "."):
        words = ("mail", "lint", name, "--subject", "INFO: x")
        assert bare.refused(*words) == ("unreadable_file", 4)


def test_a_file_beyond_all_measure_is_refused(bare: Project) -> None:
    with (bare.root / "m.md").open("wb") as file:
        file.truncate(16 * 1024 * 1024 + 1)
    assert bare.refused("mail", "lint", "m.md", "--subject", "INFO: x") == ("too_large", 1)


def test_control_characters_in_a_subject_are_shown_not_obeyed(bare: Project) -> None:
    write(bare, "text")
    done = bare.run("mail", "lint", "m.md", "--subject", "\x1b[31mred")
    assert "\x1b" not in done.out


MESSAGE = """\ufeff---\r
id: ext-7\r
from: amber-otter\r
Subject-Note: kept as it is\r
subject: 'question: which cache?'\r
requires_ack: "0"\r
---\r
# Question\r
\r
## urgency\r
soon\r
"""


def test_a_message_file_says_its_subject_itself(bare: Project) -> None:
    write(bare, MESSAGE.replace("question: w", "QUESTION: w"))
    done = bare.json("mail", "lint", "m.md")
    assert (done.code, done.data["type"], done.data["ack_required"]) == (1, "QUESTION", False)
    assert [(one["rule"], one["line"]) for one in done.data["findings"]] == [
        ("MBX-100", 8),
        ("MB-011", None),
    ]
    assert bare.json("mail", "lint", "m.md", "--ack-required").data["ack_required"] is True
    said = bare.json("mail", "lint", "m.md", "--subject", "INFO: x").data
    assert said["type"] == "INFO"


def test_fix_fixes_a_message_file_in_its_place(bare: Project) -> None:
    file = write(bare, MESSAGE)
    done = bare.json("mail", "lint", "m.md", "--fix")
    assert [one["rule"] for one in done.data["findings"]] == ["MBX-100"]
    fixed = file.read_bytes().decode()
    assert 'subject: "QUESTION: which cache?"\r\nrequires_ack: true\r\n---\r\n# Q' in fixed
    assert "## Urgency\r\nSoon\r\n" in fixed
    assert fixed.startswith("\ufeff---\r\nid: ext-7\r\nfrom: amber-otter\r\nSubject-Note: kept")
    assert bare.json("mail", "lint", "m.md", "--fix").data["repairs"] == []
    assert file.read_bytes().decode() == fixed


def test_a_message_as_json_is_linted_and_not_rewritten(bare: Project) -> None:
    words = {"subject": "INFO: x", "from": "RedCreek", "body_md": "# Information\n"}
    file = write(bare, json.dumps(words))
    assert bare.ok("mail", "lint", "m.md")["type"] == "INFO"
    before = file.read_bytes()
    assert bare.refused("mail", "lint", "m.md", "--fix") == ("cannot_fix", 1)
    assert file.read_bytes() == before


@pytest.mark.parametrize("body", ["# Information\n", "---\nfrom: x\n---\nbody", b"\xff", ""])
def test_without_any_subject_it_is_asked_for(bare: Project, body: str | bytes) -> None:
    write(bare, body)
    done = bare.json("mail", "lint", "m.md")
    assert done.code == 1
    assert "--subject" in done.error["hint"]


def test_the_sender_of_a_message_file_is_who_hands_over(bare: Project) -> None:
    head = "---\nfrom: amber-otter\nsubject: 'HANDOFF: T-7 to teal-crane'\n---\n"
    write(bare, head + handoff(sender="coral-finch"))
    done = bare.json("mail", "lint", "m.md")
    assert [one["rule"] for one in done.data["findings"]] == ["MBX-084"]


@pytest.mark.parametrize("kind", [one.value for one in MessageType])
def test_a_template_is_printed_to_be_filled_in(bare: Project, kind: str) -> None:
    data = bare.ok("mail", "template", kind.lower())
    assert (data["type"], data["ack_required"]) == (kind, TYPES[MessageType(kind)].ack_required)
    said = bare.run("mail", "template", kind)
    assert said.code == 0
    assert said.out == f"<!-- subject: {data['subject']} -->\n{data['body']}"


def test_an_unknown_type_is_wrong_usage(bare: Project) -> None:
    assert bare.refused("mail", "template", "HELLO") == ("usage", 2)
