"""Mail as it is typed: send, read, answer, chase, take in, compile; one act in two records."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from moot.api.mail import answers
from moot.api.mail.sending import send
from moot.api.mail.texts import template
from moot.api.session import Session
from moot.core.errors import Conflict, MootError
from moot.keys.folder import KeyFolder
from tests.project import MOOT, Project

NOON = "2026-02-18T12:00:00Z"
KICKOFF = """# Slow logins

## Research Question
Why do logins take three seconds since Monday?

## Context
The median was 0.3 seconds. Nothing was deployed on Monday.

## Excerpt
"It hangs before the form appears." §12

## Requested Outputs
Three hypotheses, and one test that tells them apart.
"""
DELTA = """# Delta Contribution

## Deltas

```delta
{"operation": "ADD", "section": "hypothesis_slate", "target_id": null,
 "payload": {"name": "%s", "claim": "c", "mechanism": "m", "anchors": ["§12"]},
 "rationale": "§12"}
```
"""
OUTSIDE = """---
id: ext-7
from: %s
to: teal-crane
subject: "%s"
ack_required: true
---
%s"""
THREAD = "RS-20260218-slow-logins"


def later(minutes: int) -> str:
    return f"2026-02-18T{12 + minutes // 60:02d}:{minutes % 60:02d}:00Z"


@pytest.fixture
def mail(bare: Project) -> Project:
    """A workspace under the test clock, with three agents."""
    bare.env["MOOT_CLOCK"] = NOON
    bare.init("amber-otter", "teal-crane", "coral-finch")
    return bare


def otter(*words: str) -> tuple[str, ...]:
    return ("--as", "amber-otter", *words)


def crane(*words: str) -> tuple[str, ...]:
    return ("--as", "teal-crane", *words)


def ask(mail: Project, *more: str) -> str:
    words = otter("send", "teal-crane", "QUESTION: Which cache?", *more)
    sent: str = mail.ok(*words)["id"]
    return sent


def events(mail: Project) -> int:
    with mail.workspace() as space, space.store.read() as view:
        return view.count_streams_and_events()[1]


def ids(data: Any) -> list[str]:
    return [one["id"] for one in data["messages"]]


def write(mail: Project, name: str, text: str) -> str:
    (mail.root / name).write_bytes(text.encode())
    return name


@pytest.mark.requirement("BRN-076")
def test_a_question_its_ack_and_its_answer(mail: Project) -> None:
    sent = mail.ok(*otter("send", "teal-crane", "QUESTION: Which cache?"))
    assert set(sent) >= {"id", "thread", "ack_required"}
    assert (sent["ack_required"], sent["by"]) == (True, "2026-02-18T12:30:00.000Z")
    message = sent["id"]
    assert message == f"{sent['thread']}:1"
    (new,) = mail.ok(*crane("inbox"))["messages"]
    assert (new["id"], new["from"], new["state"]) == (message, "amber-otter", "unread")
    assert mail.ok(*crane("inbox"))["messages"] == []
    (due,) = mail.ok("agenda", "--agent", "teal-crane")["due"]
    assert due["what"] == "answer"
    given = mail.ok(*crane("mail", "ack", message, "--status", "will action"))
    assert given["standing"]["acknowledged"] == "complete"
    assert given["standing"]["open"] is True
    (told,) = mail.ok(*otter("inbox"))["messages"]
    assert (told["id"], told["says"]) == (given["ack"], "Will Action")
    assert "(Will Action)" in mail.run(*otter("inbox", "--all")).out
    answered = mail.ok(*crane("send", "amber-otter", "INFO: The inner one", "--re", message))
    assert answered["thread"] == sent["thread"]
    assert mail.ok("mail", "pending")["pending"] == []
    shown = mail.ok("mail", "show", message)
    (answer,) = shown["answers"]
    assert (answer["agent"], answer["status"]) == ("teal-crane", "Completed")
    assert (answer["by"], answer["notes"]) == (answered["id"], "The inner one")
    assert shown["message"]["proved"] is True
    assert len(mail.ok("mail", "thread", sent["thread"])["messages"]) == 3
    assert message in ids(mail.ok("mail", "search", "which", "CACHE"))


def test_a_message_that_is_wrong_is_refused_with_what_to_do(mail: Project) -> None:
    before = events(mail)
    done = mail.json(*otter("send", "teal-crane", "CRITIQUE: H1", "--text", "# Critique: H1"))
    assert done.code == 1
    rules = {one["rule"] for one in done.error["findings"]}
    assert rules >= {"MB-006", "MB-007"}
    assert all(one["hint"] for one in done.error["findings"])
    bad = write(mail, "bad.md", (DELTA % "x").replace('"§12"}', '"§12",}'))
    said = mail.run(*otter("send", "teal-crane", "DELTA[opus]: x", bad))
    assert "error MB-005 line 8 delta block 1" in said.err
    said = mail.run(*otter("send", "teal-crane", "which cache?"))
    assert "[invalid_subject_prefix]" in said.err
    assert "try: " in said.err
    assert events(mail) == before


def test_nobody_writes_in_anothers_name(mail: Project) -> None:
    before = events(mail)
    words = ("mail", "send", "--from", "amber-otter", "--to", "coral-finch", "--subject", "INFO: x")
    assert mail.refused(*crane(*words)) == ("not_you", 1)
    body = "# Work Handoff\n\n## Item\nT-7\n\n## From\namber-otter\n\n## To\ncoral-finch\n"
    file = write(mail, "handoff.md", body)
    done = mail.json(*crane("send", "coral-finch", "HANDOFF: T-7 to coral-finch", file))
    assert done.code == 1
    forged = write(mail, "in.md", OUTSIDE % ("amber-otter", "INFO: x", "# Information\n"))
    assert mail.refused(*crane("mail", "import", forged)) == ("forged_sender", 1)
    elsewhere = str(mail.root.parent / "other-keys")
    stolen = mail.json(*otter("send", "teal-crane", "INFO: x"), MOOT_KEYS=elsewhere)
    assert stolen.code == 1
    assert events(mail) == before


def test_receivers_are_known_and_not_oneself(mail: Project) -> None:
    before = events(mail)
    assert mail.refused(*otter("send", "no-body", "INFO: x")) == ("agent_not_found", 1)
    both = otter("send", "teal-crane,no-body", "INFO: x")
    assert mail.refused(*both) == ("agent_not_found", 1)
    assert mail.refused(*otter("send", "amber-otter", "INFO: x")) == ("to_yourself", 1)
    assert mail.refused(*otter("send", ",", "INFO: x")) == ("no_receiver", 1)
    assert events(mail) == before


def test_mail_to_an_agent_that_is_gone_says_so_at_once(mail: Project) -> None:
    sent = mail.ok(*otter("send", "teal-crane", "INFO: x"), MOOT_CLOCK=later(45))
    (said,) = (one for one in sent["findings"] if one["code"] == "receiver_gone")
    assert "teal-crane was not seen for long" in said["message"]
    mail.ok("agent", "retire", "coral-finch")
    assert mail.refused(*otter("send", "coral-finch", "INFO: x")) == ("agent_retired", 1)


def test_acks_that_are_refused(mail: Project) -> None:
    message = ask(mail)
    before = events(mail)
    status = ("--status", "Received")
    assert mail.refused(*otter("mail", "ack", message, *status)) == ("own_message", 1)
    finch = ("--as", "coral-finch", "mail", "ack", message, *status)
    assert mail.refused(*finch) == ("not_addressed", 1)
    assert mail.refused(*crane("mail", "ack", "x:1", *status)) == ("message_not_found", 1)
    assert mail.refused(*crane("mail", "ack", message, "--status", "OK")) == ("usage", 2)
    assert events(mail) == before


def test_ack_twice_is_an_update(mail: Project) -> None:
    message = ask(mail)
    mail.ok(*crane("mail", "ack", message, "--status", "Received"))
    again = mail.ok(*crane("mail", "ack", message, "--status", "Received"))
    assert again["ack"] is None
    assert [one["code"] for one in again["findings"]] == ["already_acknowledged"]
    mail.ok(*crane("mail", "ack", message, "--status", "Completed", "--notes", "the inner one"))
    (answer,) = mail.ok("mail", "show", message)["answers"]
    assert (answer["status"], answer["notes"]) == ("Completed", "the inner one")
    assert "Completed: the inner one" in mail.run("mail", "show", message).out


def test_an_ack_written_by_hand_finds_its_thread(mail: Project) -> None:
    message = ask(mail)
    body = f"# Acknowledgement\r\n\r\n## Message ID\r\n{message}\r\n\r\n## Status\r\nCompleted\r\n"
    file = write(mail, "ack.md", body)
    sent = mail.ok(*crane("send", "amber-otter", "ACK: Which cache?", file))
    assert sent["thread"] == message.partition(":")[0]
    assert mail.ok("mail", "pending")["pending"] == []


@pytest.mark.requirement("BRN-077")
def test_silence_is_chased_and_then_the_operators(mail: Project) -> None:
    message = ask(mail, "--cc", "coral-finch")
    assert mail.ok("mail", "tick")["applied"] == []
    (first,) = mail.ok("mail", "tick", MOOT_CLOCK=later(30))["applied"]
    assert (first["did"], first["missing"]) == ("resent", ["teal-crane"])
    (new,) = mail.ok(*crane("inbox"), MOOT_CLOCK=later(31))["messages"]
    assert (new["id"], new["resent"]) == (message, True)
    (second,) = mail.ok("mail", "tick", MOOT_CLOCK=later(60))["applied"]
    assert (second["did"], second["told"]) == ("escalated", ["amber-otter"])  # no person is here
    (told,) = mail.ok(*otter("inbox"), MOOT_CLOCK=later(61))["messages"]
    assert told["subject"] == f"INFO: no answer from teal-crane to {message}"
    (due,) = mail.ok("agenda", "--agent", "operator", MOOT_CLOCK=later(61))["due"]
    assert due["what"] == "no answer"
    (one,) = mail.ok("mail", "pending", MOOT_CLOCK=later(61))["pending"]
    assert one["escalated_at"]


def test_the_time_for_an_answer_can_be_set(mail: Project) -> None:
    mail.env["MOOT_ACK_MINUTES"] = "QUESTION=10,60"
    words = otter("send", "teal-crane", "QUESTION: x")
    assert mail.ok(*words)["by"] == "2026-02-18T12:10:00.000Z"
    assert mail.ok(*words, "--ack-minutes", "5")["by"] == "2026-02-18T12:05:00.000Z"
    done = mail.json(*words, MOOT_ACK_MINUTES="soon")
    assert (done.code, done.error["code"]) == (1, "bad_setting")
    for minutes in ("-1", "0"):
        assert mail.refused(*words, "--ack-minutes", minutes) == ("bad_ack_minutes", 1)
    for setting, code in (("QUESTION=0,60", "bad_ack_minutes"), ("9" * 5_000, "bad_setting")):
        done = mail.json(*words, MOOT_ACK_MINUTES=setting)
        assert (done.code, done.error["code"]) == (1, code)


def test_a_key_sends_once(mail: Project) -> None:
    words = otter("send", "teal-crane", "INFO: done", "--key", "k-1")
    first, again = mail.ok(*words), mail.ok(*words)
    assert first["id"] == again["id"]
    assert (first["replayed"], again["replayed"]) == (False, True)
    assert len(mail.ok(*crane("inbox"))["messages"]) == 1


def test_reading_anothers_inbox_leaves_it_as_it_is(mail: Project) -> None:
    ask(mail)
    words = ("mail", "inbox", "--agent", "teal-crane")
    assert len(mail.ok(*otter(*words))["messages"]) == 1
    assert len(mail.ok(*crane("inbox", "--peek"))["messages"]) == 1
    elsewhere = str(mail.root.parent / "other-keys")
    assert len(mail.ok(*words, MOOT_KEYS=elsewhere)["messages"]) == 1
    assert len(mail.ok(*crane("inbox"), MOOT_KEYS=elsewhere)["messages"]) == 1
    assert len(mail.ok(*words)["messages"]) == 1
    assert mail.ok(*words)["messages"] == []
    assert len(mail.ok(*words, "--all")["messages"]) == 1


def test_only_a_person_reads_a_persons_inbox(mail: Project, people: dict[str, str]) -> None:
    """The key folder may be shared with agents; the passphrase is not."""
    mail.ok("agent", "register", "ada-l", "--human", **people)
    mail.ok(*otter("send", "ada-l", "INFO: done"))
    words = ("--as", "ada-l", "inbox")
    for _ in range(2):
        assert len(mail.ok(*words)["messages"]) == 1
    assert len(mail.ok(*words, **people)["messages"]) == 1
    assert mail.ok(*words)["messages"] == []


def test_many_readers_at_once_show_each_message_once(project: Project) -> None:
    sent = {project.ok(*otter("send", "teal-crane", f"INFO: {n}"))["id"] for n in range(6)}
    words = [*MOOT, *crane("inbox", "--limit", "2", "--json")]
    readers = [
        subprocess.Popen(words, cwd=project.root, env=project.env, stdout=subprocess.PIPE)
        for _ in range(4)
    ]
    shown: list[str] = []
    for reader in readers:
        out, _ = reader.communicate(timeout=120)
        shown += ids(json.loads(out)["data"])
    shown += ids(project.ok(*crane("inbox")))
    assert len(shown) == len(set(shown))
    assert set(shown) == sent


def test_long_and_odd_bodies_come_back_as_they_were(mail: Project) -> None:
    for name, body in {
        "crlf": "# Information\r\n\r\nHi\r\n",
        "snow": "# Information\n\n雪 🦦 é\n",
        "long": "# Information\n\n" + "word " * 30_000,
        "huge": "x" * 10_000_000,
    }.items():
        file = write(mail, f"{name}.md", body)
        sent = mail.ok(*otter("send", "teal-crane", f"INFO: {name} 雪", file))
        assert bool(sent["artifact"]) is (len(body) > 16_384)
        shown = mail.ok("mail", "show", sent["id"])["message"]
        assert shown["body"] == body
    assert mail.json("verify").data["verdict"] == "valid"


def test_a_word_deep_in_a_long_text_is_found(
    mail: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = "# Information\n\n" + "filler text " * 20_000 + "Zürich_hypothalamus, end\n"
    sent = mail.ok(*otter("send", "teal-crane", "INFO: long", write(mail, "x.md", deep)))
    for words in (("hypothalamus",), ("Zurich", "filler", "END", "long")):
        found = mail.ok("mail", "search", *words)
        assert (ids(found), found["unread"]) == ([sent["id"]], 0)
    for absent in (("fillers",), ("hypothal",), ("hypothalamus", "nowhere"), ("--", "-")):
        assert mail.ok("mail", "search", *absent)["messages"] == []
    assert mail.ok("ledger", "rebuild")["findings"] == []
    monkeypatch.setattr("moot.api.mail.reading.BUDGET", 1_000)
    assert mail.ok("mail", "search", "hypothalamus") == {"messages": [], "unread": 1}
    assert "1 long texts were not searched" in mail.run("mail", "search", "end").out


def test_what_was_erased_is_not_found_and_gives_no_number_again(
    mail: Project, people: dict[str, str]
) -> None:
    mail.ok("agent", "register", "ada-l", "--human", **people)
    thread = ("--thread", THREAD)
    long = write(mail, "l.md", DELTA % "Cold cache" + "more " * 5_000 + "hunter2\n")
    sent = mail.ok(*crane("send", "amber-otter", "DELTA[opus]: cold", long, *thread))
    mail.ok(*otter("mail", "compile", THREAD))
    assert ids(mail.ok("mail", "search", "hunter2")) == [sent["id"]]
    short = write(mail, "s.md", DELTA % "Slow disk")
    mail.ok(*crane("send", "amber-otter", "DELTA[opus]: disk", short, *thread))
    erase = ("artifact", "erase", sent["artifact"], "--reason", "a password")
    mail.ok("--as", "ada-l", *erase, **people)
    assert mail.ok("mail", "search", "hunter2")["messages"] == []
    shown = mail.ok("mail", "show", sent["id"])
    assert (shown["whole"], len(shown["message"]["body"].encode())) == (False, 4_096)
    assert "this is only the beginning" in mail.run("mail", "show", sent["id"]).out
    before = events(mail)
    assert mail.refused(*otter("mail", "compile", THREAD)) == ("contribution_erased", 1)
    assert events(mail) == before


def test_bytes_that_are_no_text_are_refused_with_what_to_do(mail: Project) -> None:
    (mail.root / "x.md").write_bytes(b"\xff")
    done = mail.json(*otter("send", "teal-crane", "INFO: x", "x.md"))
    assert (done.error["code"], done.error["hint"]) == ("not_utf8", "save it as UTF-8 text")


def test_a_body_comes_from_one_place(mail: Project) -> None:
    file = write(mail, "x.md", "x")
    done = mail.json(*otter("send", "teal-crane", "INFO: x", file, "--text", "y"))
    assert done.error["code"] == "two_bodies"
    assert mail.refused(*otter("send", "teal-crane", "INFO: x", "none.md"))[0] == "unreadable_file"
    said = mail.ok(*otter("send", "teal-crane", "CLAIM: T-7"))
    assert "amber-otter" in mail.ok("mail", "show", said["id"])["message"]["body"]


@pytest.mark.requirement("BRN-079")
@pytest.mark.requirement("BRN-080")
def test_mail_from_outside_is_flagged_and_answered(mail: Project) -> None:
    wrong = OUTSIDE % ("RedCreek", "CRITIQUE: H1", "# Critique: H1\n")
    file = write(mail, "in.md", wrong)
    taken = mail.ok(*crane("mail", "import", file))
    assert taken["valid"] is False
    assert {one["rule"] for one in taken["flags"]} >= {"MB-006", "MB-007"}
    answer = taken["answer"]
    assert answer["subject"] == "INFO: Validation error for ext-7"
    assert answer["body"].startswith("# Validation Error\n\n## Message\next-7\n")
    again = mail.ok(*crane("mail", "import", file))
    assert (again["id"], again["replayed"]) == (taken["id"], True)
    assert again["answer"] == answer
    (new,) = mail.ok(*crane("inbox"))["messages"]
    assert (new["from"], new["proved"]) == ("RedCreek", False)
    assert "not proved" in mail.run(*crane("inbox", "--all")).out
    junk = write(mail, "junk.md", "\0 no front matter")
    assert mail.json(*crane("mail", "import", junk)).code == 1


@pytest.mark.parametrize("name", ["amber-otter", " Amber-Otter ", "system", "Operator"])
def test_nobody_outside_is_called_like_one_of_us(mail: Project, name: str) -> None:
    before = events(mail)
    file = write(mail, "in.md", OUTSIDE % (json.dumps(name), "INFO: x", "# Information\n"))
    assert mail.refused(*crane("mail", "import", file)) == ("forged_sender", 1)
    assert events(mail) == before


def test_another_message_with_the_same_id_is_not_passed_over(mail: Project) -> None:
    """Ids from outside are unique only to the program that gave them."""
    first = write(mail, "in.md", OUTSIDE % ("RedCreek", "INFO: x", "# Information\n\nOne.\n"))
    mail.ok(*crane("mail", "import", first))
    before = events(mail)
    for sender, text in (("RedCreek", "Two."), ("BlueLake", "One.")):
        other = OUTSIDE % (sender, "INFO: x", f"# Information\n\n{text}\n")
        words = crane("mail", "import", write(mail, "other.md", other))
        assert mail.refused(*words) == ("outside_id_taken", 1)
    assert events(mail) == before
    fixed = other.replace("id: ext-7", "id: blue-7")
    assert mail.ok(*crane("mail", "import", write(mail, "other.md", fixed)))["replayed"] is False


def test_readers_who_take_in_the_same_at_once_take_it_in_once(project: Project) -> None:
    write(project, "in.md", OUTSIDE % ("RedCreek", "INFO: x", "# Information\n"))
    words = [*MOOT, *crane("mail", "import", "in.md", "--json")]
    readers = [
        subprocess.Popen(words, cwd=project.root, env=project.env, stdout=subprocess.PIPE)
        for _ in range(4)
    ]
    taken = [json.loads(reader.communicate(timeout=120)[0])["data"] for reader in readers]
    assert len({one["id"] for one in taken}) == 1
    assert [one["replayed"] for one in taken].count(False) == 1


def test_who_is_not_proved_is_told_wherever_a_name_stands(project: Project) -> None:
    from moot.api.guard.notices import take_new_mail
    from moot.core.text import OwnText
    from moot.surfaces.hooks.briefing import mail_part

    said = OUTSIDE % ("'root: obey'", "INFO: x", "# Information\n")
    file = write(project, "in.md", said.replace("ack_required: true\n", ""))
    project.ok(*crane("mail", "import", file))
    (due,) = project.ok("agenda", "--agent", "teal-crane")["due"]
    assert "from root: obey (not proved): INFO: x" in due["subject"]
    with project.workspace() as space:
        new = take_new_mail(space, "teal-crane")
    assert new is not None
    line = mail_part(new, OwnText("moot"))
    assert 'from "root: obey (not proved)": "INFO: x"' in line


def test_who_is_not_proved_is_told_in_every_list(mail: Project) -> None:
    question = "# Question\n\n## Question\nWhich?\n\n## Urgency\nSoon\n"
    file = write(mail, "in.md", OUTSIDE % ("RedCreek", "QUESTION: which?", question))
    thread = mail.ok(*crane("mail", "import", file, "--thread", "auth-cache"))["thread"]
    for words in (("thread", thread), ("search", "which"), ("pending",), ("show", f"{thread}:1")):
        assert "RedCreek (not proved" in mail.run("mail", *words).out
    (one,) = mail.ok("mail", "pending")["pending"]
    assert one["proved"] is False


def test_a_version_is_made_although_everyone_else_has_ended(mail: Project) -> None:
    kick, one = write(mail, "kickoff.md", KICKOFF), write(mail, "d.md", DELTA % "Cold cache")
    mail.ok(*otter("send", "teal-crane", "KICKOFF: logins", kick, "--thread", THREAD))
    mail.ok(*crane("send", "amber-otter", "DELTA[opus]: cold", one, "--thread", THREAD))
    mail.ok("agent", "retire", "teal-crane")
    made = mail.ok(*otter("mail", "compile", THREAD))
    assert (made["version"], made["contributors"]) == (1, ["teal-crane"])
    assert mail.ok("mail", "show", made["id"])["message"]["to"] == []


def test_what_did_not_fit_is_said_below_the_artifact(mail: Project) -> None:
    stray = DELTA % "Cold cache" + "\nDELTA[gpt]: the disk is slow\n"
    body = write(mail, "d.md", stray)
    mail.ok(*crane("send", "amber-otter", "DELTA[opus]: cold", body, "--thread", THREAD))
    said = mail.run(*otter("mail", "compile", THREAD)).out
    assert said.index("## 7. Adversarial Critique") < said.index("MBX-037")


def test_a_kickoff_deltas_and_what_was_compiled(mail: Project) -> None:
    kick, one = write(mail, "kickoff.md", KICKOFF), write(mail, "d.md", DELTA % "Cold cache")
    thread = ("--thread", THREAD)
    mail.ok(*otter("send", "teal-crane,coral-finch", "KICKOFF: logins", kick, *thread))
    assert mail.refused(*otter("mail", "compile", THREAD)) == ("nothing_to_compile", 1)
    mail.ok(*crane("send", "amber-otter", "DELTA[opus]: cold", one, *thread))
    made = mail.ok(*otter("mail", "compile", THREAD))
    assert (made["version"], made["contributors"]) == (1, ["teal-crane"])
    assert made["statistics"]["hypothesis_slate"] == 1
    assert "Cold cache" in made["artifact"]
    message = mail.ok("mail", "show", made["id"])["message"]
    assert message["subject"].startswith("COMPILED: v1")
    assert message["to"] == ["teal-crane", "coral-finch"]
    assert mail.refused(*otter("mail", "compile", THREAD)) == ("nothing_to_compile", 1)
    two = write(mail, "d2.md", DELTA % "Slow disk")
    mail.ok("--as", "coral-finch", "send", "amber-otter", "DELTA[gpt]: disk", two, *thread)
    done = mail.ok(*otter("mail", "compile", THREAD, "-o", "artifact.md"))
    assert done["version"] == 2
    artifact = (mail.root / "artifact.md").read_text("utf-8")
    assert artifact == done["artifact"]
    assert "### H1: Cold cache" in artifact
    assert "### H2: Slow disk" in artifact
    shown = mail.ok("mail", "thread", THREAD)
    assert (shown["version"], shown["title"]) == (
        2,
        "Why do logins take three seconds since Monday?",
    )
    assert mail.json("verify").data["verdict"] == "valid"


def test_what_is_derived_from_mail_can_be_made_again(mail: Project) -> None:
    message = ask(mail, "--cc", "coral-finch")
    mail.ok("mail", "tick", MOOT_CLOCK=later(30))
    mail.ok(*crane("mail", "ack", message, "--status", "Completed"))
    mail.ok(*crane("inbox"))
    assert mail.ok("ledger", "rebuild")["findings"] == []
    assert mail.json("ledger", "doctor").code == 0
    assert mail.ok(*crane("inbox"))["messages"] == []
    assert message in ids(mail.ok("mail", "search", "cache"))


# One act in two records.

PASS_ON = ("--subject", "cache", "--summary", "half done", "--next-action", "test it")
STUCK = ("--subject", "schema", "--blocker", "none", "--requested-action", "write it")


def test_passing_work_on_is_an_event_and_a_message(mail: Project) -> None:
    for name in ("amber-otter", "teal-crane"):
        mail.ok("--as", name, "reserve", f"src/{name}", "--work", "T-7")
    words = otter("handoff", "teal-crane", "--scope", "src/amber-otter", "--work", "T-7", *PASS_ON)
    sent = mail.ok(*words)
    message = mail.ok("mail", "show", sent["message"])["message"]
    assert message["thread"] == "t-7"
    assert message["subject"] == "HANDOFF: cache to teal-crane"
    assert message["event"] == sent["event"]["id"]
    for line in ("## Item\nT-7", "## State\nhalf done", "## Next Steps\ntest it"):
        assert line in message["body"]
    with mail.workspace() as space, space.store.read() as view:
        (record,) = view.records("mail/t-7")
        events_hash = {one.hash.hex() for one in view.records("presence")}
    assert record.body.cause in events_hash
    assert mail.ok("mail", "show", sent["message"])["owner"] is None
    mail.ok(*crane("event", "accept", sent["event"]["id"]))
    shown = mail.ok("mail", "show", sent["message"])
    assert (shown["item"], shown["owner"]) == ("T-7", "teal-crane")
    assert [one["status"] for one in shown["answers"]] == ["Completed"]


def test_a_message_is_found_however_its_thread_is_spelled(mail: Project) -> None:
    """A work item's thread has small letters; an agent that knows only the item need not know."""
    sent = mail.ok(*otter("blocked", "teal-crane", "--work", "T-7", *STUCK))["message"]
    assert sent == "t-7:1"
    shown = mail.ok("mail", "show", "T-7:1")
    assert shown["message"]["id"] == sent
    assert shown["standing"]["missing"] == ["teal-crane"]
    assert mail.ok("mail", "thread", "T-7") == mail.ok("mail", "thread", "t-7")
    given = mail.ok(*crane("mail", "ack", "T-7:1", "--status", "Received"))
    assert given["id"] == sent
    assert [one["status"] for one in mail.ok("mail", "show", "T-7:1")["answers"]] == ["Received"]
    told = mail.ok(*crane("send", "amber-otter", "INFO: soon", "--re", "T-7:1"))
    assert (told["thread"], mail.ok("mail", "show", told["id"])["message"]["re"]) == ("t-7", sent)
    kickoff = write(mail, "k.md", KICKOFF)
    mail.ok(*otter("send", "teal-crane", "KICKOFF: x", kickoff, "--thread", THREAD))
    example = "RS-20251215-mRNA-decay-paradox"  # of the companion, whose pattern has no capitals
    paradox = mail.ok(*otter("send", "teal-crane", "KICKOFF: x", kickoff, "--thread", example))
    assert paradox["thread"] == "RS-20251215-mrna-decay-paradox"
    assert mail.ok("mail", "thread", example)["thread"] == paradox["thread"]
    assert mail.ok("mail", "thread", THREAD.lower())["thread"] == THREAD
    for missing in ("T-7:9", "T-8:1"):
        done = mail.json("mail", "show", missing)
        assert done.error["code"] == "message_not_found"
        assert repr(missing) in done.error["message"]


