"""Mail: sent, read, answered, chased, taken in, compiled, checked as text."""

from __future__ import annotations

import json

from tests.scenarios.world import World, story

OTTER, CRANE = "amber-otter", "teal-crane"
THREAD = "RS-20260218-slow-logins"
DELTA = """# Delta Contribution

## Deltas

```delta
{"operation": "ADD", "section": "hypothesis_slate", "target_id": null,
 "payload": {"name": "Cold cache", "claim": "c", "mechanism": "m", "anchors": ["§12"]},
 "rationale": "§12"}
```
"""
OUTSIDE = """---
id: ext-7
from: %s
to: teal-crane
subject: "CRITIQUE: H1"
---
# Critique: H1
"""


@story(
    does="mail.send mail.inbox mail.show mail.ack mail.pending mail.thread mail.search",
    refuses="mail.send mail.ack mail.show mail.thread",
)
def a_question_is_asked_read_and_answered(world: World) -> None:
    asked = {"to": [CRANE], "subject": "QUESTION: Which cache?"}
    sent = world.do("mail.send", OTTER, **asked)
    assert (sent["from"], sent["ack_required"], sent["replayed"]) == (OTTER, True, False)
    assert world.refuse("mail.send", OTTER, sender=CRANE, **asked) == "not_you"
    assert world.refuse("mail.send", OTTER, to=["no-body"], subject="INFO: x") == "agent_not_found"
    assert world.refuse("mail.send", OTTER, body="x", text="y", **asked) == "two_bodies"
    assert world.refuse("mail.send", OTTER, to=[CRANE], subject="hello") == "invalid_subject_prefix"

    box = world.do("mail.inbox", CRANE)
    (message,) = box["messages"]
    assert (message["id"], message["state"], box["owed"]) == (sent["id"], "unread", 1)
    assert world.do("mail.inbox", CRANE)["messages"] == []
    assert len(world.do("mail.inbox", CRANE, everything=True)["messages"]) == 1
    (waiting,) = world.do("mail.pending", agent=CRANE)["pending"]
    assert waiting["missing"] == [CRANE]

    receipt = {"message_id": sent["id"], "status": "Received"}
    assert world.refuse("mail.ack", OTTER, **receipt) == "own_message"
    first = world.do("mail.ack", CRANE, **receipt)
    assert (first["agent"], first["standing"]["open"]) == (CRANE, True)
    assert world.do("mail.ack", CRANE, **receipt)["ack"] is None
    answer = {"status": "Completed", "notes": "the inner one"}
    given = world.do("mail.ack", CRANE, message_id=sent["id"], **answer)
    assert given["standing"]["open"] is False
    assert world.do("mail.pending")["pending"] == []

    shown = world.do("mail.show", message_id=sent["id"])
    assert [line["notes"] for line in shown["answers"]] == ["the inner one"]
    assert world.refuse("mail.show", message_id="none:1") == "message_not_found"
    thread = world.do("mail.thread", thread_id=sent["thread"])
    assert [line["id"] for line in thread["messages"]] == [sent["id"], first["ack"], given["ack"]]
    assert world.refuse("mail.thread", thread_id="none") == "thread_not_found"
    found = world.do("mail.search", words=["which", "cache"])
    assert sent["id"] in [line["id"] for line in found["messages"]]


@story(does="mail.send", refuses="mail.send")
def a_key_sends_once(world: World) -> None:
    said = {"to": [CRANE], "subject": "INFO: done", "key": "k-1"}
    first, again = (world.do("mail.send", OTTER, text="T-7 is in", **said) for _ in range(2))
    assert (again["id"], again["replayed"]) == (first["id"], True)
    assert world.refuse("mail.send", OTTER, text="another", **said) == "key_reused"


@story(does="mail.send mail.inbox", refuses="mail.inbox")
def reading_anothers_inbox_leaves_it_as_it_is(world: World) -> None:
    world.do("mail.send", OTTER, to=[CRANE, "operator"], subject="INFO: done")
    for _ in range(2):
        assert len(world.do("mail.inbox", OTTER, agent=CRANE)["messages"]) == 1
        assert len(world.do("mail.inbox", CRANE, peek=True)["messages"]) == 1
        assert len(world.do("mail.inbox", "operator")["messages"]) == 1, "no passphrase is here"
    assert world.refuse("mail.inbox", OTTER, agent="no-body") == "agent_not_found"
    assert world.refuse("mail.inbox") == "actor_required"


