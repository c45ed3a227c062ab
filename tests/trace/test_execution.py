"""An approved intent is really run, on record before it runs; what may not run leaves no trace
of having run."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from moot.api.traces import running, tracing
from moot.api.traces.running import describe_ending
from moot.core.canonical import encode_checked
from moot.core.errors import MootError, NotFound, Refused, Tampered
from moot.core.machine import Command
from moot.core.record import Record
from moot.engine.job import JobOutcome
from moot.engine.replay import read_record
from moot.protocols.presence import STREAM as PRESENCE
from moot.protocols.presence.commands import Join, Reserve
from moot.protocols.trace import commands as ask
from moot.protocols.trace.events import ToolExecutionStarted, ToolIntentSigned
from moot.protocols.trace.machine import MACHINE
from moot.protocols.trace.model import FailureKind, Role, Stage, encode_input, sha256_hex
from moot.protocols.trace.policy import OnForgery, Policy
from moot.system import programs
from moot.system.running import CapturedOutput, ProgramResult
from tests.cli.damage import edit, of
from tests.project import git
from tests.trace.trace_project import (
    CRITIC,
    EXECUTOR,
    PYTHON,
    TOOL,
    TraceProject,
    open_trace_project,
    reopened,
)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TraceProject]:
    with open_trace_project(tmp_path) as made:
        made.begin()
        yield made


def marker(project: TraceProject) -> str:
    """Python that leaves a file behind if it is ever run."""
    return f"open({str(project.root / 'ran')!r}, 'a').write('x')"


def ran(project: TraceProject) -> int:
    try:
        return len((project.root / "ran").read_text())
    except FileNotFoundError:
        return 0


def spoil(project: TraceProject) -> None:
    """A false signature on the trace's newest event, and the head made to fit it."""
    project.space.engine.checkpoint()  # which files it: the head stands in its table
    with project.space.store.read() as view:
        (*_, newest) = view.records(project.stream)
    forged = Record(newest.stream, newest.seq, newest.kid, newest.raw, bytes(64))
    here = f"{of(project.stream)} AND seq = {newest.seq}"
    edit(
        project.space.path / "ledger.db",
        f"UPDATE events SET sig = zeroblob(64) WHERE {here}",
        f"UPDATE streams SET hash = x'{forged.hash.hex()}' WHERE name = '{project.stream}'",
    )


def refused(project: TraceProject, intent: str, actor: str = EXECUTOR) -> str:
    """The code of a refusal that ran nothing and recorded nothing."""
    state, length, files = project.state, project.length, list(project.space.artifacts.all_hashes())
    with pytest.raises(MootError) as caught:
        running.execute(project.space, project.stream, intent, actor, project.env, project.root)
    assert caught.value.hint
    assert (project.state, project.length) == (state, length)
    assert list(project.space.artifacts.all_hashes()) == files
    assert ran(project) == 0
    return caught.value.code


@pytest.mark.requirement("TRC-034", "TRC-036", "TRC-037")
def test_an_intent_is_run_and_all_of_it_is_kept(project: TraceProject) -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr)"
    done = project.execute_intent(project.script(code))
    assert (done.failed, done.exit_status, done.findings) == (False, 0, ())
    assert project.output(done, "stdout") == b"out\n"
    assert project.output(done, "stderr") == b"err\n"
    assert project.types()[-2:] == ["tool_execution_started", "tool_execution_completed"]
    end = project.last()
    assert end.execution_id == done.execution
    assert end.result.exit_status == 0
    assert project.state.stage is Stage.CLAIMING


@pytest.mark.requirement("TRC-032", "TRC-038")
def test_the_stored_input_is_the_intended_one(project: TraceProject) -> None:
    intent_id = project.script("print(1)", env=("LANG", "HOME"))
    intent = tracing.read_intent(project.space, project.stream, intent_id)
    project.execute_intent(intent_id)
    end = project.last()
    assert end.input_artifact == intent.input_hash
    stored = b"".join(project.space.artifacts.chunks(end.input_artifact))
    assert sha256_hex(stored) == intent.input_hash
    assert encode_checked(json.loads(stored)) == stored
    assert json.loads(stored)["command"] == [PYTHON, "-c", "print(1)"]