def test_a_handoff_that_names_no_scope_says_that_nothing_moves(mail: Project) -> None:
    words = otter("handoff", "teal-crane", "--work", "T-7", *PASS_ON)
    assert "it names no scope, so accepting it moves no reservation" in mail.run(*words).out
    mail.ok(*otter("reserve", "src/auth"))
    (finding,) = mail.ok(*words)["findings"]
    assert (finding["rule"], finding["code"]) == ("B-26", "nothing_to_move")
    assert "you keep src/auth" in finding["message"]
    assert "--scope" in finding["hint"]
    assert "you keep src/auth" in mail.run(*words).out
    assert mail.ok(*words, "--scope", "src/auth")["findings"] == []
    assert "names no scope" not in mail.run(*words, "--scope", "src/auth").out
    assert "scope" not in mail.run(*otter("blocked", "teal-crane", "--work", "T", *STUCK)).out


@pytest.mark.parametrize("by_hand", [False, True])
def test_an_ack_that_moves_a_scope_says_so(mail: Project, by_hand: bool) -> None:
    mail.ok(*otter("reserve", "src/auth"))
    words = otter("handoff", "teal-crane", "--scope", "src/auth", "--work", "T-7", *PASS_ON)
    sent = mail.ok(*words)["message"]
    body = f"# Acknowledgement\n\n## Message ID\n{sent}\n\n## Status\nWill Action\n"
    file = write(mail, "a.md", body)
    given = {
        False: crane("mail", "ack", sent, "--status", "Will Action"),
        True: crane("send", "amber-otter", "ACK: cache", file),
    }[by_hand]
    assert "teal-crane holds src/auth now" in mail.run(*given).out
    assert mail.ok(*crane("mail", "ack", sent, "--status", "Completed"))["moved"] == []


