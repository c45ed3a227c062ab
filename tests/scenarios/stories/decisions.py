"""A question is asked, argued, ruled on by a person, and written down."""

from __future__ import annotations

from typing import Any

from moot.api.decisions.operations import Question
from tests.scenarios.world import World, story

VOICES = ("rules:approve", "rules:sceptic", "rules:listener")
ASKED = Question("Queue: Postgres or Kafka?", VOICES, options=("Postgres", "Kafka"))


@story(does="ask decide report receipt", refuses="ask decide report receipt")
def a_person_approves_what_was_carried(world: World) -> None:
    assert world.refuse("ask", "amber-otter", question=ASKED) == "not_you"
    nobody = Question("Why?", ("nonsense",))
    assert world.refuse("ask", question=nobody) == "bad_participant"
    empty = Question(" ", VOICES)
    assert world.refuse("ask", question=empty) == "text_required"
    asked = world.do("ask", question=ASKED)
    assert (asked["decision"]["id"], asked["decision"]["stage"]) == ("q-1", "waiting")
    assert asked["decision"]["motion"]["text"] == "Postgres"
    moves = {(change["before"], change["now"]) for change in asked["changes"]}
    assert ("reject 0.7", "approve 0.75") in moves
    assert asked["next"].startswith("moot decide q-1 approve")
    ruling = {"decision": "q-1", "ruling": "approve", "reason": "It is cheap."}
    assert world.refuse("decide", "amber-otter", **ruling) == "human_key_required"
    assert world.refuse("decide", **{**ruling, "decision": "q-9"}) == "decision_not_found"
    assert world.refuse("decide", **ruling, sha256="0" * 64) == "busy", "another text was shown"
    ruled = world.as_person("decide", **ruling)["decision"]
    assert (ruled["stage"], ruled["word"]["by"]) == ("approved", "operator")
    assert world.refuse("decide", **ruling) == "decided"
    page = world.do("report", name="q-1")
    assert (page["kind"], page["verdict"]) == ("decision", "APPROVED")
    assert page["report"]["verdict"]["label"] == "APPROVED"
    assert world.refuse("report", name="q-9") == "not_found"
    file = world.project.root / "queue.md"
    written = world.do("receipt", decision="q-1", file=file)
    assert written["proof"] == str(file.with_suffix(".json"))
    assert written["dissent"] == asked["decision"]["result"]["dissent"]
    again = world.do("receipt", decision="decision/q-1", file=file)
    assert again["sha256"] == written["sha256"]
    assert world.refuse("receipt", decision="mail/q-1", file=file) == "not_a_decision"
    stated = world.do("receipt", decision="q-1", file=file, in_toto=True)
    assert stated["in_toto"] == str(file.with_suffix(".intoto.jsonl"))
    world.do("report", name="decision/q-1", file=world.project.root / "queue.html")
    assert "Postgres" in (world.project.root / "queue.html").read_text("utf-8")


@story(does="ask receipt report.all", refuses="report.all")
def all_pages_stand_in_one_folder(world: World) -> None:
    asked = world.do("ask", question=ASKED)["decision"]
    folder = world.project.root / "site"
    world.do("report.all", folder=folder)
    world.do("receipt", decision="q-1", file=folder / "receipt-q-1.html")
    site = world.do("report.all", folder=folder)
    assert (site["file"], site["verdict"]) == (str(folder / "index.html"), "3 pages")
    assert {page["kind"] for page in site["pages"]} == {"decision", "debate"}
    assert site["undrawn"] == []
    files = {page["id"]: page["file"] for page in site["pages"]}
    decision = (folder / files["decision/q-1"]).read_text("utf-8")
    for other in ("index.html", "receipt-q-1.html", files[asked["session"]["id"]]):
        assert f'href="{other}"' in decision
    debate = (folder / files[asked["session"]["id"]]).read_text("utf-8")
    assert 'href="decision-q-1.html"' in debate
    index = (folder / "index.html").read_text("utf-8")
    assert all(f'href="{file}"' in index for file in (*files.values(), "receipt-q-1.html"))
    (world.project.root / "taken").write_text("a file")
    assert (
        world.refuse("report.all", folder=world.project.root / "taken" / "x") == "unwritable_file"
    )