@story(does="mail.tick", refuses="mail.tick")
def time_limits_are_applied_with_the_root_key(world: World) -> None:
    assert world.do("mail.tick") == {"applied": []}
    (key,) = world.project.keys.glob("*/system.*.key")
    key.rename(world.project.root / "away.key")
    assert world.refuse("mail.tick") == "key_missing"


@story(does="mail.import", refuses="mail.import")
def a_message_from_outside_is_taken_in_once(world: World) -> None:
    taken = world.do("mail.import", CRANE, message=OUTSIDE % "RedCreek")
    assert (taken["outside_id"], taken["valid"], taken["replayed"]) == ("ext-7", False, False)
    assert taken["answer"]["to"] == ["RedCreek"]
    again = world.do("mail.import", CRANE, message=OUTSIDE % "RedCreek")
    assert again == {**taken, "replayed": True}
    assert world.refuse("mail.import", CRANE, message=OUTSIDE % "BlueHill") == "outside_id_taken"
    forged = OUTSIDE.replace("ext-7", "ext-8") % OTTER
    assert world.refuse("mail.import", CRANE, message=forged) == "forged_sender"
    assert world.refuse("mail.import", message=forged) == "actor_required"


@story(does="mail.send mail.compile", refuses="mail.compile")
def contributions_become_one_artifact(world: World) -> None:
    subject = "DELTA[opus]: cold"
    world.do("mail.send", CRANE, to=[OTTER], subject=subject, body=DELTA, thread=THREAD)
    file = world.project.root / "artifact.md"
    made = world.do("mail.compile", OTTER, thread=THREAD, file=file)
    assert (made["version"], made["contributors"]) == (1, [CRANE])
    assert file.read_text("utf-8") == made["artifact"]
    assert world.refuse("mail.compile", OTTER, thread=THREAD) == "nothing_to_compile"
    assert world.refuse("mail.compile", OTTER, thread="none") == "thread_not_found"


@story(does="mail.send mail.run mail.pending", refuses="mail.run")
def a_participant_gives_the_answer_it_owes(world: World) -> None:
    world.do("mail.send", OTTER, to=[CRANE], subject="INFO: the cache", ack_required=True)
    replies = [{"status": "Understood", "notes": "seen"}]
    (world.project.root / "replies.json").write_text(json.dumps(replies), "utf-8")
    voice = [f"{CRANE}=script:replies.json"]
    assert world.refuse("mail.run", OTTER, participants=voice) == "not_you"
    unknown = ["no-body=script:replies.json"]
    assert world.refuse("mail.run", participants=unknown) == "agent_not_found"
    ran = world.do("mail.run", participants=voice)
    assert (ran["stop"], ran["turns"], ran["standing"]) == ("settled", 1, {"open": 0})
    assert ran["decision"] == f"mail-{CRANE}"
    assert world.do("mail.pending")["pending"] == []


@story(does="mail.template mail.lint", refuses="mail.lint")
def a_text_is_checked_and_fixed(world: World) -> None:
    empty = world.do("mail.template", kind="question")
    assert (empty["type"], empty["ack_required"]) == ("QUESTION", True)
    text = "# Question\n\n## question\nWhich?\n\n## Urgency\nsoon\n"
    checked = world.do("mail.lint", message=text, subject="QUESTION: Which?")
    assert (checked["valid"], "body" in checked) == (True, False)
    fixed = world.do("mail.lint", message=text, subject="question: Which?", fix=True)
    assert (fixed["valid"], fixed["subject"]) == (True, "QUESTION: Which?")
    assert "## Question\nWhich?\n" in fixed["body"]
    assert "## Urgency\nSoon\n" in fixed["body"]
    assert world.refuse("mail.lint", message=text) == "subject_required"