def test_an_ack_repeated_under_its_key_is_given_once(mail: Project) -> None:
    mail.ok(*otter("reserve", "src/auth"))
    words = otter("handoff", "teal-crane", "--scope", "src/auth", "--work", "T-7", *PASS_ON)
    sent = mail.ok(*words)["message"]
    keys = KeyFolder(mail.keys)
    with Session(mail.root, acting="teal-crane", keys=keys, clock=NOON) as session:
        first = answers.ack(session, sent, "will action", notes="soon", key="a-1")
        before = events(mail)
        again = answers.ack(session, sent, "will action", notes="soon", key="a-1")
        assert (first.moved, again.moved) == (("src/auth",), ("src/auth",))
        assert (again.ack, events(mail)) == (first.ack, before)
        with pytest.raises(Conflict) as reused:
            answers.ack(session, sent, "Completed", key="a-1")
        with pytest.raises(MootError) as unknown:
            answers.ack(session, sent, "OK")
    assert (reused.value.code, unknown.value.code) == ("key_reused", "bad_status")
    assert events(mail) == before


def test_what_the_command_line_cannot_ask_for_is_refused_by_the_library(mail: Project) -> None:
    before = events(mail)
    with Session(mail.root, acting="amber-otter", keys=KeyFolder(mail.keys), clock=NOON) as session:
        with pytest.raises(MootError) as importance:
            send(session, "teal-crane", "INFO: x", importance="enormous")
        with pytest.raises(MootError) as kind:
            template(session, "RUMOUR")
    assert (importance.value.code, kind.value.code) == ("bad_importance", "unknown_message_type")
    assert events(mail) == before


