"""A hint names what it is about, so that it can be typed as it stands."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.cli.terminal import on_a_terminal
from tests.cli.test_presence import as_
from tests.cli.test_trace import CLAIM, CRITIC, EXECUTOR, INTEND, MARK, NEW, PLANNER, PROPOSE
from tests.project import Project

BLOCKED = ("--work", "w-1", "--subject", "s", "--blocker", "b", "--requested-action", "a")


def hint(project: Project, *words: str, **settings: str) -> str:
    said: str = project.json(*words, **settings).error["hint"]
    return said


@pytest.fixture
def joined(bare: Project) -> Project:
    bare.env["MOOT_CLOCK"] = "2026-02-18T12:00:00.000Z"
    bare.init()
    for name in ("amber-otter", "teal-crane", "coral-finch"):
        bare.ok("join", "--register", name)
    bare.ok(*as_("amber-otter", "reserve", "src/the auth"))
    return bare


@pytest.fixture
def traced(project: Project) -> Project:
    for name in (CRITIC, "slate-heron"):
        project.ok("agent", "register", name)
    project.ok(*NEW)
    return project


def test_the_holder_of_a_scope_is_named(joined: Project) -> None:
    said = hint(joined, *as_("teal-crane", "reserve", "src/the auth/x.py", "--work", "w-1"))
    assert "ask the holder: `moot --as teal-crane blocked amber-otter --work w-1 " in said


@pytest.mark.parametrize("work", [("--work", "w-1"), ()])
def test_the_holder_can_be_asked_with_the_very_words_of_the_hint(
    joined: Project, work: tuple[str, ...]
) -> None:
    said = hint(joined, *as_("teal-crane", "reserve", "src/the auth/x.py", *work))
    (line,) = re.findall(r"`moot (.* blocked .*)`", said)
    event = joined.ok(*shlex.split(line))["event"]
    assert (event["to_agent"], event["payload"]["subject"]) == ("amber-otter", "src/the auth/x.py")


def test_the_scope_that_may_be_taken_over_is_named(joined: Project) -> None:
    later = {"MOOT_CLOCK": "2026-02-18T12:20:00.000Z"}
    said = hint(joined, *as_("teal-crane", "reserve", "src/the auth"), **later)
    takeover = "reserve ':/src/the auth' --takeover-stale` takes it over"
    assert said == f"`moot --as teal-crane {takeover}"
    agent = {"MOOT_AGENT": "teal-crane"}
    assert hint(joined, "reserve", "src/the auth", **later, **agent) == f"`moot {takeover}"


def test_all_that_are_in_the_way_are_named(joined: Project) -> None:
    joined.ok(*as_("coral-finch", "reserve", "src/db"))
    seen = on_a_terminal(joined, *as_("teal-crane", "reserve", "src"))
    each = "moot agent retire coral-finch && moot agent retire amber-otter"
    assert f"if their programs are dead, `{each}` frees it" in seen


def test_a_handoff_names_what_could_move(joined: Project) -> None:
    words = ("handoff", "teal-crane", "--work", "w-1", "--subject", "s", "--summary", "t")
    said = joined.ok(*as_("amber-otter", *words, "--next-action", "a"))["findings"]
    assert "--scope ':/src/the auth' moves what you hold there" in [one["hint"] for one in said]


def test_a_trace_and_what_is_in_it_are_named(traced: Project) -> None:
    said = hint(traced, *as_(CRITIC, "trace", "propose", "t1", *PROPOSE))
    assert said == f"`moot trace status t1` shows who plays which part; let {PLANNER} do it"
    assert (
        hint(traced, *CLAIM, "--evidence", "ab" * 32) == "`moot trace status t1` shows what is next"
    )
    traced.ok("trace", "propose", "t1", *PROPOSE)
    judge = ("trace", "review", "t1", "p1", "--rationale", "so", "--verdict")
    traced.ok(*judge, "blocked")
    assert "`moot trace propose t1 --supersedes p1 ...`" in hint(traced, *judge, "approved")


@pytest.mark.requirement("TRC-062")
@pytest.mark.parametrize(
    "words", [NEW, ("trace", "abort", "t1", "--reason", "enough")], ids=["new", "abort"]
)
def test_what_no_part_may_do_names_neither_a_trace_nor_an_agent(
    traced: Project, words: tuple[str, ...]
) -> None:
    said = hint(traced, *as_(PLANNER, *words))
    assert said == "leave --as out, so that the workspace does it, or let a registered person do it"
    assert [one["trace"] for one in traced.ok("trace", "list")["traces"]] == ["t1"]
    traced.ok(*words)


def test_an_intent_is_named(traced: Project) -> None:
    traced.ok("trace", "propose", "t1", *PROPOSE)
    traced.ok("trace", "review", "t1", "p1", "--rationale", "so", "--verdict", "approved")
    traced.ok(*INTEND, "--writes", "out.txt", *MARK)
    run = ("trace", "exec", "t1", "i1")
    judge = ("trace", "review-intent", "t1", "i1", "--rationale", "so", "--verdict")
    wanted = "`moot trace review-intent t1 i1 --verdict approved --rationale T`"
    assert hint(traced, *run) == wanted
    traced.ok(*judge, "blocked")
    revise = "`moot trace intend t1 p1 --supersedes i1 ...`"
    assert revise in hint(traced, *run)
    assert revise in hint(traced, *judge, "approved")
    said = traced.run("trace", "status", "t1").out
    assert "(moot trace intend t1 p1 --supersedes i1 ...)" in said


def test_what_must_be_reserved_is_named(traced: Project) -> None:
    (traced.root / "policy.json").write_text('{"require_reservation": true}')
    traced.ok(*NEW, "--policy", "policy.json")
    traced.ok("trace", "propose", "t2", *PROPOSE)
    traced.ok("trace", "review", "t2", "p1", "--rationale", "so", "--verdict", "approved")
    traced.ok(*INTEND[:2], "t2", *INTEND[3:], "--writes", "out", *MARK)
    traced.ok("trace", "review-intent", "t2", "i1", "--rationale", "so", "--verdict", "approved")
    said = hint(traced, "trace", "exec", "t2", "i1")
    assert said == f"let {EXECUTOR} reserve it: `moot reserve :/out`, then run it again"


def test_a_message_and_its_thread_are_named(joined: Project) -> None:
    sent = joined.ok(*as_("amber-otter", "blocked", "teal-crane", *BLOCKED))["message"]
    ack = ("mail", "ack", sent, "--status", "Received")
    assert f"`moot mail show {sent}` names them" in hint(joined, *as_("amber-otter", *ack))
    thread = sent.partition(":")[0]
    assert f"`moot mail thread {thread}` a whole thread" in hint(joined, *as_("coral-finch", *ack))
    long = hint(joined, *as_("teal-crane", *ack, "--notes", "x" * 10_000))
    assert f"`moot --as teal-crane send amber-otter 'INFO: ...' FILE --re {sent}`" in long


def test_a_decision_is_named_on_the_agenda(project: Project) -> None:
    project.ok(
        "ask",
        "Which?",
        "--option",
        "a",
        "--with",
        "fern-hare=rules:approve,moss-lynx=rules:approve",
    )
    (due,) = [one for one in project.ok("agenda")["due"] if one["what"] == "decide"]
    assert "moot decide q-1 approve " in due["hint"]


def test_a_key_file_that_others_may_read_is_named(project: Project) -> None:
    (file,) = project.keys.glob("*/amber-otter.*.key")
    (root,) = project.keys.glob("*/system.*.key")
    project.keys.chmod(0o777)
    for one in (file, root):
        one.chmod(0o644)
    found = project.json("ledger", "doctor").data["findings"]
    hints = {one["where"]: one["hint"] for one in found}
    assert hints[str(file)].startswith(f"`chmod 600 {file}`; ")
    assert hints[str(file)].endswith("`moot agent rotate amber-otter`")
    assert hints[str(root)].endswith("`moot agent rotate NAME`")
    assert hints[str(project.keys)] == f"`chmod 700 {project.keys}`"


def test_the_one_proposal_there_is_is_named(traced: Project) -> None:
    for _ in range(2):
        traced.ok("trace", "propose", "t1", *PROPOSE)
    traced.ok("trace", "review", "t1", "p2", "--rationale", "so", "--verdict", "approved")
    (due,) = [one for one in traced.ok("agenda")["due"] if "run" in one["what"]]
    assert due["hint"].startswith("moot trace intend t1 p2 --tool N ")


# What was typed, in hints that come from deeper down.


def test_what_was_typed_stands_in_the_hint(project: Project) -> None:
    (project.root / "a b.md").write_text("no session")
    said = hint(project, "debate", "add-context", "a b.md", "--title", "t", "x")
    assert "`moot debate check 'a b.md'`" in said


def test_a_name_that_is_to_be_chosen_stays_open(project: Project) -> None:
    project.ok("agent", "retire", "amber-otter")
    said = hint(project, "agent", "retire", "amber-otter")
    assert "amber-otter" not in said


def test_a_file_or_an_id_is_what_it_turns_out_to_be(project: Project) -> None:
    (project.root / "page.html").write_text("x")
    assert hint(project, "verify", "page.html").endswith("`moot debate verify page.html`")
    assert hint(project, "verify", "x" * 5_000)
    assert hint(project, "flow", "consensus-to-parliament", "\0")


def test_what_is_found_in_a_file_is_fixed_in_that_file(project: Project) -> None:
    project.ok("debate", "new", "d.md", "--title", "t", "--agents", "amber-otter,teal-crane")
    words = ("debate", "add", "d.md", "--author", "amber-otter", "--stance", "approve")
    project.ok(*words, "--confidence", "0.8", "--summary", "s", "--body", "b")
    file = project.root / "d.md"
    file.write_text(file.read_text("utf-8")[:-40], "utf-8")
    assert "(`moot debate tick d.md` restores" in project.run("debate", "verify", "d.md").out