@story(does="ask ask.resume decide", refuses="ask.resume")
def a_veto_begins_another_decision(world: World) -> None:
    world.do("ask", question=ASKED)
    ruling = {"decision": "q-1", "ruling": "veto", "reason": "No new servers."}
    vetoed = world.as_person("decide", **ruling)["decision"]
    assert (vetoed["stage"], vetoed["superseded_by"]) == ("vetoed", "q-2")
    assert world.refuse("ask.resume", decision="q-9") == "decision_not_found"
    assert world.refuse("ask.resume", "amber-otter", decision="q-2") == "not_you"
    strangers: dict[str, Any] = {"participants": ["coral-finch=rules:approve"]}
    assert world.refuse("ask.resume", decision="q-2", **strangers) == "not_a_participant"
    resumed = world.do("ask.resume", decision="q-2")
    assert (resumed["decision"]["stage"], resumed["decision"]["supersedes"]) == ("waiting", "q-1")
    nothing_left = world.do("ask.resume", decision="q-2")
    assert nothing_left["run"] is None
    amended = world.as_person(
        "decide", decision="q-2", ruling="amend", reason="With a limit.", text="Postgres, 10 GB."
    )
    assert amended["decision"]["stage"] == "amended"
    assert world.do("ask.resume", decision="q-2")["next"] is None


@story(does="ask outcome track", refuses="outcome")
def a_person_says_how_it_turned_out(world: World) -> None:
    assert world.do("track")["judged"] == 0
    word: dict[str, Any] = {"decisions": ["q-1"], "outcome": "right", "reason": "It held."}
    assert world.refuse("outcome", **word) == "decision_not_found"
    world.do("ask", question=ASKED)
    assert world.refuse("outcome", "amber-otter", **word) == "human_key_required"
    assert world.refuse("outcome", **{**word, "decisions": ["q-1", "q-2"]}) == "decision_not_found"
    assert world.refuse("outcome", **{**word, "reason": " "}) == "text_required"
    (judged,) = world.as_person("outcome", **word)["judged"]
    assert (judged["outcome"], judged["by"], judged["first"]) == ("right", "operator", "right")
    track = world.do("track")
    assert (track["decisions"], track["judged"], track["enough"]) == (1, 1, False)
    by_name = {each["name"]: each for each in track["participants"]}
    assert len(by_name) == 3
    assert {each["right"] for each in by_name.values()} <= {0, 1}
    assert track["vote_after"]["right"] == 1
    corrected = {**word, "outcome": "wrong", "answer": "Kafka", "reason": "It was full in May."}
    (again,) = world.as_person("outcome", **corrected)["judged"]
    assert (again["outcome"], again["first"], again["answer"]) == ("wrong", "right", "Kafka")
    assert world.do("track")["vote_after"] == {"right": 0, "wrong": 1, "open": 0}


@story(
    does="council.ask council.answer council.result debate.add agenda",
    refuses="council.ask council.answer council.result",
)
def agents_at_work_decide_a_question_without_a_runner(world: World) -> None:
    question: dict[str, Any] = {"text": "Which cache?", "agents": ["amber-otter", "teal-crane"]}
    assert world.refuse("council.ask", **question) == "actor_required"
    unknown = {**question, "agents": ["amber-otter", "no-body"]}
    assert world.refuse("council.ask", "amber-otter", **unknown) == "unknown_agent"
    put = world.do("council.ask", "amber-otter", **question, key="once")
    decision = put["decision"]["id"]
    assert put["waits_for"] == ["amber-otter", "teal-crane"]
    again = world.do("council.ask", "amber-otter", **question, key="once")
    assert again["decision"]["id"] == decision
    (due,) = world.do("agenda", "teal-crane")["due"]
    assert (due["what"], due["id"]) == ("answer", f"decision/{decision}")
    assert due["by"] is not None
    world.do("council.answer", "amber-otter", decision=decision, text="Redis", key="mine")
    world.do("council.answer", "amber-otter", decision=decision, text="Redis", key="mine")
    standing = world.do("council.result", "amber-otter", decision=decision)
    assert (standing["decision"]["result"], standing["next"]) == (None, None)
    late: dict[str, Any] = {"decision": decision, "text": "Another"}
    assert world.refuse("council.answer", "amber-otter", **late) == "answered"
    assert (
        world.refuse("council.answer", "amber-otter", decision="q-99", text="x")
        == "decision_not_found"
    )
    arguing = world.do(
        "council.answer", "teal-crane", decision=f"decision/{decision}", text="Redis"
    )
    assert (arguing["decision"]["stage"], arguing["waits_for"]) == ("arguing", ["amber-otter"])
    file = world.project.root / arguing["decision"]["session"]["file"]
    for name in ("amber-otter", "teal-crane"):
        entry = {"stance": "approve", "confidence": "0.9", "summary": "Redis is there already"}
        world.do("debate.add", name, file=file, **entry)
    done = world.do("council.result", "amber-otter", decision=decision)
    assert (done["decision"]["stage"], done["decision"]["result"]["result"]) == (
        "waiting",
        "carried",
    )
    assert done["next"].startswith(f"moot decide {decision}")
    assert world.refuse("council.result", decision="q-99") == "decision_not_found"