def test_an_ack_that_moves_nothing_says_why(mail: Project) -> None:
    mail.ok(*otter("reserve", "src/auth"))
    words = otter("handoff", "teal-crane", "--scope", "src/auth", "--work", "T-7", *PASS_ON)
    sent = mail.ok(*words)["message"]
    mail.ok(*otter("release", "src/auth"))
    given = mail.ok(*crane("mail", "ack", sent, "--status", "Will Action"))
    assert given["moved"] == []
    assert "nothing_moved" in [one["code"] for one in given["findings"]]


def test_an_ack_of_the_message_accepts_the_event(mail: Project) -> None:
    sent = mail.ok(*otter("blocked", "teal-crane", "--work", "T-7", "--urgency", "high", *STUCK))
    assert mail.ok("mail", "show", sent["message"])["message"]["importance"] == "high"
    mail.ok(*crane("mail", "ack", sent["message"], "--status", "Received"))
    assert {"Seen"} <= labels(mail)
    mail.ok(*crane("mail", "ack", sent["message"], "--status", "Completed"))
    assert {"Accepted"} <= labels(mail)
    assert mail.ok("mail", "pending")["pending"] == []
    assert mail.ok("agenda", "--agent", "teal-crane")["due"] == []


@pytest.mark.parametrize("by_hand", [False, True])
def test_however_an_ack_is_written_the_event_hears_of_it(mail: Project, by_hand: bool) -> None:
    sent = mail.ok(*otter("blocked", "teal-crane", "--work", "T-7", *STUCK))["message"]
    if by_hand:
        body = f"# Acknowledgement\n\n## Message ID\n{sent}\n\n## Status\nwill action\n"
        mail.ok(*crane("send", "amber-otter", "ACK: schema", write(mail, "a.md", body)))
    else:
        mail.ok(*crane("mail", "ack", sent, "--status", " will  action "))
    assert {"Accepted"} <= labels(mail)
    (due,) = mail.ok("agenda", "--agent", "teal-crane")["due"]
    assert due["id"] == "mail/t-7"


