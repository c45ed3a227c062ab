"""A trace as it is typed: one task from proposal to verified report, and everything refused."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.damage import edit, of
from tests.cli.signalling import ON_LINUX, signal_another_thread, signal_process
from tests.cli.terminal import on_a_terminal
from tests.project import MOOT, Project, Result

PAUSE = threading.Event()
PLANNER, EXECUTOR, CRITIC, AUDITOR = "amber-otter", "teal-crane", "coral-finch", "slate-heron"
NEW = (
    *("trace", "new", "--task", "Is it fine?", "--planner", PLANNER, "--executor", EXECUTOR),
    *("--critic", CRITIC, "--auditor", AUDITOR),
)
PROPOSE = ("--objective", "look", "--tool", "python", "--assume", "none", "--expect", "a text")
INTEND = ("trace", "intend", "t1", "p1", "--tool", "python", "--why", "to see", "--risk", "low")
CLAIM = ("trace", "claim", "t1", "--text", "it is", "--confidence", "0.9")
PYTHON = sys.executable


@pytest.fixture
def traced(project: Project) -> Project:
    """Four agents and an open trace."""
    for name in (CRITIC, AUDITOR):
        project.ok("agent", "register", name)
    assert project.ok(*NEW)["trace"] == "t1"
    return project


@pytest.fixture
def approved(traced: Project) -> Project:
    """With a proposal that is approved."""
    traced.ok("trace", "propose", "t1", *PROPOSE)
    traced.ok("trace", "review", "t1", "p1", "--verdict", "approved", "--rationale", "fine")
    return traced


def ran(traced: Project) -> bool:
    return (traced.root / "ran").exists()


MARK = ("--", PYTHON, "-c", "open('ran', 'w').write('x')")


def intended(traced: Project, *words: str) -> str:
    """An intent that may run."""
    intent: str = traced.ok(*INTEND, *words)["intent"]
    asked = ("trace", "review-intent", "t1", intent, "--verdict", "approved", "--rationale", "ok")
    traced.ok(*asked)
    return intent


def events(traced: Project) -> int:
    found: int = traced.ok("trace", "status", "t1")["events"]
    return found


def to_final(traced: Project) -> None:
    traced.ok("trace", "exec", "t1", intended(traced, "--", PYTHON, "-c", "print('seen')"))
    traced.ok(*CLAIM, "--evidence", "x1/stdout")
    traced.ok("trace", "finalize", "t1", "--statement", "It is fine.")


@pytest.mark.requirement("TRC-014", "TRC-018", "TRC-044", "TRC-047", "TRC-068")
def test_one_task_from_proposal_to_verified_report(approved: Project) -> None:
    traced = approved
    made = traced.ok(*INTEND, "--writes", "out.txt", *MARK)
    assert made["needs_approval"] == ["risk"]  # not the named tool: a path may be anything
    assert made["risk"] == "critical"
    assert traced.refused("trace", "exec", "t1", "i1") == ("approval_required", 1)
    assert not ran(traced)
    traced.ok("trace", "review-intent", "t1", "i1", "--verdict", "approved", "--rationale", "ok")
    done = traced.ok("trace", "exec", "t1", "i1")
    assert (done["execution"], done["exit_status"], done["failed"]) == ("x1", 0, False)
    assert [one["name"] for one in done["artifacts"]] == ["stdout", "stderr", "changed"]
    assert ran(traced)
    claim = traced.ok(*CLAIM, "--evidence", "x1/stdout", "--evidence", "x1/changed")
    assert claim["claim"] == "c1"
    traced.ok("trace", "challenge", "t1", "c1", "--reason", "too little was tried")
    assert traced.refused("trace", "finalize", "t1", "--statement", "done") == ("claim_disputed", 1)
    again = traced.ok(*CLAIM, "--evidence", "x1/stdout", "--supersedes", "c1")
    assert again["claim"] == "c2"
    assert traced.ok("trace", "finalize", "t1", "--statement", "done")["claims"] == ["c2"]
    late = ("trace", "challenge", "t1", "c2", "--reason", "late")
    assert traced.refused(*late) == ("wrong_state", 1)
    assert traced.refused("trace", "finalize", "t1", "--statement", "again") == ("wrong_state", 1)
    audit = traced.ok("trace", "audit", "t1", "-o", "report.html")
    assert audit["status"] == "pass-with-warnings"  # the challenge was resolved, and is told
    assert audit["state"] == "completed"
    assert [check["name"] for check in audit["checks"]][:10] == [
        *("CHK_SCHEMA_CONFORMANCE", "CHK_EVENT_HASH_INTEGRITY", "CHK_CHAIN_CONTINUITY"),
        *("CHK_SIGNATURE_VALIDITY", "CHK_KEY_STATUS", "CHK_ARTIFACT_EXISTENCE"),
        *("CHK_ARTIFACT_HASH_MATCH", "CHK_CLAIM_EVIDENCE_SUFFICIENCY"),
        *("CHK_ROLE_POLICY_CONFORMANCE", "CHK_FINALIZATION_INTEGRITY"),
    ]
    stored = json.loads(traced.ok("artifact", "show", audit["report"])["text"])
    assert (stored["trace"], stored["head"]) == ("trace/t1", audit["head"])
    assert stored["events"] == audit["events"]
    page = traced.ok("artifact", "show", audit["page"])["text"]
    assert page.startswith("<!DOCTYPE html>")
    assert "What rests on what" in page
    assert (traced.root / "report.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    status = traced.ok("trace", "status", "t1")
    assert (status["state"], status["verdict"]) == ("completed", "pass-with-warnings")
    assert status["report"] == audit["report"]
    assert status["counted"].startswith("governed 1, observed 0, gaps 0")


@pytest.mark.requirement("TRC-062")
@pytest.mark.parametrize(
    ("actor", "words"),
    [
        pytest.param(
            EXECUTOR, ("propose", "t1", *PROPOSE), marks=pytest.mark.requirement("TRC-002")
        ),
        pytest.param(
            PLANNER,
            ("review", "t1", "p1", "--verdict", "approved", "--rationale", "r"),
            marks=pytest.mark.requirement("TRC-005"),
        ),
        pytest.param(CRITIC, (*INTEND[1:], "--", "echo"), marks=pytest.mark.requirement("TRC-003")),
        pytest.param(
            EXECUTOR,
            ("review-intent", "t1", "i1", "--verdict", "approved", "--rationale", "r"),
            marks=pytest.mark.requirement("TRC-005"),
        ),
        pytest.param(CRITIC, ("exec", "t1", "i1"), marks=pytest.mark.requirement("TRC-003")),
        pytest.param(
            PLANNER,
            (*CLAIM[1:], "--evidence", "x1/stdout"),
            marks=pytest.mark.requirement("TRC-004"),
        ),
        pytest.param(
            EXECUTOR,
            ("challenge", "t1", "c1", "--reason", "r"),
            marks=pytest.mark.requirement("TRC-006"),
        ),
        (PLANNER, ("finalize", "t1", "--statement", "s")),
        pytest.param(EXECUTOR, ("audit", "t1"), marks=pytest.mark.requirement("TRC-007")),
        pytest.param(
            PLANNER, ("abort", "t1", "--reason", "r"), marks=pytest.mark.requirement("TRC-016")
        ),
        (PLANNER, NEW[1:]),
    ],
)
def test_anyone_who_plays_another_part_is_refused(
    approved: Project, actor: str, words: tuple[str, ...]
) -> None:
    traced = approved
    intended(traced, "--", PYTHON, "-c", "print(1)")
    traced.ok("trace", "exec", "t1", "i1")
    traced.ok(*CLAIM, "--evidence", "x1/stdout")
    if words[0] == "exec":
        intended(traced, *MARK)
        words = ("exec", "t1", "i2")
    before = events(traced)
    code, status = traced.refused("--as", actor, "trace", *words)
    assert (code, status) == ("role_policy_violation", 1)
    assert (events(traced), ran(traced)) == (before, False)


def test_without_a_name_the_part_names_the_agent(traced: Project) -> None:
    """A person at a terminal plays all parts whose keys are here."""
    traced.ok("trace", "propose", "t1", *PROPOSE)
    log = traced.ok("ledger", "log", "trace/t1")["events"]
    assert [one["actor"] for one in log] == ["system", PLANNER]


def test_a_name_of_its_own_is_kept_to(traced: Project) -> None:
    assert traced.refused("trace", "propose", "t1", *PROPOSE, MOOT_AGENT=CRITIC)[0] == (
        "role_policy_violation"
    )
    traced.ok("trace", "propose", "t1", *PROPOSE, MOOT_AGENT=PLANNER)


@pytest.mark.requirement("TRC-016", "TRC-052")
def test_an_aborted_trace_takes_nothing_more(approved: Project) -> None:
    traced = approved
    intent = intended(traced, *MARK)
    traced.ok("trace", "abort", "t1", "--reason", "the task has changed")
    assert traced.ok("trace", "status", "t1")["state"] == "aborted"
    before = events(traced)
    for words in (
        ("exec", "t1", intent),
        ("propose", "t1", *PROPOSE),
        ("abort", "t1", "--reason", "again"),
        ("finalize", "t1", "--statement", "s"),
    ):
        assert traced.refused("trace", *words) == ("trace_ended", 1)
    assert (events(traced), ran(traced)) == (before, False)


@pytest.mark.requirement("TRC-016")
def test_a_person_aborts_with_their_own_key(traced: Project, passphrase: str) -> None:
    person = {"MOOT_PASSPHRASE_FILE": passphrase}
    traced.ok("agent", "register", "operator", "--human", **person)
    traced.ok("--as", "operator", "trace", "abort", "t1", "--reason", "enough", **person)
    log = traced.ok("ledger", "log", "trace/t1")["events"]
    assert log[-1]["actor"] == "operator"


def test_a_failed_command_is_a_failed_run_and_exit_1(approved: Project) -> None:
    intent = intended(approved, "--", PYTHON, "-c", "raise SystemExit(7)")
    done = approved.json("trace", "exec", "t1", intent)
    assert done.code == 1
    assert (done.data["exit_status"], done.data["failed"]) == (7, True)
    assert done.data["detail"] == "exit status 7"
    again = approved.ok(*INTEND, "--retry-of", intent, "--", PYTHON, "-c", "print(1)")
    assert again["intent"] == "i2"


@pytest.mark.requirement("TRC-054")
def test_a_claim_on_bytes_that_are_gone_is_accepted_flagged_and_fails_the_audit(
    approved: Project,
) -> None:
    traced = approved
    done = traced.ok("trace", "exec", "t1", intended(traced, "--", PYTHON, "-c", "print('seen')"))
    sha = done["artifacts"][0]["sha256"]
    (traced.root / ".moot" / "artifacts" / sha[:2] / sha[2:]).unlink()
    claim = traced.ok(*CLAIM, "--evidence", "x1/stdout")
    assert claim["artifact_missing"] == [sha]
    assert [one["code"] for one in claim["findings"]] == ["artifact_missing"]
    traced.ok("trace", "finalize", "t1", "--statement", "s")
    audit = traced.json("trace", "audit", "t1")
    assert (audit.code, audit.data["status"], audit.data["state"]) == (1, "fail", "failed")
    assert "artifact_missing" in {one["code"] for one in audit.data["findings"]}


def test_a_claim_that_is_taken_back_is_not_what_the_trace_comes_to(approved: Project) -> None:
    traced = approved
    traced.ok("trace", "exec", "t1", intended(traced, "--", PYTHON, "-c", "print('seen')"))
    for _ in range(2):
        traced.ok(*CLAIM, "--evidence", "x1/stdout")
    taken = traced.ok("trace", "withdraw", "t1", "c1", "--reason", "said twice")
    assert (taken["trace"], taken["claim"]) == ("t1", "c1")
    before = events(traced)
    assert traced.json("trace", "withdraw", "t1", "c1").code == 1
    assert events(traced) == before
    assert traced.ok("trace", "finalize", "t1", "--statement", "done")["claims"] == ["c2"]


def test_evidence_whose_bytes_were_changed_is_refused(approved: Project) -> None:
    traced = approved
    done = traced.ok("trace", "exec", "t1", intended(traced, "--", PYTHON, "-c", "print('seen')"))
    sha = done["artifacts"][0]["sha256"]
    place = traced.root / ".moot" / "artifacts" / sha[:2] / sha[2:]
    place.write_bytes(b"forged")
    before = events(traced)
    assert traced.refused(*CLAIM, "--evidence", "x1/stdout")[1] == 1
    assert events(traced) == before


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((*CLAIM, "--evidence", "0" * 64), "unknown_evidence"),
        ((*CLAIM, "--evidence", "x9/stdout"), "unknown_id"),
        ((*CLAIM, "--evidence", "x1/none"), "unknown_output"),
        ((*CLAIM[:-1], "1.5", "--evidence", "x1/stdout"), "bad_confidence"),
        (("trace", "exec", "t1", "i9"), "unknown_id"),
        (("trace", "review", "t1", "p9", "--verdict", "approved", "--rationale", "r"), ""),
        (("trace", "challenge", "t1", "c9", "--reason", "r"), ""),
        (("trace", "withdraw", "t1", "c9"), ""),
        ((*INTEND, "--supersedes", "i9", "--", "echo"), "unknown_intent"),
        (("trace", "finalize", "t1", "--statement", "s"), ""),
        (("trace", "audit", "t1"), "wrong_state"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(
    approved: Project, words: tuple[str, ...], code: str
) -> None:
    approved.ok("trace", "exec", "t1", intended(approved, "--", PYTHON, "-c", "print(1)"))
    before = events(approved)
    found, status = approved.refused(*words)
    assert status == 1
    assert not code or found == code
    assert events(approved) == before


def test_a_key_from_elsewhere_plays_no_part(approved: Project, tmp_path: Path) -> None:
    """The same name in another key folder is not the same key."""
    traced = approved
    intent = intended(traced, *MARK)
    before = events(traced)
    shutil.copytree(traced.keys, tmp_path / "copy")
    for file in (tmp_path / "copy").rglob(f"*{EXECUTOR}*"):
        file.unlink()
    code, _ = traced.refused("trace", "exec", "t1", intent, MOOT_KEYS=str(tmp_path / "copy"))
    assert code == "key_missing"
    assert (events(traced), ran(traced)) == (before, False)


@pytest.mark.parametrize("how", ["revoke", "retire", "rotate"])
def test_an_ended_key_runs_nothing(approved: Project, how: str) -> None:
    traced = approved
    intent = intended(traced, *MARK)
    before = events(traced)
    reason = ("--reason", "lost") if how == "revoke" else ()
    traced.ok("agent", how, EXECUTOR, *reason)
    code, _ = traced.refused("trace", "exec", "t1", intent)
    assert (
        code
        == {
            "revoke": "key_revoked",
            "retire": "agent_retired",
            "rotate": "foreign_key",
        }[how]
    )
    assert (events(traced), ran(traced)) == (before, False)
    if how == "rotate":
        traced.ok("trace", "rotate", "t1", "executor", "--reason", "a new key")
        traced.ok("trace", "exec", "t1", intent)
        assert ran(traced)


@pytest.mark.requirement("TRC-053")
def test_a_forged_event_fails_the_trace_and_nothing_is_run(approved: Project) -> None:
    from moot.core.record import Record

    traced = approved
    intent = intended(traced, *MARK)
    with traced.workspace() as space, space.store.read() as view:
        (*_, newest) = view.records("trace/t1")
    forged = Record(newest.stream, newest.seq, newest.kid, newest.raw, bytes(64))
    edit(
        traced.ledger,
        f"UPDATE events SET sig = zeroblob(64) WHERE {of('trace/t1')} AND seq = {newest.seq}",
        f"UPDATE streams SET hash = x'{forged.hash.hex()}' WHERE name = 'trace/t1'",
    )
    done = traced.json("trace", "exec", "t1", intent)
    assert (done.code, done.error["code"]) == (1, "unproved_record")
    assert not ran(traced)
    assert traced.ok("trace", "status", "t1")["state"] == "failed"
    assert traced.refused("trace", "exec", "t1", intent)[0] in ("trace_ended", "unproved_record")
    found = traced.json("trace", "verify", "t1")
    assert found.code == 1
    assert found.data["first_bad"]["seq"] == newest.seq
    assert found.data["last_trusted"]["seq"] == newest.seq - 1
    assert {one["status"] for one in found.data["traces"]} == {"fail"}


@pytest.mark.parametrize(
    "signalled", [signal_process, pytest.param(signal_another_thread, marks=ON_LINUX)]
)
def test_an_interrupted_run_is_recorded_as_stopped(
    approved: Project, signalled: Callable[[int, signal.Signals], None]
) -> None:
    traced = approved
    code = "import signal; open('ran', 'w').write('x'); signal.pause()"
    intent = intended(traced, "--", PYTHON, "-c", code)
    child = subprocess.Popen(
        [*MOOT, "--json", "trace", "exec", "t1", intent],
        cwd=traced.root,
        env=traced.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 30
    while not ran(traced):
        assert time.monotonic() < end
        PAUSE.wait(0.01)
    signalled(child.pid, signal.SIGTERM)
    out, _ = child.communicate(timeout=120)
    assert child.returncode == 128 + signal.SIGTERM
    stopped = Result(child.returncode, out, "").data
    assert stopped["detail"] == f"we were interrupted by signal {int(signal.SIGTERM)}"
    assert stopped["interrupted"] == signal.SIGTERM
    assert traced.ok("trace", "status", "t1")["running"] == []


@pytest.mark.requirement("TRC-061")
def test_a_run_that_died_is_recorded_by_the_next_command(approved: Project) -> None:
    traced = approved
    code = "import os, signal; open('ran', 'w').write(str(os.getpid())); signal.pause()"
    intent = intended(traced, "--", PYTHON, "-c", code)
    child = subprocess.Popen(
        [*MOOT, "trace", "exec", "t1", intent],
        cwd=traced.root,
        env=traced.env,
        stdin=subprocess.DEVNULL,
    )
    end = time.monotonic() + 30
    while not (ran(traced) and (traced.root / "ran").read_text()):
        assert time.monotonic() < end
        PAUSE.wait(0.01)
    (one,) = traced.ok("trace", "status", "t1")["running"]
    assert one["alive"]
    assert traced.ok("trace", "recover", "t1")["recovered"] == []
    child.kill()
    child.wait(timeout=120)
    (one,) = traced.ok("trace", "status", "t1")["running"]
    assert not one["alive"]
    assert "died; the next command records it" in traced.run("trace", "status", "t1").out
    traced.ok("trace", "propose", "t1", *PROPOSE)
    assert traced.ok("trace", "status", "t1")["runs"] == {"completed": 0, "failed": 1}
    assert traced.ok("trace", "recover", "t1")["recovered"] == []
    assert traced.refused("trace", "exec", "t1", intent)[0] == "intent_closed"
    pid = int((traced.root / "ran").read_text())
    wait_gone(pid)


def wait_gone(pid: int) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            text = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return
        if text.rpartition(")")[2].split()[0] in ("Z", "X"):
            return
        PAUSE.wait(0.01)
    os.kill(pid, signal.SIGKILL)
    raise AssertionError("it still runs")


def test_an_exported_trace_is_checked_without_a_workspace(
    approved: Project, tmp_path: Path
) -> None:
    traced = approved
    to_final(traced)
    traced.ok("trace", "audit", "t1")
    made = traced.ok("trace", "export", "t1", "-o", "t1.moot")
    assert made["complete"]
    traced.ok("trust", "export", "-o", "trust.json")
    elsewhere = Project(tmp_path / "elsewhere", tmp_path / "no-keys")
    elsewhere.root.mkdir()
    words = ("trace", "verify", str(traced.root / "t1.moot"))
    found = elsewhere.json(*words, "--trust", str(traced.root / "trust.json"))
    assert found.code == 0
    data = found.data
    fields = ["verdict", "integrity", "authenticity", "completeness", "freshness", "key_status"]
    fields += ["artifacts", "custody", "first_bad", "last_trusted", "checks", "findings"]
    assert list(data)[: len(fields)] == fields
    assert (data["verdict"], data["traces"][0]["status"]) == ("valid", "pass")
    assert data["traces"][0]["state"] == "completed"
    unknown = elsewhere.json(*words)
    assert (unknown.code, unknown.data["verdict"]) == (1, "unknown-key")
    assert unknown.data["traces"][0]["status"] == "fail"
    assert not elsewhere.keys.exists()


def test_an_ended_trace_is_audited_again_without_recording_anything(approved: Project) -> None:
    to_final(approved)
    first = approved.ok("trace", "audit", "t1")
    before = events(approved)
    again = approved.ok("trace", "audit", "t1", "--profile", "strict")
    assert (again["recorded"], again["run"], again["status"]) == (False, None, "pass")
    assert first["recorded"]
    assert events(approved) == before


def test_the_profile_decides_what_an_undeclared_write_means(approved: Project) -> None:
    subprocess.run(["git", "init", "-q"], cwd=approved.root, check=True)
    approved.ok("trace", "exec", "t1", intended(approved, *MARK))
    approved.ok(*CLAIM, "--evidence", "x1/stdout")
    found = {
        profile: approved.json("trace", "verify", "t1", "--profile", profile).data["traces"][0]
        for profile in ("strict", "default", "lenient")
    }
    assert found["strict"]["status"] == "fail"
    assert found["default"]["status"] == "pass-with-warnings"
    assert found["lenient"]["status"] == "pass-with-warnings"


def test_a_policy_is_read_from_a_file(project: Project) -> None:
    for name in (CRITIC, AUDITOR):
        project.ok("agent", "register", name)
    file = project.root / "policy.json"
    file.write_text('{"default_risk": "high", "min_evidence": 2}')
    assert project.ok(*NEW, "--policy", "policy.json")["trace"] == "t1"
    file.write_text('{"max_attempts": 0}')
    assert project.refused(*NEW, "--policy", "policy.json") == ("bad_policy", 1)
    file.write_text("not JSON")
    assert project.refused(*NEW, "--policy", "policy.json") == ("not_json", 1)
    assert project.refused(*NEW, "--policy", "none.json") == ("unreadable_file", 4)


@pytest.mark.requirement("TRC-001")
def test_one_agent_does_not_judge_its_own_work(project: Project) -> None:
    words = ("trace", "new", "--task", "t", "--planner", "amber-otter", "--executor", "teal-crane")
    code, _ = project.refused(*words, "--critic", "teal-crane", "--auditor", "amber-otter")
    assert code == "duties_not_separated"
    assert project.ok("trace", "list")["traces"] == []


def test_a_person_reads_every_step_in_lines(approved: Project) -> None:
    traced = approved
    to_final(traced)
    assert traced.run("trace", "audit", "t1").out.startswith("t1 pass · 9 events · default\n")
    out = traced.run("trace", "status", "t1").out
    assert out.startswith("t1 completed: Is it fine?\n")
    assert re.search(r"verified: pass, report [0-9a-f]{64}", out)
    assert "t1     ended  Is it fine?" in traced.run("trace", "list").out
    assert traced.run("trace", "report", "t1").out.startswith("# Is it fine?")
    for form in ("html", "md", "json"):
        traced.ok("trace", "report", "t1", "-o", f"r.{form}")
        assert (traced.root / f"r.{form}").stat().st_size > 1000
    assert traced.run("trace", "observed").out == "observed 0, gaps 0\n"


def test_what_was_erased_on_purpose_is_told_and_fails_nothing(approved: Project) -> None:
    traced = approved
    to_final(traced)
    (run,) = traced.ok("trace", "status", "t1")["ended"]
    traced.ok("artifact", "erase", run["outputs"]["stdout"], "--reason", "personal")
    found = traced.ok("trace", "verify", "t1")
    assert found["traces"][0]["status"] == "pass-with-warnings"
    assert "artifact_erased" in [one["code"] for one in found["findings"]]


def test_anyone_who_must_judge_sees_what_about(approved: Project) -> None:
    """The command before the critic approves it, what runs have left, and what is claimed."""
    traced = approved
    traced.ok(*INTEND, "--", PYTHON, "-c", "print('one\\ntwo')\n#\x1b[31m")
    out = traced.run("trace", "status", "t1").out
    row, line = (line for line in out.splitlines() if line.startswith("i1 "))
    assert re.match(r"i1  waits for the critic +\(critical\) python", row)
    assert re.match(r"i1 would run: .*-c .*print", line)
    assert "\x1b" not in out
    (one,) = traced.ok("trace", "status", "t1")["intents"]
    assert one["command"][1] == "-c"
    assert f"moot trace review-intent t1 {one['id']} " in out  # ready to be typed
    traced.ok("trace", "review-intent", "t1", "i1", "--verdict", "approved", "--rationale", "ok")
    traced.ok("trace", "exec", "t1", "i1")
    traced.ok(*CLAIM, "--evidence", "x1/stdout")
    out = traced.run("trace", "status", "t1").out
    assert re.search(r"\nx1  done +x1/input, x1/stdout, x1/stderr, x1/changed\n", out)
    assert re.search(r"\nc1  stands +\S", out)
    (ended,) = traced.ok("trace", "status", "t1")["ended"]
    assert (ended["id"], ended["intent"], ended["well"]) == ("x1", "i1", True)
    assert len(ended["outputs"]["stdout"]) == 64
    traced.ok(*INTEND, "--", "echo")
    traced.ok("trace", "abort", "t1", "--reason", "enough")
    assert re.search(r"\ni2  not run ", traced.run("trace", "status", "t1").out)


def test_what_is_to_be_approved_is_whole_on_a_narrow_terminal(approved: Project) -> None:
    code = f"print('{'harmless ' * 30}'); print('the end')"
    approved.ok(*INTEND, "--", PYTHON, "-c", code)
    seen = on_a_terminal(approved, "trace", "status", "t1", COLUMNS="50")
    (line,) = (line for line in seen.splitlines() if line.startswith("i1 would run: "))
    assert line.endswith(shlex.join([PYTHON, "-c", code]))


def test_another_agents_text_is_shown_and_never_obeyed(traced: Project) -> None:
    traced.ok("trace", "propose", "t1", "--objective", "\x1b[31mred\x9b", "--tool", "echo")
    out = traced.run("trace", "status", "t1").out
    assert "\x1b" not in out
    assert "\\x1b[31mred\\x9b" in out


@pytest.mark.requirement("TRC-018")
def test_verifying_an_open_trace_says_that_it_is_open(approved: Project) -> None:
    verified = approved.ok("trace", "verify", "t1")
    assert [(one["open"], one["state"]) for one in verified["traces"]] == [(True, "executing")]
    said = approved.run("trace", "verify", "t1").out
    assert said.startswith("OPEN · t1 is executing · the record so far is INTACT")
    assert "t1 so far pass-with-warnings" in said
    approved.ok("trace", "abort", "t1", "--reason", "enough")
    (ended,) = approved.json("trace", "verify", "t1").data["traces"]
    assert (ended["open"], ended["state"]) == (False, "aborted")
    said = approved.run("trace", "verify", "t1").out
    assert "OPEN" not in said
    assert "so far" not in said
