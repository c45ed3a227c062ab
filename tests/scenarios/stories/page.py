"""Screens for a person who watches: sessions, conversations, mail, decisions, search."""

from __future__ import annotations

import hashlib

from moot.protocols.example.model import Ask
from tests.scenarios.stories.debates import YES, begin
from tests.scenarios.stories.decisions import ASKED
from tests.scenarios.stories.parliaments import Parliament
from tests.scenarios.stories.traces import begin as begin_trace
from tests.scenarios.world import World, story

OTTER, CRANE = "amber-otter", "teal-crane"
HANDOFF = {"subject": "auth cache", "summary": "half done", "next_action": "finish the tests"}
BLOCKED = {"subject": "schema", "blocker": "no migration", "requested_action": "write it"}


@story(
    does="sessions conversation handoff blocked event.seen event.accept",
    refuses="scope.reserve",
)
def what_is_said_about_a_work_item_stands_on_its_card_and_in_its_conversation(world: World) -> None:
    project = world.project
    assert world.do("conversation", work="T-7") == {
        "work": "T-7",
        "thread": [],
        "more": 0,
        "mail_thread": "t-7",
    }
    project.ok("--as", OTTER, "reserve", "src/auth", "--work", "T-7")
    assert world.refuse_on_record("scope.reserve", CRANE, scopes=["src/auth"], work="T-7") == (
        "reservation_conflict"
    )
    passed = world.do("handoff", OTTER, to=CRANE, work="T-7", scope="src/auth", **HANDOFF)
    stuck = world.do("blocked", CRANE, to=OTTER, work="T-7", **BLOCKED)
    world.do("event.seen", CRANE, event_id=passed["event"]["id"])
    world.do("event.accept", CRANE, event_id=passed["event"]["id"])
    rows = world.do("conversation", work="T-7")["thread"]
    labels = [row["label"] for row in rows]
    assert labels == ["Refused", "Passed to", "Needs input", "Message"]
    overlap, handed, asked, answer = rows
    assert (answer["from_agent"], answer["kind"]) == (CRANE, "MESSAGE")
    assert overlap["payload"]["owner_agent"] == OTTER
    assert overlap["payload"]["incoming_agent"] == CRANE
    assert [(each["agent"], each["label"]) for each in handed["receipts"]] == [
        (CRANE, "Seen"),
        (CRANE, "Accepted"),
    ]
    assert (handed["waits_for"], asked["waits_for"]) == (None, OTTER)
    assert handed["payload"] == passed["event"]["payload"]
    assert asked["id"] == stuck["event"]["id"]
    screen = world.do("sessions")
    (group,) = (one for one in screen["feed"] if one["parent"] == "T-7")
    (card,) = group["cards"]
    assert (card["work"], card["label"], card["waits_for"]) == ("T-7", "Needs input", [OTTER])
    assert card["last"]["line"] == "schema"
    assert [one["scope"] for one in card["scopes"]] == ["src/auth"]
    assert (card["overlap"]["owner"], card["overlap"]["incoming"]) == (OTTER, CRANE)
    assert [one["label"] for one in screen["incursions"]] == ["Refused"]
    assert [one["id"] for one in screen["pending"]] == [asked["id"]]
    assert world.do("conversation", work="T-7", limit=1)["more"] == 3


@story(does="sessions event.handoff event.accept")
def work_items_with_one_parent_stand_together_and_what_ended_is_done(world: World) -> None:
    for work in ("T-7.1", "T-7.2"):
        world.project.ok("--as", OTTER, "reserve", f"src/{work}", "--work", work)
    sent = world.do("event.handoff", OTTER, to=CRANE, work="T-8", **HANDOFF)["event"]
    world.do("event.accept", CRANE, event_id=sent["id"])
    groups = {one["parent"]: one["cards"] for one in world.do("sessions")["feed"]}
    assert [card["work"] for card in groups["T-7"]] == ["T-7.1", "T-7.2"]
    assert groups["T-8"][0]["title"] == "auth cache"
    assert groups["T-8"][0]["label"] in ("Done", "In progress")


@story(does="mail.list mail.send mail.inbox mail.show", refuses="mail.list")
def mail_is_listed_with_who_has_seen_and_answered_it(world: World) -> None:
    assert world.do("mail.list") == {"messages": [], "after": None}
    assert world.refuse("mail.list", agent="no-body") == "agent_not_found"
    assert world.refuse("mail.list", limit=0) == "bad_limit"
    sent = [
        world.do("mail.send", OTTER, to=[CRANE], subject=f"QUESTION: the {text} cache?")["id"]
        for text in ("first", "second")
    ]
    first, second = reversed(world.do("mail.list")["messages"])
    assert [first["id"], second["id"]] == sent
    assert first["receivers"] == [
        {"agent": CRANE, "state": "unread", "status": None, "copy": False}
    ]
    page = world.do("mail.list", limit=1)
    assert ([one["id"] for one in page["messages"]], page["after"]) == ([sent[1]], sent[1])
    older = world.do("mail.list", limit=1, after=page["after"])
    assert ([one["id"] for one in older["messages"]], older["after"]) == ([sent[0]], None)
    assert [one["id"] for one in world.do("mail.list", words="second")["messages"]] == [sent[1]]
    thread = first["thread"]
    assert len(world.do("mail.list", thread=thread, agent=CRANE)["messages"]) >= 1
    world.do("mail.inbox", CRANE)
    states = [one["receivers"][0]["state"] for one in world.do("mail.list")["messages"]]
    assert states == ["seen", "seen"]
    assert world.do("mail.show", message_id=sent[0])["message"]["id"] == sent[0]


