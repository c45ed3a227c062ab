"""The contract of every command: one envelope, its fields, its exit code, however it ends."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from moot.protocols.example.model import Ask
from tests.cli.command_tree import Words, commands_with_envelopes
from tests.project import LIST, Project, Result

ALL = commands_with_envelopes()
# What succeeds in a workspace with two agents and one errand. The others need more and succeed in
# tests of their own: tests/golden requires an answer of each, and holds the data of all.
SUCCEEDS: dict[str, Words] = {
    "init": ("init",),
    "run": ("run", "--name", "coral-finch", "--", "true"),
    "status": ("status",),
    "reserve": ("reserve", "src/auth", "--agent", "amber-otter"),
    "release": ("release", "--all", "--agent", "amber-otter"),
    "send": ("--as", "amber-otter", "send", "teal-crane", "INFO: done"),
    "inbox": ("--as", "teal-crane", "inbox"),
    "ask": ("ask", "Ship it?", "--with", "rules:approve,rules:approve"),
    "undo": ("undo",),
    "council.ask": (
        *("--as", "amber-otter", "council", "ask", "Ship it?"),
        *("--with", "amber-otter,teal-crane"),
    ),
    "agenda": ("agenda",),
    "tick": ("tick",),
    "verify": ("verify",),
    "agent.register": ("agent", "register", "coral-finch"),
    "agent.list": ("agent", "list"),
    "agent.show": ("agent", "show", "amber-otter"),
    "agent.heartbeat": ("agent", "heartbeat", "--agent", "amber-otter"),
    "agent.retire": ("agent", "retire", "amber-otter"),
    "config": ("config",),
    "agent.rotate": ("agent", "rotate", "amber-otter"),
    "agent.revoke": ("agent", "revoke", "amber-otter", "--reason", "lost"),
    "join": ("join", "--register", "coral-finch"),
    "scope.reserve": ("scope", "reserve", "src/auth", "--agent", "amber-otter"),
    "scope.release": ("scope", "release", "--all", "--agent", "amber-otter"),
    "scope.list": ("scope", "list"),
    "scope.compare": ("scope", "compare", "src", "src/auth"),
    "event.list": ("event", "list"),
    "hook.install": ("hook", "install", "claude"),
    "hook.uninstall": ("hook", "uninstall", "claude"),
    "hook.status": ("hook", "status"),
    "guard.check": ("guard", "check", "src/auth.py"),
    "mail.template": ("mail", "template", "QUESTION"),
    "mail.send": (
        *("mail", "send", "--from", "amber-otter", "--to", "teal-crane"),
        *("--subject", "QUESTION: Which?"),
    ),
    "mail.inbox": ("mail", "inbox", "--agent", "teal-crane"),
    "mail.search": ("mail", "search", "nothing"),
    "mail.pending": ("mail", "pending"),
    "mail.tick": ("mail", "tick"),
    "mail.run": ("mail", "run", "--participant", "teal-crane=rules:approve"),
    "debate.new": ("debate", "new", "d.md", "--title", "Why?", "--agents", "one-fox,two-hen"),
    "parliament.new": (
        *("parliament", "new", "p", "--problem", "Why?", "--issue", "speed", "--issue", "cost"),
        *("--rep", "Rep. Swift:speed", "--rep", "Rep. Thrift:cost"),
    ),
    "parliament.template": ("parliament", "template", "QUESTION"),
    "trace.list": ("trace", "list"),
    "trace.observed": ("trace", "observed"),
    "flow.list": ("flow", "list"),
    "track": ("track",),
    "ledger.log": ("ledger", "log", LIST),
    "ledger.verify": ("ledger", "verify"),
    "ledger.doctor": ("ledger", "doctor"),
    "ledger.checkpoint": ("ledger", "checkpoint", "-o", "note.txt"),
    "ledger.export": ("ledger", "export", "-o", "record.moot"),
    "ledger.backup": ("ledger", "backup", "copy.db"),
    "ledger.rebuild": ("ledger", "rebuild"),
    "trust.show": ("trust", "show"),
    "trust.export": ("trust", "export", "-o", "trust.json"),
    "help": ("help", "status"),
    "completion": ("completion", "zsh"),
    "doctor": ("doctor",),
    "machine.list": ("machine", "list"),
    "plan": ("plan", "T-7"),
    "prompt": ("prompt",),
    "log": ("log", LIST),
    "explain": ("explain", "reservation_conflict"),
    "uninstall": ("uninstall",),
}

HANDOFF = ("no-body", "--subject", "s", "--summary", "s", "--next-action", "n", "--scope", "src")
BLOCKED = ("no-body", "--subject", "s", "--blocker", "b", "--requested-action", "r")
# Every command that needs a session, in a folder without one.
PARLIAMENT: dict[str, Words] = {
    "check": ("parliament", "check", "nowhere"),
    "history": ("parliament", "history", "nowhere"),
    "submit": ("parliament", "submit", "nowhere", "m.json"),
    "statement": (*("parliament", "statement", "nowhere", "--approach", "a", "--principle", "p"),),
    "draft": ("parliament", "draft", "nowhere", "--title", "t"),
    "ask": ("parliament", "ask", "nowhere", "rep_2", "Why?"),
    "answer": ("parliament", "answer", "nowhere", "So."),
    "amend": ("parliament", "amend", "nowhere", "add", "solution", "More."),
    "endorse": ("parliament", "endorse", "nowhere", "amend-001"),
    "oppose": ("parliament", "oppose", "nowhere", "amend-001"),
    "abstain": ("parliament", "abstain", "nowhere", "amend-001"),
    "motion": ("parliament", "motion", "nowhere", "call_vote", "--reason", "r"),
    "vote": ("parliament", "vote", "nowhere", "YES", "--reason", "r"),
    "rule": ("parliament", "rule", "nowhere", "round_start"),
    "import": ("parliament", "import", "nowhere"),
    "status": ("parliament", "status", "nowhere"),
    "next": ("parliament", "next", "nowhere"),
    "export": ("parliament", "export", "nowhere"),
    "context": ("parliament", "context", "nowhere"),
    "summarize": ("parliament", "summarize", "nowhere", "s.json"),
    "drafter": ("parliament", "drafter", "nowhere"),
    "incorporate": ("parliament", "incorporate", "nowhere", "amend-001"),
    "withdraw": ("parliament", "withdraw", "nowhere", "amend-001"),
    "conclude": ("parliament", "conclude", "nowhere", "amend-001"),
    "tally": ("parliament", "tally", "nowhere"),
    "decide": ("parliament", "decide", "nowhere", "approve", "--reason", "r"),
    "final": ("parliament", "final", "nowhere"),
    "run": ("parliament", "run", "nowhere", "--participant", "amber-otter=human"),
}
# Every command about one trace, as it is refused where there is none of that name.
TRACE: dict[str, Words] = {
    "propose": ("--objective", "o", "--tool", "echo"),
    "review": ("p1", "--verdict", "approved", "--rationale", "r"),
    "intend": ("p1", "--tool", "echo", "--risk", "low", "--why", "w", "--", "echo"),
    "review_intent": ("i1", "--verdict", "approved", "--rationale", "r"),
    "exec": ("i1",),
    "run": ("--participant", "amber-otter=human"),
    "claim": ("--text", "t", "--confidence", "1", "--evidence", "x1/stdout"),
    "withdraw": ("c1",),
    "challenge": ("c1", "--reason", "r"),
    "finalize": ("--statement", "s"),
    "audit": (),
    "abort": ("--reason", "r"),
    "recover": (),
    "rotate": ("critic",),
    "status": (),
    "export": ("-o", "t9.moot"),
    "report": (),
}
# Every flow, as it is refused where there is nothing to start from.
FLOWS: dict[str, tuple[str, int, Words]] = {
    "blocked_to_debate": ("source_not_found", 1, ("none:1",)),
    "question_to_debate": ("source_not_found", 1, ("none:1",)),
    "kickoff_to_debate": ("source_not_found", 1, ("none:1",)),
    "critique_to_debate": ("source_not_found", 1, ("none:1",)),
    "consensus_to_parliament": ("unreadable_file", 4, ("none.md",)),
    "deadlock_to_parliament": ("human_key_required", 1, ("none.md",)),
    "approval_to_trace": (
        *("no_session", 4),
        (
            *("nowhere", "--planner", "amber-otter", "--executor", "a-b-c", "--critic", "d-e-f"),
            *("--auditor", "g-h-i", "--tool", "pytest"),
        ),
    ),
    "critique_to_challenge": ("actor_required", 1, ("none:1",)),
    "challenge_to_critique": ("trace_not_found", 1, ("t9", "c1")),
    "report_to_info": ("trace_not_found", 1, ("t9",)),
    "done_to_ack": ("actor_required", 1, ("t9",)),
    "timeout_to_operator": ("unreadable_file", 4, ("none.md",)),
    "takeover_to_info": ("source_not_found", 1, ("none",)),
    "resume_to_work": ("human_key_required", 1, ("none",)),
    "resume_to_seat": ("human_key_required", 1, ("none",)),
}
REFUSALS: dict[str, tuple[str, int, Words]] = {
    "council.answer": (
        *("decision_not_found", 1),
        ("--as", "amber-otter", "council", "answer", "q-9", "Yes"),
    ),
    "council.result": ("decision_not_found", 1, ("council", "result", "q-9")),
    **{
        f"flow.{name}": (code, status, ("flow", name.replace("_", "-"), *words))
        for name, (code, status, words) in FLOWS.items()
    },
    "story": ("story_not_found", 1, ("story", "nothing-9")),
    **{
        f"trace.{name}": ("trace_not_found", 1, ("trace", name.replace("_", "-"), "t9", *words))
        for name, words in TRACE.items()
    },
    "trace.new": (
        *("agent_not_found", 1),
        (
            *("trace", "new", "--task", "t", "--planner", "no-body", "--executor", "amber-otter"),
            *("--critic", "teal-crane", "--auditor", "no-one"),
        ),
    ),
    "trace.verify": ("unreadable_file", 4, ("trace", "verify", "none.moot")),
    "agent.register": ("name_taken", 1, ("agent", "register", "amber-otter")),
    "hook.test": ("hook_not_installed", 1, ("hook", "test", "claude")),
    "agent.show": ("agent_not_found", 1, ("agent", "show", "no-body")),
    "agent.heartbeat": ("agent_not_found", 1, ("agent", "heartbeat", "--agent", "no-body")),
    "agent.retire": ("agent_not_found", 1, ("agent", "retire", "no-body")),
    "config": ("human_key_required", 1, ("--as", "amber-otter", "config", "stale-minutes", "1")),
    "agent.rotate": ("agent_not_found", 1, ("agent", "rotate", "no-body")),
    "agent.revoke": ("agent_not_found", 1, ("agent", "revoke", "no-body", "--reason", "x")),
    "send": ("agent_not_found", 1, ("--as", "amber-otter", "send", "no-body", "INFO: x")),
    "inbox": ("actor_required", 1, ("inbox",)),
    "mail.send": (
        *("actor_required", 1),
        ("mail", "send", "--to", "teal-crane", "--subject", "INFO: x"),
    ),
    "mail.import": ("unreadable_file", 4, ("mail", "import", "none.md", "--agent", "amber-otter")),
    "mail.inbox": ("agent_not_found", 1, ("mail", "inbox", "--agent", "no-body")),
    "mail.show": ("message_not_found", 1, ("mail", "show", "none:1")),
    "mail.thread": ("thread_not_found", 1, ("mail", "thread", "none")),
    "mail.ack": (
        *("message_not_found", 1),
        ("mail", "ack", "none:1", "--agent", "amber-otter", "--status", "Received"),
    ),
    "mail.run": ("agent_not_found", 1, ("mail", "run", "--participant", "no-body=human")),
    "mail.compile": ("thread_not_found", 1, ("mail", "compile", "none", "--agent", "amber-otter")),
    "handoff": ("agent_not_found", 1, ("--as", "amber-otter", "handoff", *HANDOFF)),
    "blocked": ("agent_not_found", 1, ("--as", "amber-otter", "blocked", *BLOCKED)),
    "event.handoff": ("actor_required", 1, ("event", "handoff", "--to", *HANDOFF)),
    "event.blocked": ("actor_required", 1, ("event", "blocked", "--to", *BLOCKED)),
    "event.seen": ("event_not_found", 1, ("event", "seen", "none", "--agent", "amber-otter")),
    "event.withdraw": ("event_not_found", 1, ("event", "withdraw", "none", "--reason", "r")),
    "event.accept": ("event_not_found", 1, ("event", "accept", "none", "--agent", "amber-otter")),
    **{f"parliament.{name}": ("no_session", 4, words) for name, words in PARLIAMENT.items()},
    "verify": ("not_found", 1, ("verify", "example/none")),
    "ledger.verify": ("unreadable_file", 4, ("ledger", "verify", "no-such.moot")),
    "ledger.log": ("not_found", 1, ("ledger", "log", "example/none")),
    "ledger.export": ("not_found", 1, ("ledger", "export", "-o", "x.moot", "example/none")),
    "ledger.checkpoint": (
        "unwritable_file",
        4,
        ("ledger", "checkpoint", "-o", ".moot/trust.json/x"),
    ),
    "ledger.backup": ("file_exists", 1, ("ledger", "backup", "taken")),
    "ledger.accept_loss": ("nothing_lost", 1, ("ledger", "accept-loss", "--reason", "x")),
    "ledger.witness": ("unreadable_file", 4, ("ledger", "witness", "no-such.moot")),
    "ledger.forget": ("workspace_exists", 1, ("ledger", "forget")),
    "trust.export": ("unwritable_file", 4, ("trust", "export", "-o", ".moot/trust.json/x")),
    "artifact.show": ("artifact_not_found", 1, ("artifact", "show", "0" * 64)),
    "artifact.erase": ("bad_hash", 1, ("artifact", "erase", "xyz", "--reason", "x")),
    "ask": ("bad_participant", 1, ("ask", "Why?", "--with", "nonsense")),
    "decide": ("decision_not_found", 1, ("decide", "q-9", "approve", "--reason", "x")),
    "outcome": ("decision_not_found", 1, ("outcome", "q-9", "right", "--reason", "x")),
    "report": ("not_found", 1, ("report", "q-9")),
    "receipt": ("decision_not_found", 1, ("receipt", "q-9", "-o", "q.md")),
    "demo": ("demo_exists", 1, ("demo", "--out", "stage")),
    "log": ("not_found", 1, ("log", "example/none")),
    "explain": ("unknown_code", 1, ("explain", "no-such-code")),
    "clean": ("no_repository", 4, ("clean",)),
    "keep": ("cannot_listen", 1, ("keep", "--listen", "203.0.113.1:1")),
    "invite": ("not_kept", 1, ("invite",)),
    "admit": ("bad_admission", 1, ("admit", "bob#nothing")),
    "machine.move_here": ("not_found", 1, ("machine", "move-here", "q-9")),
    "machine.hand_over": ("not_found", 1, ("machine", "hand-over", "q-9", "--to", "laptop")),
    "machine.leave": ("kept_here", 1, ("machine", "leave")),
    "machine.revoke": ("machine_not_found", 1, ("machine", "revoke", "laptop")),
    "ledger.move": ("already_there", 1, ("ledger", "move", "file")),
    "serve": ("tls_required", 1, ("serve", "--listen", "0.0.0.0")),
}

NEEDS_NO_WORKSPACE = {
    *("init", "demo", "completion", "help", "scope.compare", "mail.template", "mail.lint"),
    *(name for name in ALL if name.startswith("debate.")),
    "parliament.check",
    "parliament.template",
    "trace.verify",
    "ledger.forget",
    "flow.list",
    "explain",
    "prompt",
}
SPEAKS = {
    "run",
    "ask",
}  # its own remarks go to standard error: the rest is the program's that it runs


@pytest.fixture
def busy(project: Project) -> Project:
    project.execute("amber-otter", Ask(title="review", of="teal-crane"))
    (project.root / "taken").write_text("mine")
    (project.root / "stage" / "repository").mkdir(parents=True)
    return project


def check_shape(done: Result, command: str) -> None:
    envelope = done.envelope
    assert list(envelope) == ["ok", "command", "data", "error"]
    assert envelope["command"] == command
    if envelope["ok"]:
        assert isinstance(envelope["data"], dict)
        assert envelope["error"] is None
    else:
        assert envelope["data"] is None
        assert list(envelope["error"]) == ["code", "message", "hint", "findings"]
        assert envelope["error"]["hint"]
        assert envelope["error"]["code"].replace("_", "").isalnum()
        assert envelope["error"]["code"].islower()
    for finding in _findings(envelope):
        fields = {"rule", "code", "severity", "message", "line", "where", "hint"}
        assert set(finding) == fields
        assert finding["severity"] in ("error", "warning", "info")


def _findings(envelope: dict[str, object]) -> list[dict[str, object]]:
    holder = envelope["data"] if envelope["ok"] else envelope["error"]
    assert isinstance(holder, dict)
    found = holder.get("findings", [])
    assert isinstance(found, list)
    return found


def test_every_command_is_in_the_tables() -> None:
    assert set(ALL) == {*SUCCEEDS, *REFUSALS, *NEEDS_NO_WORKSPACE}


@pytest.mark.parametrize("command", SUCCEEDS)
def test_a_success_is_one_envelope_on_stdout(busy: Project, command: str) -> None:
    done = busy.json(*SUCCEEDS[command])
    assert done.code == 0
    assert done.err == "" or command in SPEAKS
    check_shape(done, command)


@pytest.mark.parametrize("command", SUCCEEDS)
def test_a_person_reads_the_same_in_lines(busy: Project, command: str) -> None:
    done = busy.run(*SUCCEEDS[command])
    assert done.code == 0
    assert done.err == "" or command in SPEAKS
    assert done.out.strip() or command in SPEAKS
    assert not done.out.startswith('{"')
    assert "\x1b" not in done.out


@pytest.mark.parametrize("command", REFUSALS)
def test_a_refusal_is_an_envelope_with_a_code_and_a_hint(busy: Project, command: str) -> None:
    code, exit_code, words = REFUSALS[command]
    done = busy.json(*words)
    check_shape(done, command)
    assert (done.error["code"], done.code, done.err) == (code, exit_code, "")


@pytest.mark.parametrize("command", REFUSALS)
def test_a_person_is_told_what_to_do_next(busy: Project, command: str) -> None:
    code, exit_code, words = REFUSALS[command]
    done = busy.run(*words)
    assert (done.code, done.out) == (exit_code, "")
    assert f"[{code}]" in done.err
    assert "try: " in done.err


@pytest.mark.parametrize("command", ALL)
def test_wrong_usage_ends_with_2(bare: Project, command: str) -> None:
    wrong = () if command == "run" else ("--no-such-option",)  # `run` passes options on
    done = bare.json(*ALL[command], *wrong)
    check_shape(done, command)
    assert (done.error["code"], done.code) == ("usage", 2)
    assert "--help" in done.error["hint"]


@pytest.mark.parametrize(
    "words",
    [
        *((group,) for group in ("agent", "artifact", "event", "guard", "hook", "ledger", "scope")),
        *((), ("mail",), ("trust",), ("nothing",), ("agent", "register"), ("agent", "nope")),
    ],
)
def test_a_missing_or_unknown_command_is_wrong_usage(bare: Project, words: Words) -> None:
    done = bare.json(*words)
    assert (done.error["code"], done.code) == ("usage", 2)


def test_no_command_at_all_shows_the_help(bare: Project) -> None:
    done = bare.run()
    assert done.code == 0
    assert done.out == bare.run("--help").out


@pytest.mark.parametrize("command", sorted(set(ALL) - NEEDS_NO_WORKSPACE))
def test_without_a_workspace_nothing_can_run(bare: Project, command: str) -> None:
    words = SUCCEEDS[command] if command in SUCCEEDS else REFUSALS[command][2]
    done = bare.json(*words)
    check_shape(done, command)
    assert (done.error["code"], done.code) == ("no_workspace", 4)
    assert "moot init" in done.error["hint"]
    assert list(bare.root.iterdir()) == []
    assert not bare.keys.exists()


@pytest.mark.parametrize(
    "place",
    [
        lambda words: ("--json", *words),
        lambda words: (words[0], "--json", *words[1:]),
        lambda words: (*words, "--json"),
    ],
)
def test_json_may_stand_anywhere(project: Project, place: Callable[[Words], Words]) -> None:
    done = project.run(*place(("agent", "list")))
    check_shape(done, "agent.list")


def test_a_check_that_ran_is_ok_even_if_the_record_is_not(project: Project) -> None:
    project.ok("ledger", "export", "-o", "record.moot")
    file = project.root / "record.moot"
    file.write_bytes(file.read_bytes().replace(b"registry", b"registri"))
    done = project.json("verify", "record.moot")
    assert (done.code, done.envelope["ok"], done.data["verdict"]) == (1, True, "tampered")


def test_a_bug_is_one_line_and_ends_with_4(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("moot.api.presence.status._summarize_record", broken)
    done = project.json("status")
    assert (done.error["code"], done.code) == ("internal_error", 4)
    assert "Traceback" not in done.err
    assert "Traceback" in project.run("status", MOOT_DEBUG="1").err


def test_the_envelope_is_utf8_whatever_the_locale(project: Project) -> None:
    project.execute("amber-otter", Ask(title="prüfe 雪 🦦", of="teal-crane"))
    done = project.spawn("agenda", "--json", LC_ALL="C", PYTHONUTF8="0")
    assert json.loads(done.out)["data"]["due"][0]["subject"] == "e1: prüfe 雪 🦦"
    shown = project.spawn("agenda", LC_ALL="C", PYTHONUTF8="0")
    assert (shown.code, shown.err) == (0, "")
