"""A block in which an agent is present: it is alive inside, and gone afterwards in every case."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from moot.api.presence.events import send_blocked
from moot.api.presence.status import Status, status
from moot.api.session import Session
from moot.core.errors import MootError, Refused, Unavailable
from moot.keys.running_names import is_running
from moot.runner import moot_run
from moot.runner.moot_run import present
from moot.runner.run_watch import RunWatch
from tests.project import Project

FINCH = "coral-finch"


def status_of(session: Session, name: str) -> str:
    (seen,) = (view for view in status(session, ended=True).agents if view.agent == name)
    return seen.status


def holders(seen: Status) -> dict[str, str]:
    return {view.scope: view.owner for view in seen.reservations}


def is_locked(session: Session, name: str) -> bool:
    workspace = session.workspace
    return is_running(workspace.folder, workspace.trust.origin, name)


def beating() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name == "moot-heartbeat"]


def count_events(session: Session) -> int:
    return status(session).record.events


def fail_after_revoking(project: Project, name: str) -> None:
    project.ok("agent", "revoke", name, "--reason", "lost")
    raise ZeroDivisionError


def test_an_agent_is_there_inside_the_block_and_gone_afterwards(session: Session) -> None:
    with present(session, FINCH, scopes=["src"], work="T-7") as agent:
        assert (agent.actor(), agent.epoch) == (FINCH, 1)
        assert holders(status(agent)) == {"src": FINCH}
        assert is_locked(session, FINCH)
        assert beating() == ["moot-heartbeat"]
    assert status_of(session, FINCH) == "retired"
    assert holders(status(session)) == {}
    assert not is_locked(session, FINCH)
    assert beating() == []


def test_a_name_is_made_up_if_none_is_wanted(session: Session) -> None:
    with present(session) as agent, present(session) as other:
        assert agent.actor() != other.actor()
        assert {view.agent for view in status(session).agents if view.here} == {
            agent.actor(),
            other.actor(),
        }


def test_an_exception_inside_ends_the_agent_and_goes_on(session: Session) -> None:
    with pytest.raises(ZeroDivisionError), present(session, FINCH, scopes=["src"]):
        raise ZeroDivisionError
    assert status_of(session, FINCH) == "retired"
    assert holders(status(session)) == {}
    assert (is_locked(session, FINCH), beating()) == (False, [])


def test_the_session_of_the_block_acts_as_the_agent(session: Session) -> None:
    said = {"subject": "schema", "blocker": "none", "requested_action": "write it", "work": "T-7"}
    with present(session, FINCH) as agent:
        sent = send_blocked(agent, "teal-crane", **said)
        assert sent.event.from_agent == FINCH
        with pytest.raises(Refused) as refused:
            send_blocked(agent, "teal-crane", sender="amber-otter", **said)
    assert refused.value.code == "not_you"


@pytest.mark.parametrize(
    ("name", "scopes", "code"),
    [
        ("Not A Name", [], "bad_name"),
        (FINCH, ["../elsewhere"], "scope_outside"),
    ],
)
def test_what_is_refused_at_the_door_leaves_nobody_behind(
    session: Session, name: str, scopes: list[str], code: str
) -> None:
    before = count_events(session)
    with pytest.raises(MootError) as refused, present(session, name, scopes=scopes):
        raise AssertionError("the block was entered")
    assert refused.value.code == code
    assert count_events(session) == before
    assert not is_locked(session, name)


def test_a_scope_of_another_is_refused_and_the_newcomer_ends(session: Session) -> None:
    with present(session, "slate-wren", scopes=["src"]):
        with pytest.raises(Refused) as refused, present(session, FINCH, scopes=["src/auth"]):
            raise AssertionError("the block was entered")
        assert refused.value.code == "reservation_conflict"
        assert status_of(session, FINCH) == "retired"
        assert holders(status(session)) == {"src": "slate-wren"}


def test_failing_to_leave_is_told_and_hides_nothing(session: Session, project: Project) -> None:
    """An agent that another ended can release nothing; the block's own result still counts."""
    failures: list[tuple[str, str]] = []

    def note(what: str, error: Exception) -> None:
        assert isinstance(error, MootError)
        failures.append((what.partition(";")[0], error.code))

    with pytest.raises(ZeroDivisionError), present(session, FINCH, failed=note):
        fail_after_revoking(project, FINCH)
    assert failures == [("could not release and retire", "key_revoked")]
    assert (is_locked(session, FINCH), beating()) == (False, [])


# run


class Notes(RunWatch):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def arrived(self, name: str) -> None:
        self.lines.append(f"{name} arrived")

    def starting(self, name: str, tools: Sequence[str]) -> None:
        self.lines.append(f"{name} starts {list(tools)}")

    def started(self, program: subprocess.Popen[bytes]) -> None:
        assert isinstance(program.args, list)
        self.lines.append(f"started {program.args[0]}")


def test_a_program_finds_the_sessions_environment_and_folder(
    session: Session, tmp_path: Path
) -> None:
    out, notes = tmp_path / "out", Notes()
    code = "import os, sys; print(os.getcwd(), *sorted(os.environ)); sys.exit(5)"
    with out.open("wb") as stream:
        ran = moot_run.run(
            session, [sys.executable, "-c", code], output=stream.fileno(), watch=notes
        )
    assert (ran.exit_status, status_of(session, ran.agent)) == (5, "retired")
    assert notes.lines == [
        f"{ran.agent} arrived",
        f"{ran.agent} starts []",
        f"started {sys.executable}",
    ]
    folder, *names = out.read_text().split()
    assert folder == str(session.folder)
    wanted = {*session.env, "MOOT_AGENT", "MOOT_EPOCH", "MOOT_HOME", "MOOT_SOCKET"}
    wanted |= {"OTEL_RESOURCE_ATTRIBUTES"}
    assert wanted <= set(names) <= wanted | {"LC_CTYPE", "__CF_USER_TEXT_ENCODING"}


def test_a_program_that_is_not_there_registers_nobody(session: Session, tmp_path: Path) -> None:
    before = count_events(session)
    (tmp_path / "closed").write_text("not to be run")
    reasons = {
        "no-such-program-here": "no program of that name is on PATH",
        "./no-such-program": "no such file",
        str(tmp_path / "closed"): "Permission denied",
    }
    for word, why in reasons.items():
        with pytest.raises(Unavailable, match=f": {why}$") as refused:
            moot_run.run(session, [word], name=FINCH)
        assert refused.value.code == "command_not_run"
        assert count_events(session) == before
        assert not is_locked(session, FINCH)


def test_a_program_that_the_system_refuses_leaves_nobody_behind(
    session: Session, tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    with pytest.raises(Unavailable) as refused:
        moot_run.run(session, [str(script)], name=FINCH)
    assert refused.value.code == "command_not_run"
    assert status_of(session, FINCH) == "retired"


def test_no_program_is_refused_before_anyone_arrives(session: Session) -> None:
    before = count_events(session)
    with pytest.raises(MootError) as refused:
        moot_run.run(session, [])
    assert (refused.value.code, count_events(session)) == ("no_program", before)