@story(does="search ledger.log trust.show", refuses="search")
def everything_is_found_by_its_words(world: World) -> None:
    world.project.execute(OTTER, Ask(title="look", of=CRANE))
    world.project.ok(
        *("--as", OTTER, "event", "handoff", "--to", CRANE, "--work", "T-7", "--scope", "src"),
        *("--subject", "walnut", "--summary", "s", "--next-action", "n"),
    )
    (item,) = world.do("search", words="walnut")["items"]
    assert (item["kind"], item["title"]) == ("event", "walnut")
    assert world.do("search", words="hazelnut")["items"] == []
    assert world.do("search", words="  ")["items"] == []
    assert world.refuse("search", words="walnut", limit=0) == "bad_search"
    assert world.do("trust.show")["origin"]
    events = world.do("ledger.log", name="example/today", limit=1)
    assert [one["seq"] for one in events["events"]] == [0]
    project = world.project
    project.execute(OTTER, Ask(title="again", of=CRANE))
    earlier = world.do("ledger.log", name="example/today", before=1)
    assert [one["seq"] for one in earlier["events"]] == [0]


@story(does="ask decision.list decision.show", refuses="decision.show")
def what_waits_for_a_persons_word_is_shown_with_its_exact_text(world: World) -> None:
    assert world.do("decision.list") == {"decisions": [], "more": 0}
    assert world.refuse("decision.show", name="q-1") == "not_found"
    world.do("ask", question=ASKED)
    lines = {line["id"]: line for line in world.do("decision.list")["decisions"]}
    question = lines["decision/q-1"]
    assert (question["title"], question["open"]) == ("Queue: Postgres or Kafka?", True)
    assert question["state"].startswith("waiting")
    assert any(name.startswith("debate/") for name in lines)
    shown = world.do("decision.show", name="q-1")
    assert shown == world.do("decision.show", name="decision/q-1")
    word = shown["word"]
    assert (word["decision"], word["text"]) == ("q-1", "Postgres")
    assert word["sha256"] == hashlib.sha256(b"Postgres").hexdigest()
    assert word["command"].startswith("moot decide q-1 approve")
    assert shown["due"][0]["id"] == "decision/q-1"
    assert shown["report"]["kind"] == "decision"
    assert shown["standing"]["decision"]["result"]["result"] == "carried"
    assert shown["standing"]["debate"] is None


@story(does="debate.new debate.add decision.show search")
def a_debate_that_goes_on_is_shown_with_whose_turn_it_is_and_until_when(world: World) -> None:
    file = begin(world)
    world.do("debate.add", OTTER, file=file, **YES)
    streams = [each["id"] for each in world.project.ok("ledger", "log")["streams"]]
    (debate,) = (name for name in streams if name.startswith("debate/"))
    shown = world.do("decision.show", name=debate)
    here = shown["standing"]["debate"]
    assert (here["may_speak"], here["round"], here["turn"]) == ([CRANE], 1, 2)
    assert here["deadline"] == shown["line"]["by"]
    assert [entry["stance"] for entry in here["entries"]] == ["approve"]
    file.write_text("nothing of it is left", encoding="utf-8")
    after = world.do("decision.show", name=debate)["standing"]["debate"]
    assert after["may_speak"] == [CRANE], "the record counts, not what stands in the file now"
    (item,) = world.do("search", words="never faster")["items"]
    assert (item["kind"], item["title"]) == ("entry", f"{OTTER}: {YES['summary']}")
    assert item["shown_in"] == debate


@story(does="parliament.new parliament.submit parliament.drafter decision.show")
def a_parliament_is_shown_with_its_clock_and_how_its_motives_are_served(world: World) -> None:
    parliament = Parliament(world)
    parliament.to_debate()
    parliament.exchange("rep_1", "rep_2")
    here = world.do("decision.show", name=parliament.called["parliament_id"])["standing"]
    sitting = here["parliament"]
    assert (sitting["round"], sitting["exchanges"], sitting["max_exchanges"]) == (1, 1, 4)
    assert [seat["satisfaction"] for seat in sitting["seats"]] == [{"speed": None}, {"cost": 4}]
    assert sitting["bill_version"] == 1


@story(does="trace.new decision.show")
def a_trace_is_shown_with_who_plays_which_part(world: World) -> None:
    trace = begin_trace(world)
    here = world.do("decision.show", name=f"trace/{trace}")["standing"]["trace"]
    assert (here["state"], here["roles"]["planner"]) == ("planning", OTTER)