@pytest.mark.requirement("TRC-038")
def test_another_input_than_the_intended_one_is_refused(project: TraceProject) -> None:
    intent_id = project.script(marker(project))
    other = encode_input(TOOL, ("rm", "-rf", "/"), ".", (), 1000)
    ref = project.space.artifacts.put(other, "application/json")
    length = project.length
    with pytest.raises(Refused) as caught:
        project.ask(Role.EXECUTOR, ask.StartExecution(intent_id=intent_id, input=ref))
    assert caught.value.code == "input_mismatch"
    assert project.length == length


@pytest.mark.requirement("TRC-036", "TRC-050")
def test_outputs_are_stored_before_the_event_that_cites_them(
    project: TraceProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    put, commit = project.space.artifacts.put, project.space.engine.execute

    def noted_put(data: bytes, media_type: str) -> object:
        order.append("stored")
        return put(data, media_type)

    def noted_commit(stream: str, command: Command, actor: str, **more: Any) -> JobOutcome:
        outcome = commit(stream, command, actor, **more)
        order.append(type(command).__name__)
        return outcome

    intent = project.script("print(1)")
    monkeypatch.setattr(project.space.artifacts, "put", noted_put)
    monkeypatch.setattr(project.space.engine, "execute", noted_commit)
    project.execute_intent(intent)
    assert order == [
        *("stored", "StartExecution"),
        *("stored", "stored", "stored", "CompleteExecution"),
    ]


@pytest.mark.requirement("TRC-050")
def test_an_event_that_cites_what_is_not_stored_is_refused(project: TraceProject) -> None:
    done_before = project.script(marker(project))
    missing = msgspec.structs.replace(project.space.artifacts.put(b"gone", "text/plain"), size=4)
    project.space.artifacts.erase(missing.sha256)
    length = project.length
    with pytest.raises(Refused):
        project.ask(Role.EXECUTOR, ask.StartExecution(intent_id=done_before, input=missing))
    assert project.length == length


@pytest.mark.requirement("TRC-037")
@pytest.mark.parametrize(
    ("code", "kind", "status"),
    [
        ("raise SystemExit(3)", FailureKind.EXIT, 3),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", FailureKind.SIGNAL, None),
    ],
)
def test_a_run_that_fails_is_recorded_with_its_context(
    project: TraceProject, code: str, kind: FailureKind, status: int | None
) -> None:
    done = project.execute_intent(project.script(f"print('before', flush=True); {code}"))
    assert done.failed
    assert done.exit_status == status
    failure = project.last().failure
    assert (failure.kind, failure.exit_status) == (kind, status)
    assert failure.detail
    assert project.output(done, "stdout") == b"before\n"
    assert project.state.stage is Stage.EXECUTING


def test_a_run_out_of_time_is_killed_and_recorded(project: TraceProject) -> None:
    done = project.execute_intent(project.script("import signal; signal.pause()", timeout_ms=300))
    assert project.last().failure.kind is FailureKind.TIMEOUT
    assert "time was up" in done.detail


def test_a_program_that_is_not_there_is_a_failed_run(project: TraceProject) -> None:
    intent = project.intend(
        project.approved("nothing-like-it"), "nothing-like-it", tool="nothing-like-it"
    )
    done = project.execute_intent(intent)
    assert done.failed
    assert project.last().failure.kind is FailureKind.NOT_STARTED
    assert done.detail == "nothing-like-it: not found"


def test_secrets_are_blotted_out_before_anything_is_kept(project: TraceProject) -> None:
    token = "ghp_" + "a1B2" * 9
    code = f"import sys; print('x', '{token[:10]}' + '{token[10:]}', 'y')"
    done = project.execute_intent(project.script(code))
    assert project.output(done, "stdout") == b"x [redacted:github-token] y\n"
    assert project.last().result.redacted == ("github-token",)
    stored = [
        b"".join(project.space.artifacts.chunks(one))
        for one in project.space.artifacts.all_hashes()
    ]
    assert not any(token.encode() in data for data in stored)


def test_a_secret_in_a_file_name_is_blotted_out(project: TraceProject) -> None:
    done = project.execute_intent(project.script("open('ghp_' + 'a1B2' * 9, 'w').write('x')"))
    result = project.last().result
    assert result.undeclared == ("[redacted:github-token]",)
    assert result.redacted == ("github-token",)
    listed = json.loads(project.output(done, "changed"))
    assert [one["path"] for one in listed["changes"]] == ["[redacted:github-token]"]


def test_the_value_of_a_secret_variable_is_blotted_out(project: TraceProject) -> None:
    code = """
import base64, os
value = os.environ['DEPLOY_TOKEN']
for before in ('', 'a', 'ab'):
    print(base64.b64encode(f'{before}{value}'.encode()).decode())
print(value, os.environ['STAGE_NAME'])
"""
    value = "hunter2-very-private"
    intent = project.script(code, env=("DEPLOY_TOKEN", "STAGE_NAME"))
    done = project.execute_intent(intent, DEPLOY_TOKEN=value, STAGE_NAME="production")
    lines = project.output(done, "stdout").decode().splitlines()
    assert all("[redacted:variable]" in line for line in lines)
    assert all(len(line.replace("[redacted:variable]", "")) < 8 for line in lines[:3])
    assert lines[3] == "[redacted:variable] production"
    assert project.last().result.redacted == ("variable",)


@pytest.mark.parametrize("room", [5, 40])
def test_no_half_of_a_secret_is_left_where_an_output_is_cut(tmp_path: Path, room: int) -> None:
    with open_trace_project(tmp_path) as project:
        project.begin(Policy(max_output_bytes=2_000))
        fill = 2_000 - room
        code = f"print('x' * {fill} + ' ghp_' + 'a1B2' * 9 + ' ' + 'y' * 99_999)"
        done = project.execute_intent(project.script(code))
        kept = project.output(done, "stdout")
        assert b"ghp_" not in kept
        assert 1_900 < len(kept) <= 2_000
        assert project.last().result.truncated == ("stdout",)


def test_no_half_of_a_secret_is_left_where_reading_was_cut(tmp_path: Path) -> None:
    """Blotting out may shorten an output below its limit; its end was cut all the same."""
    with open_trace_project(tmp_path) as project:
        project.begin(Policy(max_output_bytes=2_000))
        read = 2_000 + running.EDGE
        code = (
            f"import sys; key = '-----BEGIN PRIVATE ' + 'KEY-----' + 'k' * 18_000; "
            f"text = key + '-----END PRIVATE ' + 'KEY-----' + 'x' * {read}; "
            f"print(text[:{read} - 10] + ' ghp_' + 'a1B2' * 900)"
        )
        done = project.execute_intent(project.script(code))
        assert b"ghp_" not in project.output(done, "stdout")
        assert project.last().result.truncated == ("stdout",)


def test_a_secret_in_the_command_is_refused_and_kept_nowhere(project: TraceProject) -> None:
    token = "ghp_" + "a1B2" * 9
    proposal, length = project.approved(), project.length
    with pytest.raises(Refused) as caught:
        project.intend(proposal, "python", "-c", f"login('{token}')")
    assert project.length == length + 0
    assert token not in str(caught.value)
    assert token.encode() not in (project.space.path / "ledger.db").read_bytes()


def test_what_changed_is_compared_with_what_was_declared(project: TraceProject) -> None:
    code = "open('a.txt', 'w').write('two'); open('b.txt', 'w').write('new')"
    done = project.execute_intent(project.script(code, writes=("a.txt",)))
    (finding,) = done.findings
    assert (finding.code, str(finding.severity)) == ("undeclared_write", "warning")
    assert "b.txt" in finding.message
    result = project.last().result
    assert result.changed == ("a.txt", "b.txt")
    assert result.undeclared == ("b.txt",)
    listed = json.loads(project.output(done, "changed"))
    assert listed["changes"] == [
        {"declared": True, "how": "changed", "path": "a.txt"},
        {"declared": False, "how": "added", "path": "b.txt"},
    ]


def test_what_leads_git_astray_hides_nothing(
    project: TraceProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = project.root.parent / "away"
    away.mkdir()
    git(away, "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(away / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(away))
    project.execute_intent(project.script("open('b.txt', 'w').write('new')"))
    assert project.last().result.undeclared == ("b.txt",)


@pytest.mark.parametrize("file", [".git/hooks/post-commit", ".git/info/exclude", ".git/config"])
def test_what_git_itself_obeys_is_watched(project: TraceProject, file: str) -> None:
    project.execute_intent(project.script(f"open('{file}', 'a').write('#')"))
    assert project.last().result.undeclared == (file,)


def test_a_command_that_takes_git_away_is_told_of(project: TraceProject) -> None:
    done = project.execute_intent(project.script("import os; os.rename('.git', '../git')"))
    assert ".git/config" in project.last().result.undeclared
    assert "not a git repository" in project.last().result.watched
    assert json.loads(project.output(done, "changed"))["remarks"]


def test_the_file_that_was_run_is_on_record(project: TraceProject) -> None:
    """The critic approved a name; which file that was, under which PATH, is told."""
    evil = project.root.parent / "evil"
    evil.mkdir()
    (evil / "wc").write_text("#!/bin/sh\necho 2\n")
    (evil / "wc").chmod(0o755)
    intent = project.intend(project.approved("wc"), "wc", "-l", "a.txt", tool="wc")
    done = project.execute_intent(intent, PATH=f"{evil}:{project.env['PATH']}")
    assert project.output(done, "stdout") == b"2\n"
    with project.space.store.read() as view:
        events = [read_record(MACHINE, one).event for one in view.records(project.stream)]
    (started,) = (one for one in events if isinstance(one, ToolExecutionStarted))
    assert started.program == str(evil / "wc")
    assert started.program_sha256 == sha256_hex((evil / "wc").read_bytes())


def test_what_was_found_is_what_is_run(
    project: TraceProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another file of that name may come first by then: it is not looked for again."""
    found = project.root.parent / "found"
    found.write_text("#!/bin/sh\necho found\n")
    found.chmod(0o755)
    monkeypatch.setattr(programs, "find_program", lambda *_: programs.Program(str(found), "0" * 64))
    done = project.execute_intent(
        project.intend(project.approved("wc"), "wc", "-l", "a.txt", tool="wc")
    )
    assert project.output(done, "stdout") == b"found\n"


def test_more_changes_than_an_event_holds_are_all_in_the_artifact(project: TraceProject) -> None:
    code = "[open(f'f{n}', 'w').write('x') for n in range(300)]"
    done = project.execute_intent(project.script(code))
    assert len(project.last().result.undeclared) == running.MOST_NAMED + 1
    assert len(json.loads(project.output(done, "changed"))["changes"]) == 300


def test_a_command_sees_only_the_variables_it_was_granted(project: TraceProject) -> None:
    code = "import os; print([n for n in sorted(os.environ) if n != 'LC_CTYPE'])"
    seen = {"HOME": "/h", "API_TOKEN": "t", "GRANTED": "g", "MOOT_PASSPHRASE_FILE": "p"}
    done = project.execute_intent(
        project.script(code, env=("GRANTED", "MOOT_PASSPHRASE_FILE")), **seen
    )
    assert project.output(done, "stdout") == b"['GRANTED', 'HOME', 'MOOT_EXECUTION', 'PATH']\n"


def test_a_command_runs_in_its_folder(project: TraceProject) -> None:
    (project.root / "sub").mkdir()
    done = project.execute_intent(project.script("import os; print(os.getcwd())", cwd="sub"))
    assert project.output(done, "stdout").decode().strip() == str(project.root / "sub")


@pytest.mark.parametrize(("cwd", "code"), [("..", "outside_project"), ("none", "no_folder")])
def test_a_folder_outside_or_absent_is_refused(project: TraceProject, cwd: str, code: str) -> None:
    proposal = project.approved()
    try:
        intent = project.intend(proposal, PYTHON, "-c", marker(project), cwd=cwd)
    except Refused:
        assert cwd == ".."  # refused when it was intended: as good
        return
    assert refused(project, intent) == code


def test_a_link_out_of_the_project_is_no_folder_to_run_in(project: TraceProject) -> None:
    (project.root / "out").symlink_to(project.root.parent)
    assert refused(project, project.script(marker(project), cwd="out")) == "outside_project"


def test_too_much_output_is_cut_and_said(tmp_path: Path) -> None:
    with open_trace_project(tmp_path) as project:
        project.begin(Policy(max_output_bytes=2_000))
        done = project.execute_intent(project.script("print('x' * 5000)"))
        assert len(project.output(done, "stdout")) == 2_000
        assert project.last().result.truncated == ("stdout",)
        assert [one.code for one in done.findings] == ["output_truncated"]


# Refused: nothing is run, nothing is recorded.


@pytest.mark.requirement("TRC-063")
def test_a_risky_intent_without_approval_is_not_run(project: TraceProject) -> None:
    proposal = project.approved()
    command = ask.SignIntent(
        proposal_id=proposal,
        tool=TOOL,
        command=(PYTHON, "-c", marker(project)),
        risk="critical",
        justification="x",
    )
    made = project.ask(Role.EXECUTOR, command).newest(ToolIntentSigned).event
    assert refused(project, made.intent_id) == "approval_required"


@pytest.mark.requirement("TRC-033", "TRC-057")
def test_a_blocked_intent_is_not_run_until_it_is_revised(project: TraceProject) -> None:
    proposal = project.approved()
    words = (PYTHON, "-c", marker(project))
    intent = project.intend(proposal, *words)
    block = ask.ReviewIntent(intent_id=intent, status="blocked", rationale="no")
    project.ask(Role.CRITIC, block)
    assert refused(project, intent) == "intent_blocked"
    revised = project.intend(proposal, *words, supersedes=intent)
    assert refused(project, intent) in ("intent_closed", "unknown_intent")
    assert not project.execute_intent(revised).failed
    assert ran(project) == 1


@pytest.mark.requirement("TRC-056")
def test_nothing_under_a_blocked_proposal_is_run(project: TraceProject) -> None:
    proposal = project.approved()
    intent = project.intend(proposal, PYTHON, "-c", marker(project))
    block = ask.ReviewProposal(proposal_id=proposal, status="blocked", rationale="no")
    project.ask(Role.CRITIC, block)
    assert refused(project, intent) == "proposal_not_approved"


@pytest.mark.requirement("TRC-021")
def test_an_intent_that_does_not_exist_is_not_run(project: TraceProject) -> None:
    assert refused(project, "i99") == "unknown_id"


@pytest.mark.requirement("TRC-003", "TRC-062")
def test_another_part_cannot_run_it(project: TraceProject) -> None:
    assert refused(project, project.script(marker(project)), CRITIC) == "role_policy_violation"


@pytest.mark.requirement("TRC-058")
def test_an_intent_is_run_once_and_a_retry_is_a_new_one(project: TraceProject) -> None:
    proposal = project.approved()
    words = (PYTHON, "-c", marker(project) + "; raise SystemExit(1)")
    first = project.intend(proposal, *words)
    project.execute_intent(first)
    state, length = project.state, project.length
    with pytest.raises(Refused) as caught:
        project.execute_intent(first)
    assert caught.value.code == "intent_closed"
    assert (project.state, project.length, ran(project)) == (state, length, 1)
    second = project.intend(proposal, *words, retry_of=first)
    assert project.execute_intent(second).execution == "x2"
    assert ran(project) == 2
    assert project.types().count("tool_execution_failed") == 2


@pytest.mark.requirement("TRC-015", "TRC-053")
@pytest.mark.parametrize("on_forged", [OnForgery.FAIL, OnForgery.REJECT])
def test_a_forged_record_stops_it_and_is_dealt_with_as_the_policy_says(
    tmp_path: Path, on_forged: OnForgery
) -> None:
    """Its chain fits, its signature does not: nothing is run; by default the trace has failed."""
    with open_trace_project(tmp_path) as project:
        project.begin(Policy(on_invalid_signature=on_forged))
        intent = project.script(marker(project))
        length = project.length
        spoil(project)
        other = reopened(project)
        with pytest.raises(Tampered) as caught:
            other.execute_intent(intent)
        assert caught.value.code == "unproved_record"
        assert ran(project) == 0
        if on_forged is OnForgery.FAIL:
            assert other.types()[length:] == ["session_failed"]
            assert other.state.stage is Stage.FAILED
        else:
            assert other.length == length
        again = reopened(project)
        with pytest.raises(MootError):
            again.execute_intent(intent)
        assert (again.length, ran(project)) == (other.length, 0)
        for one in (other, again):
            one.space.close()


@pytest.mark.requirement("TRC-020", "TRC-060", "TRC-069")
def test_a_broken_chain_refuses_everything_and_is_not_repaired(project: TraceProject) -> None:
    intent = project.script(marker(project))
    newest = f"{of(project.stream)} AND seq = {project.length - 1}"
    edit(project.space.path / "ledger.db", f"UPDATE events SET sig = zeroblob(64) WHERE {newest}")
    before = (project.space.path / "ledger.db").read_bytes()
    other = reopened(project)
    with pytest.raises(Tampered) as caught:
        other.execute_intent(intent)
    assert (caught.value.stream, caught.value.seq) == (project.stream, project.length - 1)
    assert ran(project) == 0
    assert (project.space.path / "ledger.db").read_bytes() == before
    other.space.store.close()


def test_reserved_scopes_are_shown_where_the_policy_asks_for_them(tmp_path: Path) -> None:
    with open_trace_project(tmp_path) as project:
        project.begin(Policy(require_reservation=True))
        intent = project.script(marker(project), writes=("src/a.py", "docs"))
        assert refused(project, intent) == "reservation_required"
        root = str(project.root)
        for command in (
            Join(project_root=root, worktree=root),
            Reserve(scopes=("src/*", "docs"), project_root=root, worktree=root),
        ):
            project.space.engine.execute(PRESENCE, command, EXECUTOR)
        assert not project.execute_intent(intent).failed


# How it ended, in words.

NONE = CapturedOutput(b"", 0)


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (ProgramResult(0, None, NONE, NONE, 0), None),
        (ProgramResult(1, None, NONE, NONE, 0), FailureKind.EXIT),
        (ProgramResult(None, 11, NONE, NONE, 0), FailureKind.SIGNAL),
        (ProgramResult(None, 15, NONE, NONE, 0, timed_out=True), FailureKind.TIMEOUT),
        (ProgramResult(None, 9, NONE, NONE, 0, interrupted=signal.SIGTERM), FailureKind.STOPPED),
        (ProgramResult(0, None, NONE, NONE, 0, left_running=True), None),
    ],
)
def test_how_a_run_ended(found: ProgramResult, kind: FailureKind | None) -> None:
    assert describe_ending(found)[0] is kind


# Finding things.


@pytest.mark.parametrize(("taken", "next_one"), [(0, 1), (1, 2), (2, 3), (3, 4), (7, 8), (9, 10)])
def test_traces_are_numbered_without_counting_them(
    tmp_path: Path, taken: int, next_one: int
) -> None:
    with open_trace_project(tmp_path) as project:
        for _ in range(taken):
            project.begin()
        assert project.begin() == f"trace/t{next_one}"


def test_evidence_is_named_by_its_run_or_its_hash(project: TraceProject) -> None:
    done = project.execute_intent(project.script("print('seen')"))
    (stdout,) = (one.ref.sha256 for one in done.outputs if one.name == "stdout")
    for name in (f"{done.execution}/stdout", stdout, stdout[:12]):
        found = tracing.resolve_evidence(project.space, project.stream, name)
        assert (found.sha256, found.differs) == (stdout, False)
        assert found.ref is not None
    project.space.artifacts.erase(stdout)
    assert tracing.resolve_evidence(project.space, project.stream, stdout).ref is None


@pytest.mark.parametrize("name", ["x1/none", "x9/stdout", "../../etc/passwd", "xyz", "0" * 10, ""])
def test_evidence_that_names_nothing_says_so(project: TraceProject, name: str) -> None:
    project.execute_intent(project.script("print('seen')"))
    with pytest.raises(MootError) as caught:
        tracing.resolve_evidence(project.space, project.stream, name)
    assert caught.value.hint


def test_a_trace_that_is_not_there_says_so(project: TraceProject) -> None:
    for name in ("t9", "trace/t9", "none"):
        with pytest.raises(NotFound):
            tracing.require_trace(project.space, name)
    with pytest.raises(MootError):
        tracing.require_trace(project.space, "../../etc")