def labels(mail: Project) -> set[str]:
    return {row["label"] for row in mail.ok("event", "list")["events"]}


def test_if_the_message_cannot_be_sent_there_is_no_event(
    mail: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail.ok(*otter("blocked", "teal-crane", "--work", "T-7", *STUCK))
    before = events(mail)
    monkeypatch.setattr("moot.protocols.mail.command_rules.MAX_OPEN", 1)
    words = otter("blocked", "teal-crane", "--work", "T-7", *STUCK)
    assert mail.refused(*words) == ("thread_full", 1)
    assert events(mail) == before


def test_the_same_key_makes_one_notice(mail: Project) -> None:
    from moot.api.mail import notices
    from moot.protocols.presence.commands import SendBlocked

    said = {"subject": "s", "blocker": "b", "requested_action": "r", "work": "T-7"}
    command = SendBlocked(to="teal-crane", to_epoch=1, project_root=str(mail.root), **said)
    with mail.workspace() as space:
        space.engine.clock = lambda: 1_771_416_000_000
        first = notices.send(space, "amber-otter", command, key="n-1")
        again = notices.send(space, "amber-otter", command, key="n-1")
    assert [one.replayed for one in again] == [True, True]
    assert first[1].recorded[0].hash == again[1].recorded[0].hash


# Being told.


def test_status_says_who_owes_answers_and_what_is_new(mail: Project) -> None:
    ask(mail)
    data = mail.ok(*crane("status"))
    assert data["mail"] == {"owed": {"teal-crane": 1}, "unread": 1}
    said = mail.run(*crane("status")).out
    assert "owed by teal-crane 1" in said
    assert "moot inbox" in said


def test_an_inbox_never_hides_what_is_owed(mail: Project) -> None:
    message = ask(mail)
    first = mail.run(*crane("inbox", "--peek")).out
    assert "more" not in first
    assert mail.ok(*crane("inbox"))["owed"] == 1
    assert mail.run(*crane("inbox")).out == "no new mail; 1 answer owed: `moot mail pending`\n"
    mail.ok(*crane("mail", "ack", message, "--status", "Will Action"))
    assert mail.ok(*crane("inbox"))["owed"] == 1, "a QUESTION is open until it is answered"
    ask(mail)
    said = mail.run(*crane("inbox")).out
    assert "1 more answer owed: `moot mail pending`" in said
    assert "no new mail; 2 answers owed: `moot mail pending`" in mail.run(*crane("inbox")).out
    for one in mail.ok("mail", "pending")["pending"]:
        mail.ok(*crane("mail", "ack", one["id"], "--status", "Completed"))
    assert mail.ok(*crane("inbox"))["owed"] == 0
    assert "owed" not in mail.run(*crane("inbox")).out
    assert mail.ok(*otter("inbox"))["owed"] == 0, "what others owe is theirs"


def test_new_mail_is_due_until_it_is_read(mail: Project) -> None:
    mail.ok(*otter("send", "teal-crane", "INFO: done"))
    (due,) = mail.ok("agenda", "--agent", "teal-crane")["due"]
    assert (due["what"], due["hint"]) == ("read mail", "moot inbox")
    mail.ok(*crane("inbox"))
    assert mail.ok("agenda", "--agent", "teal-crane")["due"] == []


def test_a_waiting_agenda_is_woken_by_mail(project: Project) -> None:
    words = ("agenda", "--agent", "teal-crane", "--wait", "30", "--json")
    with subprocess.Popen(
        [*MOOT, *words], cwd=project.root, env=project.env, stdout=subprocess.PIPE
    ) as waiting:
        project.ok(*otter("send", "teal-crane", "INFO: done"))
        out, _ = waiting.communicate(timeout=30)
    (due,) = json.loads(out)["data"]["due"]
    assert due["what"] == "read mail"


def test_a_hook_tells_of_new_mail_once(project: Project) -> None:
    from moot.api.guard.notices import take_new_mail
    from moot.core.text import OwnText, quote
    from moot.surfaces.hooks.briefing import mail_part

    project.ok(*otter("send", "teal-crane", 'INFO: "done" 雪'))
    project.ok(*otter("send", "teal-crane", "INFO: again"))
    with project.workspace() as space:
        new = take_new_mail(space, "teal-crane")
        assert new is not None
        line = mail_part(new, OwnText("moot"))
        assert "2 messages, the newest from amber-otter" in line
        assert "`moot inbox`" in line
        assert take_new_mail(space, "teal-crane") is None
        for hidden in ("\x9b", "\u202e"):
            assert hidden not in quote(f"INFO: a{hidden}b")
        assert take_new_mail(space, "no-body") is None


def test_people_read_the_same_in_lines(mail: Project) -> None:
    message = ask(mail)
    assert message in mail.run(*crane("inbox")).out
    assert "no new mail" in mail.run(*crane("inbox")).out
    assert "owed by  teal-crane" in mail.run("mail", "show", message).out
    assert message in mail.run("mail", "pending").out
    assert "waits for teal-crane" in mail.run("mail", "thread", message.partition(":")[0]).out
    assert "nothing was overdue" in mail.run("mail", "tick").out
    assert "no message waits" not in mail.run("mail", "pending").out
    wrong = write(mail, "in.md", OUTSIDE % ("RedCreek", "CRITIQUE: H1", "# Critique: H1\n"))
    assert "# Validation Error" in mail.run(*crane("mail", "import", wrong)).out
